#!/usr/bin/env bash
# The library under mpirun: boxes and transforms of random problems on one to nine processes, invalid calls, a dead
# process.
# distributed_test.sh PROGRAM MPIRUN
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
distributed=$1 mpirun=$2
under_mpi "$mpirun"
# All random cases of one number of processes share one launch.
# random PROCESSES WHAT CASES...
random() {
  local n=$1
  shift
  timeout 120 "$mpirun" -n "$n" "$distributed" "$@" >stdout 2>stderr || fail "$* on $n: $(cat stderr)"
  has "all tests passed on $n" stdout
}
if [ "${RIDGE_SLOW:-0}" = 1 ]; then
  for n in 1 2 3 4 5 6 7 8 9; do random $n redistribute 200 fft 200 boxes 200 columns 200 stencil 4 filterbank 6; done
else
  random 1 redistribute 8 fft 8 boxes 8 columns 8 filterbank 6
  random 2 redistribute 8 fft 8 boxes 8 columns 8 stencil 4 filterbank 6
  random 3 redistribute 8 fft 8 boxes 8 columns 8 stencil 4 filterbank 6
  random 4 redistribute 8 fft 8 boxes 8 columns 8 stencil 4
  random 6 redistribute 8 fft 8 boxes 8 columns 8 filterbank 6
  random 9 redistribute 8 fft 8 boxes 8 columns 8 stencil 4
fi
# One device per process: blocks in host memory used by the device, and through page-locked memory.
for carry in mapped staged; do
  RIDGE_BACKENDS=host,opencl RIDGE_MPI_DEVICE=$carry timeout 120 "$mpirun" -n 3 "$distributed" device opencl:0 >stdout 2>stderr
  code=$?
  if [ $code -eq 77 ]; then echo "no OpenCL device: not tried there"; break; fi
  [ $code -eq 0 ] || fail "device, $carry: $(cat stderr)"
  has "all tests passed on 3" stdout
done
for n in 2 3; do
  timeout 60 "$mpirun" -n $n "$distributed" mistakes >stdout 2>stderr || fail "mistakes on $n: $(cat stderr)"
  has "all well" stdout
done

# A process that never arrives is named by the others.
SECONDS=0
timeout 60 "$mpirun" -n 3 "$distributed" stopped >stdout 2>stderr && fail "a process that never came is a success"
[ $SECONDS -le 20 ] || fail "the others waited $SECONDS s"
has "rank 1 does not answer" stderr
[ "$(grep -c '^ridge: rank' stderr)" -eq 1 ] || fail "not one line: $(cat stderr)"
rm -f stdout stderr half_way.npy
finish
