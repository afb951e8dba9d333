#!/usr/bin/env bash
# ridge machine: a file named by RIDGE_PROFILE that is not a profile is not overwritten.   machine_test.sh RIDGE
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"

# kept FILE WORDS: `ridge machine` and --refresh end with a one-line error before anything is measured.
kept() {
  cp "$1" "$beside/before"
  export RIDGE_PROFILE=$folder/$1
  mistake "$2" "$ridge" machine
  mistake "not overwritten" "$ridge" machine --refresh --force --quick
  unset RIDGE_PROFILE
  same "$beside/before" "$1" "what RIDGE_PROFILE named was changed"
}
echo "my thesis" >thesis.txt
kept thesis.txt "thesis.txt"
echo '{"a": 1}' >other.json
kept other.json "remove it or name another file"

# A profile is written to a new or an empty file, and read the second time.
export RIDGE_PROFILE=$folder/new.json
expect "measured and saved" "$ridge" machine --quick --force
expect "^read in" "$ridge" machine --quick
# A profile of another machine is kept as well.
sed -i 's/"hardware": "/"hardware": "another machine, /' new.json
kept new.json "other hardware"

# Wisdom: a file of other content is neither extended nor emptied.
export RIDGE_WISDOM=$folder/thesis.txt
cp thesis.txt "$beside/before"
"$ridge" wisdom forget >"$beside/out" 2>&1
code=$?
[ $code -eq 1 ] || fail "ridge wisdom forget ended with $code: $(cat "$beside/out")"
has "not overwritten" "$beside/out"
same "$beside/before" thesis.txt "what RIDGE_WISDOM named was changed"
finish
