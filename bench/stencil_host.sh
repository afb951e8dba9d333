#!/usr/bin/env bash
# Host figures of docs/measurements (stencils), relative to the ceilings measured in the same run. Redundant cells are
# not counted.
#   bench/stencil_host.sh [RIDGE [PART ...]]      parts: plane cube double cache core weak euler (all of them without)
# Needs an idle machine. `weak` needs mpirun; MPIRUN names another one.
set -uo pipefail
ridge=${1:-build/ridge}
shift
parts=("$@")
((${#parts[@]})) || parts=(plane cube double cache core weak euler)
export RIDGE_BACKENDS=host
cores=$(nproc)

# bench SECONDS OPTIONS: one row per variant: Gcell/s, fraction of the two-access roof, of the three-access roof, of
# peak, speed relative to the plain variant
bench() {
  local seconds=$1
  shift
  "$ridge" bench stencil --device host --seconds "$seconds" "$@" |
    sed -E '1d; s/ +host +/ | /; s/  +/ | /g; s/[^|]*: [0-9]+ threads in this run: /    roofs: /'
}
# weak VARIANT ROWS STEPS OPTIONS: 8192-float rows per process, one thread and one core per process
weak() {
  local variant=$1 rows=$2 steps=$3
  shift 3
  for n in 1 2 4 8 16; do
    ((n <= cores)) || continue
    printf '%-9s %2d processes: ' "$variant" $n
    ${MPIRUN:-mpirun} --bind-to core -n $n "$ridge" stencil heat --size $((rows * n))x8192 --steps "$steps" --threads 1 \
      --variant "$variant" "$@" 2>&1 | sed -n 's/.* in \([^,]*\), \([^ ]* [A-Za-z]*cell\/s\) by \(.*)\).*/\2 in \1 by \3/p'
  done
}

for part in "${parts[@]}"; do
  echo "=== $part"
  case $part in
    plane | double)
      type=$([ $part = plane ] && echo f32 || echo f64)
      bench 0.4 --stencil star2d:1 --type $type --size 8192x8192 --steps 200 --variant overlapped_tiles
      bench 0.4 --stencil star2d:1 --type $type --size 8192x8192 --steps 20 --variant streaming
      ;;
    cube) bench 0.4 --stencil star3d:1 --type f32 --size 512x512x512 --steps 48 --variant overlapped_tiles ;;
    cache)
      for size in 1024x2048 2048x2048 4096x4096; do
        bench 0.1 --stencil star2d:1 --type f32 --size $size --steps 256 --variant overlapped_tiles
      done
      bench 0.1 --stencil star2d:1 --type f32 --size 1024x2048 --steps 256 --variant register_blocked
      bench 0.1 --stencil star2d:1 --type f32 --size 1024x2048 --steps 256 --variant historical/dlt
      ;;
    core)
      for size in 18x512 64x1024; do
        bench 0.05 --stencil star2d:1 --type f32 --size $size --steps 512 --threads 1 --all
      done
      ;;
    weak)
      weak overlapped_tiles 2048 480 --halo 32
      weak streaming 8192 48 --halo 1
      ;;
    euler)
      for type in f32 f64; do
        for threads in 1 0; do
          "$ridge" stencil euler --flow blast --size 2048x1024 --steps 40 --type $type --threads $threads --measure |
            sed -n "s/.*, \([^ ]* [A-Za-z]*cell\/s\) by \(.*)\).*/$type \1 by \2/p"
        done
      done
      ;;
    *) echo "unknown part $part: use plane, cube, double, cache, core, weak or euler"; exit 1 ;;
  esac
done
