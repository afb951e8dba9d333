#!/usr/bin/env bash
# ridge stencil: complete files, one-line errors, killed and resumed runs, a full disk.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
# stencil ARGUMENT...: must succeed
stencil() { "$ridge" stencil "$@" >stdout 2>stderr || fail "$* ($?): $(cat stderr)"; }

# --- output files ----------------------------------------------------------------------------------------------------
stencil heat --demo --steps 60 --every 20 --out heat.pvd --out last.npy --out last.vti --checkpoint heat.ckp
has "temperature from" stdout
[ "$(grep -c '<DataSet' heat.pvd)" -eq 4 ] || fail "not four grids: $(cat heat.pvd)"
for file in $(grep -o 'heat_[0-9]*\.vti' heat.pvd); do tail -c 11 "$file" | grep -q '</VTKFile>' || fail "$file is not whole"; done
cmp -s last.vti heat_000060.vti || fail "the last state is not the series' last"
[ "$(stat -c %s last.npy)" -eq $((128 + 128 * 128 * 4)) ] || fail "last.npy: $(stat -c %s last.npy) bytes"
ls heat.ckp heat.ckp.previous >/dev/null || fail "two generations"

# Outputs during the run do not change the grid.
stencil heat --demo --steps 60 --out plain.npy
cmp -s plain.npy last.npy || fail "output changes the grid"
stencil heat --size 128x128 --length 0.1664 --alpha 0.4 --dt 1e-6 --steps 30 --out half.npy
stencil heat --in half.npy --length 0.1664 --alpha 0.4 --dt 1e-6 --steps 30 --out other.npy
cmp -s other.npy plain.npy || fail "a run from an array does not continue where it ended"

# Many steps in one leap, unless --no-leap is given; the steady state.
stencil heat --size 40x30 --steps 5000 --out leap.npy
has "by 1 leap" stdout
stencil heat --size 40x30 --steps 5000 --no-leap
has "planned and compiled in" stdout
! grep -q "by 1 leap" stdout || fail "--no-leap leaps"
stencil heat --size 40x30 --steps 5000 --checkpoint leap.ckp
! grep -q "by 1 leap" stdout || fail "a run with checkpoints leaps"
stencil heat --size 40x30 --steady --type f64 --out steady.npy
has "steady state: temperature from 1 to 1" stdout
mistake "computes no steps" "$ridge" stencil heat --steady --every 5
rm -f leap.*

stencil wave --size 20x24x28 --steps 10 --border x=periodic,y=fixed,z=fixed/mirror --out wave.npy --type f64
stencil euler --flow sod --size 3x60 --steps 20 --out sod.npy
[ "$(stat -c %s sod.npy)" -eq $((128 + 4 * 3 * 60 * 4)) ] || fail "four views of sod: $(stat -c %s sod.npy)"
stencil acoustic --size 40x50 --steps 30 --record heard.npy --out sound.npy --layer 8
has "cells per shortest wave" stdout
[ "$(stat -c %s heard.npy)" -eq $((128 + 30 * 50 * 4)) ] || fail "receivers: $(stat -c %s heard.npy)"
[ "$(stat -c %s sound.npy)" -eq $((128 + 40 * 50 * 4)) ] || fail "sound: $(stat -c %s sound.npy)"
mistake "must be above 0" "$ridge" stencil acoustic --velocity sound.npy --steps 1
# The last recorded row is that of the last state, and a run without receivers ends in the same state.
stencil acoustic --size 40x50 --steps 31 --frequency 60 --layer 8 --type f64 --out alone.npy
stencil acoustic --size 40x50 --steps 31 --frequency 60 --layer 8 --type f64 --out beside.npy --record heard.npy --depth 9
cmp -s alone.npy beside.npy || fail "receivers change the wave"
cmp -s <(tail -c $((50 * 8)) heard.npy) <(tail -c +$((129 + 9 * 50 * 8)) beside.npy | head -c $((50 * 8))) ||
  fail "the last recorded row is not the state's"
