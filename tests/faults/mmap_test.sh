#!/usr/bin/env bash
# Fails every mapping of shared memory between processes: the result is the same by messages, or an error line and no
# files left behind.
#   mmap_test.sh RIDGE SHIM MPIRUN
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"
shim=$2 mpirun=$3
under_mpi "$mpirun"
head -c 7200 /dev/urandom >shorts
npy in.npy '<i2' '(12, 15, 20)' <shorts
"$ridge" fft in.npy one.npy --shape 12x15x20 || fail "one process"
tail -c +257 one.npy >one.raw

# distributed VARIABLE...: two processes with these environment variables
distributed() { timeout 60 "$mpirun" -n 2 env LD_PRELOAD="$shim" "$@" "$ridge" fft in.npy out.npy --shape 12x15x20; }
distributed RIDGE_FAULT_COUNT="$beside/counts" 2>"$beside/err" || fail "without faults: $(cat "$beside/err")"
calls=$(sed -n 's/^mmap //p' "$beside/counts")
[ "${calls:-0}" -ge 2 ] || fail "no memory was shared: $calls mappings"
rm -f out.npy
before=$(ls)
for number in 1 "$calls" 1+; do
  rm -f out.npy out.raw
  if distributed RIDGE_FAULT="mmap:$number" 2>"$beside/err"; then
    tail -c +257 out.npy >out.raw
    close_to one.raw out.raw 5e-7 || fail "mapping $number fails: another spectrum"
  else
    grep -q '^ridge: .*memory shared between processes' "$beside/err" || fail "mapping $number fails, no line: $(cat "$beside/err")"
    [ "$(ls)" = "$before" ] || fail "mapping $number fails: left behind: $(ls)"
  fi
done
finish
