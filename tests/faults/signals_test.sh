#!/usr/bin/env bash
# A signal that ends a run leaves no files behind, and the run ends by that signal.
#   signals_test.sh RIDGE
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"

# ended SIGNAL OUT COMMAND...: starts the command with an open pipe as input and sends the signal once OUT has been
# started.
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
  # Shells start background processes with SIGINT ignored; this restores the default.
  reset=(env --default-signal="$signal")
  ended $signal out.raw "${reset[@]}" "$ridge" channelize - out.raw --channels 64 --taps 8 --memory 64K
  ended $signal out.raw "${reset[@]}" "$ridge" fft - out.raw --shape 64 --type f32
  ended $signal out.raw "${reset[@]}" "$ridge" sar --in - --out out.raw --pulses 64 --samples 1024
done

# ridge place: its folder under TMPDIR is removed and the compilers it has started end with it.
rm -f beginning
echo 'void twice(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }' >loop.cpp
cat >compiler <<'END'
#!/bin/sh
# A compiler that has a child process, like g++, and never ends.
sleep 1000 &
echo $$ >>"$PIDS/compilers"
echo $! >>"$PIDS/children"
wait
END
chmod +x compiler
# gone SIGNAL FILE: waits until no process whose number is in the file runs any more
gone() {
  local child
  while read -r child; do
    for _ in $(seq 100); do kill -0 "$child" 2>/dev/null || break; sleep 0.1; done
    kill -0 "$child" 2>/dev/null && fail "$1: process $child still runs"
  done <"$2"
}
if "$ridge" place loop.cpp --verdicts >/dev/null 2>&1; then
  for signal in INT TERM HUP KILL; do
    mkdir -p temporary
    rm -rf "$beside/pids"
    mkdir "$beside/pids"
    env --default-signal=INT TMPDIR="$PWD/temporary" PIDS="$beside/pids" CXX="$PWD/compiler" \
      "$ridge" place loop.cpp --function twice --emit openmp >"$beside/out" 2>"$beside/err" &
    process=$!
    for _ in $(seq 300); do [ -s "$beside/pids/children" ] && break || sleep 0.1; done
    [ -s "$beside/pids/children" ] || fail "no compiler was started: $(cat "$beside/err" "$beside/out")"
    kill -s $signal $process
    wait $process 2>/dev/null
    [ $? -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: place ended otherwise: $(cat "$beside/err")"
    if [ $signal = KILL ]; then
      # SIGKILL allows no cleanup, but the compiler itself ends with its parent.
      gone SIGKILL "$beside/pids/compilers"
      xargs kill <"$beside/pids/children"
      rm -rf temporary
    else
      gone "SIG$signal" "$beside/pids/compilers"
      gone "SIG$signal" "$beside/pids/children"
      [ -z "$(ls -A temporary)" ] || fail "SIG$signal: left in TMPDIR: $(ls -A temporary)"
    fi
    [ "$(ls | grep -vxE 'loop.cpp|compiler|temporary')" = "" ] || fail "SIG$signal: left by place: $(ls)"
  done
else
  echo "no placement compiler here: its children are not tested"
fi
finish