stencil acoustic --size 40x50 --steps 30 --frequency 60 --layer 8 --type f64 --out before.npy
cmp -s <(tail -c $((2 * 50 * 8)) heard.npy | head -c $((50 * 8))) <(tail -c +$((129 + 9 * 50 * 8)) before.npy | head -c $((50 * 8))) ||
  fail "the row before the last is not that of the step before"
# Reflection of the layers, compared with a grid too large for reflections to return.
stencil acoustic --size 80x80 --source 40,40 --depth 20 --steps 200 --layer 8 --type f64 --record near.npy
stencil acoustic --size 240x240 --source 120,120 --depth 100 --steps 200 --layer 8 --type f64 --record far.npy
for n in near:80:20 far:240:100; do
  IFS=: read -r name width first <<<"$n"
  tail -c $((200 * width * 8)) "$name.npy" | od -An -v -t f8 -w$((width * 8)) | awk -v f="$first" '{ for (i = f + 1; i <= f + 40; ++i) print $i }' >"$name.txt"
done
paste near.txt far.txt | awk 'function abs(x) { return x < 0 ? -x : x }
  { d = abs($1 - $2); if (!(d <= worst)) worst = d; if (abs($2) > most) most = abs($2) }
  END { exit !(NR == 8000 && most > 0 && worst < 0.002 * most) }' || fail "the layers reflect too much"
