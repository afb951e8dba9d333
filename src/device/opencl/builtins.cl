// Declarations of the built-in functions that kernels use, instead of Clang's header with its fifteen thousand declarations, which PoCL parses twice per program. Each name has all its overloads of OpenCL C 1.2, so that no argument is silently converted; a program that uses another name is compiled with Clang's header.
#define RIDGE_CONST __attribute__((overloadable, const))
#define RIDGE_FLOATS(F) F(float) F(float2) F(float3) F(float4) F(float8) F(float16)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define RIDGE_DOUBLES(F) F(double) F(double2) F(double3) F(double4) F(double8) F(double16)
#define RIDGE_DOUBLE(F) F(double)
#else
#define RIDGE_DOUBLES(F)
#define RIDGE_DOUBLE(F)
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define RIDGE_HALVES(F) F(half) F(half2) F(half3) F(half4) F(half8) F(half16)
#define RIDGE_HALF(F) F(half)
#else
#define RIDGE_HALVES(F)
#define RIDGE_HALF(F)
#endif
#define RIDGE_REALS(F) RIDGE_FLOATS(F) RIDGE_DOUBLES(F) RIDGE_HALVES(F)
#define RIDGE_LANES(F, S) F(S, ) F(S, 2) F(S, 3) F(S, 4) F(S, 8) F(S, 16)
#define RIDGE_WIDER(F, S) F(S, 2) F(S, 3) F(S, 4) F(S, 8) F(S, 16)
#define RIDGE_INTEGERS(L, F) L(F, char) L(F, uchar) L(F, short) L(F, ushort) L(F, int) L(F, uint) L(F, long) L(F, ulong)

#define RIDGE_ID(name) size_t RIDGE_CONST name(uint);
RIDGE_ID(get_global_size) RIDGE_ID(get_global_id) RIDGE_ID(get_local_size) RIDGE_ID(get_local_id)
RIDGE_ID(get_num_groups) RIDGE_ID(get_group_id) RIDGE_ID(get_global_offset)
void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);

#define RIDGE_MATH(T)                                                                                                   \
  T RIDGE_CONST fabs(T); T RIDGE_CONST floor(T); T RIDGE_CONST ceil(T); T RIDGE_CONST rint(T); T RIDGE_CONST round(T);  \
  T RIDGE_CONST trunc(T); T RIDGE_CONST sqrt(T); T RIDGE_CONST rsqrt(T); T RIDGE_CONST exp(T); T RIDGE_CONST exp2(T);   \
  T RIDGE_CONST log(T); T RIDGE_CONST log2(T); T RIDGE_CONST sin(T); T RIDGE_CONST cos(T); T RIDGE_CONST tan(T);        \
  T RIDGE_CONST sinpi(T); T RIDGE_CONST cospi(T); T RIDGE_CONST tanh(T); T RIDGE_CONST pow(T, T);                       \
  T RIDGE_CONST hypot(T, T); T RIDGE_CONST fmod(T, T); T RIDGE_CONST copysign(T, T); T RIDGE_CONST fmin(T, T);          \
  T RIDGE_CONST fmax(T, T); T RIDGE_CONST min(T, T); T RIDGE_CONST max(T, T); T RIDGE_CONST clamp(T, T, T);             \
  T RIDGE_CONST fma(T, T, T); T RIDGE_CONST mad(T, T, T);
RIDGE_REALS(RIDGE_MATH)
#define RIDGE_NATIVE(T)                                                                                                 \
  T RIDGE_CONST native_exp2(T); T RIDGE_CONST native_sin(T); T RIDGE_CONST native_cos(T); T RIDGE_CONST native_rsqrt(T); \
  T RIDGE_CONST native_recip(T);
RIDGE_FLOATS(RIDGE_NATIVE)
// Overloads with one scalar for all components.
#define RIDGE_SCALED(S, n)                                                                                              \
  S##n RIDGE_CONST fmin(S##n, S); S##n RIDGE_CONST fmax(S##n, S); S##n RIDGE_CONST min(S##n, S);                        \
  S##n RIDGE_CONST max(S##n, S); S##n RIDGE_CONST clamp(S##n, S, S);
