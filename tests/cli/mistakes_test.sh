#!/usr/bin/env bash
# User errors of all commands: exit 1, one line with the reason, no files left behind.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
wrong() { mistake "$1" "$ridge" "${@:2}"; }

printf 'not an array, not an image\n%.0s' 1 2 3 4 5 6 7 8 >text.npy
cp text.npy text.png
head -c 2048 /dev/zero >zeros
: >nothing
mkdir folder
{ printf 'P5\n50 40\n255\n' && head -c 2000 /dev/urandom; } >a.pgm
{ printf 'P6\n50 40\n255\n' && head -c 6000 /dev/urandom; } >a.ppm
head -c 512 /dev/zero | npy c.npy '<c8' '(4, 16)'
head -c 6000 /dev/urandom | npy rgb.npy '|u1' '(40, 50, 3)'
echo 'void twice(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }' >loop.cpp

# --- words and numbers, the same for every command --------------------------------------------------------------------
wrong 'no command "nonsense"' nonsense
wrong 'no command " [31mred"; the commands are' $'\033[31mred'
wrong 'unexpected argument: --nonsense' --nonsense
wrong 'unexpected arguments: --order 3' stencil heat --order 3
wrong 'unexpected arguments: extra words' devices extra words
wrong 'xxxx" is not a number' check --seconds "$(printf 'x%.0s' {1..60000})"
wrong 'unexpected argument: xxxx' devices "$(printf 'x%.0s' {1..60000})"
wrong '"99999999999999999999" is not a whole number' check fft --case 99999999999999999999
wrong '"-1" is not a whole number' fft c.npy x.npy --threads -1
wrong '"nan" is not a number' check --seconds nan
wrong '"inf" is not a number' stencil acoustic --speed inf
wrong '-1 is not in the range 0 to 1000000' check --seconds -1
wrong '0 is not above 0' size --rate 0
wrong '"abc" is not a number' size --rate abc
wrong 'no device "nope"' fft c.npy x.npy --device nope
expect 'RIDGE_THREADS=abc: needs a number from 1 to' env RIDGE_THREADS=abc "$ridge" fft c.npy "$beside/c.npy"
expect 'RIDGE_BACKENDS=nope: no back end "nope"; use host, opencl or cuda' env RIDGE_BACKENDS=nope "$ridge" devices

# --- impossible outputs are reported before anything is computed -------------------------------------------------------
wrong '--json /nowhere/x: there is no folder /nowhere' bench fft --lengths 2^20 --json /nowhere/x
wrong '--json folder: it is a folder' bench filterbank --json folder
wrong '--json /nowhere/x: there is no folder' bench stencil --device host --json /nowhere/x
wrong '--out /nowhere/x.html: there is no folder' tour --out /nowhere/x.html
wrong 'its data are written next to it' tour --out x.json
wrong '--svg /nowhere/x-: there is no folder' machine --svg /nowhere/x
wrong '--flags /nowhere/f: there is no folder' channelize zeros x.raw --flags /nowhere/f
wrong '--png /nowhere/x.png: there is no folder' sar --png /nowhere/x.png
wrong '--plot /nowhere/x.svg: there is no folder' variance --study --plot /nowhere/x.svg
wrong 'image to folder: it is a folder' image gray a.ppm folder
wrong 'OUT /nowhere/x.svg: there is no folder' channelize design /nowhere/x.svg
wrong '--checkpoint folder: it is a folder' stencil heat --size 16x16 --steps 2 --checkpoint folder

# --- files whose contents do not match their names ---------------------------------------------------------------------
for command in 'channelize text.npy x.raw' 'channelize synthesize text.npy x.raw' 'sar --in text.npy --out x.npy' 'fft text.npy x.npy'; do
  # shellcheck disable=SC2086
  wrong 'it does not begin with' $command
done
# Files of other formats are no raw samples, whatever their size.
{ printf '\x89PNG\r\n\x1a\n' && head -c $((64 * 1024 * 8 - 8)) /dev/zero; } >large.png
wrong 'large.png is a PNG file, not raw samples' fft large.png x.raw --shape 64
wrong 'large.png is a PNG file, not raw samples' fft large.png x.raw --shape 64 --samples i8
wrong 'large.png is a PNG file, not raw samples' sar --in large.png --pulses 64 --samples 1024 --out x.raw
wrong 'large.png is a PNG file, not raw samples' channelize large.png x.raw
{ printf 'RIFF\x24\x01\0\0WAVEfmt ' && head -c 300 /dev/zero; } >a.wav
wrong 'a.wav is a WAV file, not raw samples' channelize a.wav x.raw
wrong 'large.png is a PNG file, not raw samples' channelize synthesize large.png x.raw
wrong 'large.png is a PNG file, not raw samples' dedisperse large.png x.raw --dm 1 --centre 1400 --rate 1
wrong 'contains no frame' sar --in nothing --out x.raw
wrong 'card "????????????????????" has no value' channelize zeros x.raw --format guppi
wrong 'a PGM file holds grey' image gauss 2 rgb.npy x.pgm