# Shots between cells, traces as an array and as SEG-Y, and a gradient that is zero for the true model only.
printf '# depth, x\n2.5,10\n2.5, 30.25\n' >sources.csv
printf '1.5,%s.5\n' 5 12 19 26 33 >receivers.csv
shots="--sources sources.csv --shots --receivers receivers.csv --dt 0.002 --frequency 9 --type f64"
stencil acoustic --size 40x50 --steps 120 $shots --record shots.npy
[ "$(stat -c %s shots.npy)" -eq $((128 + 2 * 120 * 5 * 8)) ] || fail "shots: $(stat -c %s shots.npy)"
stencil acoustic --size 40x50 --steps 120 $shots --record shots.sgy
[ "$(stat -c %s shots.sgy)" -eq $((3600 + 2 * 5 * (240 + 120 * 4))) ] || fail "SEG-Y: $(stat -c %s shots.sgy)"
stencil acoustic --size 40x50 --steps 120 $shots --observed shots.npy --gradient zero.npy
has "gradient: from 0 to 0" stdout
# Geometry and observed traces from SEG-Y; positions as lengths, with named columns, as other programs write them.
segy="--size 40x50 --steps 120 --dt 0.002 --frequency 9 --type f64 --shots"
stencil acoustic $segy --sources shots.sgy --receivers shots.sgy --record again.npy
cmp -s again.npy shots.npy || fail "positions of SEG-Y are not those that were written"
stencil acoustic $segy --sources shots.sgy --receivers shots.sgy --observed shots.sgy --gradient zero.npy
grep -Eq "^misfit [0-9.]+e-(0[6-9]|1[0-9])$" stdout || fail "observed traces of SEG-Y: $(cat stdout)"
printf '\xef\xbb\xbfX;Depth\r\n100;25\r\n302.5;25\r\n' >lengths.csv
printf 'x z\n55 15\n125\t15\n195 15\n+265 15\n335 15\n' >lengths.txt
stencil acoustic $segy --sources lengths.csv --receivers lengths.txt --units lengths --record again.npy
cmp -s again.npy shots.npy || fail "positions as lengths are not those in cells"
printf 'easting,northing\n1,2\n' >named.csv
mistake "columns named easting, northing; needs depth and x" "$ridge" stencil acoustic $segy --sources named.csv
printf 'depth m,x m\n1,2\n' >named.csv
mistake "4 names of columns (depth, m, x, m), but rows of 2 numbers; names must not contain blanks" "$ridge" stencil acoustic $segy --sources named.csv
# Without --dt that of SEG-Y; defaults that depend on the model are reported.
stencil acoustic --size 40x50 --steps 120 --frequency 9 --type f64 --shots --sources shots.sgy --receivers shots.sgy --observed shots.sgy --gradient zero.npy
grep -Eq "^misfit [0-9.]+e-(0[6-9]|1[0-9])$" stdout || fail "the time step of SEG-Y: $(cat stdout)"
[ -s stderr ] && fail "a warning without a reason: $(cat stderr)"
stencil acoustic --size 40x50 --speed 1550 --steps 120 --type f64 --shots --sources shots.sgy --receivers shots.sgy --observed shots.npy --gradient other.npy
has "--dt 0.00322045 and --frequency 9.6875 of this run are the defaults" stderr
mistake "samples every 0.002 s, but the time step is 0.001 s" "$ridge" stencil acoustic --size 40x50 --steps 120 --dt 0.001 --shots --sources shots.sgy --receivers shots.sgy --observed shots.sgy --gradient no.npy
mistake "10 traces of 2 shots and 120 samples; this run has 2 shots, 5 receivers and 119 steps" "$ridge" stencil acoustic --size 40x50 --steps 119 --dt 0.002 --shots --sources shots.sgy --receivers shots.sgy --observed shots.sgy --gradient no.npy
mistake "up to 32767 samples" "$ridge" stencil acoustic --size 40x50 --steps 40000 --record long.sgy
# Files hold whole microseconds: half of one is lost.
half="--size 40x50 --steps 120 --dt 0.0010025 --frequency 9 --type f64 --source 2,10 --depth 1"
stencil acoustic $half --record half.sgy
stencil acoustic $half --observed half.sgy --gradient zero.npy
stencil acoustic --size 40x50 --spacing 0.01 --dt 7e-7 --steps 20 --record short.sgy
has "steps off; use .npy" stderr
# Observed traces with NaN, in both formats and by both commands.
python3 - <<'END' || fail "traces with NaN"
import struct
segy = bytearray(open("half.sgy", "rb").read())
at = 3600 + 3 * (240 + 120 * 4) + 240 + 5 * 4
segy[at:at + 4] = struct.pack(">f", float("nan"))
open("nan.sgy", "wb").write(segy)
npy = bytearray(open("shots.npy", "rb").read())
at = 128 + 8 * (120 * 5 + 7 * 5 + 2)
npy[at:at + 8] = struct.pack("<d", float("nan"))
open("nan.npy", "wb").write(npy)
END
mistake "nan.sgy: the value of receiver 3 at step 5 of shot 0 is nan" "$ridge" stencil elastic $half --observed nan.sgy --gradient no.npy
mistake "nan.sgy: the value of receiver 3 at step 5 of shot 0 is nan" "$ridge" stencil acoustic $half --observed nan.sgy --gradient no.npy
mistake "nan.npy: the value of receiver 2 at step 7 of shot 1 is nan" "$ridge" stencil acoustic --size 40x50 --steps 120 $shots --observed nan.npy --gradient no.npy
stencil acoustic --size 40x50 --speed 1550 --steps 120 $shots --observed shots.npy --gradient exact.npy --exact
has "exact snapshots of every step" stdout
stencil acoustic --size 40x50 --speed 1550 --steps 120 $shots --observed shots.npy --gradient states.npy --exact --memory 2M
has "states from which blocks are computed again" stdout
stencil acoustic --size 40x50 --steps 120 $shots --observed shots.npy --gradient image.npy --migrate
has "image: from" stdout
# States during a run: those of a series for ParaView, of arrays and of pictures.
stencil acoustic --size 40x50 --steps 50 --every 20 --out wave.pvd --threads 1
[ "$(grep -c '<DataSet' wave.pvd)" -eq 3 ] || fail "not three states: $(cat wave.pvd)"
stencil acoustic --size 40x50 --steps 50 --every 20 --out wave.npy
stencil acoustic --size 40x50 --steps 40 --out forty.npy
cmp -s wave_000040.npy forty.npy || fail "a state during a run is not that of a shorter run"
"$ridge" stencil elastic --size 40x50 --steps 4 --frequency 60 >stdout 2>stderr || fail "short waves: $(cat stderr)"
has "the shortest waves, of 120 Hz at the lowest velocity, have 1.42 cells; 5 are needed" stderr
stencil elastic --size 40x50 --steps 40 --every 20 --out wave.png --epsilon 0.2 --delta 0.1 --quality 50
ls wave_000020.png wave_000040.png >/dev/null || fail "pictures of elastic waves"
mistake "epsilon must be at least delta" "$ridge" stencil elastic --size 40x50 --shear-speed 0 --delta 0.1
mistake "is too small for a gradient" "$ridge" stencil acoustic --size 40x50 --steps 120 $shots --observed shots.npy --gradient no.npy --memory 100K
mistake "this run has 2, 119 and 5" "$ridge" stencil acoustic --size 40x50 --steps 119 $shots --observed shots.npy --gradient no.npy
mistake "where the absorbing layers are" "$ridge" stencil acoustic --size 40x50 --source 41,3
mistake "line 1: needs numbers separated by commas, semicolons or blanks" "$ridge" stencil acoustic --size 40x50 --sources <(echo 3,x)
# The source's amplitude depends on its own cell only: a faster region elsewhere has no effect near it.
python3 - <<'END' || fail "models for the source"
import struct
def save(name, slow, fast):
    row = [slow] * 80 + [fast] * 20
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (100, 100), }"
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<100f", *row) * 100)
save("even.npy", 1500, 1500)
save("fast.npy", 1500, 4500)
END
# numbers NAME: the values of a .npy file of doubles, one per line
numbers() { python3 -c 'import array, sys; data = open(sys.argv[1], "rb").read(); print(*array.array("d", data[10 + data[8] + 256 * data[9]:]), sep="\n")' "$1"; }
# alike A B SHARE: the numbers of two files differ by at most SHARE of the largest
alike() {
  paste <(numbers "$1") <(numbers "$2") | awk -v share="$3" 'function abs(x) { return x < 0 ? -x : x }
    { d = abs($1 - $2); if (!(d <= worst)) worst = d; if (abs($2) > most) most = abs($2) }
    END { exit !(most > 0 && worst <= share * most) }' || fail "$1 and $2 differ by more than $3"
}
alike states.npy exact.npy 1e-12
wave="--source 50,40 --depth 46 --frequency 30 --layer 0 --type f64"
for model in even fast; do stencil acoustic --velocity $model.npy --dt 0.001 --steps 60 $wave --record heard-$model.npy; done
alike heard-even.npy heard-fast.npy 1e-9
# Nor does it depend on the time step.
stencil acoustic --velocity even.npy --dt 0.001 --steps 60 $wave --out coarse.npy
stencil acoustic --velocity even.npy --dt 0.0005 --steps 120 $wave --out fine.npy
alike coarse.npy fine.npy 0.02
light="--size 100x100 --source 50,40 --layer 0 --type f64 --frequency 0.05"
stencil maxwell $light --dt 0.5 --steps 80 --out coarse.npy
stencil maxwell $light --dt 0.25 --steps 160 --out fine.npy
alike coarse.npy fine.npy 0.02
# In 3D the wave at distance r is dx^3 / (4 pi r) pulse(t - r / c): at 12 cells of 10 its peak is 0.663146 at 0.24 s.
stencil acoustic --size 72x72x72 --source 36,36,36 --depth 24 --layer 0 --type f64 --frequency 9.375 --dt 0.0025 --steps 110 --record heard.npy
numbers heard.npy | awk '(NR - 1) % 72 == 36 && $1 > most { most = $1; step = int((NR - 1) / 72) + 1 }
  END { exit !(most > 0.65 && most < 0.677 && step >= 95 && step <= 97) }' || fail "the source's amplitude or delay"
