#!/usr/bin/env bash
# A signal that ends a run leaves nothing behind, and the run ends by that signal.
#   signals_test.sh RIDGE
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"

# ended SIGNAL OUT COMMAND...: started with a pipe that stays open; once its output has been begun, the signal.
ended() {
  local signal=$1 out=$2 process number
  shift 2
  number=$(kill -l "$signal")
  rm -f input
  mkfifo input
  "$@" <input >"$beside/out" 2>"$beside/err" &
  process=$!
  exec 9>input
  head -c 200000 beginning >&9
  for _ in $(seq 300); do
    [ -n "$(find . -name "*$out.tmp-*")" ] && break
    sleep 0.1
  done
  [ -n "$(find . -name "*$out.tmp-*")" ] || fail "$*: no temporary to be seen: $(ls; cat "$beside/err")"
  kill -s "$signal" $process
  wait $process
  local code=$?
  exec 9>&-
  rm -f input
  [ $code -eq $((128 + number)) ] || fail "SIG$signal: exit $code of $*: $(cat "$beside/err")"
  [ "$(ls)" = beginning ] || fail "SIG$signal: left behind by $*: $(ls)"
}

head -c 1000000 /dev/urandom >beginning
for signal in INT TERM HUP; do
  # Shells start what runs in the background with SIGINT ignored; this gives it back.
  reset=(env --default-signal="$signal")
  ended $signal out.raw "${reset[@]}" "$ridge" channelize - out.raw --channels 64 --taps 8 --memory 64K
  ended $signal out.raw "${reset[@]}" "$ridge" fft - out.raw --shape 64 --type f32
  ended $signal out.raw "${reset[@]}" "$ridge" sar --in - --out out.raw --pulses 64 --samples 1024
done
finish
