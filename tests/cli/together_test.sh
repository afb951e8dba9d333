#!/usr/bin/env bash
# ridge size, several devices at once, peers on devices, ridge sar in a stream: correct results and one-line errors.
# Tests that need an OpenCL device are skipped without one.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
# The paper's radar: 6.34 s of processors, 3.28 s of graphics, 2.5 s of both for a second of frames.
expect '^processor .* 6\.34 s +7$' "$ridge" size --paper
expect '^power: 3 boards of 150 W \(given\), 0\.45 kW in 2 racks of 2, ' "$ridge" size --paper --watts 150 --rack 2
expect '^(far cores: not available|two cores )' "$ridge" machine --study far-cores
expect '^graphics .* 3\.28 s +4$' "$ridge" size --paper
expect '^processor \+ graphics .* 2\.5[0-9] s +3$' "$ridge" size --paper
expect '^graphics: 15[0-9]+ transforms' "$ridge" size --paper
expect '^one .* 50.0 ms .* 2$' "$ridge" size --rate 40 --worker one=1ms --transforms 50
expect '^host .*[0-9]$' "$ridge" size --rate 5 --frame 64x32 --device host --seconds 0.05
mistake "--rate" "$ridge" size
mistake "two axes" "$ridge" size --rate 1 --frame 1024
mistake "NAME=TIME" "$ridge" size --rate 1 --worker fast
mistake "NAME=TIME" "$ridge" size --rate 1 --worker fast=0s
mistake "NAME=TIME" "$ridge" size --rate 1 --worker fast=1us*0
mistake "exclude each other" "$ridge" size --rate 1 --worker fast=1us --device host
mistake "name is missing" "$ridge" bench fft --device host+ --lengths 16

# A stream of radar frames on the host; --in and --out give the same images as the C++ class.
expect '^20 frames with transfers' "$ridge" sar --device host --frames 20 --pulses 256 --samples 256 --beam 0.03 --pulse 1e-6
head -c $((3 * 256 * 256 * 8)) /dev/zero >frames.raw
expect '^3 frames' "$ridge" sar --device host --in frames.raw --out images.raw --pulses 256 --samples 256 --beam 0.03 --pulse 1e-6
expect '^focus' "$ridge" sar --device host --in frames.raw --out images.raw --schedule - --pulses 256 --samples 256 --beam 0.03 --pulse 1e-6
mistake '--schedule needs --in' "$ridge" sar --device host --schedule - --frames 1
mistake '--copies is for simulated frames' "$ridge" sar --device host --in frames.raw --copies
tr '\200' '\0' <images.raw | cmp -s frames.raw - || fail "silence did not stay silent"  # -0 is zero too
npy frames.npy '<c8' '(3, 256, 256)' <frames.raw
small=(--device host --pulses 256 --samples 256 --beam 0.03 --pulse 1e-6)
expect '^3 frames' "$ridge" sar --in frames.npy --out images.npy "${small[@]}"
npy fewer.npy '<c8' '(4, 256, 256)' <frames.raw
mistake "asks for 2097152 bytes, and it ends 524288 bytes early" "$ridge" sar --in fewer.npy --out x.npy "${small[@]}"
mistake "ends 524288 bytes early" "$ridge" sar --in <(cat fewer.npy) --out x.npy "${small[@]}"
mistake "is truncated" "$ridge" sar --device host --in <(head -c 1000 frames.raw) --pulses 256 --samples 256 --beam 0.03 --pulse 1e-6

# A chain of three stages; the power of its spectra is compared with that of the samples.
chain=(--points 64 --block 64K --blocks 10 --rounds 1)
expect 'copy . fft . power: .* of the slowest stage' "$ridge" bench graph --device host "${chain[@]}" --schedule chain.svg
grep -q '<svg' chain.svg || fail "bench graph without a chart"
mistake "points need a --block" "$ridge" bench graph --device host --points 64 --block 511

if ! "$ridge" devices | grep -q 'opencl:0'; then
  echo "no OpenCL device here: the rest is left out"
  finish
fi
expect 'upload . fft . download: .* of the slowest stage' "$ridge" bench graph --device opencl:0 "${chain[@]}"
expect 'TOP/s, powers within .*e-0[67] of sums in double' "$ridge" bench beams --device opencl:0 --stations 5 --beams 9 --channels 2 \
  --times 128 --seconds 0.01
expect 'transpose, 4 bytes: .* of the transfers alone .*largest error 0$' "$ridge" bench panels --device opencl:0 --size 1M --rounds 1 --only transpose
mistake "a device other than the host" "$ridge" bench panels --device host
RIDGE_DEVICE_MEMORY=much mistake "needs a size such as 8G" "$ridge" fft explain 64 --device opencl:0 --quick
# Always the same lengths, because each kernel needs a compilation.
expect '^fft 64 batch 64 over 2 devices' "$ridge" bench fft --device host+opencl:0 --lengths 64 --batch 64 \
  --measure-seconds 0.1 --cores 2 --piece 16K
expect '^opencl:0 ' "$ridge" bench fft --device host+opencl:0 --lengths 64 --batch 64 --measure-seconds 0.1 --pinned
mistake "given twice" "$ridge" bench fft --device opencl:0+opencl:0 --lengths 16 --batch 64
mistake "need complex transforms" "$ridge" bench fft --device host+opencl:0 --lengths 16 --real
mistake "--piece" "$ridge" bench fft --device host+opencl:0 --lengths 16 --piece none
head -c $((300 * 64 * 8)) /dev/urandom | od -An -v -t d1 -w1 | awk '{ printf "%c", ($1 + 128) % 90 + 33 }' >samples.raw
"$ridge" fft samples.raw one.raw --shape 64 --samples i8 --device host || fail "fft on the host"
"$ridge" fft samples.raw both.raw --shape 64 --samples i8 --device host+opencl:0 || fail "fft on both"
[[ $(stat -c %s one.raw) == $(stat -c %s both.raw) ]] || fail "sizes of two answers differ"
paste <(od -An -v -t f4 -w4 one.raw) <(od -An -v -t f4 -w4 both.raw) |
  awk '{ d = $1 - $2; s += d * d; n += $1 * $1 } END { exit !(n > 0 && s < 1e-12 * n) }' || fail "host and both differ"
small=(--frames 6 --pulses 256 --samples 256 --beam 0.03 --pulse 1e-6 --device opencl:0)
expect 'arriving 5 times per second: latency' "$ridge" sar "${small[@]}" --rate 5
expect 'copied from and to pageable memory' "$ridge" sar "${small[@]}" --copies

# Peers: results are compared before they are timed, so a row with a time is a correct result.
# One transform is one transform: the default on devices is 2^26 points.
expect '^fft c64 64  +opencl:0' "$ridge" bench fft --device opencl:0 --lengths 64 --batch 1 --seconds 0.01 --trials 1
text=$("$ridge" bench fft --device opencl:0 --against clfft,vkfft --lengths 64 --batch 32 --seconds 0.01 --trials 1 2>&1) ||
  fail "peers: $text"
for peer in clfft vkfft; do
  grep -q "$peer" <<<"$text" || fail "no word about $peer: $text"
done
finish
