// Functions of floats as single instructions where the device has them: SIN_FAST(x) and COS_FAST(x) for |x| <= pi (error
// 2^-21), RSQRT_FAST(x) and RECIPROCAL_FAST(x) (2 units in the last place; denormal numbers are zeros).
// TURNED(c, s, turns) defines c and s, the cosine and sine of 2 pi turns; SPLIT(whole, index, x) defines floor(x) for
// |x| < 2^22, as the float `whole` and the int `index`.
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
// The instructions take any angle: they multiply by 1 / (2 pi), with an error of 2^-23 of the turns.
#define TURNED(c, s, turns)                         \
  const float c##_angle = (turns) * 6.28318531f;    \
  const float c = COS_FAST(c##_angle), s = SIN_FAST(c##_angle)
// The low bits of x + 1.5 * 2^23, rounded down, are floor(x). A conversion takes eight times as long as an addition.
#define SPLIT(whole, index, x)                                      \
  const float index##_sum = __fadd_rd(x, 12582912.0f);              \
  const float whole = index##_sum - 12582912.0f;                    \
  const int index = __float_as_int(index##_sum) - 0x4b400000
#else
#define SIN_FAST(x) native_sin(x)
#define COS_FAST(x) native_cos(x)
#define RSQRT_FAST(x) native_rsqrt(x)
#define RECIPROCAL_FAST(x) native_recip(x)
#define TURNED(c, s, turns)                                                     \
  const float c##_turns = (turns), c##_angle = (c##_turns - rint(c##_turns)) * 6.28318531f; \
  const float c = COS_FAST(c##_angle), s = SIN_FAST(c##_angle)
#define SPLIT(whole, index, x)   \
  const float whole = floor(x);  \
  const int index = (int)whole
#endif
