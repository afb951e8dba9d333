#!/usr/bin/env bash
# fftw_mpi plans with FFTW's own planner. Its wisdom survives the drop-in: gathered from every process, exported,
# imported, broadcast, and sufficient for FFTW alone to plan from. Skipped (77) without mpicc, mpirun and fftw3-mpi.h.
#   mpi_wisdom_test.sh LIBRARY
set -euo pipefail
library=$(readlink -f "$1")
command -v mpicc >/dev/null && command -v mpirun >/dev/null || { echo "skipped: no MPI"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >program.c <<'C'
#include <fftw3-mpi.h>
#include <stdio.h>
#include <string.h>
// program save FILE | check FILE: plans 24x36 complex points over all processes and one line of 100 by each.
int main(int count, char** words) {
  MPI_Init(&count, &words);
  fftw_mpi_init();
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int saves = strcmp(words[1], "save") == 0;
  if (!saves) {
    int taken = rank != 0 || fftw_import_wisdom_from_filename(words[2]);
    if (!taken) return printf("not imported\n"), MPI_Abort(MPI_COMM_WORLD, 3);
    fftw_mpi_broadcast_wisdom(MPI_COMM_WORLD);
  }
  ptrdiff_t rows, first;
  fftw_complex* data = fftw_alloc_complex(fftw_mpi_local_size_2d(24, 36, MPI_COMM_WORLD, &rows, &first) + 1000);
  const unsigned flags = saves ? FFTW_MEASURE : FFTW_MEASURE | FFTW_WISDOM_ONLY;
  fftw_plan all = fftw_mpi_plan_dft_2d(24, 36, data, data, MPI_COMM_WORLD, FFTW_FORWARD, flags);
  fftw_plan line = saves ? fftw_plan_dft_1d(100, data, data, FFTW_FORWARD, flags) : NULL;
  if (all == NULL) return printf("process %d: no plan from wisdom\n", rank), MPI_Abort(MPI_COMM_WORLD, 4);
  fftw_execute(all);
  if (line != NULL) fftw_destroy_plan(line);
  fftw_destroy_plan(all);
  fftw_mpi_gather_wisdom(MPI_COMM_WORLD);
  if (rank == 0 && !fftw_export_wisdom_to_filename(words[2])) return MPI_Abort(MPI_COMM_WORLD, 5);
  fftw_free(data);
  MPI_Finalize();
  return 0;
}
C
mpicc program.c -o program -lfftw3_mpi -lfftw3 -lm 2>compiler || { echo "skipped: $(head -1 compiler)"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { timeout 120 mpirun --oversubscribe -n 2 "$@"; }
ours() { run env LD_PRELOAD="$library" RIDGE_FFTW_TRACE="$work/trace" ./program "$@"; }
ours save wisdom
grep -q '^(fftw-3' wisdom || { echo "FFTW's list is missing:"; cat wisdom; exit 1; }
grep -q '^(ridgeline-1' wisdom || { echo "our list is missing:"; cat wisdom; exit 1; }
grep -q '^plan' trace || { echo "the drop-in made no plan"; exit 1; }
ours check wisdom    # through the drop-in, which hands it to FFTW
run ./program check wisdom  # FFTW alone
echo "wisdom of FFTW's MPI plans: $(grep -c '^  (' wisdom) entries read by both"
