#!/usr/bin/env bash
# Input and output files of every command: an input is never replaced, links are followed, permissions are kept.
#   files_test.sh RIDGE
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
umask 022

head -c 2048 /dev/zero | npy c.npy '<c8' '(4, 64)'
head -c 400000 /dev/urandom >samples.raw
{ printf 'P5\n50 40\n255\n' && head -c 2000 /dev/urandom; } >a.pgm
{ printf 'P5\n50 40\n255\n' && head -c 2000 /dev/urandom; } >b.pgm
head -c $((64 * 1024 * 8)) /dev/zero >echoes.raw
head -c 4096 /dev/zero | tr '\0' 'A' | npy grid.npy '<f4' '(32, 32)'
echo 'void twice(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }' >loop.cpp
mkdir sub

# --- an output that is also an input is rejected under every name -----------------------------------------------------
# kept INPUT COMMAND...: rejected, and the input is unchanged
kept() {
  local input=$1 before
  shift
  before=$(cksum <"$input")
  mistake 'this is also the input' "$ridge" "$@"
  [ "$before" = "$(cksum <"$input")" ] || fail "$input was replaced by: $*"
}
# names FILE: other names of it
names() {
  rm -f link hard
  ln -s "$1" link
  ln "$1" hard
  echo "$1 ./$1 sub/../$1 $PWD/$1 link hard"
}
for name in $(names c.npy); do kept c.npy fft c.npy "$name"; done
for name in $(names samples.raw); do
  kept samples.raw channelize samples.raw "$name" --channels 16 --taps 4
  kept samples.raw channelize samples.raw "$name" --channels 16 --taps 4 --resume
  kept samples.raw channelize synthesize samples.raw "$name" --channels 16 --taps 4
  kept samples.raw channelize samples.raw x.raw --flags "$name"
done
for name in $(names echoes.raw); do kept echoes.raw sar --pulses 64 --samples 1024 --in echoes.raw --out "$name"; done
rm link hard
ln -s a.pgm link.pgm
ln -s a.pgm link.npy
for name in a.pgm ./a.pgm link.pgm; do
  kept a.pgm image gauss 2 a.pgm "$name"
  kept a.pgm variance a.pgm "$name"
  kept a.pgm flow a.pgm b.pgm x.flo --picture "$name"
  kept a.pgm image cross-bilateral 2 2 20 b.pgm "$name" --guide a.pgm
done
kept a.pgm flow b.pgm a.pgm link.npy
kept grid.npy stencil heat --in grid.npy --steps 2 --out sub/../grid.npy
kept grid.npy stencil heat --in grid.npy --steps 2 --checkpoint grid.npy
kept grid.npy stencil acoustic --velocity grid.npy --steps 2 --out grid.npy
kept grid.npy stencil maxwell --permittivity grid.npy --steps 2 --record grid.npy
kept loop.cpp place loop.cpp --function twice --emit openmp --out ./loop.cpp
kept loop.cpp place loop.cpp --report loop.cpp
head -c 512 /dev/zero >weights.f64
kept weights.f64 channelize design - --channels 16 --taps 4 --weights weights.f64 --save weights.f64
mistake 'this is also the input' "$ridge" fft no-such.npy no-such.npy
# Through standard input, and pictures whose names begin like the input's.
cp c.npy before.npy
mistake 'this is also the input' "$ridge" fft - c.npy <c.npy
same before.npy c.npy "read from standard input"
if "$ridge" stencil heat --size 16x16 --steps 1 --out frame_000000.png >/dev/null 2>&1; then
  kept frame_000000.png stencil heat --in frame_000000.png --steps 2 --every 1 --png frame
fi
# Two outputs of one name.
mistake 'name the same file' "$ridge" stencil acoustic --size 32x32 --steps 2 --out x.npy --record ./x.npy
mistake 'name the same file' "$ridge" stencil heat --size 32x32 --steps 2 --out x.npy --out x.npy
mistake 'is empty' "$ridge" fft c.npy ''

