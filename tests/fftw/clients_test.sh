#!/usr/bin/env bash
# Programs built for FFTW run their own transforms through the drop-in library, by LD_PRELOAD and by FFTW's file names,
# and give the same results. Clients that are not installed are listed and skipped; with none of them the test is
# skipped (77).
#   clients_test.sh LIBRARY LINKS-FOLDER
set -euo pipefail
library=$(readlink -f "$1")
links=$(readlink -f "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ran=0 failed=0

# plain, preloaded, by_name COMMAND...: the same command with three libraries.
plain() { "$@"; }
preloaded() { RIDGE_FFTW_TRACE=$work/trace LD_PRELOAD=$library "$@"; }
by_name() { RIDGE_FFTW_TRACE=$work/trace LD_LIBRARY_PATH=$links${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }

# close A B RELATIVE: compares numbers in two files, one per line: largest difference relative to the largest value.
close() {
  paste "$1" "$2" | awk -v most="$3" '
    NF != 2 || /[a-zA-Z][a-zA-Z]/ { bad = 1 }  # no number, or nan, or inf
    { d = $1 - $2; d = d < 0 ? -d : d; a = $1 < 0 ? -$1 : $1
      if (!(d <= worst)) worst = d; if (a > large) large = a; n++ }
    END { if (bad || n == 0 || !(worst <= most * large)) { print "off by", worst, "of", large, "in", n; exit 1 } }'
}

# client NAME COMMAND FUNCTION: FUNCTION RUNNER OUT writes numbers; TOLERANCE is the allowed relative difference.
client() {
  local name=$1 command=$2 function=$3 tolerance=$4 way
  if ! command -v "$command" >/dev/null; then
    echo "$name: not installed, left out"
    return
  fi
  $function plain "$work/plain.$name"
  for way in preloaded by_name; do
    # Loading by name is done by the dynamic loader for all alike: one client tests it, and ./test --all tests all of
    # them.
    [[ $way == preloaded || $name == octave || -n ${RIDGE_SLOW:-} || $ran == 0 ]] || continue
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
w = fftw('dwisdom'); fftw('dwisdom', ''); fftw('dwisdom', w); b = fft(x, [], 2); printf('%.17g\n', imag(b(1:97:end)));
fftw('threads', 2); b = fft(x); printf('%.17g\n', real(b(1:97:end)));
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
  bart fft -i 3 phantom there_plain >/dev/null && bart nrmse -t 1e-5 there_plain there >/dev/null
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
  "$1" fftw-wisdom -n -t 0.01 -o "$2.wisdom" cof1024 rif32x32 rob16 ki4o00x5e11x6f && echo 1 >"$2" &&
    "$1" fftw-wisdom -n -t 0.01 -w "$2.wisdom" -o "$2.again" cof1024
}

# Water in a box: the part of the Coulomb energy computed by PME's real transforms, step by step.
gromacs() {
  if [ ! -f water.tpr ]; then
    gmx -quiet solvate -cs spc216 -box 2 2 2 -o water.gro >gmx.log 2>&1
    printf '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spce.itp"\n[ system ]\nwater\n[ molecules ]\nSOL %d\n' \
      $(($(sed -n 2p water.gro) / 3)) >water.top
    printf '%s\n' 'integrator = md' 'dt = 0.001' 'nsteps = 20' 'coulombtype = PME' 'rcoulomb = 0.9' 'rvdw = 0.9' \
      'fourierspacing = 0.12' 'nstcalcenergy = 1' 'nstenergy = 1' 'gen-vel = yes' 'gen-seed = 7' >water.mdp
    gmx -quiet grompp -f water.mdp -c water.gro -p water.top -o water.tpr -maxwarn 5 >>gmx.log 2>&1
  fi
  "$1" gmx -quiet mdrun -s water.tpr -deffnm run -nsteps 20 -reprod -ntmpi 1 -ntomp "${threads:-1}" >>gmx.log 2>&1
  echo Coul.-recip. | gmx -quiet energy -f run.edr -o energy.xvg >>gmx.log 2>&1
  awk '!/^[#@]/ { print $2 }' energy.xvg >"$2"
}
gromacs_threads() { threads=2 gromacs "$@"; }
# 864 charges of both signs: energies with the long-range part by PPPM.
lammps() {
  printf '%s\n' 'units lj' 'atom_style charge' 'lattice fcc 0.8' 'region box block 0 6 0 6 0 6' 'create_box 2 box' \
    'create_atoms 1 box' 'group odd id 1:864:2' 'set group odd type 2' 'set type 1 charge 1' 'set type 2 charge -1' \
    'mass * 1' 'pair_style lj/cut/coul/long 2.5 3.0' 'pair_coeff * * 1 1' 'kspace_style pppm 1e-5' \
    'velocity all create 0.5 87287' 'fix 1 all nve' 'thermo_style custom step elong etotal' 'thermo_modify format float %.12g' \
    'thermo 5' 'run 20' >charges.in
  "$1" lmp -in charges.in -log none -echo none | awk '$1 ~ /^[0-9]+$/ && NF == 3 { print $2; print $3 }' >"$2"
}
spectrogram() {
  /usr/bin/python3 - <<'P'
import math, struct, wave
with wave.open("tone.wav", "wb") as f:
    f.setparams((1, 2, 8000, 8000, "NONE", ""))
    f.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(0.0001 * i * i))) for i in range(8000)))
P
  "$1" sndfile-spectrogram tone.wav 160 120 tone.png >/dev/null
  "$(command -v convert-im6.q16 || echo convert)" tone.png txt: | awk 'NR % 57 == 2' | grep -oE '\([0-9.,-]+' | tr -d '(' | tr , '\n' >"$2"
}

client octave octave-cli octave 1e-13
client octave-single octave-cli octave_single 1e-6
client imagemagick convert-im6.q16 imagemagick 1e-4
client bart bart bart_tool 1e-5
if /usr/bin/python3 -c 'import cvxopt.fftw' 2>/dev/null; then client cvxopt /usr/bin/python3 cvxopt 1e-13; else echo "cvxopt: not installed, left out"; fi
client fftw-wisdom fftw-wisdom wisdom_tool 0
client gromacs gmx gromacs 1e-5
[ -z "${RIDGE_SLOW:-}" ] || client gromacs-threads gmx gromacs_threads 1e-5
client lammps lmp lammps 1e-7
if command -v convert-im6.q16 >/dev/null; then client sndfile-tools sndfile-spectrogram spectrogram 0.02; fi
((ran > 0)) || { echo "no client of FFTW is installed"; exit 77; }
exit $failed
