#!/usr/bin/env bash
# Builds, tests and benchmarks everything on a GPU machine without internet access, in one call.
#   bench/gpu_machine.sh [build|test|machine|bench|check|sanitize ...]      results go to $OUT (default: build-gpu/out)
# Missing dependencies are taken from .gpu-deps/usr (an unpacked set of Debian packages).
set -uo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-build-gpu/out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
steps=("$@")
((${#steps[@]})) || steps=(build test machine bench)
export LD_LIBRARY_PATH=$PWD/.gpu-deps/usr/lib/x86_64-linux-gnu:${LD_LIBRARY_PATH:-}
export RIDGE_CACHE_DIR=$PWD/build-gpu/cache
mkdir -p "$RIDGE_CACHE_DIR"

# NVIDIA's OpenCL is often installed without its .icd file.
icd=$PWD/build-gpu/icd
mkdir -p "$icd"
echo libnvidia-opencl.so.1 >"$icd/nvidia.icd"
cp /etc/OpenCL/vendors/*.icd "$icd/" 2>/dev/null
export OCL_ICD_VENDORS=$icd OPENCL_VENDOR_PATH=$icd

# together NAME COMMAND...: starts a command in the background; `check` and `sanitize` run concurrently and are awaited
# last.
names=()
pids=()
together() {
  local name=$1
  shift
  "$@" >"$out/$name.log" 2>&1 &
  pids+=($!)
  names+=("$name")
}
wait_for_all() {
  local i
  for i in "${!pids[@]}"; do
    wait "${pids[$i]}" || failed="${failed:-} ${names[$i]}"
    echo "--- ${names[$i]}"
    grep -vE "^========= *$" "$out/${names[$i]}.log" | tail -20
  done
  pids=()
  names=()
}

ridge=build-gpu/ridge
for step in "${steps[@]}"; do
  case $step in check | sanitize) ;; *) wait_for_all ;; esac  # timings need an otherwise idle machine
  echo "=== $step"
  case $step in
    build)
      cmake -S . -B build-gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DRIDGE_UNITY=ON -DCMAKE_PREFIX_PATH="$PWD/.gpu-deps/usr" \
        >"$out/configure.log" 2>&1 || { tail -20 "$out/configure.log"; exit 1; }
      ninja -C build-gpu -k0 >"$out/build.log" 2>&1 || { grep -E "error|FAILED" "$out/build.log" | head -40; }
      tail -1 "$out/build.log"
      ;;
    test) (cd build-gpu && ctest -j8 --output-on-failure -E "install|page|scripts" >"$out/test.log" 2>&1)
      grep -E "Failed|\*\*\*|tests passed|Error" "$out/test.log" | head -60 ;;
    machine)
      time $ridge machine --refresh
      $ridge machine --json >"$out/machine.json"
      time $ridge machine >/dev/null
      ;;
    bench)
      $ridge devices
      for device in cuda:0 opencl:nvidia host; do
        $ridge bench transpose --device $device --json "$out/transpose-${device%%:*}.json"
      done
      ;;
    fft)
      bench="$ridge bench fft --device host --against fftw --seconds 0.1"
      $bench --lengths 2^1..2^22 --json "$out/fft-f32.json" | tail -23
      $bench --lengths 2^1..2^20 --type f64 | tail -1
      $bench --lengths smooth | tail -1
      $bench --lengths primes | tail -1
      $bench --lengths 2^4..2^20 --real | tail -1
      $bench --shape 64x64,256x256,1024x1024,32x32x32,128x128x128 | tail -6
      $bench --lengths 2,4,8,16,32,64 --batch-points 1000000 | tail -7
      $bench --lengths 16,256,4096,65536,1048576 --batch-points 16777216 --threads 16 | tail -6
      $bench --lengths 16777216 --threads 16 | tail -2
      $bench --lengths 16777216 --threads 1 | tail -2
      ;;
    check)  # random problems against plain references, CHECK_SECONDS per device, all devices concurrently: the host's references and
            # the compilers take most of the time
      for device in cuda:0 opencl:nvidia; do
        together "check-${device%%:*}" \
          $ridge check --device $device --seconds "${CHECK_SECONDS:-300}" --seed "${CHECK_SEED:-today}"
      done
      if command -v mpirun >/dev/null; then  # transforms distributed over processes
        together check-mpi timeout 300 mpirun --oversubscribe -n 5 $ridge check mpi --seconds 30 --seed "${CHECK_SEED:-today}"
      fi
      ;;
    sanitize)  # smaller checks under the toolkit's sanitizer, SANITIZE_SECONDS per tool
      sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -1)
      [ -n "$sanitizer" ] || { echo "no compute-sanitizer on this machine"; exit 1; }
      for tool in memcheck racecheck initcheck synccheck; do
        left_out=()  # racecheck does not follow arrivals by one work-item per warp: bench/race_barriers.cu
        [ $tool = racecheck ] && left_out=(--kernel-name-exclude kns=filter_bank_split)
        RIDGE_BACKENDS=host,cuda together sanitize-$tool "$sanitizer" --tool $tool --error-exitcode 3 --print-limit 20 "${left_out[@]}" \
          $ridge check --device cuda:0 --seconds "${SANITIZE_SECONDS:-60}" --seed "${CHECK_SEED:-today}" --points 65536
      done
      ;;
    *) echo "unknown step $step: use build, test, machine, bench, check or sanitize"; exit 1 ;;
  esac
done
wait_for_all
[ -z "${failed:-}" ] || { echo "FAILED:$failed"; exit 1; }
