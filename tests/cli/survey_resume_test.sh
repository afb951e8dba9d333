#!/usr/bin/env bash
# Waves that are killed and continued with --resume write the same bytes: traces and gradients of several acoustic shots
# and of an elastic one.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
kind=acoustic
wave() { "$ridge" stencil $kind "$@" >stdout 2>stderr || fail "$* ($?): $(cat stderr)"; }

printf '2.5,10\n2.5,30.25\n20,20\n' >sources.csv
printf '1.5,%s.5\n' 5 12 19 26 33 >receivers.csv
shots="--size 60x70 --steps 700 --sources sources.csv --shots --receivers receivers.csv --dt 0.002 --frequency 9 --threads 1"
gradient="$shots --speed 1550 --observed traces.npy --memory 2M --gradient"

# killed FILE WHOLE ARGUMENT...: runs the command, kills it at random moments and continues it until FILE is written
killed() {
  local file=$1 whole=$2 kills=0
  shift 2
  for _ in $(seq 15); do
    "$ridge" stencil $kind "$@" --checkpoint run.ckp --checkpoint-every 40 --resume >stdout 2>stderr &
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
  [ -e "$file" ] || wave "$@" --checkpoint run.ckp --checkpoint-every 40 --resume
  cmp -s "$file" "$whole" || fail "$file: killed $kills times: other values"
  echo "$file: killed $kills times"
}

wave $shots --record traces.npy --out state.npy
killed again.npy traces.npy $shots --record again.npy --out last.npy
cmp -s last.npy state.npy || fail "another last state"
# All shots are done: nothing is left to compute. Other options are refused.
wave $shots --record again.npy --checkpoint run.ckp --resume
cmp -s again.npy traces.npy || fail "traces of the checkpoint"
mistake 'was made with steps 700.0, but this run has 701.0; give the same options' "$ridge" stencil acoustic ${shots/700/701} --record again.npy --checkpoint run.ckp --resume
mistake 'was made with kind "traces", but this run has "gradient"' "$ridge" stencil acoustic $gradient other.npy --checkpoint run.ckp --resume
rm run.ckp*

wave $gradient whole.npy
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
mistake "cannot be given together" "$ridge" stencil acoustic --size 60x70 --out a.npy --every 5 --checkpoint run.ckp
rm -f run.ckp*

# Elastic waves: one shot, whose fields and traces are kept after some steps, and the fields of its run backwards.
kind=elastic
shot="--size 50x60 --steps 900 --dt 0.0015 --frequency 12 --threads 1 --depth 9 --component pressure"
wave $shot --record traces.npy --out state.npy
killed again.npy traces.npy $shot --record again.npy --out last.npy
cmp -s last.npy state.npy || fail "another last state of elastic waves"
mistake 'was made with force "none", but this run has "z"' "$ridge" stencil elastic $shot --record again.npy --checkpoint run.ckp --resume --force z
rm run.ckp*
gradient="${shot/900/160} --speed 2900 --observed less.npy --memory 8M --gradient"
wave ${shot/900/160} --record less.npy
wave $gradient whole.npy
rm -f found.npy
killed found.npy whole.npy $gradient found.npy
finish
