#!/usr/bin/env bash
# mpirun ridge stencil: the same grid bit for bit on any number of processes, one checkpoint for all of them.
#   mpi_test.sh RIDGE MPIRUN
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
mpirun=$2
under_mpi "$mpirun"
# on N ARGUMENT...
on() {
  local n=$1
  shift
  timeout 120 "$mpirun" -n "$n" "$ridge" stencil "$@" >stdout 2>stderr || fail "$n processes, $*: $(cat stderr)"
}
alone() { "$ridge" stencil "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"; }
# --- the same grid ----------------------------------------------------------------------------------------------------
# One problem per line; halos of several depths, overlapped and not, decomposed in one, two and three dimensions.
compare() {
  local what=$1
  shift
  alone $what --out one.npy
  local options
  for options in "$@"; do
    rm -f many.npy
    on ${options%% *} $what ${options#"${options%% *}"} --out many.npy
    cmp -s one.npy many.npy || fail "the grid differs: $what on $options"
  done
}
compare "heat --size 61x53 --steps 23 --initial random" "2 --halo 1" "3 --halo 4 --overlap off" "4 --processes 2x2 --halo 5" "4 --shared"
compare "heat --size 64x60 --steps 40 --border periodic --initial random" "2 --halo 4 --overlap on" "4 --processes 2x2 --halo 3 --overlap on" "3 --processes 1x3" "3 --shared"
compare "heat --size 200 --steps 30 --border mirror --type f64 --initial random" "3 --halo 7" "4"
compare "wave --size 20x24x28 --steps 15 --border x=periodic,y=fixed,z=fixed/mirror" "2" "4 --processes 2x1x2 --halo 2 --overlap on" "4 --processes 1x2x2 --halo 3" "4 --shared"
compare "heat --size 48x50 --steps 12 --accuracy 4 --initial random" "4 --processes 2x2 --halo 3"
compare "euler --flow blast --size 40x44 --steps 8 --type f64" "2" "4 --processes 2x2 --halo 2"
compare "life --size 40x50 --steps 30" "3" "4 --halo 6 --overlap on"

# Shots are shared by the processes: the same traces, the same gradient to rounding.
printf '4,%s\n' 8 15.5 23 31 39.5 >sources.csv
printf '3,%s\n' 5 20.25 40 >receivers.csv
shots="acoustic --size 30x45 --steps 60 --dt 0.002 --frequency 9 --type f64 --sources sources.csv --shots --receivers receivers.csv"
compare "$shots" "2"
for n in 1 4 8; do
  on $n $shots --speed 1500 --record traces-$n.npy
  on $n $shots --speed 1540 --observed traces-1.npy --gradient gradient-$n.npy --exact
  cmp -s traces-1.npy traces-$n.npy || fail "other traces in $n processes"
  python3 - $n <<'CHECK' || fail "another gradient in $n processes"
import struct, sys
def values(n):
    data = open(f"gradient-{n}.npy", "rb").read()
    return struct.unpack("<1350d", data[-8 * 1350:])
one, many = values(1), values(sys.argv[1])
most = max(map(abs, one))
sys.exit(0 if most > 0 and all(abs(a - b) <= 1e-12 * most for a, b in zip(one, many)) else 1)
CHECK
done

# --- one checkpoint, any number of processes --------------------------------------------------------------------------
short="heat --size 90x70 --every 30 --initial random"
run="$short --steps 120"
alone $run --out one.npy --out one.pvd
on 3 $short --steps 60 --checkpoint run.ckp --out run.pvd
[ "$(ls run.ckp*)" = "$(printf 'run.ckp\nrun.ckp.previous')" ] || fail "not one checkpoint: $(ls run.ckp*)"
on 4 $short --steps 90 --shared --checkpoint run.ckp --resume --out run.pvd
has "continuing from step 60" stdout
on 2 $run --checkpoint run.ckp --resume --out run.pvd --out run.npy
has "continuing from step 90" stdout
cmp -s one.npy run.npy || fail "restarted on other numbers of processes: the grid differs"
cmp -s one_000120.vti run_000120.vti || fail "the grid in the series differs"
[ "$(grep -c '<DataSet' run.pvd)" -eq 5 ] || fail "the series is not whole"
alone $run --checkpoint run.ckp --resume
has "continuing from step 120" stdout
rm -f run.*

# All processes killed, then restarted with another number.
run="heat --size 120x100 --steps 1500 --every 50 --initial random --checkpoint $folder/run.ckp"
alone heat --size 120x100 --steps 1500 --no-leap --initial random --out one.npy
for n in 2 3 4; do
  timeout -s KILL "0.$((RANDOM % 5 + 4))" "$mpirun" -n $n "$ridge" stencil $run --resume >stdout 2>stderr
done 2>/dev/null
# Processes whose mpirun has died detect it soon.
for _ in $(seq 100); do pgrep -f "$folder/run.ckp" >/dev/null || break; sleep 0.1; done
on 2 $run --resume --out run.npy
cmp -s one.npy run.npy || fail "killed and restarted: the grid differs"

# --- one device per process -------------------------------------------------------------------------------------------
# The same grid as on the host if no variant changes the order of sums; two processes share the device.
export RIDGE_BACKENDS=host,opencl
if "$ridge" devices 2>/dev/null | grep -q "opencl:0"; then
  for what in "heat --size 61x53 --steps 23 --initial random" "heat --size 20x24x28 --steps 9 --border periodic --type f64 --initial random"; do
    alone $what --device opencl:0 --variant base --out one.npy
    on 2 $what --device opencl:0 --variant base --halo 4 --overlap off --out many.npy
    cmp -s one.npy many.npy || fail "the grid differs on a device: $what"
    on 2 $what --device opencl:* --variant base --halo 3 --overlap on --out many.npy
    cmp -s one.npy many.npy || fail "the grid differs on a device, overlapped: $what"
  done
fi
export RIDGE_BACKENDS=host

# --- how it scales ----------------------------------------------------------------------------------------------------
timeout 60 "$mpirun" -n 2 "$ridge" bench stencil --stencil star2d:1 --type f64 --size 48x64 --steps 20 --threads 1 --seconds 0 --explain \
  >stdout 2>stderr || fail "bench stencil: $(cat stderr)"
has "of 2 times one process alone" stdout
has "take tiles from one counter" stdout
has "exchanged and waited" stdout
has "network floor" stdout
[ "$(grep -c 'Gcell/s,' stdout)" -eq 2 ] || fail "not one line for halos and one for the shared grid: $(cat stdout)"

# --- mistakes: reported once, all processes end -----------------------------------------------------------------------
mistake() {
  local words=$1 n=$2
  shift 2
  timeout 60 "$mpirun" -n "$n" "$ridge" stencil "$@" >stdout 2>stderr
  local code=$?
  [ $code -eq 1 ] || fail "exit $code instead of 1: $*"
  [ "$(grep -c '^ridge: ' stderr)" -eq 1 ] || fail "reported $(grep -c '^ridge: ' stderr) times: $(cat stderr)"
  grep '^ridge: ' stderr | grep -qF -- "$words" || fail "no \"$words\" in: $(cat stderr)"
}
mistake "unstable" 2 heat --dt 1
mistake "rank 1: got stencil heat --size 20x21" 1 heat --size 20x20 : -n 1 "$ridge" stencil heat --size 20x21
mistake "rank 1: got fft" 1 heat --size 20x20 --steps 4 : -n 1 "$ridge" fft a.npy b.npy --shape 4x4
mistake "two or three axes" 2 heat --size 100 --steps 3 --shared
mistake "slowest axis" 2 heat --size 20x20 --shared --processes 1x2
mistake "too small" 4 heat --size 3x3
mistake "--processes 3x1" 2 heat --processes 3x1
mistake "at most" 2 heat --size 20x20 --halo 100
mistake "/no/such/folder" 2 heat --size 20x20 --steps 4 --out /no/such/folder/x.npy
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=40k tmpfs small 2>/dev/null; then
  mistake "No space left on device" 2 heat --size 128x128 --steps 20 --checkpoint small/full.ckp
  [ -z "$(ls small)" ] || fail "half a checkpoint: $(ls small)"
  umount small
fi

finish
