#!/usr/bin/env bash
# Full or closed standard output is an error of every command that prints: exit status 1 and one line.
#   standard_output_test.sh RIDGE
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"
[ -w /dev/full ] || { echo "skipped: no /dev/full here" && exit 77; }

"$ridge" channelize signal in.raw --seconds 0.01 --block 64 || fail "signal"
head -c 65536 /dev/urandom >in.f32
"$ridge" machine --help >/dev/null || fail "help"

# reports TEXT REDIRECTED-COMMAND...
reports() {
  local code=$1 words=$2
  shift 2
  [ "$code" -eq 1 ] || fail "exit $code instead of 1: $*"
  [ "$(wc -l <"$beside/err")" -eq 1 ] || fail "not one line by $*: $(cat "$beside/err")"
  grep -q "^ridge: cannot write standard output: $words" "$beside/err" || fail "no \"$words\" by $*: $(cat "$beside/err")"
}
refused() {
  "$@" >/dev/full 2>"$beside/err" </dev/null
  reports $? "No space left on device" "$@"
  "$@" >&- 2>"$beside/err" </dev/null
  reports $? "Bad file descriptor" "$@"
}
refused "$ridge"
refused "$ridge" --help
refused "$ridge" --version
refused "$ridge" devices
refused "$ridge" devices --json
refused "$ridge" wisdom show
refused "$ridge" size --rate 10
refused "$ridge" fft explain 1024
refused "$ridge" fft in.f32 - --shape 64 --samples f32
refused "$ridge" channelize in.raw - --channels 64 --quiet
refused "$ridge" channelize design - --channels 64 --taps 8
refused "$ridge" stencil heat --size 16x16 --steps 4
refused "$ridge" sar --pulses 64 --samples 1024
{ printf 'P5\n16 12\n255\n' && head -c 192 /dev/urandom; } >a.pgm
refused "$ridge" flow a.pgm a.pgm flow.flo
refused "$ridge" flow compare flow.flo flow.flo
refused "$ridge" variance a.pgm variance.npy
refused "$ridge" image gauss 1 a.pgm soft.pgm
refused "$ridge" check transpose --seconds 0
refused "$ridge" bench transpose --rows 64 --columns 64 --seconds 0 --device host
refused "$ridge" bench fft --lengths 16 --seconds 0
refused "$ridge" stencil acoustic --size 48x48 --steps 2
refused "$ridge" manual
refused "$ridge" completion bash
echo 'void twice(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }' >loop.cpp
if "$ridge" place loop.cpp --verdicts >/dev/null 2>&1; then
  refused "$ridge" place loop.cpp --verdicts
  refused "$ridge" place loop.cpp --json
fi

# A file that is opened next must not get the closed descriptor and receive the printed text.
"$ridge" stencil heat --size 16x16 --steps 4 --out good.npy >/dev/null || fail "heat"
"$ridge" stencil heat --size 16x16 --steps 4 --out bad.npy >&- 2>/dev/null
[ ! -e bad.npy ] || same good.npy bad.npy "standard output was closed"
"$ridge" fft - out.raw --shape 64 <&- 2>"$beside/err" && fail "closed standard input is a success"
grep -q "cannot read standard input" "$beside/err" || fail "closed standard input: $(cat "$beside/err")"
[ ! -e out.raw ] || fail "output of nothing"
"$ridge" devices >/dev/null 2>&- || fail "closed standard error"
finish
