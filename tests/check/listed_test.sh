#!/usr/bin/env bash
# Listed transforms, identities and wrong answers on the command line: exit statuses and the page.   listed_test.sh
# RIDGE PROBLEMS
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
problems=$2
export RIDGE_BACKENDS=host

expect '^host: .*fft.txt: [0-9]+ right, 0 refused, 0 wrong$' "$ridge" check --device host --problems "$problems"
expect '^host: lengths 1 to 5: 480 right, 0 refused, 0 wrong$' "$ridge" check --device host --systematic 5 --page cells.html
[ "$(grep -o '<td class="right"' cells.html | wc -l)" -eq 480 ] || fail "cells.html does not have 480 green cells"
has 'real backward f64 in place, 4x3xn' cells.html
grep -qE '(src|href)="(http|//)' cells.html && fail "cells.html loads something"
expect 'none wrong' "$ridge" check fft stencil --laws --device host --seconds 2 --points 4096
"$ridge" bench fft --problems "$problems" --device host --seconds 0.001 >table 2>&1 || fail "bench: $(tail -3 table)"
has 'fft c64 1000' table
has 'irf100: left out: the bench runs out of place' table

# A check that finds a wrong answer exits with 2 and prints a command that reproduces it.
for more in "" --laws; do
  "$ridge" check transpose --device host --seconds 0.5 --spoil $more >out
  [ $? -eq 2 ] || fail "--spoil $more: exit $?"
  grep -qE '^host: .* WRONG$' out || fail "--spoil $more: $(tail -1 out)"
  again=$(grep -oE 'ridge check transpose --device host --seed 1 --case .*' out | head -1)
  case $again in *--spoil*) ;; *) fail "no --spoil in \"$again\"" ;; esac
  # shellcheck disable=SC2086
  "$ridge" ${again#ridge } >once
  [ $? -eq 2 ] || fail "$again: not wrong again"
  has WRONG once
done
# The same for an accuracy bound that no transform meets.
"$ridge" check accuracy --lengths 64 --gate 1e-6 >out
[ $? -eq 1 ] || fail "accuracy past its gate: exit $?"
has BROKEN out
"$ridge" check accuracy --lengths 64 >out || fail "accuracy: $(tail -2 out)"

mistake '--systematic and --problems' "$ridge" check --systematic 4 --problems "$problems"
mistake '--page needs --systematic' "$ridge" check --page a.html
mistake 'no such file' "$ridge" check --problems gone.txt
mistake 'has no identities for adjoint' "$ridge" check adjoint --laws
echo 'cf8 cq7' >bad.txt
mistake 'bad.txt:1: problem "cq7"' "$ridge" check --problems bad.txt
finish