mistake "do not change" "$ridge" stencil acoustic --size 40x50 --source 3,20 --layer 0
stencil acoustic --size 40x50 --source 3,20 --layer 0 --border mirror --steps 2
mistake "is not above 0" "$ridge" stencil acoustic --spacing -1
mistake "is not a number" "$ridge" stencil acoustic --dt nan
mistake "is not above 0" "$ridge" stencil acoustic --frequency 0
mistake "receivers are outside a grid of 40x50" "$ridge" stencil acoustic --size 40x50 --record x.npy --depth 40
mistake "must end in .npy" "$ridge" stencil maxwell --size 40x50 --record x.txt
mistake "no folder /no/such" "$ridge" stencil acoustic --size 40x50 --steps 1000000000 --record /no/such/x.npy
mistake "no-such.npy" "$ridge" stencil acoustic --velocity no-such.npy
stencil heat --size 4x5x6 --steps 1 --out three.npy
mistake "needs 2 axes and one number per cell" "$ridge" stencil maxwell --permittivity three.npy
mistake "this problem needs 2" "$ridge" stencil maxwell --size 5x6x7
mistake "need a model of at least 8 cells along each axis" "$ridge" stencil acoustic --size 1x1
stencil maxwell --size 40x50 --steps 30 --source 20,25 --out light.npy --type f64
[ "$(stat -c %s light.npy)" -eq $((128 + 40 * 50 * 8)) ] || fail "light: $(stat -c %s light.npy)"
mistake "is unstable" "$ridge" stencil acoustic --size 40x50 --dt 1
# The same mistakes in all media: one line with the numbers.
python3 - <<'END' || fail "a model with NaN"
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 50), }"
header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
with open("hole.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<2000f", *[float("nan") if i == 153 else 2 for i in range(2000)]))
with open("rock.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<2000f", *[3000] * 2000))
END
echo 3,50 >beyond.csv
for medium in acoustic maxwell elastic; do
  small="$ridge stencil $medium --size 40x50 --steps 3"
  mistake "the time step 1e+06 is unstable: c dt" $small --dt 1e6
  mistake "use a dt up to" $small --dt 1e6
  mistake "source 0 at (40, 0) is outside the model of 40 x 50 cells, where the absorbing layers are: positions are from 0 to 39" $small --source 40,0
  mistake "receiver 0 at (3, 50) is outside the model of 40 x 50 cells, where the absorbing layers are: positions are from 0 to 49" $small --receivers beyond.csv --record no.npy
  mistake "waves would be shorter than two cells at the lowest velocity" $small --frequency 1e5
  option=--velocity
  [ $medium = maxwell ] && option=--permittivity
  mistake "is nan in cell (3, 3); all values must be above 0 and finite" "$ridge" stencil $medium $option hole.npy
  stencil $medium --size 40x50 --steps 60 --type f64 --free-surface --record traces.npy
  mistake "is too small for a gradient: the fields alone take" "$ridge" stencil $medium --size 40x50 --steps 60 --type f64 --free-surface --observed traces.npy --gradient no.npy --memory 100K
