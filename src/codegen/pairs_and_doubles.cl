// atomic_add_pair(p, re, im): adds two floats that are next to each other in memory, as one instruction where there is one.
// MATRIX_DOUBLES(d, a, b): d += a b for fragments of 16 x 8 and 8 x 8 doubles, laid out as by MATRIX_TF32; only defined on
// GPUs whose matrix units multiply such fragments (CUDA, Hopper).
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
FUNCTION void atomic_add_pair(float* p, float re, float im) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(re), "f"(im) : "memory");
}
#define MATRIX_DOUBLES(d, a, b)                                                                                          \
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])                                                                   \
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]))
#else
FUNCTION void atomic_add_pair(GLOBAL float* p, float re, float im) {
  ATOMIC_ADD(p, re);
  ATOMIC_ADD(p + 1, im);
}
#endif
