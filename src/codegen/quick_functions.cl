// Functions of floats as single instructions where the device has them: SIN_FAST(x) and COS_FAST(x) for |x| <= pi (error
// 2^-21), RSQRT_FAST(x) and RECIPROCAL_FAST(x) (2 units in the last place; denormal numbers are zeros).
#ifdef __CUDACC_RTC__
#define RIDGE_QUICK_FUNCTION(name, instruction)                            \
  FUNCTION float name(float x) {                                           \
    float r;                                                               \
    asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); \
    return r;                                                              \
  }
RIDGE_QUICK_FUNCTION(ridge_sin_fast, "sin")
RIDGE_QUICK_FUNCTION(ridge_cos_fast, "cos")
RIDGE_QUICK_FUNCTION(ridge_rsqrt_fast, "rsqrt")
RIDGE_QUICK_FUNCTION(ridge_reciprocal_fast, "rcp")
#define SIN_FAST(x) ridge_sin_fast(x)
#define COS_FAST(x) ridge_cos_fast(x)
#define RSQRT_FAST(x) ridge_rsqrt_fast(x)
#define RECIPROCAL_FAST(x) ridge_reciprocal_fast(x)
#else
#define SIN_FAST(x) native_sin(x)
#define COS_FAST(x) native_cos(x)
#define RSQRT_FAST(x) native_rsqrt(x)
#define RECIPROCAL_FAST(x) native_recip(x)
#endif
