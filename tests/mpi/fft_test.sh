#!/usr/bin/env bash
# mpirun ridge fft: the same spectrum as in one process; output files are complete or absent.
#   fft_test.sh RIDGE MPIRUN EXAMPLE
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
mpirun=$2 example=$3
under_mpi "$mpirun"
noise() { head -c "$1" /dev/urandom; }
noise 7200 >shorts
npy volume.npy '<i2' '(12, 15, 20)' <shorts
npy line.npy '<i2' '(3600,)' <shorts
npy stack.npy '<i2' '(3, 30, 40)' <shorts

# compare NAME RANKS OPTIONS...
compare() {
  local name=$1 ranks=$2 n
  shift 2
  "$ridge" fft "$name.npy" one.npy "$@" 2>stderr || fail "$name $*: $(cat stderr)"
  for n in $ranks; do
    rm -f many.npy
    timeout 60 "$mpirun" -n "$n" "$ridge" fft "$name.npy" many.npy "$@" 2>stderr || fail "$name $* on $n: $(cat stderr)"
    [ "$(size one.npy)" = "$(size many.npy)" ] || fail "$name $* on $n: $(size many.npy) bytes instead of $(size one.npy)"
    tail -c +257 one.npy >one.raw
    tail -c +257 many.npy >many.raw
    close_to one.raw many.raw 5e-7 || fail "$name $* on $n: another spectrum"
  done
}
compare volume "2 5" --shape 12x15x20
compare volume 3 --shape 12x15x20 --real
cp one.npy kept.npy
timeout 60 "$mpirun" -n 4 "$ridge" fft volume.npy many.npy --shape 12x15x20 --real --variant pencils 2>stderr || fail "$(cat stderr)"
tail -c +257 kept.npy >one.raw && tail -c +257 many.npy >many.raw && close_to one.raw many.raw 5e-7 || fail "another spectrum by pencils"
compare stack 3 --shape 30x40
compare line 3 --shape 3600 --real
"$ridge" fft volume.npy half.npy --shape 12x15x20 --real
compare half 3 --shape 12x15x20 --real --inverse --scale 1/n

text=$(timeout 60 "$mpirun" -n 3 "$example" 2>&1)
[ "$text" = "peak at 5 3 7" ] || fail "the example says: $text"

# The predicted time on more processes and the measured time on these; the same spectrum as FFTW's, if available.
timeout 60 "$mpirun" -n 2 "$ridge" size --ranks 4096 --node 16 --shape 32x32x64 >"$beside/out" 2>"$beside/err" || fail "$(cat "$beside/err")"
has "2 ranks here: predicted" "$beside/out"
has "1024  pencils" "$beside/out"
timeout 60 "$mpirun" -n 2 "$ridge" bench fft --shape 8x12x10 --real --against fftw-mpi --seconds 0 >"$beside/out" 2>"$beside/err" ||
  fail "$(cat "$beside/err")"
has "2 processes" "$beside/out"

# --- mistakes: reported once, no file left behind -------------------------------------------------------------------
wrong() {
  local words=$1 before
  shift
  before=$(ls)
  timeout 60 "$mpirun" -n 3 "$ridge" fft "$@" >"$beside/out" 2>"$beside/err"
  [ $? -eq 1 ] || fail "not exit 1: $*"
  [ "$(grep -c '^ridge: ' "$beside/err")" -eq 1 ] || fail "not reported once: $(cat "$beside/err")"
  grep '^ridge: ' "$beside/err" | grep -qF -- "$words" || fail "no \"$words\" in $(cat "$beside/err")"
  [ "$before" = "$(ls)" ] || fail "left behind by $*: $(ls)"
}
wrong "cannot read nowhere.npy" nowhere.npy x.npy
wrong "its last axes must be 7x7" volume.npy x.npy --shape 7x7
wrong "there is no folder" volume.npy no/such/x.npy --shape 12x15x20
wrong "not pipes" - x.npy --shape 12x15x20
wrong "nonsense" volume.npy x.npy --shape 12x15x20 --variant nonsense
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
  wrong "No space left on device" volume.npy small/x.npy --shape 12x15x20
  [ -z "$(ls small)" ] || fail "half a file: $(ls small)"
  umount small
fi

# --- a process is killed: the others end, and there is no file ------------------------------------------------------
noise 40000000 >many.raw
"$mpirun" -n 3 "$ridge" fft many.raw "$folder/out.npy" --shape 5x5x5 --samples i8 2>"$beside/err" &
launcher=$!
for _ in $(seq 300); do [ -n "$(find . -name 'out.npy.tmp-*')" ] && break || sleep 0.05; done
[ -n "$(find . -name 'out.npy.tmp-*')" ] || fail "no output begun: $(cat "$beside/err")"
SECONDS=0
kill -KILL "$(pgrep -f "^$ridge .*$folder/out" | sed -n 2p)"
wait $launcher && fail "a killed process is a success"
for _ in $(seq 100); do pgrep -f "$folder/out.npy" >/dev/null || break; sleep 0.1; done
[ $SECONDS -le 10 ] || fail "the others took $SECONDS s"
[ -s "$beside/err" ] || fail "not a word"
[ -z "$(find . -name 'out.npy*')" ] || fail "left behind: $(ls)"
finish
