#!/usr/bin/env bash
# Surveys that are killed and continued with --resume write the same bytes: traces and gradients of several shots.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
acoustic() { "$ridge" stencil acoustic "$@" >stdout 2>stderr || fail "$* ($?): $(cat stderr)"; }

printf '2.5,10\n2.5,30.25\n20,20\n' >sources.csv
printf '1.5,%s.5\n' 5 12 19 26 33 >receivers.csv
shots="--size 60x70 --steps 700 --sources sources.csv --shots --receivers receivers.csv --dt 0.002 --frequency 9 --threads 1"
gradient="$shots --speed 1550 --observed traces.npy --memory 2M --gradient"

# killed FILE WHOLE ARGUMENT...: runs the command, kills it at random moments and continues it until FILE is written
killed() {
  local file=$1 whole=$2 kills=0
  shift 2
  for _ in $(seq 40); do
    "$ridge" stencil acoustic "$@" --checkpoint run.ckp --checkpoint-every 40 --resume >stdout 2>stderr &
    local pid=$!
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    if kill -9 $pid 2>/dev/null; then
      wait $pid 2>/dev/null
      kills=$((kills + 1))
    else
      wait $pid || fail "resuming: $(cat stderr)"
      break
    fi
  done
  [ -e "$file" ] || acoustic "$@" --checkpoint run.ckp --checkpoint-every 40 --resume
  cmp -s "$file" "$whole" || fail "$file: killed $kills times: other values"
  echo "$file: killed $kills times"
}

acoustic $shots --record traces.npy --out state.npy
killed again.npy traces.npy $shots --record again.npy --out last.npy
cmp -s last.npy state.npy || fail "another last state"
# All shots are done: nothing is left to compute. Other options are refused.
acoustic $shots --record again.npy --checkpoint run.ckp --resume
cmp -s again.npy traces.npy || fail "traces of the checkpoint"
mistake 'was made with steps 700.0, but this run has 701.0; give the same options' "$ridge" stencil acoustic ${shots/700/701} --record again.npy --checkpoint run.ckp --resume
mistake 'was made with kind "traces", but this run has "gradient"' "$ridge" stencil acoustic $gradient other.npy --checkpoint run.ckp --resume
rm run.ckp*

acoustic $gradient whole.npy
killed found.npy whole.npy $gradient found.npy
rm run.ckp*

# On SIGTERM a checkpoint is written before the command ends.
"$ridge" stencil acoustic ${shots/700/1000000} --record never.npy --checkpoint run.ckp --checkpoint-every 300 >stdout 2>stderr &
pid=$!
for _ in $(seq 600); do [ -e run.ckp ] && break || sleep 0.1; done  # it steps
rm -f run.ckp*
kill -TERM $pid
wait $pid
[ $? -eq 143 ] || fail "stopped with another code: $(cat stderr)"
has "stopped in shot 1; --resume continues from run.ckp" stderr
[ -e run.ckp ] || fail "no checkpoint when stopped"
mistake "excludes" "$ridge" stencil acoustic --size 60x70 --out a.npy --every 5 --checkpoint run.ckp
