#!/usr/bin/env bash
# RIDGE_DEVICE is the default of every command's --device: an unknown device is an error, and --device overrides it.
#   device_variable_test.sh RIDGE
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"

head -c 512 /dev/zero | npy x.npy '<c8' '(64,)'
head -c 256 /dev/zero | npy r.npy '<f4' '(8, 8)'
head -c 65536 /dev/zero >x.raw
head -c 512 /dev/zero | npy points.npy '<f8' '(64,)'
head -c 2048 /dev/zero | npy volts.npy '<c8' '(2, 8, 16)'
head -c 512 /dev/zero | npy weights.npy '<c8' '(4, 16)'
"$ridge" search signal a.fil --channels 16 --seconds 2 >"$beside/signal" 2>&1
printf 'P5\n64 64\n255\n' >a.pgm && head -c 4096 /dev/zero >>a.pgm && cp a.pgm b.pgm
echo 'void scale(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }' >scale.c

# Arguments that each command needs besides --device. `mistake` checks for files left behind: outputs are named out.
declare -A arguments=(
  ["bench correlator"]="--seconds 0.001" ["bench fft"]="--lengths 8 --seconds 0.001" ["bench filterbank"]="--seconds 0.001"
  ["bench image"]="--seconds 0.001" ["bench image-stages"]="" ["bench stencil"]="--seconds 0.001"
  ["bench transpose"]="--seconds 0.001" ["channelize"]="x.raw out --channels 16 --format raw" ["check"]="fft --seconds 0.01"
  ["fft"]="x.npy out.npy" ["fft explain"]="64 --quick" ["fft papers"]="" ["flow"]="a.pgm b.pgm out.flo" ["image"]="transpose a.pgm out.pgm"
  ["place"]="scale.c" ["sar"]="" ["size"]="--rate 10" ["stencil acoustic"]="--steps 1" ["stencil convolve"]="--in r.npy" ["stencil euler"]="--steps 1" ["stencil fluid"]="--steps 1"
  ["stencil heat"]="--steps 1" ["stencil life"]="--steps 1" ["stencil maxwell"]="--steps 1" ["stencil elastic"]="--steps 1" ["stencil wave"]="--steps 1"
  ["variance"]="a.pgm out.npy" ["nufft"]="points.npy x.npy out.npy --modes 16" ["bench nufft"]="--seconds 0.001"
  ["bench search"]="--seconds 0.001" ["bench beams"]="" ["bench telescope"]="" ["bench panels"]="" ["bench graph"]="--block 64K --blocks 2 --rounds 1" ["search"]="a.fil --out out.json" ["periods"]="a.fil --out out.json"
  ["dedisperse"]="x.npy out.npy --dm 1 --centre 1400 --rate 1" ["beamform"]="volts.npy out.npy --weights weights.npy"
)
"$ridge" manual >"$beside/ridge.1"
awk '/^\.SS/ { command = $0 } /^\.B .*device / { print command }' "$beside/ridge.1" | sed 's/^\.SS ridge //; s/\\//g' | sort -u >"$beside/commands"
[ "$(wc -l <"$beside/commands")" -ge 20 ] || fail "few commands have --device: $(cat "$beside/commands")"
while read -r command; do
  [[ -v arguments[$command] ]] || { fail "ridge $command has --device and is not in this test"; continue; }
  # shellcheck disable=SC2086
  RIDGE_DEVICE=nonsense:7 mistake 'no device "nonsense:7"' "$ridge" $command ${arguments[$command]}
done <"$beside/commands"

RIDGE_DEVICE=nonsense:7 expect 'device +host' "$ridge" fft explain 64 --quick --device host
RIDGE_DEVICE='' expect 'device +host' "$ridge" fft explain 64 --quick
RIDGE_DEVICE=host expect 'device +host' "$ridge" fft explain 64 --quick
if "$ridge" devices 2>/dev/null | grep -q '^opencl:0'; then
  RIDGE_DEVICE=opencl:0 expect 'device +opencl:0' "$ridge" fft explain 64 --quick
fi
finish
