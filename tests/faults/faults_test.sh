#!/usr/bin/env bash
# Makes every write, flush, rename, open, allocation and thread start of a run fail once: the old file stays complete,
# no partial file is left, and one line reports the failure.
#   faults_test.sh RIDGE WRITER SHIM
source "$(dirname "$(readlink -f "$0")")/../support/prelude.sh"
writer=$2 shim=$3
export RIDGE_THREADS=2
few=6 many=9
[ -z "${RIDGE_SLOW:-}" ] || few=12 many=40

# count COMMAND...: writes the number of calls of each kind in a run to $beside/counts
count() {
  LD_PRELOAD=$shim RIDGE_FAULT_COUNT=$beside/counts "$@" >/dev/null 2>"$beside/err" || fail "without faults: $*: $(cat "$beside/err")"
}
calls_of() { sed -n "s/^$1 //p" "$beside/counts"; }

# numbers KIND: every call if there are few, else the first, the last and some in between
numbers() {
  local calls most=${2:-$few}
  calls=$(calls_of "$1")
  if [ "$calls" -le "$most" ]; then seq "$calls"; else seq 1 $((calls / most + 1)) "$calls"; echo "$calls"; fi
}

# strange FILE...: files in the folder other than these and lock files
strange() { ls -A | grep -vxF "$(printf '%s\n' "$@" input.raw input.f32)" | grep -v '\.lock\(-next\)\?$'; }

