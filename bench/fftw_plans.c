/* Makes FFTW's measured plans of float cosine, sine and complex transforms, without a time limit, and saves the
 * wisdom for bench/fftw_drop_in.c.
 *
 *   cc -O2 bench/fftw_plans.c -lfftw3f -lm -o fftw_plans && ./fftw_plans WISDOM
 *
 * Debian's FFTW for arm64 has no cycle counter: it times with gettimeofday and needs eight milliseconds per candidate, a
 * minute or more per length. The replacement below runs a hundred times as fast, so that ten microseconds suffice,
 * and counts this thread's CPU time, so that other programs do not disturb it. */
#define _GNU_SOURCE
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec t;
  (void)zone;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const long long ticks = ((long long)t.tv_sec * 1000000000 + t.tv_nsec) / 10; /* in units of 10 ns */
  now->tv_sec = ticks / 1000000;
  now->tv_usec = ticks % 1000000;
  return 0;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char** words) {
  static const int smooth[] = {20, 36, 48, 60, 100, 120, 200, 240, 360, 480, 500, 720, 1000, 1200, 2000, 2400, 3600, 5000, 10000, 30000};
  if (count != 2) return fprintf(stderr, "usage: %s WISDOM\n", words[0]), 1;
  fftwf_import_wisdom_from_filename(words[1]);
  static const char* const names[] = {"REDFT10", "RODFT10", "complex"};
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = 4; i < (kind < 2 ? 39 : 21); ++i) {
      const int n = kind == 2 || i <= 18 ? 1 << i : smooth[i - 19];
      fftwf_complex *in = aligned_alloc(64, 8 * (size_t)n), *out = aligned_alloc(64, 8 * (size_t)n);
      const double begin = seconds();
      fftwf_plan plan = kind == 2 ? fftwf_plan_dft_1d(n, in, out, FFTW_FORWARD, FFTW_MEASURE)
                                  : fftwf_plan_r2r_1d(n, in[0], out[0], kind ? FFTW_RODFT10 : FFTW_REDFT10, FFTW_MEASURE);
      printf("%s %d: %.2f s\n", names[kind], n, seconds() - begin);
      fflush(stdout);
      fftwf_destroy_plan(plan);
      free(in), free(out);
      fftwf_export_wisdom_to_filename(words[1]);
    }
  }
  return 0;
}
