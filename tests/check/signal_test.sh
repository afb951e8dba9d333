#!/usr/bin/env bash
# What ends `ridge check` in the middle of a problem leaves the command that repeats it.   signal_test.sh RIDGE
set -u
ridge=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for signal in SEGV ABRT; do
  RIDGE_BACKENDS=host "$ridge" check transpose --device host --seconds 60 --seed 5 >/dev/null 2>"$folder/err" &
  pid=$!
  sleep 1
  kill -"$signal" $pid
  wait $pid
  rc=$?
  [ $rc -gt 128 ] || { echo "SIG$signal: exit $rc"; exit 1; }
  grep -qE "ridge check transpose --device host --seed 5 --case [0-9]+" "$folder/err" ||
    { echo "SIG$signal: no command in"; cat "$folder/err"; exit 1; }
done
echo "both named their problem"
