#!/usr/bin/env bash
# Measures common transforms on a GPU and writes the choices that packages install (docs/plan.md, shipped wisdom).
#   bench/gpu_wisdom.sh FILE [RIDGE [DEVICE [SECONDS]]]     packaging/ridge-wisdom.json was written on an H200
# Kernels are compiled first, by all cores; then problems are timed one after another until SECONDS (default 120) have passed.
set -uo pipefail
file=$1
export RIDGE=${2:-build/ridge} DEVICE=${3:-cuda:0}
end=$(($(date +%s) + ${4:-120}))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export RIDGE_SHIPPED_WISDOM=off
lengths() { # TYPE KIND
  for n in 1024 4096 65536 256 512 2048 8192 16384 32768 131072 262144 1048576 1000 1536 2000 3000 10000 100000; do
    for batch in 1 $((16777216 / n)); do echo "$n --batch $batch --type $1 $2"; done
  done
}
shapes() {
  for shape in 1024x1024 512x512 256x256x256 4096x4096 256x256 2048x2048 64x64x64 128x128x128; do echo "--shape $shape --type $1 $2"; done
}
for type in f32 f64; do
  for kind in "" --real; do lengths $type "$kind" && shapes $type "$kind"; done
done >"$work/list"
RIDGE_WISDOM=$work/none xargs -P "$(nproc)" -I{} sh -c '$RIDGE fft explain {} --device $DEVICE >/dev/null 2>&1' <"$work/list"
export RIDGE_WISDOM=$work/wisdom.json
count=0
while read -r line; do
  [ "$(date +%s)" -lt $end ] || break
  # shellcheck disable=SC2086
  $RIDGE fft explain $line --device $DEVICE >"$work/out" 2>&1 && count=$((count + 1)) || tail -1 "$work/out" >&2
done <"$work/list"
echo "$count of $(wc -l <"$work/list") problems timed"
"$RIDGE" wisdom ship "$file"
