// Emulation of the matrix units: all lanes exchange their fragments through local memory, 6 words per lane and EACH
// numbers per word. PRODUCT(a, b, part) multiplies number `part` of two words.
#if !RIDGE_MATRIX
#define emulated_multiply(Sum, EACH, PRODUCT, d, a0, a1, a2, a3, b0, b1) { \
  BARRIER(); \
  fragments[item * 6] = a0; fragments[item * 6 + 1] = a1; fragments[item * 6 + 2] = a2; fragments[item * 6 + 3] = a3; \
  fragments[item * 6 + 4] = b0; fragments[item * 6 + 5] = b1; \
  BARRIER(); \
  for (int c = 0; c < 4; ++c) { \
    const int row = lane / 4, column = lane % 4 * 2 + (c & 1); \
    Sum sum = 0; \
    for (int k = 0; k < 8 * EACH; ++k) { \
      const int word = k % (4 * EACH) / EACH, from_a = warp * 32 + row * 4 + word, from_b = warp * 32 + column * 4 + word; \
      const int half_of_k = k / (4 * EACH), part = k % EACH; \
      const uint a = fragments[from_a * 6 + (c / 2) + half_of_k * 2], b = fragments[from_b * 6 + 4 + half_of_k]; \
      sum += PRODUCT(a, b, part); \
    } \
    (d)[c] += sum; \
  } \
}
#define product_of_float16(a, b, part) ((part) == 0 ? low_float16(a) * low_float16(b) : high_float16(a) * high_float16(b))
#define product_of_bytes(a, b, part) (((int)((a) << (24 - (part) * 8)) >> 24) * ((int)((b) << (24 - (part) * 8)) >> 24))
#define matrix_multiply_8(d, a0, a1, b0) matrix_multiply_16(d, a0, a1, 0u, 0u, b0, 0u)
#define matrix_multiply_16(d, a0, a1, a2, a3, b0, b1) \
  emulated_multiply(float, 2, product_of_float16, d, a0, a1, a2, a3, b0, b1)
#define matrix_multiply_bytes(d, a0, a1, a2, a3, b0, b1) \
  emulated_multiply(int, 4, product_of_bytes, d, a0, a1, a2, a3, b0, b1)
#define matrix_start_bytes(d, start, a0, a1, a2, a3, b0, b1) { \
  (d)[0] = (d)[1] = (d)[2] = (d)[3] = start; \
  matrix_multiply_bytes(d, a0, a1, a2, a3, b0, b1) \
}
#endif
