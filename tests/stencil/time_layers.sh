#!/bin/bash
# Times acoustic waves with absorbing layers and their gradients on a device, from two numbers of steps each, so that
# planning, compiling and transfers cancel. Not a test: it prints figures for docs/measurements.
#
#   tests/stencil/time_layers.sh build/ridge cuda:0 [CELLS_PER_AXIS] [STEPS]
set -euo pipefail
ridge=$1 device=$2 cells=${3:-512} steps=${4:-200}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
size=${cells}x${cells}x${cells}
printf '%s,%s,%s\n' 4.5 $((cells / 2)) $((cells / 2)) >source.csv
for ((i = 8; i < cells - 8; i += 8)); do printf '4,%s.5,%s.25\n' $((cells / 2)) "$i"; done >receivers.csv
common="--size $size --speed 2000 --spacing 5 --sources source.csv --receivers receivers.csv --device $device"

# seconds ARGUMENTS...: of the steps, as the command prints them
seconds() {
  "$ridge" stencil acoustic $common "$@" >report.txt
  sed -nE 's/^1 shots of [0-9]+ steps in ([0-9.]+) (s|ms|us),.*/\1 \2/p' report.txt |
    awk '{ print $1 * ($2 == "s" ? 1 : $2 == "ms" ? 1e-3 : 1e-6) }'
}
# per_step ARGUMENTS...: from runs of STEPS and 3 STEPS; `short` and `long` are their traces
per_step() {
  local one two
  one=$(seconds "$@" --steps "$steps" --record short.npy)
  two=$(seconds "$@" --steps $((3 * steps)) --record long.npy)
  awk -v a="$one" -v b="$two" -v n=$((2 * steps)) 'BEGIN { print (b - a) / n }'
}
rate() { awk -v s="$1" -v n="$cells" 'BEGIN { printf "%.3f ms a step, %.1f Gcell/s", 1e3 * s, n * n * n / s / 1e9 }'; }

for layer in 0 8 20; do
  forward=$(per_step --layer "$layer")
  echo "forward, layers of $layer: $(rate "$forward")"
  # The gradient of the run's own traces times 0: the adjoint's cost does not depend on the values.
  one=$(seconds --layer "$layer" --steps "$steps" --observed short.npy --gradient g.npy --memory 100G)
  two=$(seconds --layer "$layer" --steps $((3 * steps)) --observed long.npy --gradient g.npy --memory 100G)
  grep history report.txt
  both=$(awk -v a="$one" -v b="$two" -v n=$((2 * steps)) 'BEGIN { print (b - a) / n }')
  echo "gradient, layers of $layer: $(rate "$both"), $(awk -v a="$both" -v b="$forward" 'BEGIN { printf "%.2f", a / b }') of forward"
done
