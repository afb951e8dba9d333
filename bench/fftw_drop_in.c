/* A program that knows FFTW's interface only, on FFTW and on the drop-in library, in turn, in one process.
 *
 *   cc -O2 bench/fftw_drop_in.c -ldl -lm -o /tmp/drop_in
 *   /tmp/drop_in run  libfftw3f.so.3 build/libridge_fftw3.so.0 [WISDOM]   execution, single thread, 2^4 .. 2^20, FFTW_MEASURE
 *   /tmp/drop_in plan libfftw3f.so.3 build/libridge_fftw3.so.0            FFTW_ESTIMATE, n up to 4096
 *
 * A time is the best of many rounds, the libraries taken in turn. FFTW measures without a limit up to 2^13, for a minute
 * above; its wisdom is kept in WISDOM and never estimated. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef float Complex[2];
typedef struct {
  void* handle;
  void* (*plan)(int, Complex*, Complex*, int, unsigned);
  void (*execute)(const void*);
  void (*destroy)(void*);
  void (*cleanup)(void);
  void (*time_limit)(double);
  int (*import)(const char*);
  int (*export)(const char*);
} Library;

enum { MEASURE = 0, ESTIMATE = 64 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Library open_library(const char* file) {
  Library l;
  l.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (l.handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define TAKE(member, name) *(void**)&l.member = dlsym(l.handle, "fftwf_" name)
  TAKE(plan, "plan_dft_1d");
  TAKE(execute, "execute");
  TAKE(destroy, "destroy_plan");
  TAKE(cleanup, "cleanup");
  TAKE(time_limit, "set_timelimit");
  TAKE(import, "import_wisdom_from_filename");
  TAKE(export, "export_wisdom_to_filename");
  return l;
}

static double once(const Library* l, void* plan, int repeats) {
  const double begin = now();
  for (int i = 0; i < repeats; ++i) l->execute(plan);
  return (now() - begin) / repeats;
}

static void run(Library* real, Library* ours, const char* wisdom) {
  double logs = 0;
  int count = 0;
  if (wisdom != NULL) real->import(wisdom);
  for (int power = 4; power <= 20; ++power) {
    const int n = 1 << power;
    Complex *in = aligned_alloc(64, sizeof(Complex) * n), *out = aligned_alloc(64, sizeof(Complex) * n);
    real->time_limit(power <= 13 ? -1.0 : 60.0);
    void* const theirs = real->plan(n, in, out, -1, MEASURE);
    void* const mine = ours->plan(n, in, out, -1, MEASURE);
    for (int i = 0; i < n; ++i) in[i][0] = (float)(i % 17) - 8, in[i][1] = (float)(i % 5);
    int repeats = 1;
    while (repeats < 1 << 20 && once(real, theirs, repeats) * repeats < 2e-4) repeats *= 2;
    double best[2] = {1e9, 1e9};
    const double begin = now();
    for (int round = 0; round < 30 || (now() - begin < 0.5 && round < 3000); ++round) {
      best[0] = fmin(best[0], once(real, theirs, repeats));
      best[1] = fmin(best[1], once(ours, mine, repeats));
    }
    printf("2^%-3d FFTW %10.3f us  drop-in %10.3f us  %5.2f\n", power, best[0] * 1e6, best[1] * 1e6, best[0] / best[1]);
    fflush(stdout);
    logs += log(best[0] / best[1]);
    ++count;
    real->destroy(theirs), ours->destroy(mine);
    free(in), free(out);
    if (wisdom != NULL) real->export(wisdom);
  }
  printf("geometric mean %.3f of %d lengths\n", exp(logs / count), count);
}

static void plan(Library* real, Library* ours) {
  static const int lengths[] = {8, 16, 32, 60, 64, 100, 128, 243, 256, 360, 500, 512, 625, 720, 1000, 1009, 1024, 1536, 1920, 2000,
                                2048, 2187, 2310, 3000, 3125, 4000, 4093, 4096};
  enum { kLengths = sizeof lengths / sizeof *lengths };
  double best[kLengths][2], again[kLengths][2], logs = 0, worst = 0;
  Complex *in = aligned_alloc(64, sizeof(Complex) * 4096), *out = aligned_alloc(64, sizeof(Complex) * 4096);
  for (int i = 0; i < kLengths; ++i) best[i][0] = best[i][1] = again[i][0] = again[i][1] = 1e9;
  for (int round = 0; round < 15; ++round) {
    Library* const both[] = {real, ours};
    for (int l = 0; l < 2; ++l) {
      both[l]->cleanup();
      both[l]->destroy(both[l]->plan(2, in, out, -1, ESTIMATE)); /* solvers are registered, not counted */
    }
    for (int i = 0; i < kLengths; ++i) {
      for (int l = 0; l < 2; ++l) {
        for (int second = 0; second < 2; ++second) {
          const double begin = now();
          void* const made = both[l]->plan(lengths[i], in, out, -1, ESTIMATE);
          const double seconds = now() - begin;
          both[l]->destroy(made);
          double* const kept = second ? &again[i][l] : &best[i][l];
          *kept = fmin(*kept, seconds);
        }
      }
    }
  }
  for (int i = 0; i < kLengths; ++i) {
    const double ratio = best[i][1] / best[i][0];
    printf("%5d  first: FFTW %8.1f us  drop-in %8.1f us  %5.2fx   again: %6.1f, %6.1f us\n", lengths[i], best[i][0] * 1e6,
           best[i][1] * 1e6, ratio, again[i][0] * 1e6, again[i][1] * 1e6);
    logs += log(ratio);
    worst = fmax(worst, ratio);
  }
  printf("geometric mean %.2fx FFTW's time, worst %.2fx\n", exp(logs / kLengths), worst);
}

int main(int count, char** words) {
  if (count < 4 || (strcmp(words[1], "run") != 0 && strcmp(words[1], "plan") != 0)) {
    fprintf(stderr, "usage: %s run|plan FFTW-LIBRARY DROP-IN-LIBRARY [WISDOM]\n", words[0]);
    return 1;
  }
  Library real = open_library(words[2]), ours = open_library(words[3]);
  if (strcmp(words[1], "run") == 0) {
    run(&real, &ours, count > 4 ? words[4] : NULL);
  } else {
    plan(&real, &ours);
  }
  return 0;
}
