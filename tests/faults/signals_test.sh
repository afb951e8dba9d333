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
# A compiler that has a child process and a temporary file, like g++, and never ends.
: >"${TMPDIR:-/tmp}/ccfault.s"
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
      # SIGKILL allows no cleanup, but the compiler itself ends with its parent, and the next run removes the folder.
      gone SIGKILL "$beside/pids/compilers"
      xargs kill <"$beside/pids/children"
      [ -n "$(ls -A temporary)" ] || fail "SIGKILL: the folder is gone already"
      TMPDIR="$PWD/temporary" CXX=false "$ridge" place loop.cpp --function twice --emit openmp >"$beside/out" 2>&1
      [ -z "$(ls -A temporary)" ] || fail "SIGKILL: left in TMPDIR after the next run: $(ls -A temporary)"
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

# Rings: a signal removes the shared memory; after SIGKILL the next writer of any ring does.
rm -rf ./* && mkfifo samples
shared() { find /dev/shm -name "ridge-ring-$1*" 2>/dev/null; }
seen() { for _ in $(seq 300); do [ -n "$(shared "$1")" ] && return; sleep 0.1; done; fail "no ring $1: $(cat "$beside/err")"; }
bank=(--channels 16 --taps 4 --polarizations 1 --rate 1e6)
for signal in TERM KILL; do
  name=test-$$-$signal
  "$ridge" channelize samples "ring:$name,wait=60" "${bank[@]}" 2>"$beside/err" &
  process=$!
  exec 9>samples
  head -c 100000 /dev/zero >&9
  seen $name
  kill -s $signal $process
  wait $process 2>/dev/null
  exec 9>&-
  [ $signal = KILL ] || [ -z "$(shared $name)" ] || fail "SIG$signal leaves $(shared $name)"
done
touch -d '2 minutes ago' "$(shared "test-$$-KILL")" || fail "SIGKILL: the ring is gone already"
head -c 100000 /dev/zero | "$ridge" channelize - "ring:test-$$-next,wait=1" "${bank[@]}" 2>/dev/null
[ -z "$(shared "test-$$")" ] || fail "left in shared memory: $(shared "test-$$")"

# ridge run: the second signal, or another one, ends its stages with it; its folder and rings are removed.
cat >day.toml <<'END'
[[stage]]
run = "channelize"
in = "samples"
channels = 16
taps = 4
polarizations = 1
detect = "total"
rate = 1e6
frequency = 1400
[[stage]]
run = "search"
dm = "0..1"
device = "host"
widest = 16
out = "found.json"
END
mkdir temporary
for signal in TERM INT HUP KILL; do
  env --default-signal=INT TMPDIR="$PWD/temporary" "$ridge" run day.toml >"$beside/out" 2>"$beside/err" &
  process=$!
  exec 9>samples
  head -c 100000 /dev/zero >&9
  seen run-$process
  pgrep -P $process >"$beside/stages"
  [ "$(wc -l <"$beside/stages")" -eq 2 ] || fail "stages: $(cat "$beside/stages")"
  case $signal in
    # The first stage gets no further: with its input open, only the second signal ends the run.
    TERM | INT) kill -STOP "$(head -n 1 "$beside/stages")"; kill -s $signal $process; sleep 0.5; kill -0 $process || fail "ended by the first SIG$signal" ;;
  esac
  kill -s $signal $process
  wait $process 2>/dev/null
  code=$?
  [ $code -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit $code of run: $(cat "$beside/out" "$beside/err")"
  xargs kill -CONT <"$beside/stages" 2>/dev/null
  gone "SIG$signal" "$beside/stages"
  exec 9>&-
  [ -z "$(shared run-$process)" ] || fail "SIG$signal: left by run: $(shared run-$process)"
  [ $signal = KILL ] || [ -z "$(ls -A temporary)" ] || fail "SIG$signal: left in TMPDIR: $(ls -A temporary)"
done
# The first signal ends the first stage; the run has not processed all of its input.
sed '/^\[\[stage\]\]$/,$!d; /run = "search"/,$d' day.toml | sed '$d' >one.toml
echo 'out = "power.fil"' >>one.toml
for signal in TERM INT; do
  env --default-signal=INT TMPDIR="$PWD/temporary" "$ridge" run one.toml >"$beside/out" 2>"$beside/err" &
  process=$!
  exec 9>samples
  head -c 100000 /dev/zero >&9
  for _ in $(seq 300); do [ -n "$(find . -name 'power.fil.tmp-*')" ] && break || sleep 0.1; done
  kill -s $signal $process
  wait $process
  code=$?
  exec 9>&-
  [ $code -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit $code of run with one stage: $(cat "$beside/out" "$beside/err")"
  grep -q '^ridge: run: stopped' "$beside/err" || fail "SIG$signal: $(cat "$beside/err")"
  [ -z "$(find . -name 'power.fil*')" ] || fail "SIG$signal: left by the stage: $(ls)"
done
printf '[[stage]]\nrun = "search"\nin = "nothing.fil"\n' >bad.toml
TMPDIR="$PWD/temporary" "$ridge" run bad.toml >/dev/null 2>&1
[ -z "$(ls -A temporary)" ] || fail "left in TMPDIR after the next run: $(ls -A temporary)"
finish
