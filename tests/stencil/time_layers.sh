#!/bin/bash
# Times acoustic waves with absorbing layers, their gradients, and batches of shots in 2D on a device. The command times
# the steps alone, without planning, compiling and transfers. Not a test: it prints figures for docs/measurements.
#
#   tests/stencil/time_layers.sh build/ridge cuda:0 [CELLS_PER_AXIS] [STEPS]
set -euo pipefail
ridge=$(realpath "$1") device=$2 cells=${3:-512} steps=${4:-400}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# seconds ARGUMENTS...: of the steps, as the command prints them
seconds() {
  "$ridge" stencil acoustic --device "$device" "$@" >report.txt
  sed -nE 's/^[0-9]+ shots of [0-9]+ steps in ([0-9.]+) (s|ms|us),.*/\1 \2/p' report.txt |
    awk '{ print $1 * ($2 == "s" ? 1 : $2 == "ms" ? 1e-3 : 1e-6) }'
}
# rate SECONDS STEPS CELLS
rate() { awk -v s="$1" -v n="$2" -v c="$3" 'BEGIN { printf "%.4f ms per step, %.1f Gcell/s", 1e3 * s / n, c * n / s / 1e9 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# --- 3D, one shot -----------------------------------------------------------------------------------------------------
size=${cells}x${cells}x${cells} all=$((cells * cells * cells))
printf '%s,%s,%s\n' 4.5 $((cells / 2)) $((cells / 2)) >source.csv
for ((i = 8; i < cells - 8; i += 8)); do printf '4,%s.5,%s.25\n' $((cells / 2)) "$i"; done >receivers.csv
shot="--size $size --speed 2000 --spacing 5 --sources source.csv --receivers receivers.csv --steps $steps"
for layer in 0 8 20; do
  plain=$(seconds --size "$size" --speed 2000 --spacing 5 --layer "$layer" --steps "$steps")
  forward=$(seconds $shot --layer "$layer" --record traces.npy)
  echo "forward, layers of $layer: $(rate "$forward" "$steps" $all); without receivers: $(rate "$plain" "$steps" $all)"
  # The gradient of the run's own traces: the cost of the adjoint does not depend on the values.
  for bits in 16 8; do
    both=$(seconds $shot --layer "$layer" --observed traces.npy --gradient g.npy --memory 40G --bits $bits)
    echo "gradient, layers of $layer: $(rate "$both" "$steps" $all), $(ratio "$both" "$forward") of forward; $(grep history report.txt)"
  done
done

# --- 2D, many shots at once -------------------------------------------------------------------------------------------
for ((i = 0; i < 200; ++i)); do echo "3,$((5 * i + 2))"; done >row.csv
for shots in 1 8 32 128; do
  for ((i = 0; i < shots; ++i)); do echo "4,$(((990 * i) / shots + 5))"; done >sources.csv
  line="--size 400x1000 --speed 2000 --spacing 5 --sources sources.csv --shots --receivers row.csv --steps 1000"
  forward=$(seconds $line --record traces.npy)
  echo "400x1000, $shots shots at once: $(rate "$forward" 1000 $((400000 * shots)))"
  both=$(seconds $line --observed traces.npy --gradient g.npy --memory 100G)
  echo "  gradient $(rate "$both" 1000 $((400000 * shots))), $(ratio "$both" "$forward") of forward; $(grep history report.txt)"
done
