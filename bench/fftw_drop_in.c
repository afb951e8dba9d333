/* Times a program written for FFTW's interface on FFTW and on the drop-in library, alternately, in one process.
 *
 *   cc -O2 bench/fftw_drop_in.c -ldl -lm -o /tmp/drop_in
 *   /tmp/drop_in run  libfftw3f.so.3 build/libridge_fftw3.so.0 [WISDOM]   execution, single thread, 2^4 .. 2^20, FFTW_MEASURE
 *   /tmp/drop_in plan libfftw3f.so.3 build/libridge_fftw3.so.0            FFTW_ESTIMATE, n up to 4096
 *   /tmp/drop_in dct  libfftw3f.so.3 build/libridge_fftw3.so.0 [WISDOM]   REDFT10, 2^4 .. 2^18 and 20 smooth lengths; dst: RODFT10
 *
 *   /tmp/drop_in all  libfftw3f.so.3 build/libridge_fftw3.so.0            FFTW_ESTIMATE, every n up to 4096
 *   /tmp/drop_in first libfftw3f.so.3 build/libridge_fftw3.so.0 [EVERY]   the same, one process per n
 *   /tmp/drop_in quick libfftw3f.so.3 build/libridge_fftw3.so.0           execution of FFTW_ESTIMATE's plans, every n up to 4096
 *
 * With -DDOUBLE: libfftw3.so.3 in double precision.
 * A time is the best of many rounds, with the libraries alternating. FFTW measures without a time limit (complex beyond 2^13:
 * one minute, unless bench/fftw_plans.c has made the plans); its wisdom is kept in WISDOM and is never estimated. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef DOUBLE
typedef double Real;
#define PREFIX "fftw_"
#else
typedef float Real;
#define PREFIX "fftwf_"
#endif
typedef Real Complex[2];
typedef struct {
  void* handle;
  void* (*plan)(int, Complex*, Complex*, int, unsigned);
  void* (*plan_real)(int, Real*, Real*, int, unsigned);
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
#define TAKE(member, name) *(void**)&l.member = dlsym(l.handle, PREFIX name)
  TAKE(plan, "plan_dft_1d");
  TAKE(plan_real, "plan_r2r_1d");
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

/* Runs both plans alternately; returns the ratio of their best times of many rounds. */
static double compared(Library* real, void* theirs, Library* ours, void* mine, int n) {
  int repeats = 1;
  while (repeats < 1 << 20 && once(real, theirs, repeats) * repeats < 2e-4) repeats *= 2;
  double best[2] = {1e9, 1e9};
  const double begin = now();
  for (int round = 0; round < 30 || (now() - begin < 0.5 && round < 3000); ++round) {
    best[0] = fmin(best[0], once(real, theirs, repeats));
    best[1] = fmin(best[1], once(ours, mine, repeats));
  }
  printf("%8d FFTW %10.3f us  drop-in %10.3f us  %5.2f\n", n, best[0] * 1e6, best[1] * 1e6, best[0] / best[1]);
  fflush(stdout);
  real->destroy(theirs), ours->destroy(mine);
  return best[0] / best[1];
}

enum { REDFT10 = 5, RODFT10 = 9 };