# --- an existing output keeps its permissions, a link stays a link -----------------------------------------------------
# replaced OUT COMMAND...: OUT is a link to sub/OUT, whose mode is 600 before and after
replaced() {
  local out=$1
  shift
  echo old >"sub/$out"
  chmod 600 "sub/$out"
  ln -sf "sub/$out" "$out"
  "$ridge" "$@" >"$beside/out" 2>"$beside/err" || fail "$*: $(cat "$beside/err")"
  [ -L "$out" ] || fail "$out is no link any more: $*"
  [ "$(stat -c %a "sub/$out")" = 600 ] || fail "$out has mode $(stat -c %a "sub/$out"): $*"
  ! cmp -s -n 3 "sub/$out" <(echo old) || fail "sub/$out was not written: $*"
  [ -z "$(find . -name '*tmp-*' -o -name '*.part')" ] || fail "left behind: $(find . -name '*tmp-*' -o -name '*.part')"
  rm -f "$out" "sub/$out"
}
replaced out.npy fft c.npy out.npy
replaced out.raw channelize samples.raw out.raw --channels 16 --taps 4
replaced out.npy stencil heat --in grid.npy --steps 2 --out out.npy
replaced out.vti stencil heat --in grid.npy --steps 2 --out out.vti
replaced out.ckp stencil heat --in grid.npy --steps 2 --checkpoint out.ckp
[ -e sub/out.ckp.previous ] || fail "the older checkpoint is not beside the newer one"
rm -f sub/out.ckp.previous
replaced out.pgm image gauss 2 a.pgm out.pgm
replaced out.flo flow a.pgm b.pgm out.flo
replaced out.raw sar --pulses 64 --samples 1024 --in echoes.raw --out out.raw
replaced out.svg channelize design out.svg --channels 16 --taps 4
replaced out.json bench transpose --device host --rows 64 --columns 64 --seconds 0 --plan-seconds 0 --json out.json
# A link to a missing file creates the file; a loop of links is an error.
ln -s sub/new.npy new.npy
"$ridge" fft c.npy new.npy || fail "a link to a file that is not there"
[ -L new.npy ] && [ -s sub/new.npy ] || fail "the link's target was not made"
ln -s loop.npy loop.npy
mistake 'cannot write loop.npy' "$ridge" fft c.npy loop.npy
# New files have the usual mode.
"$ridge" fft c.npy usual.npy || fail "usual.npy"
[ "$(stat -c %a usual.npy)" = 644 ] || fail "a new file has mode $(stat -c %a usual.npy)"
# A read-only file is kept; root may write everything.
if [ "$(id -u)" -ne 0 ]; then
  chmod 444 usual.npy
  mistake 'it is read-only' "$ridge" fft c.npy usual.npy
fi

# --- temporaries of processes that were killed -------------------------------------------------------------------------
mkfifo never
"$ridge" fft - killed.raw --shape 64 <never &
process=$!
exec 9>never
head -c 200000 samples.raw >&9
for _ in $(seq 300); do [ -n "$(find . -name 'killed.raw.tmp-*')" ] && break || sleep 0.1; done
left=$(find . -name 'killed.raw.tmp-*')
[ -n "$left" ] || fail "no temporary to be seen"
# Another run keeps the temporary file of a running process.
"$ridge" fft c.npy other.npy || fail "other.npy"
[ -e "$left" ] || fail "the temporary of a running process was removed"
kill -KILL $process
wait $process 2>/dev/null
exec 9>&-
[ -e "$left" ] || fail "a kill removes nothing"
: >"notes.tmp-ridge-1-x"  # not a name of ours
"$ridge" fft c.npy other.npy || fail "other.npy again"
[ ! -e "$left" ] || fail "the temporary of a killed process is still there"
[ -e notes.tmp-ridge-1-x ] || fail "a file of the user's was removed"

# --- a limit on file sizes is an error, like a full disk ---------------------------------------------------------------
head -c 4000000 /dev/zero >large.raw
{ printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 1000), }" && cat large.raw; } >large.npy
{ printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }" && head -c 20 /dev/zero; } >line.npy
for command in "transpose large.npy x.npy --memory 2M" "convolve large.npy line.npy x.npy --memory 2M" "fft large.raw x.raw --shape 1000" "channelize large.raw x.raw --channels 16 --taps 4" \
  "stencil heat --size 2000x1000 --steps 1 --out x.npy" "image resize 30 a.pgm x.pgm"; do
  # shellcheck disable=SC2086
  (
    failures=0
    ulimit -f 1000
    mistake 'File too large' "$ridge" $command
    exit $failures
  )
  failures=$((failures + $?))
  [ -z "$(ls x.* 2>/dev/null)" ] || fail "$command left $(ls x.*)"
done
finish
