#!/usr/bin/env bash
# ridge fft on files and pipes: correct results, complete files or none, one-line errors.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
# --- answers ---------------------------------------------------------------------------------------------------------
# The spectrum of an impulse at 0 is 1 everywhere; at 1 it is exp(-2 pi i k / n).
int16 1 0 0 0 0 1 0 0 | npy pulses.npy '<i2' '(2, 4)'
"$ridge" fft pulses.npy spectrum.npy || fail "a .npy file"
tail -c 64 spectrum.npy >elements
expected=$(printf '1 0\n1 0\n1 0\n1 0\n1 0\n0 -1\n-1 0\n0 1')
[ "$(values f4 8 elements | sed 's/-0\b/0/g')" = "$expected" ] || fail "wrong spectrum: $(values f4 8 elements)"
head -c 128 spectrum.npy | tr -d '\0' | grep -qa "'<c8'.*(2, 4)" || fail "wrong header of spectrum.npy"

# Round trip.
"$ridge" fft spectrum.npy back.npy --inverse --scale 1/n || fail "the inverse"
tail -c 64 back.npy >elements
expected=$(printf '1 0\n0 0\n0 0\n0 0\n0 0\n1 0\n0 0\n0 0')
[ "$(values f4 8 elements | sed 's/-0\b/0/g')" = "$expected" ] || fail "round trip: $(values f4 8 elements)"

# Real samples in double, and half a spectrum.
"$ridge" fft pulses.npy half.npy --real --type f64 || fail "--real"
tail -c 96 half.npy >elements
expected=$(printf '1 0\n1 0\n1 0\n1 0\n0 -1\n-1 0')
[ "$(values f8 16 elements | sed 's/-0\b/0/g')" = "$expected" ] || fail "wrong half: $(values f8 16 elements)"
"$ridge" fft half.npy samples.npy --real --inverse --scale 0.25 || fail "--real --inverse"
tail -c 64 samples.npy >elements
[ "$(values f8 8 elements | sed 's/-0\b/0/g' | tr '\n' ' ')" = "1 0 0 0 0 1 0 0 " ] || fail "wrong reals: $(values f8 8 elements)"

# Two axes at once.
"$ridge" fft pulses.npy plane.npy --shape 2x4 || fail "--shape"
tail -c 64 plane.npy >elements
[ "$(values f4 8 elements | sed 's/-0\b/0/g' | head -n 2 | tr '\n' ' ')" = "2 0 1 -1 " ] || fail "wrong plane: $(values f4 8 elements)"

# Pipes give the same results as files, complex integers are pairs, and a batch larger than the memory is divided.
tail -c 64 spectrum.npy >raw.c8
"$ridge" fft raw.c8 whole.raw --shape 4 || fail "a raw file"
"$ridge" fft - - --shape 4 <raw.c8 >piped.raw || fail "a pipe"
cat raw.c8 | "$ridge" fft - counted.npy --shape 4 || fail "a pipe to .npy"
cmp whole.raw piped.raw || fail "pipe and file differ"
tail -c 64 counted.npy | cmp - whole.raw || fail "the counted .npy differs"
int16 1 2 0 0 0 0 0 0 | "$ridge" fft - - --shape 4 --samples i16 >pairs.raw || fail "pairs of integers"
[ "$(values f4 8 pairs.raw | sort -u)" = "1 2" ] || fail "wrong pairs: $(values f4 8 pairs.raw)"
head -c 33554432 /dev/zero >zeros.raw
"$ridge" fft zeros.raw zeros.out --shape 4096 --memory 1M || fail "several batches"
cmp zeros.raw zeros.out || fail "several batches differ"
mistake "this is also the input" "$ridge" fft pulses.npy pulses.npy

# --- mistakes --------------------------------------------------------------------------------------------------------
{ cat spectrum.npy && echo; } >longer.npy
mistake "its shape (2, 4) of complex64 asks for 64 bytes, and it ends 4 bytes early" "$ridge" fft <(head -c -4 spectrum.npy) out.npy
mistake "continues after them" "$ridge" fft longer.npy out.npy
mistake "has more data than its 2 transforms" "$ridge" fft <(cat longer.npy) out.npy
mistake "has more data than its 1 transforms" "$ridge" fft raw.c8 out.raw --shape 4 --batch 1
# A size claimed by a header allocates no memory, from a file or a pipe.
int16 1 2 3 4 | npy claims.npy '<c8' '(300000000,)'
# The address sanitizer itself needs more address space.
limit=1000000
bash -c 'ulimit -v 1000000; exec "$1" --version' limited "$ridge" >"$beside/out" 2>&1 || limit=unlimited
for how in 'exec "$@" claims.npy' 'cat claims.npy | "$@" -'; do
  mistake "asks for 2400000000 bytes, and it ends 2399999992 bytes early" bash -c "ulimit -v $limit; $how out.npy" \
    limited "$ridge" fft --threads 1
