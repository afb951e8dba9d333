#!/usr/bin/env bash
# The library under mpirun: boxes and transforms of random problems on one to nine processes, mistakes, a dead process.
#   spread_test.sh SPREAD MPIRUN
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
spread=$1 mpirun=$2
under_mpi "$mpirun"
cases=8 numbers="1 2 3 4 6 9"
[ "${RIDGE_SLOW:-0}" = 1 ] && cases=200 numbers="1 2 3 4 5 6 7 8 9"
for n in $numbers; do
  for what in redistribute fft; do
    timeout 120 "$mpirun" -n $n "$spread" $what "$n" $cases >stdout 2>stderr || fail "$what on $n: $(cat stderr)"
    has "all well on $n" stdout
  done
done
for n in 2 3 4 7; do
  timeout 120 "$mpirun" -n $n "$spread" stencil "$n" 4 >stdout 2>stderr || fail "stencil on $n: $(cat stderr)"
  has "all well on $n" stdout
done
for n in 1 2 3 5; do
  timeout 120 "$mpirun" -n $n "$spread" filterbank "$n" 6 >stdout 2>stderr || fail "filterbank on $n: $(cat stderr)"
  has "all well on $n" stdout
done
# A device of each process: blocks in the host's memory it works in, and through page-locked memory.
for carry in mapped staged; do
  RIDGE_BACKENDS=host,opencl RIDGE_MPI_DEVICE=$carry timeout 120 "$mpirun" -n 3 "$spread" device opencl:0 >stdout 2>stderr
  code=$?
  if [ $code -eq 77 ]; then echo "no OpenCL device: not tried there"; break; fi
  [ $code -eq 0 ] || fail "device, $carry: $(cat stderr)"
  has "all well on 3" stdout
done
for n in 2 3; do
  timeout 60 "$mpirun" -n $n "$spread" mistakes >stdout 2>stderr || fail "mistakes on $n: $(cat stderr)"
  has "all well" stdout
done

# One that never comes: the others name it.
SECONDS=0
timeout 60 "$mpirun" -n 3 "$spread" stopped >stdout 2>stderr && fail "a process that never came is a success"
[ $SECONDS -le 20 ] || fail "the others waited $SECONDS s"
has "rank 1 does not answer" stderr
[ "$(grep -c '^ridge: rank' stderr)" -eq 1 ] || fail "not one line: $(cat stderr)"
rm -f stdout stderr half_way.npy
finish
