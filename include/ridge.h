/* C interface of Ridgeline with a stable binary interface: libridge_c.so.1.
 *
 *   ridge_dimension axis = {1024, 1, 1};
 *   ridge_fft_problem problem = {.struct_size = sizeof problem, .precision = RIDGE_FLOAT64, .axes = 1, .axis = &axis};
 *   ridge_fft_plan *plan;
 *   if (ridge_fft_plan_create("host", &problem, &plan) != RIDGE_OK) puts(ridge_last_error());
 *   ridge_fft_run(plan, in, out);
 *   ridge_fft_plan_free(plan);
 *
 * Every struct begins with its size; members are only added at the end, and zero is the default of each. Functions
 * return a status and never throw; ridge_last_error() explains it. Plans may be run by many threads at once. Arrays are
 * addressed in elements: complex numbers are pairs of reals.
 */
#ifndef RIDGE_H
#define RIDGE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a function or member is removed or changed; ridge_abi() of the library must be equal. */
#define RIDGE_ABI 1

typedef enum ridge_status {
  RIDGE_OK = 0,
  RIDGE_INVALID_ARGUMENT = 1,
  RIDGE_OUT_OF_MEMORY = 2,
  RIDGE_UNAVAILABLE = 3,
  RIDGE_IO = 4,
  RIDGE_INTERNAL = 5
} ridge_status;

typedef enum ridge_precision { RIDGE_FLOAT32 = 0, RIDGE_FLOAT64 = 1 } ridge_precision;

typedef enum ridge_fft_kind {
  RIDGE_FORWARD = 0,
  RIDGE_INVERSE = 1,
  RIDGE_REAL_FORWARD = 2, /* the last axis has n/2+1 values in the spectrum */
  RIDGE_REAL_INVERSE = 3,
  RIDGE_REAL_TO_REAL = 4
} ridge_fft_kind;

typedef enum ridge_real_kind {
  RIDGE_HALFCOMPLEX = 0,
  RIDGE_HALFCOMPLEX_INVERSE = 1,
  RIDGE_HARTLEY = 2,
  RIDGE_DCT1 = 3,
  RIDGE_DCT2 = 4,
  RIDGE_DCT3 = 5,
  RIDGE_DCT4 = 6,
  RIDGE_DST1 = 7,
  RIDGE_DST2 = 8,
  RIDGE_DST3 = 9,
  RIDGE_DST4 = 10
} ridge_real_kind;

typedef struct ridge_dimension {
  int64_t length, input_stride, output_stride; /* strides in elements of their side */
} ridge_dimension;

int ridge_abi(void);
const char* ridge_version(void);
const char* ridge_last_error(void); /* of this thread's last call; "" after a success */
/* Names of the devices, one per line. `size` is the size of `text` and becomes the size needed with the closing zero;
 * text NULL asks for the size only. The same for every function that returns text. */
ridge_status ridge_devices(char* text, size_t* size);
ridge_status ridge_trace_start(const char* path); /* see docs/trace.md */
ridge_status ridge_trace_stop(void);

/* What a background thread does for plans that are created from now on without `measured`: it times the candidates and
 * saves the winner for later processes, or also exchanges the plan (the last bits of results may change). */
typedef enum ridge_improvement {
  RIDGE_IMPROVE_NEVER = 0,
  RIDGE_IMPROVE_NEXT_TIME = 1,
  RIDGE_IMPROVE_NOW = 2
} ridge_improvement;
ridge_status ridge_improve(int improvement);
/* Between the two calls no plan is exchanged and no candidate is timed in the background. Calls may be nested. */
ridge_status ridge_hold(void);
ridge_status ridge_release(void);

/* --- Fourier, cosine and sine transforms
 * ------------------------------------------------------------------------------------ */

typedef struct ridge_fft_plan ridge_fft_plan;
typedef struct ridge_fft_problem {
  size_t struct_size;
  int kind, precision; /* ridge_fft_kind, ridge_precision */
  size_t axes, loops;
  const ridge_dimension* axis; /* transformed */
  const ridge_dimension* loop; /* batch dimensions */
  const int* real_kind;        /* RIDGE_REAL_TO_REAL: one ridge_real_kind per axis */
  double scale;                /* 0 means 1 */
  int in_place, measured;      /* measured: times the candidates and saves the winner */
  size_t threads;              /* 0: one */
} ridge_fft_problem;
ridge_status ridge_fft_plan_create(const char* device, const ridge_fft_problem* problem, ridge_fft_plan** plan);
ridge_status ridge_fft_run(const ridge_fft_plan* plan, const void* in, void* out);
ridge_status ridge_fft_explain(const ridge_fft_plan* plan, char* text, size_t* size);
ridge_status ridge_fft_adjoint(const ridge_fft_plan* plan, ridge_fft_plan** adjoint); /* the conjugate transpose */
void ridge_fft_plan_free(ridge_fft_plan* plan);

/* --- transposes
 * -------------------------------------------------------------------------------------------------------------- */

typedef struct ridge_transpose_plan ridge_transpose_plan;
typedef struct ridge_transpose_problem {
  size_t struct_size;
  size_t rows, columns, batch;  /* of the input; batch 0 means 1 */
  size_t element_bytes;         /* 1, 2, 4, 8 or 16 */
  size_t input_row, output_row; /* elements from one row to the next; 0: packed */
  size_t threads;               /* 0: all */
  int measured;
} ridge_transpose_problem;
ridge_status ridge_transpose_plan_create(const char* device, const ridge_transpose_problem* problem,
                                         ridge_transpose_plan** plan);
ridge_status ridge_transpose_run(const ridge_transpose_plan* plan, const void* in, size_t in_bytes, void* out,
                                 size_t out_bytes);
ridge_status ridge_transpose_explain(const ridge_transpose_plan* plan, char* text, size_t* size);
ridge_status ridge_transpose_adjoint(const ridge_transpose_plan* plan, ridge_transpose_plan** adjoint);
void ridge_transpose_plan_free(ridge_transpose_plan* plan);

/* --- convolutions
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct ridge_convolution_plan ridge_convolution_plan;
typedef struct ridge_convolution_problem {
  size_t struct_size;
  int precision, complex_values;
  size_t filter_size;
  const void* filter; /* copied */
  size_t threads;     /* 0: all */
} ridge_convolution_problem;
ridge_status ridge_convolution_plan_create(const char* device, const ridge_convolution_problem* problem,
                                           ridge_convolution_plan** plan);
/* out has in_size + filter_size - 1 values; an adjoint's in_size - filter_size + 1. */
ridge_status ridge_convolution_run(const ridge_convolution_plan* plan, const void* in, size_t in_size, void* out,
                                   size_t out_size);
ridge_status ridge_convolution_explain(const ridge_convolution_plan* plan, char* text, size_t* size);
ridge_status ridge_convolution_adjoint(const ridge_convolution_plan* plan, ridge_convolution_plan** adjoint);
void ridge_convolution_plan_free(ridge_convolution_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
