#!/usr/bin/env bash
# mpirun ridge channelize: stations and subbands distributed over processes give the same bytes as one process.
#   channelize_test.sh RIDGE MPIRUN
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
mpirun=$2
under_mpi "$mpirun"
on() {
  local n=$1
  shift
  timeout 120 "$mpirun" -n "$n" "$ridge" channelize "$@" >stdout 2>stderr || fail "$n processes, $*: $(cat stderr)"
}
alone() { "$ridge" channelize "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"; }

alone signal in.raw --stations 5 --block 64 --seconds 0.05 --samples i16
bank="--channels 64 --taps 8 --stations 5 --samples i16"
# compare NAME PROCESSES OPTIONS...: one process against each number of processes. Shares of the five stations are even,
# uneven or empty (7 processes) in the first line; the others need uneven and empty ones only.
compare() {
  local name=$1 processes=$2 n
  shift 2
  alone in.raw "one.$name" $bank "$@"
  for n in $processes; do
    rm -f "many.$name"
    on $n in.raw "many.$name" $bank --memory 64K "$@"
    same "one.$name" "many.$name" "$n processes, $*"
  done
}
compare raw "1 2 3 7"
compare npy "2 7" --oversample 4/3 --detect stokes --times 3
compare raw "3 7" --order channel --output-times 9
compare npy "3 7" --correlate --times 20
for i in 0 1 2 3; do echo "$((i * 700)) $(for s in 0 1 2 3 4 5 6 7 8 9; do echo -n "$((s % 5)).$((3 * s % 10)) "; done)"; done >delays.txt
compare raw 3 --delays delays.txt --rate 195312.5 --frequency 150
compare raw 7 --from-sample 1280
alone design - --channels 64 --taps 8 --window hamming --save other.f64
compare raw 3 --replace-weights 1280:other.f64

# The whole stream through the root's standard input, ending in the middle of a block.
head -c 1000003 in.raw >cut.raw
alone cut.raw one.raw $bank
timeout 120 "$mpirun" -n 3 "$ridge" channelize - many.raw $bank <cut.raw 2>stderr || fail "standard input: $(cat stderr)"
same one.raw many.raw "through a pipe"

# Subbands: fewer and more than processes.
for i in 0 1 2 3; do
  alone signal "sb$i.raw" --stations 2 --block 64 --seconds 0.02 --seed "$i"
  alone "sb$i.raw" "one$i.out" --channels 64 --stations 2
done
for n in 3 6; do
  rm -f many*.out
  on $n 'sb{}.raw' 'many{}.out' --subbands 0-3 --channels 64 --stations 2
  for i in 0 1 2 3; do same "one$i.out" "many$i.out" "subband $i on $n processes"; done
done

# A mistake is reported in one line on any rank, and no process is left waiting.
timeout 60 "$mpirun" -n 3 "$ridge" channelize nowhere out.raw >stdout 2>stderr && fail "a missing file is a success"
[ "$(grep -c '^ridge: cannot read nowhere' stderr)" -eq 1 ] || fail "not one line: $(cat stderr)"
timeout 60 "$mpirun" -n 3 "$ridge" channelize in.raw out.raw $bank --variant nonsense >stdout 2>stderr && fail "nonsense"
[ -e out.raw ] && fail "output left behind"

finish