RIDGE_WIDER(RIDGE_SCALED, float)
#ifdef cl_khr_fp64
RIDGE_WIDER(RIDGE_SCALED, double)
#endif
#ifdef cl_khr_fp16
RIDGE_WIDER(RIDGE_SCALED, half)
#endif

#define RIDGE_INTEGER(S, n)                                                                                             \
  S##n RIDGE_CONST min(S##n, S##n); S##n RIDGE_CONST max(S##n, S##n); S##n RIDGE_CONST clamp(S##n, S##n, S##n);
RIDGE_INTEGERS(RIDGE_LANES, RIDGE_INTEGER)
#define RIDGE_INTEGER_SCALED(S, n)                                                                                      \
  S##n RIDGE_CONST min(S##n, S); S##n RIDGE_CONST max(S##n, S); S##n RIDGE_CONST clamp(S##n, S, S);
RIDGE_INTEGERS(RIDGE_WIDER, RIDGE_INTEGER_SCALED)
#define RIDGE_DISTANCE(S, n)                                                                                            \
  u##S##n RIDGE_CONST abs(S##n); u##S##n RIDGE_CONST abs(u##S##n); u##S##n RIDGE_CONST abs_diff(S##n, S##n);            \
  u##S##n RIDGE_CONST abs_diff(u##S##n, u##S##n);
RIDGE_LANES(RIDGE_DISTANCE, char) RIDGE_LANES(RIDGE_DISTANCE, short)
RIDGE_LANES(RIDGE_DISTANCE, int) RIDGE_LANES(RIDGE_DISTANCE, long)

#define RIDGE_TO_INT(T) int RIDGE_CONST convert_int_rte(T);
#define RIDGE_TO_INT4(S, n) int##n RIDGE_CONST convert_int##n(S##n);
#define RIDGE_FOUR(F, S) F(S, 4)
RIDGE_TO_INT(char) RIDGE_TO_INT(uchar) RIDGE_TO_INT(short) RIDGE_TO_INT(ushort) RIDGE_TO_INT(int) RIDGE_TO_INT(uint)
RIDGE_TO_INT(long) RIDGE_TO_INT(ulong) RIDGE_TO_INT(float) RIDGE_DOUBLE(RIDGE_TO_INT) RIDGE_HALF(RIDGE_TO_INT)
RIDGE_INTEGERS(RIDGE_FOUR, RIDGE_TO_INT4) RIDGE_FOUR(RIDGE_TO_INT4, float)
#ifdef cl_khr_fp64
RIDGE_FOUR(RIDGE_TO_INT4, double)
#endif
#ifdef cl_khr_fp16
RIDGE_FOUR(RIDGE_TO_INT4, half)
#endif

#define RIDGE_LOAD_HALF(space) float __attribute__((overloadable, pure)) vload_half(size_t, const space half*);
RIDGE_LOAD_HALF(__constant) RIDGE_LOAD_HALF(__global) RIDGE_LOAD_HALF(__local) RIDGE_LOAD_HALF(__private)
#define RIDGE_STORE_HALF(T)                                                                                             \
  void __attribute__((overloadable)) vstore_half_rte(T, size_t, __global half*);                                        \
  void __attribute__((overloadable)) vstore_half_rte(T, size_t, __local half*);                                         \
  void __attribute__((overloadable)) vstore_half_rte(T, size_t, __private half*);
RIDGE_STORE_HALF(float) RIDGE_DOUBLE(RIDGE_STORE_HALF)

#define RIDGE_ATOMICS(space, T)                                                                                         \
  T __attribute__((overloadable)) atomic_add(volatile space T*, T);                                                     \
  T __attribute__((overloadable)) atomic_min(volatile space T*, T);                                                     \
  T __attribute__((overloadable)) atomic_max(volatile space T*, T);                                                     \
  T __attribute__((overloadable)) atomic_cmpxchg(volatile space T*, T, T);
RIDGE_ATOMICS(__global, int) RIDGE_ATOMICS(__global, uint) RIDGE_ATOMICS(__local, int) RIDGE_ATOMICS(__local, uint)