done
# Nothing is written if a field or a gradient overflows.
python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<1000f", *[3e38] * 1000))' >huge.f32
npy huge.npy '<f4' '(20, 50)' <huge.f32
head -c 80 huge.f32 | npy huge-wavelet.npy '<f4' '(20,)'
{ head -c 80 huge.f32 && head -c 80 /dev/zero; } | npy first-huge.npy '<f4' '(2, 20)'
printf '10,20\n20,30\n' >two-shots.csv
mistake "the field contains NaN or infinity" "$ridge" stencil acoustic --size 40x50 --steps 20 --wavelet huge-wavelet.npy --record no.npy --out no.vti
mistake "the traces contain NaN or infinity" "$ridge" stencil acoustic --size 40x50 --steps 20 --shots --sources two-shots.csv --wavelet first-huge.npy --record no.npy
for run in "acoustic --dt 0.003 --frequency 9" "maxwell --dt 0.4 --frequency 0.06" "elastic --dt 0.0018 --frequency 10"; do
  # shellcheck disable=SC2086
  mistake "gradient contains NaN or infinity" "$ridge" stencil $run --size 40x50 --steps 20 --observed huge.npy --gradient no.npy
done
mistake "is between cells; elastic waves need whole numbers" "$ridge" stencil elastic --size 40x50 --source 3.5,7
mistake "100x100 cells; the velocity of P waves has 40x50" "$ridge" stencil elastic --velocity rock.npy --density even.npy
# A gradient is zero for the true model only.
for medium in maxwell elastic; do
  steps="--size 40x50 --steps 60 --type f64"
  stencil $medium $steps --record light.npy
  stencil $medium $steps --observed light.npy --gradient zero.npy
  has "gradient: from 0 to 0" stdout
