// Direct back-projection. A work-group sums a tile of COLUMNS columns and LINES * KEPT_ROWS rows, a work-item KEPT_ROWS
// rows of one column, LINES rows apart. The points of a pulse that a tile needs are neighbours, so that most reads hit the
// first-level cache. Phases are those of the distance minus the row's range, which float holds to 2e-5 cycles. `weights`
// are the coefficients of a polynomial in the square of the sine's share of the processed band.
KERNEL WORK_GROUP(COLUMNS, LINES, 1)
void backproject(GLOBAL const float2* RESTRICT profiles, GLOBAL const float2* RESTRICT track,
                 GLOBAL const float* RESTRICT weights, GLOBAL const float* RESTRICT norms, GLOBAL float2* RESTRICT image,
                 int pulses, int rows, int points, float near_range, float cell, float along, float turns_per_metre,
                 float widest_sine, float widest_tangent, float farthest) {
  const int first_column = (int)GROUP_ID(0) * COLUMNS, column = first_column + LOCAL_ID(0);
  const int first_row = (int)GROUP_ID(1) * (KEPT_ROWS * LINES), row = first_row + LOCAL_ID(1);
  // Pulses whose aperture may contain a pixel of the tile; `farthest` bounds the offsets of the track.
  const float last_range = near_range + (float)(first_row + KEPT_ROWS * LINES) * cell;
  const float reach = ((last_range + farthest) * widest_tangent + farthest) / along + 1.0f;
  const int first = max(0, (int)floor((float)first_column - reach));
  const int last = min(pulses - 1, (int)ceil((float)(first_column + COLUMNS) + reach));
  const float scale = 1.0f / widest_sine, points_per_metre = FINE / cell;
  float w[WEIGHTS], range[KEPT_ROWS], real[KEPT_ROWS], imaginary[KEPT_ROWS];
  UNROLL for (int k = 0; k < WEIGHTS; ++k) w[k] = weights[k];
  UNROLL for (int k = 0; k < KEPT_ROWS; ++k) {
    range[k] = near_range + (float)(row + k * LINES) * cell;
    real[k] = imaginary[k] = 0.0f;
  }
  GLOBAL const float2* line = profiles + (ulong)first * (ulong)points;
  for (int pulse = first; pulse <= last; ++pulse, line += points) {
    const float2 offset = track[pulse];
    const float off = FMA((float)(column - pulse), along, -offset.x), square = off * off, scaled = off * scale;
    UNROLL for (int k = 0; k < KEPT_ROWS; ++k) {
      const float across = range[k] - offset.y, squares = FMA(across, across, square), inverse = RSQRT_FAST(squares);
      // The distance minus the row's range, as a quotient: the difference would lose digits.
      const float beyond = FMA(square, RECIPROCAL_FAST(FMA(squares, inverse, across)), -offset.y);
      const float sine = scaled * inverse, share2 = sine * sine, place = beyond * points_per_metre;
      SPLIT(whole, points_beyond, place);
      const float share = place - whole;
      const int index = points_beyond + (row + k * LINES) * FINE;
      if (share2 > 1.0f || index < 0 || index >= points - 1) continue;
      const float2 low = line[index], high = line[index + 1];
      float weight = w[WEIGHTS - 1];
      UNROLL for (int t = WEIGHTS - 2; t >= 0; --t) weight = FMA(weight, share2, w[t]);
      TURNED(c, s, beyond * turns_per_metre);
      const float x = weight * FMA(share, high.x - low.x, low.x), y = weight * FMA(share, high.y - low.y, low.y);
      real[k] = FMA(x, c, FMA(-y, s, real[k]));
      imaginary[k] = FMA(x, s, FMA(y, c, imaginary[k]));
    }
  }
  if (column >= pulses) return;
  UNROLL for (int k = 0; k < KEPT_ROWS; ++k) {
    const int at = row + k * LINES;
    if (at >= rows) continue;
    image[(ulong)at * (ulong)pulses + (ulong)column] = make_float2(real[k] * norms[at], imaginary[k] * norms[at]);
  }
}
