// The fragments of all lanes meet in local memory: 6 words a lane.
#if !RIDGE_MATRIX
#define matrix_multiply_8(d, a0, a1, b0) matrix_multiply_16(d, a0, a1, 0u, 0u, b0, 0u)
#define matrix_multiply_16(d, a0, a1, a2, a3, b0, b1) { \
  BARRIER(); \
  fragments[item * 6] = a0; fragments[item * 6 + 1] = a1; fragments[item * 6 + 2] = a2; fragments[item * 6 + 3] = a3; \
  fragments[item * 6 + 4] = b0; fragments[item * 6 + 5] = b1; \
  BARRIER(); \
  for (int c = 0; c < 4; ++c) { \
    const int row = lane / 4, column = lane % 4 * 2 + (c & 1); \
    float sum = 0.0f; \
    for (int k = 0; k < 16; ++k) { \
      const int from_a = warp * 32 + row * 4 + k % 8 / 2, from_b = warp * 32 + column * 4 + k % 8 / 2; \
      const uint a = fragments[from_a * 6 + (c / 2) + (k / 8) * 2], b = fragments[from_b * 6 + 4 + k / 8]; \
      sum += k % 2 == 0 ? low_half(a) * low_half(b) : high_half(a) * high_half(b); \
    } \
    (d)[c] += sum; \
  } \
}
#define matrix_multiply_bytes(d, a0, a1, a2, a3, b0, b1) { \
  BARRIER(); \
  fragments[item * 6] = a0; fragments[item * 6 + 1] = a1; fragments[item * 6 + 2] = a2; fragments[item * 6 + 3] = a3; \
  fragments[item * 6 + 4] = b0; fragments[item * 6 + 5] = b1; \
  BARRIER(); \
  for (int c = 0; c < 4; ++c) { \
    const int row = lane / 4, column = lane % 4 * 2 + (c & 1); \
    int sum = 0; \
    for (int k = 0; k < 32; ++k) { \
      const int from_a = warp * 32 + row * 4 + k % 16 / 4, from_b = warp * 32 + column * 4 + k % 16 / 4; \
      const uint a = fragments[from_a * 6 + (c / 2) + (k / 16) * 2], b = fragments[from_b * 6 + 4 + k / 16]; \
      sum += ((int)(a << (24 - k % 4 * 8)) >> 24) * ((int)(b << (24 - k % 4 * 8)) >> 24); \
    } \
    (d)[c] += sum; \
  } \
}
#endif
