#!/usr/bin/env bash
# ridge flow, variance and image: input and output files, sequences and pipes, one-line errors.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"

# frame NAME SHIFT [COLUMNS ROWS]: a texture of waves, moved to the right, as PPM
frame() {
  awk -v shift="$2" -v w="${3:-64}" -v h="${4:-48}" 'BEGIN {
    printf "P3\n%d %d\n255\n", w, h
    for (r = 0; r < h; ++r) for (c = 0; c < w; ++c) for (k = 0; k < 3; ++k) {
      x = c - shift
      printf "%d ", 128 + 40 * (sin(0.31 * r + 0.17 * x + k) + sin(0.11 * r - 0.37 * x + 2 * k) + sin(0.05 * r + 0.23 * x))
    } }' >"$1"
}
frame a.ppm 0
frame b.ppm 3

# --- flow ------------------------------------------------------------------------------------------------------------
expect '64x48 vectors in .* on host; planned in ' "$ridge" flow a.ppm b.ppm flow.flo --device host
[ "$(size flow.flo)" -eq $((12 + 64 * 48 * 8)) ] || fail "flow.flo has $(size flow.flo) bytes"
# Inside, every vector is (3, 0).
middle=$(od -An -t f4 -j $((12 + (24 * 64 + 32) * 8)) -N 8 flow.flo | awk '{ printf "%.2f %.2f", $1, $2 }')
[[ "$middle" == "3.00 0.00" || "$middle" == "3.00 -0.00" ]] || fail "the middle moves by $middle"
expect 'mean 0.0000, root mean square 0.0000' "$ridge" flow compare flow.flo flow.flo
# Pictures: motion to the right is red; an error of 0 is black.
"$ridge" flow a.ppm b.ppm again.flo --device host --picture wheel.ppm --full 3 >/dev/null || fail "a picture of the flow"
color=$(tail -c $((64 * 48 * 3)) wheel.ppm | od -An -t u1 -j $(((24 * 64 + 32) * 3)) -N 3)
read -r red green blue <<<"$color"
[ "$red" -gt 200 ] && [ "$green" -lt 60 ] && [ "$blue" -lt 60 ] || fail "(3, 0) is the color $color"
"$ridge" flow compare flow.flo again.flo --picture error.ppm >/dev/null || fail "a picture of the error"
[ "$(tail -c $((64 * 48 * 3)) error.ppm | od -An -v -t u1 | tr -s ' ' '\n' | sort -un | tail -1)" -lt 30 ] || fail "no error is not dark"
"$ridge" flow a.ppm b.ppm again.flo --device host --threads 1 >/dev/null || fail "one thread"
same flow.flo again.flo "threads change the flow"
"$ridge" flow a.ppm a.ppm still.npy --device host --scan-order >/dev/null || fail "scan order"
[ "$(size still.npy)" -eq $((128 + 64 * 48 * 8)) ] || fail "still.npy has $(size still.npy) bytes"
"$ridge" flow a.ppm b.ppm again.npy --device host >/dev/null || fail "a flow as .npy"
expect 'mean 0.0000, root mean square 0.0000, worst 0.000' "$ridge" flow compare again.npy flow.flo
expect 'simd' "$ridge" flow a.ppm b.ppm again.flo --device host --explain

mkdir frames
for n in 0 1 2 3; do frame "frames/f_000$n.ppm" $((2 * n)); done
expect 'margin .*x, . of 3 late' "$ridge" flow 'frames/f_%04d.ppm' out --device host --rate 0.5
[ "$(ls out)" = "$(printf '0000.flo\n0001.flo\n0002.flo')" ] || fail "the sequence left: $(ls out)"
for n in 0 1 2 3; do
  "$ridge" image 'gauss 0.5 1' "frames/f_000$n.ppm" "soft_$n.ppm" --device host >/dev/null || fail "gauss"
  tail -c $((64 * 48 * 3)) "soft_$n.ppm"
done >raw
"$ridge" flow - piped --size 64x48 --device host <raw >/dev/null || fail "raw frames"
"$ridge" flow soft_0.ppm soft_1.ppm first.flo --device host >/dev/null
same piped/0000.flo first.flo "a pipe gives another flow than files"

printf 'not an image at all\n' >text.png
frame small.ppm 0 32 48
mistake "cannot read missing.png" "$ridge" flow missing.png b.ppm x.flo
mistake "text.png: not an image" "$ridge" flow text.png b.ppm x.flo
mistake "two frames of the same size" "$ridge" flow a.ppm small.ppm x.flo
mistake "needs the extension .flo or .npy" "$ridge" flow a.ppm b.ppm x.png
mistake ".pfm files hold float pixels" "$ridge" flow a.ppm b.ppm x.flo --picture x.pfm
[ ! -e x.flo ] || fail "a field beside a failure"
mistake "layers is 0" "$ridge" flow a.ppm b.ppm x.flo --layers 0
mistake "needs FIRST SECOND OUT.flo" "$ridge" flow a.ppm
mistake "one %d" "$ridge" flow 'frames/f_%s.ppm' out2
mistake "the first frame with --first N" "$ridge" flow 'frames/g_%04d.ppm' out2
mistake "need --size" "$ridge" flow - out2
mistake "not a .flo file" "$ridge" flow compare a.ppm flow.flo
printf 'P5\n4000000000 4000000000\n255\n' >bomb.pgm
mistake "are not read" "$ridge" image gray bomb.pgm x.png
head -c 1000 raw >cut
if "$ridge" flow - cutout --size 64x48 <cut >/dev/null 2>err; then fail "a cut frame"; fi
grep -q 'ends inside frame 0' err || fail "cut: $(cat err)"