done
stencil maxwell $steps --epsilon 1.2 --dt 0.4 --observed light.npy --gradient light-g.npy
has "misfit " stdout
stencil life --size 30x40 --steps 5 --out life.npy
for rule in B/S B3/S B/S2; do
  stencil life --size 30x40 --steps 2 --rule $rule
done
[ "$(stat -c %s life.npy)" -eq $((128 + 30 * 40)) ] || fail "life is bytes"
stencil heat --size 64 --steps 10 --every 5 --out line.pvd --base64
grep -q 'encoding="base64"' line_000010.vti || fail "base64"
stencil heat --size 32x32 --steps 0 --out start.npy

if "$ridge" stencil heat --size 16x16 --steps 1 --out probe.png 2>/dev/null >/dev/null; then
  stencil heat --demo --steps 20 --every 10 --png frame --colours ember --pixels 200
  for step in 000000 000010 000020; do
    head -c 8 frame_$step.png | od -An -tx1 | grep -q '89 50 4e 47 0d 0a 1a 0a' || fail "frame_$step.png"
  done
  stencil convolve --in frame_000020.png --kernel box:1 --out soft.png
  stencil convolve --in frame_000020.png --kernel "0 0 0; 0 1 0; 0 0 0" --out same.png
  stencil convolve --in same.png --kernel "0 0 0; 0 1 0; 0 0 0" --out again.png
  cmp -s same.png again.png || fail "a kernel that does nothing"
  cmp -s same.png soft.png && fail "a kernel that does something does nothing"
  mistake "no colour map \"jet\"" "$ridge" stencil heat --demo --png x --colours jet
else
  echo "no PNG here: pictures are not tested"
fi

# --- mistakes --------------------------------------------------------------------------------------------------------
mistake "unstable" "$ridge" stencil heat --dt 1 --out x.npy
mistake "unstable" "$ridge" stencil wave --dt 1 --out x.npy
mistake "unstable" "$ridge" stencil euler --dt 1 --out x.npy
mistake "each 1 or more" "$ridge" stencil heat --size -5 --out x.npy
mistake "each 1 or more" "$ridge" stencil heat --size 0x4
mistake "each 1 or more" "$ridge" stencil heat --size 4x4x4x4
mistake "each 1 or more" "$ridge" stencil euler --size 4.5x4
for option in --steps --every --threads --halo --checkpoint-every; do
  mistake "\"-3\" is not a whole number" "$ridge" stencil heat --size 8x8 --checkpoint x.ckp $option -3
