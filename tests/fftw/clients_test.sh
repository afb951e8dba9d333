#!/usr/bin/env bash
# Programs built for FFTW run their own transforms through the drop-in library, by LD_PRELOAD and by FFTW's file names, and
# answer as before. Clients that are not installed are named and left out; with none of them the test is skipped (77).
#   clients_test.sh LIBRARY LINKS-FOLDER
set -euo pipefail
library=$(readlink -f "$1")
links=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ran=0 failed=0

# plain, preloaded, by_name COMMAND...: the same command under three libraries.
plain() { "$@"; }
preloaded() { RIDGE_FFTW_TRACE=$work/trace LD_PRELOAD=$library "$@"; }
by_name() { RIDGE_FFTW_TRACE=$work/trace LD_LIBRARY_PATH=$links${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }

# close A B RELATIVE: numbers in two files, one a line, largest difference over the largest value.
close() {
  paste "$1" "$2" | awk -v most="$3" '
    NF != 2 { bad = 1 }
    { d = $1 - $2; d = d < 0 ? -d : d; a = $1 < 0 ? -$1 : $1
      if (!(d <= worst)) worst = d; if (a > large) large = a; n++ }
    END { if (bad || n == 0 || !(worst <= most * large)) { print "off by", worst, "of", large, "in", n; exit 1 } }'
}

# client NAME COMMAND FUNCTION: FUNCTION RUNNER OUT writes numbers; TOLERANCE says how near they must be.
client() {
  local name=$1 command=$2 function=$3 tolerance=$4 way
  if ! command -v "$command" >/dev/null; then
    echo "$name: not installed, left out"
    return
  fi
  $function plain "$work/plain.$name"
  for way in preloaded by_name; do
    : >"$work/trace"
    if $function $way "$work/$way.$name" && close "$work/plain.$name" "$work/$way.$name" "$tolerance" &&
      grep -q '^plan' "$work/trace" && ! grep -q '^none' "$work/trace"; then
      echo "$name, $way: $(wc -l <"$work/plain.$name") numbers agree, $(wc -l <"$work/trace") plans of ours"
    else
      echo "$name, $way: FAILED"
      cat "$work/trace"
      failed=1
    fi
  done
  ran=$((ran + 1))
}

octave() {
  cat >program.m <<'M'
rand('seed', 3); x = rand(60, 50) + i * rand(60, 50); y = rand(12, 10, 7, 5); z = rand(4096, 1);
for a = {fft(x), ifft(x.').', fft2(x), fftn(y), ifft(fft(z)), fft(x, 64, 2)}
  b = a{1}; printf('%.17g\n', real(b(1:97:end)), imag(b(1:97:end)));
end
fftw('planner', 'measure'); b = fft(x, [], 2); printf('%.17g\n', real(b(1:97:end)));
M
  "$1" octave-cli -q --no-init-file program.m >"$2"
}
octave_single() {
  echo "rand('seed', 3); b = fft(single(rand(1000, 3))); printf('%.9g\n', real(b(1:97:end)), imag(b(1:97:end)));" >in_single.m
  "$1" octave-cli -q --no-init-file in_single.m >"$2"
}
imagemagick() {
  awk 'BEGIN { print "P2\n64 48\n255"; s = 7; for (i = 0; i < 3072; i++) { s = (s * 1103 + 12345) % 65536; print s % 256 } }' >in.pgm
  "$1" "$(command -v convert-im6.q16 || echo convert)" in.pgm +fft txt: | grep -oE '\([0-9.,-]+' | tr -d '(' | tr , '\n' >"$2"
}
bart_tool() {
  bart phantom -s4 -k phantom >/dev/null
  "$1" bart fft -i 3 phantom there >/dev/null
  "$1" bart fft 8 there back >/dev/null
  od -An -v -tf4 -w4 back.cfl | awk 'NR % 57 == 1' >"$2"
}
cvxopt() {
  cat >program.py <<'P'
import random
from cvxopt import fftw, matrix
random.seed(1)
for kind in (1, 2, 3, 4):
    for call in (fftw.dct, fftw.dst):
        x = matrix([random.random() for _ in range(60)], (20, 3))
        call(x, type=kind)
        print(*("%.17g" % v for v in x), sep="\n")
x = matrix([random.random() for _ in range(120)], (120, 1))
fftw.dctn(x, dims=(4, 5, 6))
print(*("%.17g" % v for v in x), sep="\n")
P
  "$1" /usr/bin/python3 program.py >"$2"
}
wisdom_tool() {
  "$1" fftw-wisdom -n -t 0.01 -o "$2.wisdom" cof1024 rif32x32 rob16 ki4o00x5e11x6f && echo 1 >"$2"
}

client octave octave-cli octave 1e-13
client octave-single octave-cli octave_single 1e-6
client imagemagick convert-im6.q16 imagemagick 1e-4
client bart bart bart_tool 1e-5
if /usr/bin/python3 -c 'import cvxopt.fftw' 2>/dev/null; then client cvxopt /usr/bin/python3 cvxopt 1e-13; else echo "cvxopt: not installed, left out"; fi
client fftw-wisdom fftw-wisdom wisdom_tool 0
((ran > 0)) || { echo "no client of FFTW is installed"; exit 77; }
exit $failed
