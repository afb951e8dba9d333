#!/usr/bin/env bash
# Repeated kill -9: everything reported as saved is there, no partial file is left, and the next run continues.
#   kills_test.sh RIDGE WRITER [KILLS]
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"
writer=$2
kills=${3:-1000}
[ -n "${RIDGE_SLOW:-}" ] || { echo "skipped: a slow test, RIDGE_SLOW=1" && exit 77; }

# doze MOST: sleeps up to MOST milliseconds
doze() { sleep "0.$(printf %03d $((RANDOM % $1)))"; }

# --- writers of wisdom and of checkpoints, two at a time if that is allowed
# -----------------------------------------------
for what in wisdom checkpoint; do
  promised=
  for kill in $(seq "$kills"); do
    "$writer" $what file 1000000 >"$beside/one" 2>"$beside/err" &
    one=$!
    doze 40
    kill -KILL $one 2>/dev/null || fail "$what: ended by itself: $(cat "$beside/err")"
    wait $one 2>/dev/null
    last=$(grep -E '^[0-9]+$' "$beside/one" | tail -n 1)
    [ -n "$last" ] && promised=$last
    [ -n "$promised" ] || continue  # killed before it reported anything as saved
    "$writer" check $what file "$promised" >"$beside/out" 2>&1 || fail "$what, kill $kill: $(cat "$beside/out")"
    [ $failures -lt 10 ] || finish
    # Old entries only slow the writer down.
    if [ $what = wisdom ] && [ "$promised" -gt 3000 ]; then rm -f file* && promised=; fi
  done
  left=$(ls -A | grep -vcE '^file(\.previous|\.part|\.lock|\.lock-next)?$')
  [ "$left" -le 1 ] || fail "$what: $left files left behind: $(ls -A)"  # the next process removes the last one's temporary
  echo "$what: $kills kills, the last promise $promised"
  rm -rf ./*
done

# --- runs of the command that resume from checkpoints
# --------------------------------------------------------------------
run=("$ridge" stencil heat --size 120x100 --steps 100000 --checkpoint run.ckp --checkpoint-every 50 --initial random --threads 1)
"$ridge" stencil heat --size 120x100 --steps 100000 --initial random --threads 1 --no-leap --out whole.npy >/dev/null || fail "whole"
for kill in $(seq $((kills / 20))); do
  "${run[@]}" --resume >"$beside/out" 2>"$beside/err" &
  process=$!
  doze 400
  kill -KILL $process 2>/dev/null
  wait $process 2>/dev/null
  grep -q "refused" "$beside/err" && fail "kill $kill: a damaged checkpoint: $(cat "$beside/err")"
done
"${run[@]}" --resume --out run.npy >"$beside/out" 2>"$beside/err" || fail "goes on: $(cat "$beside/err")"
same whole.npy run.npy "killed $((kills / 20)) times"
rm -f ./*

# --- streams that are resumed -----------------------------------------------------------------------------------------
"$ridge" channelize signal in.raw --stations 2 --block 64 --seconds 2 || fail "signal"
bank=(--channels 64 --taps 8 --stations 2 --quiet --threads 1)
"$ridge" channelize in.raw whole.raw "${bank[@]}" || fail "whole"
for kill in $(seq $((kills / 20))); do
  "$ridge" channelize in.raw out.raw "${bank[@]}" --memory 64K --resume 2>"$beside/err" &
  process=$!
  doze 120
  kill -KILL $process 2>/dev/null
  wait $process 2>/dev/null
  [ -s "$beside/err" ] && fail "kill $kill: $(cat "$beside/err")"
  # Long enough: starts again.
  [ -e out.raw ] && [ "$(size out.raw)" -ge "$(size whole.raw)" ] && same whole.raw out.raw "kill $kill" && rm -f out.raw
done
"$ridge" channelize in.raw out.raw "${bank[@]}" --resume || fail "goes on"
same whole.raw out.raw "killed $((kills / 20)) times"
finish