# --- outputs of streams: the old file or the new one; exit 0 only for the new one
# -----------------------------------------
"$ridge" channelize signal input.raw --seconds 0.02 --block 64 || fail "signal"
head -c 1048576 /dev/urandom >input.f32
# stream OUT COMMAND...: tests a command that writes OUT
stream() {
  local out=$1 kind number code
  shift
  "$@" >/dev/null 2>"$beside/err" || fail "$*: $(cat "$beside/err")"
  mv "$out" "$beside/new"
  echo old >"$beside/old"
  count "$@"
  for kind in write fsync rename open thread memory; do
    for number in $(numbers $kind); do
      cp "$beside/old" "$out"
      LD_PRELOAD=$shim RIDGE_FAULT=$kind:$number:ENOSPC timeout 60 "$@" >/dev/null 2>"$beside/err"
      code=$?
      if [ $code -eq 0 ]; then
        cmp -s "$out" "$beside/new" || fail "$kind $number: exit 0 without the output: $*"
      elif [ $code -le 2 ]; then
        [ "$(grep -c '^ridge: ' "$beside/err")" -ge 1 ] || fail "$kind $number: not a line: $*"
        cmp -s "$out" "$beside/old" || cmp -s "$out" "$beside/new" || fail "$kind $number: half an output: $*"
      else
        fail "$kind $number: exit $code: $*: $(tail -n 3 "$beside/err")"
      fi
      [ -z "$(strange $out)" ] || fail "$kind $number: left behind by $*: $(strange $out)"
      rm -rf "$out" ./*.tmp-* ./*.part ./*.lock*
    done
  done
}
# A fixed variant: equally fast variants may differ in the last bit, and a run without its wisdom may choose another
# one.
stream out.raw "$ridge" fft input.f32 out.raw --shape 1024 --samples f32 --threads 2 --variant classic/stockham
stream out.raw "$ridge" channelize input.raw out.raw --channels 64 --taps 8 --threads 2 --memory 256K
stream out.npy "$ridge" stencil heat --size 200x200 --steps 20 --out out.npy --threads 2
stream out.raw "$ridge" sar --in input.f32 --out out.raw --pulses 64 --samples 1024 --threads 2 --device host
# Images are read and written as a whole.
{ printf 'P6\n64 48\n255\n' && head -c 9216 /dev/urandom; } >"$beside/a.ppm"
stream out.flo "$ridge" flow "$beside/a.ppm" "$beside/a.ppm" out.flo --threads 2 --device host
stream out.npy "$ridge" variance "$beside/a.ppm" out.npy --window 5 --threads 2 --device host
tiff=tiff  # or another format where ridge is built without libtiff
"$ridge" image 'gauss 2' "$beside/a.ppm" "$beside/b.tiff" --device host >/dev/null 2>&1 || tiff=ppm
stream out.$tiff "$ridge" image 'gauss 2 | resize 0.5' "$beside/a.ppm" out.$tiff --threads 2 --device host
stream out.npy "$ridge" stencil acoustic --size 64x64 --steps 8 --record out.npy --device host
rm -f out.*

# A sequence: complete fields under their names, or none.
head -c $((4 * 9216)) /dev/urandom >"$beside/frames"
sequence() { "$@" "$ridge" flow - fields --size 64x48 --threads 2 --device host <"$beside/frames"; }
sequence >/dev/null || fail "a sequence"
mv fields "$beside/fields"
LD_PRELOAD=$shim RIDGE_FAULT_COUNT=$beside/counts sequence >/dev/null
rm -rf fields
for kind in write fsync rename open thread memory; do
  for number in $(numbers $kind); do
    LD_PRELOAD=$shim RIDGE_FAULT=$kind:$number:EAGAIN sequence timeout 60 >/dev/null 2>"$beside/err"
    code=$?
    [ $code -le 2 ] || fail "$kind $number: exit $code of a sequence: $(tail -n 3 "$beside/err")"
    [ $code -eq 0 ] || grep -q '^ridge: ' "$beside/err" || fail "$kind $number: not a line by a sequence"
    for field in $(ls -A fields 2>/dev/null); do
      cmp -s "fields/$field" "$beside/fields/$field" || fail "$kind $number: fields/$field is not whole"
    done
    [ $code -ne 0 ] || [ "$(ls fields)" = "$(ls "$beside/fields")" ] || fail "$kind $number: exit 0 without all fields"
    rm -rf fields
  done
done

# --- a run that keeps checkpoints ---------------------------------------------------------------------------------------
run=("$ridge" stencil heat --size 100x90 --steps 60 --checkpoint run.ckp --checkpoint-every 20 --threads 2)
"${run[@]}" >/dev/null 2>&1 || fail "checkpoints"
rm -f run.*
count "${run[@]}"
for kind in write fsync rename open thread memory; do
  for number in $(numbers $kind $few); do
    LD_PRELOAD=$shim RIDGE_FAULT=$kind:$number:ENOSPC timeout 60 "${run[@]}" >/dev/null 2>"$beside/err"
    code=$?
    [ $code -le 2 ] || fail "$kind $number: exit $code of a run with checkpoints: $(tail -n 3 "$beside/err")"
    [ $code -eq 0 ] || grep -q '^ridge: ' "$beside/err" || fail "$kind $number: not a line"
    [ -z "$(strange run.ckp run.ckp.previous)" ] || fail "$kind $number: left behind: $(strange run.ckp run.ckp.previous)"
    rm -f ./*.part
    "${run[@]}" --resume >/dev/null 2>"$beside/err" || fail "$kind $number: does not continue: $(cat "$beside/err")"
    grep -q "refused" "$beside/err" && fail "$kind $number: a damaged checkpoint: $(cat "$beside/err")"
    rm -f run.*
  done
done

# --- wisdom, profile, checkpoints: everything reported as saved is there
# --------------------------------------------------
for what in wisdom profile checkpoint; do
  run=("$writer" $what file 4)
  rm -f file*
  count "${run[@]}"
  for kind in write fsync rename open memory; do
    # Allocations are numerous and fail alike: tests a few of them, more with ./test --all.
    most=$many
    [ $kind = memory ] && [ -z "${RIDGE_SLOW:-}" ] && most=$few
    for number in $(numbers $kind $most); do
      for sticky in "" +; do
        rm -f file*
        "${run[@]}" >"$beside/promised" || fail "$what"
        LD_PRELOAD=$shim RIDGE_FAULT=$kind:$number$sticky:ENOSPC timeout 60 "${run[@]}" >>"$beside/promised" 2>"$beside/err"
        code=$?
        [ $code -le 1 ] || fail "$what, $kind $number$sticky: exit $code: $(tail -n 3 "$beside/err")"
        [ $code -eq 0 ] || [ -s "$beside/err" ] || fail "$what, $kind $number$sticky: not a line"
        last=$(grep -E '^[0-9]+$' "$beside/promised" | sort -n | tail -n 1)
        [ $what = wisdom ] && [ $code -eq 0 ] && [ -s "$beside/err" ] && last=3  # a warning: only the first four were reported as saved
        "$writer" check $what file "$last" >"$beside/out" 2>&1 || fail "$what, $kind $number$sticky: $(cat "$beside/out")"
        [ -z "$(strange file file.previous)" ] || fail "$what, $kind $number$sticky: left behind: $(strange file file.previous)"
      done
    done
  done
done
finish