# --- invalid numbers, contradicting options ----------------------------------------------------------------------------
wrong 'overflows 64 bits' stencil acoustic --size 4294967296x4294967296 --steps 2
wrong 'overflows 64 bits' stencil maxwell --size 4294967296x4294967296 --steps 2
wrong '-5 is not above 0' stencil acoustic --size 64x64 --steps 2 --frequency -5
wrong '-5 is not above 0' channelize zeros x.raw --rate -5
wrong '0 is not above 0' stencil heat --dt 0
wrong '0 is not above 0' stencil heat --every 0
wrong '--low 5 must be below --high 1' stencil heat --size 16x16 --steps 2 --low 5 --high 1
wrong 'shorter than two cells' stencil acoustic --size 64x64 --frequency 1e9
wrong 'shorter than two cells' stencil maxwell --size 64x64 --frequency 10
wrong 'not in the range 0 to 4096' fft c.npy x.npy --threads 99999999999
wrong 'must end in .png' sar --png x.txt
wrong 'must end in .svg' variance --study --plot x.txt
wrong 'with units of time' size --rate 10 --worker a=5
wrong 'with units of time' size --rate 10 --worker 'a=5us*0'
wrong 'of memory, but this process may use' stencil acoustic --size 64x64 --steps 10000000000 --record x.npy
wrong 'not in the range 1 to 16777216' channelize design - --channels 100000000
wrong 'needs numbers as in 0-7' channelize 'in{}' 'out{}' --subbands -1
wrong 'needs numbers as in 0-7' channelize 'in{}' 'out{}' --subbands 18446744073709551615
wrong 'at most 2^26 weights' channelize design - --channels 10000000
wrong 'are for a sequence' flow a.pgm a.pgm x.flo --rate 30
wrong 'must end in' flow a.pgm a.pgm x.flo --picture x.bmp
wrong '--picture /nowhere/x.png: there is no folder' flow a.pgm a.pgm x.flo --picture /nowhere/x.png
wrong '--picture is for two frames' flow 'a_%d.pgm' x --picture x.png
wrong '--size is for raw frames' flow 'a_%d.pgm' x --size 50x40
wrong 'ends inside frame 1' flow - x --size 30x20 <zeros
wrong 'cannot create the folder a.pgm' flow - a.pgm --size 10x10 <zeros
wrong '--guide is for cross-bilateral' image gauss 2 a.pgm x.png --guide a.pgm
wrong 'no case begins with it' bench image --only nonsense --device host
for size in 0 -1; do wrong "--size: $size is not above 0" bench filterbank --size $size --device host; done
wrong '-1 is not in the range 0 to' variance a.pgm x.png --scale -1
# Lack of memory names the problem.
wrong 'ridge: fft c64 6442450944 on host: its arrays need 192 GiB of host memory, but this machine has' bench fft --lengths 6442450944 --device host
wrong 'ridge: fft c64 6442450944 on host: its arrays need' bench fft --lengths 16,6442450944 --seconds 0 --device host
wrong 'ridge: 5-point f32 1000000x1000000 200 steps on host: its arrays need 7.28 TiB' bench stencil --stencil star2d:1 --size 1000000x1000000 --type f32 --device host
wrong 'ridge: gauss 1 2 1x8-bit on host: out of host memory: cannot allocate' bench image --size 1000000x1000000 --only gauss --kinds 1x8-bit --device host
wrong '--plot needs --study' variance a.pgm x.npy --plot x.svg
if "$ridge" place loop.cpp --verdicts >/dev/null 2>&1; then
  wrong 'no integer parameter m' place loop.cpp --function twice --emit openmp --param m=4
  wrong 'needs NAME=NUMBER' place loop.cpp --function twice --emit openmp --param n=99999999999999999999
  wrong 'this is also the input' place loop.cpp --function twice --emit openmp --out ./loop.cpp
fi
finish
