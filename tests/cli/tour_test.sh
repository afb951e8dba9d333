#!/usr/bin/env bash
# ridge tour writes a complete first page long before it is done, which lists what is still being measured.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
export RIDGE_CACHE_DIR=$folder/cache
"$ridge" tour --out page.html >stdout 2>stderr &
tour=$!
for _ in $(seq 480); do
  [ -e page.json ] && break
  kill -0 $tour 2>/dev/null || break
  sleep 0.5
done
cp page.html first.html && cp page.json first.json || fail "no page: $(cat stderr)"
if kill -TERM $tour 2>/dev/null; then
  wait $tour 2>/dev/null
else
  fail "the tour ended before a first page was seen"
fi
has "Still being measured" first.html
has "</html>" first.html
has "class=\"overview\"" first.html
has '"overview"' first.json
grep -q '"pending": \["' first.json || fail "nothing is pending: $(grep -A3 pending first.json)"
grep -q '"rate": [0-9]' first.json || fail "no rate in the first page"
finish
