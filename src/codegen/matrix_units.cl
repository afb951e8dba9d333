// Products on the matrix units by PTX. Devices without matrix units emulate them through local memory, slowly, but
// exactly enough to verify every index.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__) || defined(RIDGE_OVERLOAD)
#define RIDGE_MATRIX 1
#if defined(RIDGE_OVERLOAD)  // NVIDIA's OpenCL
#define PTX __asm__
#define MATRIX_PTX __asm__ volatile
#else
#define PTX asm
#define MATRIX_PTX asm
#endif
FUNCTION void matrix_multiply_16(float* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  float x = d[0], y = d[1], z = d[2], w = d[3];
  MATRIX_PTX("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  d[0] = x, d[1] = y, d[2] = z, d[3] = w;
}
FUNCTION void matrix_multiply_8(float* d, uint a0, uint a1, uint b0) {
  float x = d[0], y = d[1], z = d[2], w = d[3];
  MATRIX_PTX("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a0), "r"(a1), "r"(b0));
  d[0] = x, d[1] = y, d[2] = z, d[3] = w;
}
FUNCTION void matrix_multiply_bytes(int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  int x = d[0], y = d[1], z = d[2], w = d[3];
  MATRIX_PTX("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(x), "+r"(y), "+r"(z), "+r"(w) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  d[0] = x, d[1] = y, d[2] = z, d[3] = w;
}
// d = product + start in every element
FUNCTION void matrix_start_bytes(int* d, int start, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  int x, y, z, w;
  MATRIX_PTX("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(start));
  d[0] = x, d[1] = y, d[2] = z, d[3] = w;
}
FUNCTION uint float16x2_fma(uint a, uint b, uint c) {
  uint d;
  PTX("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
FUNCTION uint float16x2_of(float low, float high) {
  uint d;
  PTX("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}
FUNCTION float low_float16(uint v) {
  float d;
  PTX("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(d) : "r"(v));
  return d;
}
FUNCTION float high_float16(uint v) {
  float d;
  PTX("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(d) : "r"(v));
  return d;
}
#else
#define RIDGE_MATRIX 0
static inline float low_float16(uint v) { __private ushort s = (ushort)(v & 0xffffu); return vload_half(0, (const __private half*)&s); }
static inline float high_float16(uint v) { __private ushort s = (ushort)(v >> 16); return vload_half(0, (const __private half*)&s); }
static inline uint float16x2_of(float low, float high) {
  __private ushort s[2];
  vstore_half_rte(low, 0, (__private half*)s);
  vstore_half_rte(high, 1, (__private half*)s);
  return (uint)s[0] | ((uint)s[1] << 16);
}
static inline uint float16x2_fma(uint a, uint b, uint c) {
  return float16x2_of(FMA(low_float16(a), low_float16(b), low_float16(c)), FMA(high_float16(a), high_float16(b), high_float16(c)));
}
#endif
