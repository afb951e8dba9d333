// Factorized back-projection. Sums of groups of pulses are groups x ranges x angles; one point per work-item. A point of
// a group is at (r sin, r cos) from its centre, and at (x + r sin, y + r cos) from a pulse or part that is (x, y) back.
// Differences of distances are computed from their squares, so that floats hold phases to 1e-3 cycles.

// Distance from a point to a pulse or part, minus r, and the sine of its angle.
FUNCTION float2 seen_from(float2 back, float r, float sine, float cosine) {
  const float square = FMA(back.x, back.x, back.y * back.y), more = FMA(2.0f * r, FMA(back.x, sine, back.y * cosine), square);
  const float squares = FMA(r, r, more), inverse = RSQRT_FAST(squares);
  return make_float2(more * RECIPROCAL_FAST(FMA(squares, inverse, r)), FMA(r, sine, back.x) * inverse);
}

// A polynomial in the square of the sine's share of the processed band.
FUNCTION float weight_at(const float* weights, float sine, float widest) {
  const float share = sine / widest, share2 = share * share;
  float weight = weights[WEIGHTS - 1];
  UNROLL for (int k = WEIGHTS - 2; k >= 0; --k) weight = FMA(weight, share2, weights[k]);
  return share2 > 1.0f ? 0.0f : weight;
}

// The value between points of a polar grid: `down` rows and `across` columns from its first point.
FUNCTION float2 between(GLOBAL const float2* RESTRICT grid, GLOBAL const float4* RESTRICT taps, int first_row, float down,
                      float across, int ranges, int angles) {
  const float whole_down = floor(down), whole_across = floor(across);
  const int i = first_row + (int)whole_down, j = (int)whole_across;
  if (i < 1 || j < 1 || i + 2 >= ranges || j + 2 >= angles) return make_float2(0.0f, 0.0f);
  const float4 a = taps[(int)((down - whole_down) * FRACTIONS + 0.5f)];
  const float4 b = taps[(int)((across - whole_across) * FRACTIONS + 0.5f)];
  const float rows[4] = {a.x, a.y, a.z, a.w};
  GLOBAL const float2* line = grid + ((i - 1) * angles + (j - 1));
  float x = 0.0f, y = 0.0f;
  UNROLL for (int k = 0; k < 4; ++k, line += angles) {
    const float2 p = line[0], q = line[1], r = line[2], s = line[3];
    x = FMA(rows[k], FMA(b.x, p.x, FMA(b.y, q.x, FMA(b.z, r.x, b.w * s.x))), x);
    y = FMA(rows[k], FMA(b.x, p.y, FMA(b.y, q.y, FMA(b.z, r.y, b.w * s.y))), y);
  }
  return make_float2(x, y);
}

// The first level, from refined pulses. `near_apart`: from the first sample to the grid's first range.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void polar_fill(GLOBAL const float2* RESTRICT profiles, GLOBAL const float2* RESTRICT back,
                GLOBAL const float* RESTRICT weights, GLOBAL float2* RESTRICT sums, int first_pulse, int pulses, int each,
                int ranges, int angles, int points, float first_range, float range_step, float first_sine,
                float sine_step, float half_length, float near_apart, float points_per_metre, float turns_per_metre,
                float widest, int weighted) {
  const int point = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0), i = point / angles, j = point % angles;
  const int group = (int)GROUP_ID(1);
  if (i >= ranges) return;
  const float depth = range_step * (float)i, r = first_range + depth, sine = FMA(sine_step, (float)j, first_sine);
  const float cosine = sqrt(1.0f - sine * sine);
  float w[WEIGHTS];
  UNROLL for (int k = 0; k < WEIGHTS; ++k) w[k] = weighted ? weights[k] : 0.0f;
  float real = 0.0f, imaginary = 0.0f;
  if (fabs(sine) <= min(0.95f, widest + half_length / r) + 4.0f * sine_step) {
    const int first = first_pulse + group * each, end = min(first + each, pulses);
    for (int pulse = first; pulse < end; ++pulse) {
      const float2 seen = seen_from(back[pulse], r, sine, cosine);
      const float place = (near_apart + depth + seen.x) * points_per_metre;
      if (!(place >= 0.0f && place < (float)(points - 1))) continue;
      const float weight = weighted ? weight_at(w, seen.y, widest) : 1.0f;
      const int index = (int)place;
      const float share = place - (float)index;
      GLOBAL const float2* at = profiles + ((ulong)pulse * (ulong)points + (ulong)index);
      const float2 low = at[0], high = at[1];
      TURNED(c, s, seen.x * turns_per_metre);
      const float x = weight * FMA(share, high.x - low.x, low.x), y = weight * FMA(share, high.y - low.y, low.y);
      real = FMA(x, c, FMA(-y, s, real));
      imaginary = FMA(x, s, FMA(y, c, imaginary));
    }
  }
  sums[(ulong)group * (ulong)(ranges * angles) + (ulong)point] = make_float2(real, imaginary);
}