# --- operators -------------------------------------------------------------------------------------------------------
expect '64x48, 3 channels of 8-bit to 32x24, 1 channel of 8-bit' "$ridge" image 'gauss 2 | resize 0.5 | gray' a.ppm small.pgm --device host
"$ridge" image gauss 2 a.ppm one.ppm --device host >/dev/null && "$ridge" image resize 0.5 one.ppm two.ppm --device host >/dev/null &&
  "$ridge" image gray two.ppm three.pgm --device host >/dev/null || fail "one by one"
same small.pgm three.pgm "a chain and its operators"
"$ridge" image rotate 90 a.ppm turned.ppm --device host >/dev/null && "$ridge" image rotate -90 turned.ppm back.ppm --device host >/dev/null
"$ridge" image rotate 0 a.ppm plain.ppm --device host >/dev/null
same back.ppm plain.ppm "rotated and rotated back"
# Integral images are double, and the last value is the sum of all pixels.
"$ridge" image integral small.pgm sums.npy --device host >/dev/null || fail "integral"
has "'<f8'" sums.npy
total=$(tail -c $((32 * 24)) small.pgm | od -An -v -t u1 | tr -s ' ' '\n' | awk '{ s += $1 } END { print s }')
last=$(tail -c 8 sums.npy | od -An -t f8 | awk '{ print $1 }')
[ "$total" = "$last" ] || fail "all pixels are $total, the integral ends with $last"
"$ridge" image 'cross-bilateral 2 2 20' a.ppm guided.ppm --guide b.ppm --device host >/dev/null || fail "guide"
mistake "no operator \"blur\"" "$ridge" image blur 3 a.ppm x.ppm
mistake "gauss SIGMA" "$ridge" image gauss a.ppm x.ppm
mistake "--guide FILE" "$ridge" image 'cross-bilateral 2 2 20' a.ppm x.ppm
mistake "must end in" "$ridge" image gray a.ppm x.bmp
mistake "unknown border" "$ridge" image gray a.ppm x.pgm --border soft

# Conventions: uncovered corners are black by default; OpenCV's conventions with --like opencv.
corner() { tail -c $((64 * 48 * 3)) "$1" | od -An -t u1 -N 3 | tr -s ' '; }
"$ridge" image rotate 30 a.ppm tilted.ppm --device host >/dev/null || fail "rotate 30"
[ "$(corner tilted.ppm)" = " 0 0 0" ] || fail "rotate 30 fills the corner with$(corner tilted.ppm)"
"$ridge" image rotate 30 a.ppm tilted.ppm --constant 9 --device host >/dev/null || fail "rotate 30 --constant"
[ "$(corner tilted.ppm)" = " 9 9 9" ] || fail "--constant 9 fills the corner with$(corner tilted.ppm)"
"$ridge" image rotate 30 a.ppm tilted.ppm --border BORDER_REPLICATE --device host >/dev/null || fail "rotate 30 --border"
[ "$(corner tilted.ppm)" != " 0 0 0" ] || fail "--border is not used"
printf 'P2\n3 3\n255\n0 10 20\n0 10 20\n0 10 20\n' >ramp.pgm
slope() { tail -c 40 "$1" | od -An -t f4 -N 4 | tr -d ' '; }  # d/dx of the middle pixel
"$ridge" image gradient ramp.pgm d.npy --device host >/dev/null && [ "$(slope d.npy)" = 10 ] || fail "a gradient of $(slope d.npy)"
"$ridge" image gradient ramp.pgm d.npy --like opencv --device host >/dev/null && [ "$(slope d.npy)" = 80 ] ||
  fail "OpenCV's gradient is $(slope d.npy)"
mistake "unknown convention \"pillow\": use one of ridge, opencv" "$ridge" image gray a.ppm x.pgm --like pillow
mistake "gauss SIGMA" "$ridge" image gauss 2 opencv a.ppm x.ppm

# --- variance --------------------------------------------------------------------------------------------------------
expect 'variance .* windows of 9x9' "$ridge" variance a.ppm v.npy --window 9 --device host
[ "$(size v.npy)" -eq $((128 + 64 * 48 * 4)) ] || fail "v.npy has $(size v.npy) bytes"
# Compiled with optimization, as for users.
if "$ridge" devices 2>/dev/null | grep -q 'opencl:0'; then
  expect 'variance .* windows of 7x7' env -u POCL_EXTRA_BUILD_FLAGS "$ridge" variance a.ppm v.npy --window 7 --device opencl:0
  said=$(env -u POCL_EXTRA_BUILD_FLAGS RIDGE_CACHE_DIR="$beside/new" POCL_CACHE_DIR="$beside/pocl" "$ridge" variance a.ppm v.npy \
    --window 7 --method online --device opencl:0 2>&1 >/dev/null)
  [ -z "$said" ] || fail "the kernel compiler printed: $said"
  "$ridge" image median 2 a.ppm m.ppm --device host >/dev/null
  env -u POCL_EXTRA_BUILD_FLAGS "$ridge" image median 2 a.ppm there.ppm --device opencl:0 >/dev/null || fail "median on opencl:0"
  same m.ppm there.ppm "a median of colours on opencl:0"
fi
expect 'standard deviation times' "$ridge" variance a.ppm v.pgm --window 9 --method three-wise --device host
expect 'three-wise' "$ridge" variance --study --window 9 --threads 1 --plot study.svg
has "<svg" study.svg
mistake "unknown method \"best-of\"" "$ridge" variance a.ppm x.npy --method best-of
mistake "a window of 0x0" "$ridge" variance a.ppm x.npy --window 0
finish
