#!/usr/bin/env bash
# ridge fft papers: the list, the tables and their JSON, the saved choice, one-line errors.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
export RIDGE_WISDOM=$folder/wisdom.json
# holds FILE WORDS...
holds() {
  local file=$1 words
  shift
  for words in "$@"; do grep -qF -- "$words" "$file" || fail "$file lacks: $words"; done
}

"$ridge" fft papers --list >list.txt || fail "--list"
holds list.txt "burtsev/A " "burtsev/CL" "burtsev/F/even" "N <= 2 M" "P <= 2 PW" "bergach/simt" "komdiv" "40 units"
"$ridge" fft papers --help >help.txt || fail "--help"
holds help.txt "K2^" "composition law" "--platform"

"$ridge" devices 2>&1 | grep -q 'opencl:0' || {
  echo "no OpenCL device: the rest is skipped"
  finish
}
mistake "not a power of two" "$ridge" fft papers --device opencl:0 --lengths 100
mistake "no platform" "$ridge" fft papers --device opencl:0 --platform cray
mistake "OpenCL and CUDA" "$ridge" fft papers --device host

"$ridge" fft papers --device opencl:0 --platform komdiv --lengths 2^8,2^9 --seconds 0.0005 --json papers.json \
  --markdown papers.md >papers.txt || fail "papers"
holds papers.txt "emulating komdiv (groups of 128)" "K2 of every variant" "choice"
holds papers.json '"K1"' '"K2"' '"K2^"' '"K3"' '"%K"' '"law_K2^"' '"paper_winner": "F"' '"stages": "1-8 local, 9 each"' \
  '"refusal": "needs one group: at most 128 work-items with 256 points, got 512 points"'
holds papers.md '| N | wins |' '|---|'
[ "$(grep -c '"log2_n"' papers.json)" -eq 2 ] || fail "two lengths in the JSON"
holds wisdom.json "only burtsev" "burtsev/"
finish
