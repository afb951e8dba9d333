// The search: for each pixel of a list, the displacement whose window in the other picture is most similar. Each cell
// of the window is weighted by its distance from the pixel and by its colour difference to it. Sums run along the rows
// of the window with one rounding per cell, so that every back end finds the same vectors. RADIUS: of the window.
// REACH: of the candidates.
#define SIDE (2 * RADIUS + 1)
#define ACROSS (2 * REACH + 1)

// 2^t for t <= 0, by the same operations as on the host.
FUNCTION float power_of_two(float t) {
  const float z = t + 12582912.0f, f = t - (z - 12582912.0f);
  float p = FMA(f, POWER_0, POWER_1);
  p = FMA(f, p, POWER_2);
  p = FMA(f, p, POWER_3);
  p = FMA(f, p, POWER_4);
  p = FMA(f, p, POWER_5);
  return FLOAT_OF(BITS_OF(p) + (BITS_OF(z) << 23));
}

// Squared differences as floats, with matching weights, without a conversion. If denormals are kept: a small integer's
// bits are a denormal float, 2^149 times smaller; weights scaled by 2^126 then give costs scaled by 2^-23 with the same
// roundings. Otherwise: the integer is added to the bits of 2^23, which gives the float 2^23 + squares.
#if KEEPS_DENORMALS
FUNCTION float squares_as_float(uint a, uint b) { return FLOAT_OF(squares_of(a, b, 0u)); }
FUNCTION float scaled(float weight) { return FLOAT_OF(BITS_OF(weight) + (126u << 23)); }
#else
FUNCTION float squares_as_float(uint a, uint b) { return FLOAT_OF(squares_of(a, b, 0x4b000000u)) - 8388608.0f; }
FUNCTION float scaled(float weight) { return weight; }
#endif

FUNCTION float weight_of(uint squares, int dy, int dx) {
  const float space = (float)(dy * dy + dx * dx) * SPACE_SLOPE;
  const float t = FMA((float)squares, COLOR_SLOPE, space);
  return power_of_two(t > LEAST_EXPONENT ? t : LEAST_EXPONENT);
}

FUNCTION int2 first_guess(GLOBAL const float2* start, int z, int r, int c, int coarse_rows, int coarse_columns, int rows,
                          int columns, int top) {
  if (top) return make_int2(0, 0);
  const float2 coarse = start[(ulong)z * (ulong)coarse_rows * (ulong)coarse_columns +
                              (ulong)(r >> 1) * (ulong)coarse_columns + (ulong)(c >> 1)];
  return make_int2(start_of(2.0f * coarse.x, r, rows), start_of(2.0f * coarse.y, c, columns));
}