done
mistake "no kind" "$ridge" stencil heat --border open
mistake "axis z" "$ridge" stencil heat --size 8x8x8 --border x=fixed,y=fixed
mistake "names no axis" "$ridge" stencil heat --size 8x8 --border x=fixed,z=fixed
mistake "periodic" "$ridge" stencil heat --size 8x8 --border x=periodic/fixed,y=fixed
mistake "must end in" "$ridge" stencil heat --out heat.txt
mistake "needs --checkpoint" "$ridge" stencil heat --resume
mistake "no rule" "$ridge" stencil life --rule 23/3
mistake "needs --in" "$ridge" stencil convolve
mistake "not a number" "$ridge" stencil convolve --in last.npy --kernel "1 nan 1"
mistake "no such" "$ridge" stencil convolve --in last.npy --kernel blur
for option in --out --checkpoint; do
  mistake "no folder /no/such/folder" "$ridge" stencil heat --size 8x8 --steps 1 $option /no/such/folder/x.npy
done
mistake "no folder /no/such/folder" "$ridge" stencil heat --size 8x8 --steps 1 --png /no/such/folder/x
mistake "no-such.npy" "$ridge" stencil heat --in no-such.npy
mistake "tornado not in {blast,sod,vortex,shear}" "$ridge" stencil euler --flow tornado
mistake "gpu9" "$ridge" stencil heat --device gpu9
head -c 300 last.npy >short.npy
mistake "asks for 65536 bytes, and it ends 65364 bytes early" "$ridge" stencil heat --in short.npy --out x.npy

mistake "more than the" "$ridge" stencil heat --size 9999999x9999999 --steps 1 --out big.npy

# --- checkpoints -----------------------------------------------------------------------------------------------------
run=(heat --size 96x80 --steps 400 --every 40 --checkpoint run.ckp --out run.pvd --out run.npy)
stencil "${run[@]}" --resume
has "no checkpoint run.ckp yet" stdout
cp run.npy whole.npy
stencil "${run[@]}" --resume
has "continuing from step 400" stdout
mistake "was made with dt" "$ridge" stencil "${run[@]}" --alpha 0.5 --resume
mistake "size" "$ridge" stencil heat --size 96x81 --steps 400 --checkpoint run.ckp --resume
mistake "float32" "$ridge" stencil "${run[@]}" --type f64 --resume
mistake "beyond --steps 300" "$ridge" stencil heat --size 96x80 --steps 300 --checkpoint run.ckp --resume

# A damaged checkpoint is reported by name and the previous one is used.
printf 'x' | dd of=run.ckp bs=1 seek=5000 conv=notrunc 2>/dev/null
stencil "${run[@]}" --resume
has "run.ckp is refused: the checksum of block" stderr
has "using run.ckp.previous of step 360" stderr
has "continuing from step 360" stdout
cmp -s run.npy whole.npy || fail "resumed from the generation before: another grid"
[ -e run.ckp.damaged ] || fail "the damaged checkpoint is gone"
echo broken >run.ckp
echo broken >run.ckp.previous
mistake "run.ckp.previous is refused" "$ridge" stencil "${run[@]}" --resume
rm -f run.*

# Killed repeatedly at random moments until it is done.
run=(heat --size 200x180 --steps 1500 --every 50 --checkpoint run.ckp --out run.pvd --out run.npy --threads 1)
stencil heat --size 200x180 --steps 1500 --no-leap --out whole.npy --threads 1
kills=0
for try in $(seq 25); do
  "$ridge" stencil "${run[@]}" --resume >stdout 2>stderr &
  pid=$!
  sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
  if kill -9 $pid 2>/dev/null; then
    wait $pid 2>/dev/null
    kills=$((kills + 1))
    # At any moment the series lists complete files only, and a complete checkpoint exists.
    if [ -e run.pvd ]; then
      for file in $(grep -o 'run_[0-9]*\.vti' run.pvd); do
        tail -c 11 "$file" | grep -q '</VTKFile>' || fail "$file is not whole after a kill"
      done
    fi
  else
    wait $pid || fail "resuming: $(cat stderr)"
    break
  fi