// A further level, from the sums of `parts` groups of the level before, beginning with part `first_part` of all.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void polar_merge(GLOBAL const float2* RESTRICT from, GLOBAL const float2* RESTRICT back,
                 GLOBAL const float* RESTRICT weights, GLOBAL const float4* RESTRICT taps, GLOBAL float2* RESTRICT sums,
                 int first_part, int parts, int ranges, int angles, int from_ranges, int from_angles, float first_range,
                 float range_step, float first_sine, float sine_step, float half_length, float ranges_apart,
                 float from_first_sine, float from_sine_step, float turns_per_metre, float widest, int weighted) {
  const int point = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0), i = point / angles, j = point % angles;
  const int group = (int)GROUP_ID(1);
  if (i >= ranges) return;
  const float r = FMA(range_step, (float)i, first_range), sine = FMA(sine_step, (float)j, first_sine);
  const float cosine = sqrt(1.0f - sine * sine), rows_per_metre = 1.0f / range_step, columns = 1.0f / from_sine_step;
  float w[WEIGHTS];
  UNROLL for (int k = 0; k < WEIGHTS; ++k) w[k] = weighted ? weights[k] : 0.0f;
  float real = 0.0f, imaginary = 0.0f;
  if (fabs(sine) <= min(0.95f, widest + half_length / r) + 4.0f * sine_step) {
    for (int part = group * MERGED; part < min(parts, (group + 1) * MERGED); ++part) {
      const float2 seen = seen_from(back[first_part + part], r, sine, cosine);
      const float weight = weighted ? weight_at(w, seen.y, widest) : 1.0f;
      if (weight == 0.0f) continue;
      const float2 value =
          between(from + (ulong)part * (ulong)(from_ranges * from_angles), taps, i, (ranges_apart + seen.x) * rows_per_metre,
                  (seen.y - from_first_sine) * columns, from_ranges, from_angles);
      TURNED(c, s, seen.x * turns_per_metre);
      real = FMA(weight, FMA(value.x, c, -value.y * s), real);
      imaginary = FMA(weight, FMA(value.x, s, value.y * c), imaginary);
    }
  }
  sums[(ulong)group * (ulong)(ranges * angles) + (ulong)point] = make_float2(real, imaginary);
}

// Adds `groups` groups of the last level, of `each` pulses, to the pixels of `columns` columns from `first_column` on.
// `centres` of the groups: column, metres along from there, metres towards the scene. A row of pixels is RANGE_RATE rows
// of the grid. `reach`: columns from a group's centre to the last pixel that it may contribute to.
KERNEL WORK_GROUP(COLUMNS, LINES, 1)
void polar_pixels(GLOBAL const float2* RESTRICT sums, GLOBAL const float4* RESTRICT centres,
                  GLOBAL const float4* RESTRICT taps, GLOBAL const float* RESTRICT norms, GLOBAL float2* RESTRICT image,
                  int first_group, int groups, int each, int reach, int first_column, int columns, int pulses, int rows,
                  float near_range, float cell, float along, int ranges, int angles, float near_apart, float range_step,
                  float first_sine, float sine_step, float half_length, float widest, float turns_per_metre) {
  const int tile = (int)GROUP_ID(0) * COLUMNS, p = first_column + tile + LOCAL_ID(0);
  const int row = (int)GROUP_ID(1) * LINES + LOCAL_ID(1);
  if (tile + LOCAL_ID(0) >= columns || row >= rows) return;
  const int first = max(0, (first_column + tile - reach) / each - 1 - first_group);
  const int last = min(groups - 1, (first_column + tile + COLUMNS + reach) / each + 1 - first_group);
  const float depth = (float)row * cell, rows_per_metre = 1.0f / range_step, angles_per_sine = 1.0f / sine_step;
  float real = 0.0f, imaginary = 0.0f;
  for (int group = first; group <= last; ++group) {
    const float4 centre = centres[first_group + group];
    const float across = near_range + depth - centre.z, off = FMA((float)p - centre.x, along, -centre.y);
    const float square = off * off, squares = FMA(across, across, square), inverse = RSQRT_FAST(squares);
    const float sine = off * inverse;
    if (fabs(sine) > min(0.95f, widest + half_length / across) + 4.0f * sine_step) continue;
    // The distance minus the row's range.
    const float beyond = FMA(square, RECIPROCAL_FAST(FMA(squares, inverse, across)), -centre.z);
    const float2 value =
        between(sums + (ulong)group * (ulong)(ranges * angles), taps, row * RANGE_RATE, (near_apart + beyond) * rows_per_metre,
                (sine - first_sine) * angles_per_sine, ranges, angles);
    TURNED(c, s, beyond * turns_per_metre);
    real = FMA(value.x, c, FMA(-value.y, s, real));
    imaginary = FMA(value.x, s, FMA(value.y, c, imaginary));
  }
  GLOBAL float2* pixel = image + ((ulong)row * (ulong)pulses + (ulong)p);
  const float2 before = *pixel;
  *pixel = make_float2(FMA(norms[row], real, before.x), FMA(norms[row], imaginary, before.y));
}
