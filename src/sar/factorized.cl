// Factorized back-projection. Sums of groups of pulses are groups x ranges x angles; one point per work-item. A point of
// a group is at (r sin, r cos) from its centre, and at (x + r sin, y + r cos) from a pulse or part that is (x, y) back.
// Differences of distances are computed from their squares, so that floats hold phases to 1e-3 cycles.

#define TURNED(c, s, turns)                            \
  const float angle_ = (turns - rint(turns)) * 6.28318531f; \
  const float c = COS_FAST(angle_), s = SIN_FAST(angle_)

// Distance from a point to a pulse or part, minus r, and the sine of its angle.
FUNCTION float2 seen_from(float2 back, float r, float sine, float cosine) {
  const float square = FMA(back.x, back.x, back.y * back.y), more = FMA(2.0f * r, FMA(back.x, sine, back.y * cosine), square);
  const float distance = sqrt(FMA(r, r, more));
  return make_float2(more / (distance + r), FMA(r, sine, back.x) / distance);
}

// A polynomial in the square of the sine's share of the processed band.
FUNCTION float weight_at(GLOBAL const float* RESTRICT weights, float sine, float widest) {
  const float share2 = sine * sine / (widest * widest);
  float weight = weights[WEIGHTS - 1];
  for (int k = WEIGHTS - 2; k >= 0; --k) weight = FMA(weight, share2, weights[k]);
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
  GLOBAL const float2* line = grid + ((ulong)(i - 1) * (ulong)angles + (ulong)(j - 1));
  float x = 0.0f, y = 0.0f;
  for (int k = 0; k < 4; ++k, line += angles) {
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
  const int j = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0), i = (int)GROUP_ID(1), group = (int)GROUP_ID(2);
  if (j >= angles) return;
  const float depth = range_step * (float)i, r = first_range + depth, sine = FMA(sine_step, (float)j, first_sine);
  const float cosine = sqrt(1.0f - sine * sine);
  float real = 0.0f, imaginary = 0.0f;
  if (fabs(sine) <= min(0.95f, widest + half_length / r) + 4.0f * sine_step) {
    const int first = first_pulse + group * each, end = min(first + each, pulses);
    for (int pulse = first; pulse < end; ++pulse) {
      const float2 seen = seen_from(back[pulse], r, sine, cosine);
      const float place = (near_apart + depth + seen.x) * points_per_metre;
      if (!(place >= 0.0f && place < (float)(points - 1))) continue;
      const float weight = weighted ? weight_at(weights, seen.y, widest) : 1.0f;
      const int index = (int)place;
      const float share = place - (float)index, turns = seen.x * turns_per_metre;
      GLOBAL const float2* at = profiles + ((ulong)pulse * (ulong)points + (ulong)index);
      const float2 low = at[0], high = at[1];
      TURNED(c, s, turns);
      const float x = weight * FMA(share, high.x - low.x, low.x), y = weight * FMA(share, high.y - low.y, low.y);
      real = FMA(x, c, FMA(-y, s, real));
      imaginary = FMA(x, s, FMA(y, c, imaginary));
    }
  }
  sums[((ulong)group * (ulong)ranges + (ulong)i) * (ulong)angles + (ulong)j] = make_float2(real, imaginary);
}

// A further level, from the sums of `parts` groups of the level before, beginning with part `first_part` of all.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void polar_merge(GLOBAL const float2* RESTRICT from, GLOBAL const float2* RESTRICT back,
                 GLOBAL const float* RESTRICT weights, GLOBAL const float4* RESTRICT taps, GLOBAL float2* RESTRICT sums,
                 int first_part, int parts, int ranges, int angles, int from_ranges, int from_angles, float first_range,
                 float range_step, float first_sine, float sine_step, float half_length, float ranges_apart,
                 float from_first_sine, float from_sine_step, float turns_per_metre, float widest, int weighted) {
  const int j = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0), i = (int)GROUP_ID(1), group = (int)GROUP_ID(2);
  if (j >= angles) return;
  const float r = FMA(range_step, (float)i, first_range), sine = FMA(sine_step, (float)j, first_sine);
  const float cosine = sqrt(1.0f - sine * sine);
  float real = 0.0f, imaginary = 0.0f;
  if (fabs(sine) <= min(0.95f, widest + half_length / r) + 4.0f * sine_step) {
    for (int part = group * MERGED; part < min(parts, (group + 1) * MERGED); ++part) {
      const float2 seen = seen_from(back[first_part + part], r, sine, cosine);
      const float weight = weighted ? weight_at(weights, seen.y, widest) : 1.0f;
      if (weight == 0.0f) continue;
      const float2 value = between(from + (ulong)part * ((ulong)from_ranges * (ulong)from_angles), taps, i,
                                   (ranges_apart + seen.x) / range_step, (seen.y - from_first_sine) / from_sine_step,
                                   from_ranges, from_angles);
      const float turns = seen.x * turns_per_metre;
      TURNED(c, s, turns);
      real = FMA(weight, FMA(value.x, c, -value.y * s), real);
      imaginary = FMA(weight, FMA(value.x, s, value.y * c), imaginary);
    }
  }
  sums[((ulong)group * (ulong)ranges + (ulong)i) * (ulong)angles + (ulong)j] = make_float2(real, imaginary);
}

// Pixels, from the sums of one group of the last level, whose centre is `centre` columns and `residue` metres along, and
// `towards` metres towards the scene. A row of pixels is RANGE_RATE rows of the grid.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void polar_pixels(GLOBAL const float2* RESTRICT sums, GLOBAL const float4* RESTRICT taps,
                  GLOBAL const float* RESTRICT norms, GLOBAL float2* RESTRICT image, int first, int pulses, int centre,
                  float residue, float towards, float near_range, float cell, float along, int ranges, int angles,
                  float near_apart, float range_step, float first_sine, float sine_step, float half_length, float widest,
                  float turns_per_metre) {
  const int p = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0), row = (int)GROUP_ID(1);
  if (p >= pulses) return;
  const ulong pixel = (ulong)row * (ulong)pulses + (ulong)p;
  const float2 before = first ? make_float2(0.0f, 0.0f) : image[pixel];
  const float across = near_range + (float)row * cell - towards, off = (float)(p - centre) * along - residue;
  const float radius = sqrt(FMA(across, across, off * off)), sine = off / radius;
  const float beyond = off * off / (radius + across) - towards;  // radius - the row's range
  float2 value = make_float2(0.0f, 0.0f);
  if (fabs(sine) <= min(0.95f, widest + half_length / across) + 4.0f * sine_step)
    value = between(sums, taps, row * RANGE_RATE, (near_apart + beyond) / range_step, (sine - first_sine) / sine_step,
                    ranges, angles);
  const float turns = beyond * turns_per_metre;
  TURNED(c, s, turns);
  image[pixel] = make_float2(FMA(norms[row], FMA(value.x, c, -value.y * s), before.x),
                             FMA(norms[row], FMA(value.x, s, value.y * c), before.y));
}