done
mistake "into transform 1" bash -c "ulimit -v $limit; exec \"\$@\"" limited "$ridge" fft raw.c8 out.raw --shape 300000000 --threads 1
mistake "into transform 2" "$ridge" fft <(head -c 40 raw.c8) out.raw --shape 4
mistake "its last axes must be 5" "$ridge" fft spectrum.npy out.npy --shape 5
mistake "is not a .npy file: give --shape" "$ridge" fft raw.c8 out.raw
mistake "--real needs real samples" "$ridge" fft spectrum.npy out.npy --real
mistake "No such file" "$ridge" fft nothing.npy out.npy
mistake "--scale big" "$ridge" fft spectrum.npy out.npy --scale big
mistake "is not a length" "$ridge" fft raw.c8 out.raw --shape 4x-1
mistake "0 points" "$ridge" fft raw.c8 out.raw --shape 0
mistake "overflows 64 bits" "$ridge" fft raw.c8 out.raw --shape 2^40x2^40
mistake "needs IN and OUT" "$ridge" fft raw.c8
int16 1 | npy big-endian.npy '>f8' '(1,)'
mistake "other byte order" "$ridge" fft big-endian.npy out.npy
printf '\x93NUMPY\x01\x00' >cut.npy
mistake "ends within the header" "$ridge" fft cut.npy out.npy
echo "no header" >wrong.npy
mistake "does not begin with" "$ridge" fft wrong.npy out.npy
"$ridge" fft raw.c8 out.raw --shape 4 --variant magic 2>stderr && fail "a variant that does not exist"
grep -q "classic/radix2_dit" stderr || fail "variants are not listed: $(cat stderr)"

# --- explain, check and bench ----------------------------------------------------------------------------------------
"$ridge" fft explain 1024 --quick >text || fail "explain"
grep -q "classic/radix2_dit" text || fail "explain lists no rejected variants: $(cat text)"
grep -q "^lower bound " text || fail "explain prints no lower bound"
"$ridge" fft explain 2^5 --quick | grep -q '^fft 32 ' || fail "2^5 is not 32 points"
"$ridge" fft explain 64 --variant classic/cpu_244 >text || fail "explain a variant"
"$ridge" fft explain 256 --radices --quick >text || fail "explain --radices"
grep -q "radix planner" text || fail "no radix planner: $(cat text)"
mistake "needs N or --shape" "$ridge" fft explain
# Arrays beyond the memory are not allocated with --quick.
"$ridge" fft explain 65536 --batch 100000000 --quick | grep -q '^fft 65536' || fail "explain --quick of a large batch"
mistake "give fewer points" "$ridge" fft explain 65536 --batch 100000000
mistake "for tables, but" "$ridge" fft explain 64424509440 --quick
"$ridge" check accuracy --lengths 12,16 --variants >text || fail "check: $(cat text)"
grep -q "classic/fma6" text || fail "check without variants: $(cat text)"
"$ridge" bench fft --device host --lengths 8,12 --against fftw,kissfft,ne10 --seconds 0.001 --json bench.json >text ||
  fail "bench: $(cat text)"
grep -q "fft c64 12" text || fail "bench without its rows: $(cat text)"
grep -q '"rows"' bench.json || fail "bench without JSON"
"$ridge" bench fft --device host --lengths 5:7,40 --convolve --against fftw --seconds 0.0001 >text || fail "convolve: $(cat text)"
[ "$(grep -c '^convolution f32' text)" -eq 4 ] || fail "not one row per length: $(cat text)"
mistake "at most 100000 lengths" "$ridge" bench fft --lengths 9:5
mistake "one axis on the host" "$ridge" bench fft --device host --shape 4x4 --convolve
expect "^fft c64 8 .*: .*(W by|energy counter|not changed)" "$ridge" bench fft --device host --lengths 8 --seconds 0.001 --power
mistake "transfers needs --device" "$ridge" bench fft --device host --lengths 8 --seconds 0.001 --transfers
mistake "no peer \"abacus\"" "$ridge" bench fft --against abacus
# Real inverses of one and several axes, whose input FFTW overwrites; its wisdom is saved.
export RIDGE_CACHE_DIR=$folder/cache
for problem in "--lengths 8,9" "--shape 4x6,3x4x5"; do
  "$ridge" bench fft --device host $problem --real --inverse --against fftw --threads 0 --seconds 0.001 >text 2>&1 ||
    fail "real inverse: $(cat text)"
done
if grep -q "vs fftw" text; then
  ls cache/fftw-f32-*.wisdom >/dev/null || fail "FFTW's wisdom is not kept"
  echo broken >"$(echo cache/fftw-f32-*.wisdom)"
  expect "FFTW cannot read this wisdom" "$ridge" bench fft --device host --lengths 8 --against fftw --seconds 0.001
fi
mistake "timed on the host" "$ridge" bench fft --device host+host --lengths 8 --real --inverse

finish