/* kind < 0: complex. */
static void run(Library* real, Library* ours, const char* wisdom, int kind) {
  static const int smooth[] = {20, 36, 48, 60, 100, 120, 200, 240, 360, 480, 500, 720, 1000, 1200, 2000, 2400, 3600, 5000, 10000, 30000};
  double logs = 0, least = 1e9;
  int count = 0;
  if (wisdom != NULL) real->import(wisdom);
  for (int i = 4; i <= (kind < 0 ? 20 : 38); ++i) {
    const int n = kind < 0 || i <= 18 ? 1 << i : smooth[i - 19];
    Complex *in = aligned_alloc(64, sizeof(Complex) * n), *out = aligned_alloc(64, sizeof(Complex) * n);
    real->time_limit(kind >= 0 || n <= 1 << 13 ? -1.0 : 60.0);
    void* const theirs = kind < 0 ? real->plan(n, in, out, -1, MEASURE) : real->plan_real(n, in[0], out[0], kind, MEASURE);
    void* const mine = kind < 0 ? ours->plan(n, in, out, -1, MEASURE) : ours->plan_real(n, in[0], out[0], kind, MEASURE);
    for (int j = 0; j < n; ++j) in[j][0] = (Real)(j % 17) - 8, in[j][1] = (Real)(j % 5);
    const double ratio = compared(real, theirs, ours, mine, n);
    logs += log(ratio);
    least = fmin(least, ratio);
    ++count;
    free(in), free(out);
    if (wisdom != NULL) real->export(wisdom);
  }
  printf("geometric mean %.3f of %d lengths, least %.2f\n", exp(logs / count), count, least);
}

