# shellcheck shell=bash
# Common start of all command tests: `source .../support/prelude.sh` with the command as $1. The test runs in a
# temporary folder that is removed at the end; a test ends with `finish`, without which its failures would not count.
set -u
ridge=$1
folder=$(mktemp -d)
beside=$(mktemp -d)  # files of the checks themselves
end() {
  local code=$?
  rm -rf "$folder" "$beside"
  [ $code -ne 0 ] || [ "${finished:-}" ] || { echo "FAILED: no finish at the end" && exit 1; }
}
trap end EXIT
cd "$folder" || exit 2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
finish() {
  finished=yes
  [ $failures -eq 0 ] && echo "all well" || echo "$failures failures"
  exit $((failures > 0))
}

same() { cmp -s "$1" "$2" || fail "$1 and $2 differ: $3"; }
size() { stat -c %s "$1"; }
has() { grep -qF -- "$1" "$2" || fail "no \"$1\" in $2: $(head -c 2000 "$2")"; }

# expect PATTERN COMMAND...: succeeds, and a line of its output matches
expect() {
  local pattern=$1 text
  shift
  text=$("$@" 2>&1) || fail "$* ended with $?: $text"
  grep -Eq -- "$pattern" <<<"$text" || fail "$*: no line with '$pattern' in: $text"
}

# mistake WORDS COMMAND...: exit 1, one line on stderr that contains the words, no new files in the folder
mistake() {
  local words=$1 before code
  shift
  before=$(ls)
  "$@" >"$beside/out" 2>"$beside/err"
  code=$?
  [ $code -eq 1 ] || fail "exit $code instead of 1: $*"
  grep -qF -- "$words" "$beside/err" || fail "no \"$words\" in: $(cat "$beside/err")"
  [ "$(wc -l <"$beside/err")" -eq 1 ] || fail "not one line: $(cat "$beside/err")"
  [ "$before" = "$(ls)" ] || fail "something left behind by: $*"
}

# values TYPE BYTES FILE: numbers of a type as named by od, BYTES of the file per line
values() { od -An -v -t "$1" -w"$2" "$3" | sed 's/  */ /g; s/^ //'; }

# npy NAME DESCR SHAPE < elements
npy() {
  local dictionary="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
  local padding=$(((64 - (10 + ${#dictionary} + 1) % 64) % 64))
  local length=$((${#dictionary} + padding + 1))
  {
    printf '\x93NUMPY\x01\x00'
    printf "\\x$(printf %02x $((length % 256)))\\x$(printf %02x $((length / 256)))"
    printf "%s%*s\n" "$dictionary" "$padding" ''
    cat
  } >"$1"
}

# int16 NUMBER...: their bytes, little-endian
int16() {
  local n
  for n in "$@"; do printf "\\x$(printf %02x $((n & 255)))\\x$(printf %02x $(((n >> 8) & 255)))"; done
}

# close_to FILE FILE BOUND: the relative L2 difference of two files of floats is at most BOUND
close_to() {
  [ "$(size "$1")" = "$(size "$2")" ] && paste <(od -An -v -tf4 -w4 "$1") <(od -An -v -tf4 -w4 "$2") |
    awk -v bound="$3" '{ d = $1 - $2; if (!(d == d)) bad = 1; e += d * d; s += $1 * $1 }
                       END { exit !(!bad && s > 0 && e <= bound * bound * s) }'
}

have_opencl() { "$ridge" devices 2>/dev/null | grep -q 'opencl:0'; }

# under_mpi MPIRUN: sets up Open MPI in a container (one user, few cores, one machine); exits with 77 if it cannot run
under_mpi() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  export OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=/bin/false OMPI_MCA_hwloc_base_binding_policy=none
  export OMPI_MCA_mpi_yield_when_idle=1 RIDGE_BACKENDS=host
  "$1" -n 2 true >"$beside/probe" 2>&1 && return
  echo "skipped: mpirun does not work here: $(head -c 300 "$beside/probe")"
  exit 77
}
