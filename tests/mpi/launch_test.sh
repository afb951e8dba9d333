#!/usr/bin/env bash
# Processes started by a launcher that cannot find each other must not each do the whole work on the same files; when
# one is killed, the others end.
#   launch_test.sh RIDGE MPIRUN
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"
mpirun=$2
under_mpi "$mpirun"
unset "${!OMPI_COMM_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}"

# --- launchers of other MPIs, and no launcher -----------------------------------------------------------------------------
lone() {
  env "$@" timeout 60 "$ridge" stencil heat --size 20x20 --steps 4 --variant base --out lone.npy >"$beside/out" 2>"$beside/err"
  local code=$?
  [ $code -eq 1 ] || fail "$*: exit $code: $(cat "$beside/err")"
  grep -q "^ridge: several processes were started ($1)" "$beside/err" || fail "$*: not reported: $(cat "$beside/err")"
  [ ! -e lone.npy ] || fail "$*: a lone run wrote its file"
  rm -f lone.npy
}
# launched_test.cpp tests the variables of each launcher; here one launcher that gives the count, and one that does not.
lone PMI_SIZE=3 PMI_RANK=2
lone ALPS_APP_PE=3
# A launcher with a single process is not an error.
env ALPS_APP_PE=0 "$ridge" stencil heat --size 20x20 --steps 4 --variant base --out lone.npy >/dev/null 2>"$beside/err" ||
  fail "ALPS_APP_PE=0: $(cat "$beside/err")"
rm -f lone.npy

# --- one process of several is killed ---------------------------------------------------------------------------------
# killed WHICH: the other processes end within ten seconds with a message, and committed files are complete.
killed() {
  local which=$1 launcher victim seconds before
  rm -f run.* out.raw
  "$mpirun" -n 3 "$ridge" stencil heat --size 300x200 --steps 100000000 --checkpoint "$folder/run.ckp" \
    --checkpoint-every 200 --initial random --variant base >"$beside/out" 2>"$beside/err" &
  launcher=$!
  for _ in $(seq 600); do [ -e run.ckp.previous ] && break || sleep 0.05; done
  [ -e run.ckp.previous ] || fail "no checkpoint: $(cat "$beside/err")"
  victim=$(pgrep -f "^$ridge .*$folder/run.ckp" | sed -n "${which}p") # whatever the launcher puts between
  before=$SECONDS
  kill -KILL "$victim"
  wait $launcher
  [ $? -ne 0 ] || fail "a killed process is a success"
  for _ in $(seq 200); do pgrep -f "$folder/run.ckp" >/dev/null || break; sleep 0.05; done
  seconds=$((SECONDS - before))
  [ $seconds -le 10 ] || fail "the others took $seconds s"
  pgrep -f "$folder/run.ckp" >/dev/null && fail "processes are left: $(pgrep -af "$folder/run.ckp")"
  [ -s "$beside/err" ] || fail "not a word"
  # The checkpoint is complete: one process alone resumes the same problem from it.
  touch "$beside/killed"
  "$ridge" stencil heat --size 300x200 --steps 100000000 --checkpoint run.ckp --checkpoint-every 200 --initial random \
    --variant base --resume >"$beside/out" 2>"$beside/err2" &
  victim=$!
  # Its output appears when it ends; its next checkpoint shows that it has continued.
  for _ in $(seq 200); do [ run.ckp -nt "$beside/killed" ] && break || sleep 0.05; done
  kill -TERM $victim
  wait $victim
  grep -q "continuing from step" "$beside/out" || fail "does not continue: $(cat "$beside/out" "$beside/err2")"
  grep -q "refused" "$beside/err2" && fail "a damaged checkpoint: $(cat "$beside/err2")"
  rm -f run.*
}
killed 1 # the root
killed 3

# During a gradient, whose shots the processes share: an error and no file.
printf '4,%s\n' 8 15.5 23 31 39.5 47 >sources.csv
printf '3,%s\n' 5 20.25 40 >receivers.csv
head -c $((6 * 200000 * 3 * 4)) /dev/zero | npy observed.npy '<f4' '(6, 200000, 3)'
for which in 1 3; do
  "$mpirun" -n 3 "$ridge" stencil acoustic --size 60x70 --steps 200000 --dt 0.003 --frequency 9 --threads 1 --sources sources.csv \
    --shots --receivers receivers.csv --observed observed.npy --exact --memory 40M --gradient "$folder/out.npy" >"$beside/out" 2>"$beside/err" &
  launcher=$!
  for _ in $(seq 300); do [ "$(pgrep -fc "^$ridge .*$folder/out")" -eq 3 ] && break || sleep 0.1; done
  sleep 1
  before=$SECONDS
  kill -KILL "$(pgrep -f "^$ridge .*$folder/out" | sed -n ${which}p)"
  wait $launcher && fail "a gradient without one of its processes is a success"
  for _ in $(seq 100); do pgrep -f "$folder/out.npy" >/dev/null || break; sleep 0.1; done
  pgrep -f "$folder/out.npy" >/dev/null && fail "processes are left: $(pgrep -af "$folder/out.npy")"
  [ $((SECONDS - before)) -le 10 ] || fail "the others took $((SECONDS - before)) s"
  [ -s "$beside/err" ] || fail "no message of a killed process during a gradient"
  [ "$(ls)" = "$(printf 'observed.npy\nreceivers.csv\nsources.csv')" ] || fail "left behind: $(ls)"
done
rm -f -- *

# A stream's output does not exist.
mkfifo input
"$mpirun" -n 3 "$ridge" channelize input "$folder/out.raw" --channels 64 --stations 5 --memory 64K 2>"$beside/err" &
launcher=$!
exec 9>input
head -c 2000000 /dev/urandom >&9 2>/dev/null &
for _ in $(seq 300); do [ -n "$(find . -name 'out.raw.tmp-*')" ] && break || sleep 0.1; done
[ -n "$(find . -name 'out.raw.tmp-*')" ] || fail "no output begun: $(cat "$beside/err")"
before=$SECONDS
kill -KILL "$(pgrep -f "^$ridge .*$folder/out" | sed -n 2p)"
wait $launcher
[ $? -ne 0 ] || fail "a killed process is a success"
for _ in $(seq 100); do pgrep -f "$folder/out.raw" >/dev/null || break; sleep 0.1; done
exec 9>&-
[ $((SECONDS - before)) -le 10 ] || fail "the others took $((SECONDS - before)) s"
rm -f input
[ "$(ls)" = "" ] || fail "left behind: $(ls)"
finish
