// AS_FLOAT: reinterprets bits as a float. PICK_BYTES: picks four bytes from two words. OPAQUE: hides a value from the
// optimizer.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define AS_FLOAT(bits) __uint_as_float(bits)
#define PICK_BYTES(a, b, selector) __byte_perm(a, b, selector)
#define OPAQUE(v) asm volatile("" : "+r"(v))
#else
#define AS_FLOAT(bits) as_float((uint)(bits))
#if defined(RIDGE_OVERLOAD)
static inline uint ridge_pick_bytes(uint a, uint b, uint selector) {
  uint r;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}
#define OPAQUE(v) __asm__ volatile("" : "+r"(v))
#define PICK_BYTES(a, b, selector) ridge_pick_bytes(a, b, selector)
#else
#define OPAQUE(v)
static inline uint ridge_pick_bytes(uint a, uint b, uint selector) {
  const ulong both = (ulong)a | ((ulong)b << 32);
  uint r = 0;
  for (uint i = 0; i < 4; ++i) r |= (uint)((both >> (8 * ((selector >> (4 * i)) & 7))) & 255) << (8 * i);
  return r;
}
#define PICK_BYTES(a, b, selector) ridge_pick_bytes(a, b, selector)
#endif
#endif