static void plan(Library* real, Library* ours, int every) {
  static const int few[] = {8, 16, 32, 60, 64, 100, 128, 243, 256, 360, 500, 512, 625, 720, 1000, 1009, 1024, 1536, 1920, 2000,
                                2048, 2187, 2310, 3000, 3125, 4000, 4093, 4096};
  enum { kMost = 4096 };
  static int lengths[kMost];
  static double best[kMost][2], again[kMost][2];
  int count = 0;
  double logs = 0, worst = 0;
  int above = 0;
  for (size_t i = 0; !every && i < sizeof few / sizeof *few; ++i) lengths[count++] = few[i];
  for (int n = 1; every && n <= 4096; ++n) lengths[count++] = n;
  Complex *in = aligned_alloc(64, sizeof(Complex) * 4096), *out = aligned_alloc(64, sizeof(Complex) * 4096);
  for (int i = 0; i < count; ++i) best[i][0] = best[i][1] = again[i][0] = again[i][1] = 1e9;
  for (int round = 0; round < (every ? 5 : 15); ++round) {
    Library* const both[] = {real, ours};
    for (int i = 0; i < count; ++i) {
      for (int l = 0; l < 2; ++l) {
        both[l]->cleanup(); /* forgets all partial plans */
        both[l]->destroy(both[l]->plan(2, in, out, -1, ESTIMATE)); /* registers the solvers outside the timing */
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
  for (int i = 0; i < count; ++i) {
    const double ratio = best[i][1] / best[i][0];
    if (!every || ratio > 1.5) printf("%5d  first: FFTW %8.1f us  drop-in %8.1f us  %5.2fx   again: %6.1f, %6.1f us\n", lengths[i], best[i][0] * 1e6,
           best[i][1] * 1e6, ratio, again[i][0] * 1e6, again[i][1] * 1e6);
    logs += log(ratio);
    worst = fmax(worst, ratio);
    above += ratio > 2;
  }
  printf("geometric mean %.2fx FFTW's time of %d lengths, worst %.2fx, %d above 2x\n", exp(logs / count), count, worst, above);
}

/* Plans one length for the first time in a new process that has planned two others, so that solvers are registered and files read. */
static int once_in_a_process(const char* file, int n) {
  const Library l = open_library(file);
  l.destroy(l.plan(2, NULL, NULL, -1, ESTIMATE));
  l.destroy(l.plan(31, NULL, NULL, -1, ESTIMATE));
  const double begin = now();
  l.plan(n, NULL, NULL, -1, ESTIMATE);
  printf("%.9f\n", now() - begin);
  return 0;
}

/* The least time of several such processes; every length up to 64, then every EVERY-th. */
static void first(const char* self, const char* const* files, int every) {
  double logs = 0, worst = 0;
  int above = 0, count = 0;
  for (int n = 1; n <= 4096; n += n < 64 ? 1 : every, ++count) {
    double best[2] = {1e9, 1e9};
    for (int process = 0; process < 10; ++process) {
      char command[4096];
      double seconds = 0;
      snprintf(command, sizeof command, "'%s' once '%s' %d", self, files[process % 2], n);
      FILE* const child = popen(command, "r");
      if (child == NULL || fscanf(child, "%lf", &seconds) != 1 || pclose(child) != 0) exit(1);
      best[process % 2] = fmin(best[process % 2], seconds);
    }
    const double ratio = best[1] / best[0];
    if (ratio > 1.5) printf("%5d  first: FFTW %8.1f us  drop-in %8.1f us  %5.2fx\n", n, best[0] * 1e6, best[1] * 1e6, ratio);
    logs += log(ratio), worst = fmax(worst, ratio), above += ratio > 2;
  }
  printf("geometric mean %.2fx FFTW's time of %d lengths, worst %.2fx, %d above 2x\n", exp(logs / count), count, worst, above);
}

/* Execution of quick plans: the least of several rounds of some tens of microseconds each. */
static void quick(Library* real, Library* ours) {
  Complex *in = aligned_alloc(64, sizeof(Complex) * 4096), *out = aligned_alloc(64, sizeof(Complex) * 4096);
  for (int j = 0; j < 4096; ++j) in[j][0] = (Real)(j % 17) - 8, in[j][1] = (Real)(j % 5);
  double logs = 0, worst = 0;
  int above = 0;
  for (int n = 1; n <= 4096; ++n) {
    void *const theirs = real->plan(n, in, out, -1, ESTIMATE), *const mine = ours->plan(n, in, out, -1, ESTIMATE);
    int repeats = 1;
    while (repeats < 1 << 12 && once(real, theirs, repeats) * repeats < 2e-5) repeats *= 2;
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < 12; ++round) {
      best[0] = fmin(best[0], once(real, theirs, repeats));
      best[1] = fmin(best[1], once(ours, mine, repeats));
    }
    const double ratio = best[1] / best[0];
    if (ratio > 1.2) printf("%5d  run: FFTW %8.3f us  drop-in %8.3f us  %5.2fx\n", n, best[0] * 1e6, best[1] * 1e6, ratio);
    logs += log(ratio), worst = fmax(worst, ratio), above += ratio > 2;
    real->destroy(theirs), ours->destroy(mine);
  }
  printf("geometric mean %.2fx FFTW's time of 4096 lengths, worst %.2fx, %d above 2x\n", exp(logs / 4096), worst, above);
}

int main(int count, char** words) {
  const char* const what = count < 4 ? "" : words[1];
  const char* const wisdom = count > 4 ? words[4] : NULL;
  if (strcmp(what, "run") != 0 && strcmp(what, "plan") != 0 && strcmp(what, "all") != 0 && strcmp(what, "quick") != 0 &&
      strcmp(what, "first") != 0 && strcmp(what, "once") != 0 && strcmp(what, "dct") != 0 && strcmp(what, "dst") != 0) {
    fprintf(stderr, "usage: %s run|plan|all|first|quick|dct|dst FFTW-LIBRARY DROP-IN-LIBRARY [WISDOM]\n", words[0]);
    return 1;
  }
  if (strcmp(what, "once") == 0) return once_in_a_process(words[2], atoi(words[3]));
  if (strcmp(what, "first") == 0) {
    first(words[0], (const char* const*)words + 2, wisdom == NULL ? 31 : atoi(wisdom));
    return 0;
  }
  Library real = open_library(words[2]), ours = open_library(words[3]);
  if (strcmp(what, "plan") == 0 || strcmp(what, "all") == 0) {
    plan(&real, &ours, what[0] == 'a');
  } else if (strcmp(what, "quick") == 0) {
    quick(&real, &ours);
  } else {
    run(&real, &ours, wisdom, what[0] == 'r' ? -1 : what[1] == 'c' ? REDFT10 : RODFT10);
  }
  return 0;
}
