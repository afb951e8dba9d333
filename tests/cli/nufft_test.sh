#!/usr/bin/env bash
# ridge nufft on files: correct results, one-line errors.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
# floats32 NUMBERS...: little-endian floats
float32() { python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<%df" % (len(sys.argv) - 1), *map(float, sys.argv[1:])))' "$@"; }
rounded() { values f4 8 "$1" | awk '{ printf "%.3f %.3f\n", $1 + 0.00001, $2 + 0.00001 }' | sed 's/-0\.000/0.000/g'; }
half=1.57079632679
# --- answers ---------------------------------------------------------------------------------------------------------
# A point at pi/2 of strength 1 gives i^k for the frequencies k = -2 ... 1.
float32 $half | npy x.npy '<f4' '(1,)'
float32 1 0 | npy one.npy '<c8' '(1,)'
expect "tiles" "$ridge" nufft x.npy one.npy modes.npy --modes 4 --explain
tail -c 32 modes.npy >elements
[ "$(rounded elements | tr '\n' ' ')" = "-1.000 0.000 0.000 -1.000 1.000 0.000 0.000 1.000 " ] || fail "type 1: $(rounded elements)"
"$ridge" nufft x.npy one.npy modes.npy --modes 4 --sign - --order fft || fail "--sign"
tail -c 32 modes.npy >elements
[ "$(rounded elements | tr '\n' ' ')" = "1.000 0.000 0.000 -1.000 -1.000 0.000 0.000 1.000 " ] || fail "--sign, --order: $(rounded elements)"
# Type 2 of frequency 1 alone, at two points, two sets; the shape of the modes is that of the file.
float32 $half 0 | npy two.npy '<f4' '(2, 1)'
float32 0 0 0 0 1 0 0 0 0 0 2 0 | npy sets.npy '<c8' '(2, 3)'
"$ridge" nufft two.npy sets.npy values.npy --type 2 || fail "type 2"
head -c 128 values.npy | tr -d '\0' | grep -qa "'<c8'.*(2, 2)" || fail "wrong header of values.npy"
tail -c 32 values.npy >elements
[ "$(rounded elements | tr '\n' ' ')" = "0.000 1.000 1.000 0.000 0.000 0.000 0.000 0.000 " ] && fail "type 2 ignores the second set"
float32 0 0 0 0 1 0 | npy set.npy '<c8' '(3,)'
"$ridge" nufft two.npy set.npy values.npy --type 2 || fail "type 2 of one set"
tail -c 16 values.npy >elements
[ "$(rounded elements | tr '\n' ' ')" = "0.000 1.000 1.000 0.000 " ] || fail "type 2: $(rounded elements)"
# Type 3 at the frequencies 1 and 2 of a point at pi/2.
float32 1 2 | npy s.npy '<f4' '(2,)'
"$ridge" nufft x.npy one.npy values.npy --type 3 --frequencies s.npy || fail "type 3"
tail -c 16 values.npy >elements
[ "$(rounded elements | tr '\n' ' ')" = "0.000 1.000 -1.000 0.000 " ] || fail "type 3: $(rounded elements)"
# No points give zeros.
printf '' | npy none.npy '<f4' '(0, 2)'
printf '' | npy nothing.npy '<c8' '(0,)'
"$ridge" nufft none.npy nothing.npy zeros.npy --modes 2x2 || fail "no points"
[ "$(tail -c 32 zeros.npy | od -An -v -t u1 | tr -d ' 0\n')" = "" ] || fail "no points: not zeros"
# --- mistakes --------------------------------------------------------------------------------------------------------
float32 nan | npy nan.npy '<f4' '(1,)'
float32 4 | npy far.npy '<f4' '(1,)'
mistake "x[0] = nan" "$ridge" nufft nan.npy one.npy out.npy --modes 4
"$ridge" nufft far.npy one.npy modes.npy --modes 4 --outside fold || fail "--outside fold"
mistake "at most 3.14 radians, got x[0] = 4" "$ridge" nufft far.npy one.npy out.npy --modes 4 --outside refuse
mistake "plan with double" "$ridge" nufft x.npy one.npy out.npy --modes 4 --eps 1e-9
mistake "the machine has" "$ridge" nufft x.npy one.npy out.npy --modes 1099511627776
mistake "type 1 needs the number of modes" "$ridge" nufft x.npy one.npy out.npy
mistake "has 1 coordinates per point, but the modes 4x4 have 2 axes" "$ridge" nufft x.npy one.npy out.npy --modes 4x4
mistake "needs strengths of shape 1, or several such sets along a first axis, got 3" "$ridge" nufft x.npy set.npy out.npy --modes 4
mistake "needs real coordinates of shape N" "$ridge" nufft one.npy one.npy out.npy --modes 4
mistake "type 3 needs the frequencies" "$ridge" nufft x.npy one.npy out.npy --type 3
mistake "--frequencies needs --type 3, got 1" "$ridge" nufft x.npy one.npy out.npy --modes 4 --frequencies s.npy
mistake "has 2 coordinates per frequency" "$ridge" nufft x.npy one.npy out.npy --type 3 --frequencies none.npy
mistake "--type" "$ridge" nufft x.npy one.npy out.npy --modes 4 --type 4
"$ridge" nufft x.npy one.npy modes.npy --modes 1 || fail "one mode"
finish
