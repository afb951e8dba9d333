// Functions of floats as single instructions where the device has them: SIN_FAST(x) and COS_FAST(x) for |x| <= pi (error
// 2^-21), RSQRT_FAST(x) and RECIPROCAL_FAST(x) (2 units in the last place).
#ifdef __CUDACC_RTC__
#define SIN_FAST(x) __sinf(x)
#define COS_FAST(x) __cosf(x)
#define RSQRT_FAST(x) rsqrtf(x)
#define RECIPROCAL_FAST(x) __fdividef(1.0f, x)
#else
#define SIN_FAST(x) native_sin(x)
#define COS_FAST(x) native_cos(x)
#define RSQRT_FAST(x) native_rsqrt(x)
#define RECIPROCAL_FAST(x) native_recip(x)
#endif
