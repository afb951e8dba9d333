#!/usr/bin/env bash
# ridge channelize on files and pipes: the same bytes however they come, headers, resuming, one clear line for each
# mistake.
set -u
ridge=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ: $3"; }
size() { stat -c %s "$1"; }

mistake() {
  local words=$1
  shift
  rm -f out.*
  "$@" >stdout 2>stderr
  local code=$?
  [ $code -eq 1 ] || fail "exit $code instead of 1: $*"
  grep -qF -- "$words" stderr || fail "no \"$words\" in: $(cat stderr)"
  [ "$(wc -l <stderr)" -eq 1 ] || fail "not one line: $(cat stderr)"
  ls out.* >/dev/null 2>&1 && fail "output left behind: $*"
}

# 2 stations, 64 channels, 2 polarizations of int8: 512 bytes a row
head -c $((512 * 300)) <(yes "the quick brown fox jumps over the lazy dog 0123456789" | tr -d '\n' | tr 'a-z' '\200-\232') >in.raw
bank="--channels 64 --taps 8 --stations 2 --quiet"

# --- the same bytes from a file, a pipe, little memory, one thread, and in two runs ------------------------------------
$ridge channelize in.raw whole.raw $bank || fail "file to file"
[ "$(size whole.raw)" -eq $((300 * 2 * 2 * 64 * 8)) ] || fail "size $(size whole.raw)"
cat in.raw | $ridge channelize - - $bank >piped.raw || fail "pipes"
same whole.raw piped.raw "through pipes"
for block in 1 1000 65536; do
  dd if=in.raw bs=$block 2>/dev/null | $ridge channelize - - $bank --memory 8K >small.raw || fail "blocks of $block"
  same whole.raw small.raw "written to the pipe $block bytes at a time"
done
$ridge channelize in.raw one.raw $bank --threads 1 || fail "one thread"
same whole.raw one.raw "one thread"
head -c $((512 * 100 + 77)) in.raw >cut.raw
$ridge channelize cut.raw first.raw $bank || fail "first part"
$ridge channelize in.raw rest.raw $bank --from-sample 6400 || fail "second part"
cat first.raw rest.raw >both.raw
same whole.raw both.raw "resumed at sample 6400"
$ridge channelize in.raw over.raw $bank --oversample 8/7 || fail "oversampled"
$ridge channelize in.raw over_rest.raw $bank --oversample 8/7 --from-sample $((56 * 33)) || fail "oversampled, resumed"
tail -c "$(size over_rest.raw)" over.raw >over_tail.raw
same over_tail.raw over_rest.raw "oversampled and resumed"
[ "$(size over.raw)" -eq $(((300 * 64 / 56) * 2 * 2 * 64 * 8)) ] || fail "oversampled size $(size over.raw)"

# --- .npy and power ----------------------------------------------------------------------------------------------------
$ridge channelize in.raw out.npy $bank || fail ".npy"
head -c 256 out.npy | grep -qF "(300, 2, 2, 64)" || fail ".npy header: $(head -c 128 out.npy)"
tail -c +257 out.npy >body.raw
same body.raw whole.raw ".npy"
$ridge channelize in.raw out.npy $bank --detect stokes --times 10 --sum-channels 4 || fail "stokes"
head -c 256 out.npy | grep -qF "(30, 2, 4, 16)" || fail "stokes header: $(head -c 128 out.npy)"
$ridge channelize in.raw out.fil --channels 64 --taps 8 --rate 1e6 --frequency 150 --times 4 >stdout 2>report || fail ".fil"
head -c 16 out.fil | grep -q HEADER_START || fail "no SIGPROC header"
grep -q "times real time" report || fail "no real-time margin: $(cat report)"
grep -q "nothing lost" report || fail "no count of losses: $(cat report)"
[ "$(wc -l <report)" -eq 1 ] || fail "more than a line: $(cat report)"

# --- GUPPI RAW with a block lost ---------------------------------------------------------------------------------------
guppi() { # PKTIDX
  local line
  for line in "OBSNCHAN= 2" "NPOL    = 4" "NBITS   = 8" "BLOCSIZE= 8192" "OBSFREQ = 1400.0" "OBSBW   = 2.0" \
    "TBIN    = 1.0E-06" "PIPERBLK= 16" "PKTIDX  = $1" "OVERLAP = 0" "END"; do
    printf '%-80s' "$line"
  done
  head -c 8192 in.raw
}
{ guppi 0; guppi 16; guppi 48; guppi 64; } >guppi.raw
$ridge channelize guppi.raw out.raw --channels 64 --taps 4 --flags flags.txt 2>report || fail "GUPPI: $(cat report)"
grep -q "1024 samples lost in 1 gaps" report || fail "gap not counted: $(cat report)"
# Block 2 of 5 is missing: samples 2048 to 3071, spectra 32 to 47 and three more that look back at them.
grep -qx "32 50" flags.txt || fail "flags: $(cat flags.txt)"
[ "$(size out.raw)" -eq $((5 * 16 * 2 * 2 * 64 * 8)) ] || fail "GUPPI size $(size out.raw)"
$ridge channelize guppi.raw out.fil --channels 64 --taps 4 --quiet || fail "GUPPI to .fil"
# --- design ------------------------------------------------------------------------------------------------------------
$ridge channelize design response.svg --channels 64 --taps 16 --save h.raw >text || fail "design"
grep -q "leakage -12[0-9]" text || fail "leakage: $(cat text)"
grep -q "</svg>" response.svg || fail "no SVG"
$ridge channelize in.raw designed.raw --stations 2 --quiet --channels 64 --taps 16 || fail "designed"
$ridge channelize in.raw given.raw --stations 2 --quiet --channels 64 --taps 16 --weights h.raw || fail "given weights"
same designed.raw given.raw "weights from a file"

# --- bench -------------------------------------------------------------------------------------------------------------
$ridge bench filterbank --shape 32x4 --size 20000 --seconds 0.001 --against liquid --json bench.json >text 2>&1 ||
  fail "bench: $(cat text)"
grep -q "filterbank int8 32x4" text || fail "bench without its rows: $(cat text)"
grep -q '"rows"' bench.json || fail "bench without JSON"

# --- mistakes ----------------------------------------------------------------------------------------------------------
mistake "IN and OUT" $ridge channelize
mistake "cannot read nowhere" $ridge channelize nowhere out.raw
mistake "no whole number" $ridge channelize in.raw out.raw --channels 64 --oversample 7/6
mistake "--oversample x" $ridge channelize in.raw out.raw --oversample x
mistake "a multiple of" $ridge channelize in.raw out.raw --channels 64 --from-sample 7
mistake "ends before sample" $ridge channelize in.raw out.raw --channels 64 --from-sample 6400000
mistake "give --rate" $ridge channelize in.raw out.fil --channels 64
mistake "one station" $ridge channelize in.raw out.fil --channels 64 --stations 2 --rate 1e6
mistake "does not hold" $ridge channelize in.raw out.raw --channels 64 --weights in.raw
mistake "NBITS is 5" $ridge channelize <(guppi 0 | sed 's/NBITS   = 8/NBITS   = 5/') out.raw
mistake "BLOCSIZE" $ridge channelize <(guppi 0 | head -c 5000) out.raw --channels 64
mistake "say which with --detect" $ridge channelize in.raw out.raw --times 4
mistake "no peer \"abacus\"" $ridge bench filterbank --against abacus

[ $failures -eq 0 ] && echo "all good"
exit $((failures > 0))
