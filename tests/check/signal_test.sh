#!/usr/bin/env bash
# A signal that ends `ridge check` during a problem makes it print the command that repeats it.   signal_test.sh RIDGE
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
# Otherwise a sanitizer would handle the signals.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0:handle_abort=0
for signal in SEGV ABRT; do
  RIDGE_BACKENDS=host "$ridge" check transpose --device host --seconds 60 --seed 5 >/dev/null 2>err &
  pid=$!
  sleep 1
  kill -"$signal" $pid
  wait $pid
  rc=$?
  [ $rc -gt 128 ] || fail "SIG$signal: exit $rc"
  grep -qE "ridge check transpose --device host --seed 5 --case [0-9]+" err || fail "SIG$signal: no command in $(cat err)"
done
finish