done
[ -e run.npy ] || stencil "${run[@]}" --resume
cmp -s run.npy whole.npy || fail "killed $kills times: another grid"
[ "$(grep -c '<DataSet' run.pvd)" -eq 31 ] || fail "killed $kills times: $(grep -c '<DataSet' run.pvd) grids in the series"
[ "$(grep -o 'run_[0-9]*\.vti' run.pvd | sort -u | wc -l)" -eq 31 ] || fail "a grid is listed twice"
echo "killed $kills times"
rm -f run.*

# On SIGTERM a run writes a checkpoint before it ends.
"$ridge" stencil heat --size 100x100 --steps 1000000000 --checkpoint run.ckp --checkpoint-every 50000 --threads 1 >stdout 2>stderr &
pid=$!
for _ in $(seq 600); do [ -e run.ckp ] && break || sleep 0.1; done  # it steps
rm -f run.ckp*
kill -TERM $pid
wait $pid
[ $? -eq 143 ] || fail "stopped with another code"
has "stopped at step" stderr
[ -e run.ckp ] || fail "no checkpoint when stopped"
rm -f run.*

# No space during a run: a clear error, the previous checkpoint stays, no incomplete files.
run=(heat --size 128x128 --steps 200 --every 20 --checkpoint run.ckp)
stencil heat --size 128x128 --steps 100 --every 20 --checkpoint run.ckp
if ! ldd "$ridge" | grep -q libtsan; then  # which maps a file of its own when it starts, and dies of the limit
  cp run.ckp kept.ckp
  (
    ulimit -f 20  # blocks of 1024 bytes: less than a checkpoint
    "$ridge" stencil "${run[@]}" --resume >stdout 2>stderr
    [ $? -eq 1 ]
  ) || fail "no space: exit code"
  has "step 120: cannot write run.ckp: File too large; step 100 is saved in run.ckp" stderr
  [ "$(wc -l <stderr)" -eq 1 ] || fail "no space: more than a line: $(cat stderr)"
  cmp -s run.ckp kept.ckp || fail "no space: the checkpoint before was touched"
  [ -z "$(ls | grep -E 'part|tmp')" ] || fail "no space: something half written: $(ls)"
fi
stencil "${run[@]}" --resume
has "continuing from step 100" stdout
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=100k tmpfs small 2>/dev/null; then
  "$ridge" stencil heat --size 128x128 --steps 200 --every 20 --checkpoint small/run.ckp >stdout 2>stderr
  code=$?
  ls small >listing
  umount small
  [ $code -eq 1 ] || fail "a full disk: exit $code"
  has "No space left on device" stderr
  grep -q part listing && fail "a full disk: $(cat listing)"
fi

# --- bench -----------------------------------------------------------------------------------------------------------
"$ridge" bench stencil --device host --stencil star2d:1,star3d:1 --size 96x80 --type f64 --quick >stdout 2>stderr &&
  fail "bench: sizes of other axes are taken"
has "the number of axes does not match star3d:1" stderr
"$ridge" bench stencil --device host --stencil star2d:1 --size 96x80 --type f64 --steps 8 --seconds 0.001 --all \
  --json bench.json >stdout 2>stderr || fail "bench: $(cat stderr)"
has "5-point f64 96x80 8 steps" stdout
has "overlapped_tiles" stdout
has '"gcells_per_s"' bench.json
"$ridge" bench stencil --device host --stencil star2d:1 --size 96x80 --type f64 --steps 8 --seconds 0.001 --watts 50 \
  --variant base --explain >stdout 2>stderr || fail "bench --watts: $(cat stderr)"
has "GFLOP/s per watt" stdout
has "no leap over many steps: not wanted" stdout

# --- help ------------------------------------------------------------------------------------------------------------
for problem in heat wave euler life convolve; do
  "$ridge" stencil $problem --help >stdout || fail "$problem --help"
  has "Examples" stdout
  has "--checkpoint" stdout
done
for problem in acoustic maxwell elastic; do
  "$ridge" stencil $problem --help >stdout || fail "$problem --help"
  has "Examples" stdout
  has "--record" stdout
done

finish
