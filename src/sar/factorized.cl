// Factorized back-projection row by row (method: sar/factorization.hpp). A work-group of sum_rows sums the groups of a segment
// of pulses level by level in local memory and stores the sums of the last level; add_rows interpolates them to pixels.
// Differences of distances are computed from differences of their squares, so that floats hold phases to 1e-3 cycles.

#define PULSES_AT_ONCE 4
#define FEW_LANES 8 /* of merge_groups; a multiple of MERGED */
// Points of a grid in local memory are PITCH numbers apart, one per row: work-items with neighbouring rows, and work-items
// with neighbouring points of one row, access different banks.
#define PITCH (ROWS + 1)

// Number of grid points on either side of tangent 0, for ROWS rows of which the first is at `range`.
FUNCTION int half_points(float length, float step, float range, float widest_tangent, float away) {
  const float edge = FMA(away / range, widest_tangent, widest_tangent) + 0.5f * length / range;
  return (int)floor(edge / step) + TAPS / 2;
}

// Weight of the window: a polynomial in the square of `share`, the sine of the angle over that at the edge of the band.
FUNCTION float weight_at(GLOBAL const float* RESTRICT weights, float share) {
  const float share2 = share * share;
  float weight = weights[WEIGHTS - 1];
  UNROLL for (int k = WEIGHTS - 2; k >= 0; --k) weight = FMA(weight, share2, weights[k]);
  return share2 > 1.0f ? 0.0f : weight;
}

// Weights of six neighbours for a value `fraction` points after the third one.
FUNCTION void set_taps(float fraction, float* taps) {
  const float x = FMA(2.0f, fraction, -1.0f), y = x * x;
#define TAP_PAIR(k)                                                                                      \
  const float even##k = FMA(y, FMA(y, TAP##k##_4, TAP##k##_2), TAP##k##_0), odd##k = x * FMA(y, TAP##k##_3, TAP##k##_1); \
  taps[k] = even##k + odd##k;                                                                            \
  taps[TAPS - 1 - k] = even##k - odd##k;
  TAP_PAIR(0)
  TAP_PAIR(1)
  TAP_PAIR(2)
}
#define SUM_TAPS(x, y, taps, values, pitch)                   \
  float x = 0.0f, y = 0.0f;                                   \
  UNROLL for (int t_ = 0; t_ < TAPS; ++t_) {                  \
    const float2 value_ = (values)[t_ * (pitch)];             \
    x = FMA(taps[t_], value_.x, x), y = FMA(taps[t_], value_.y, y); \
  }

// A point of a grid seen from the group's centre: metres along the track, towards the scene, distance and its square.
typedef struct {
  float off, across, distance, square;
} SeenPoint;
FUNCTION SeenPoint seen_from_centre(float off, float across) {
  const float square = FMA(off, off, across * across);
  const SeenPoint seen = {off, across, square * RSQRT_FAST(square), square};
  return seen;
}
// For the distance d from the point to a pulse or part, and the distance c from the point to the group's centre: returns
// (d - c, 1 / d). The pulse or part is at (-part.x, -part.y) from the centre.
FUNCTION float2 farther(SeenPoint point, float4 part) {
  const float more = 2.0f * FMA(point.off, part.x, point.across * part.y) + part.w, squares = point.square + more;
  const float inverse = RSQRT_FAST(squares);
  return make_float2(more * RECIPROCAL_FAST(FMA(squares, inverse, point.distance)), inverse);
}

// Multiplies the spectra of pulses, negative frequencies first, by the phases that move their samples by 0, 1 / FINE, ... of a
// sample. Each of the FINE spectra becomes a line of `profiles`, with frequency 0 first.
KERNEL WORK_GROUP(ITEMS, 1, 1)
void shift_samples(GLOBAL const float2* RESTRICT spectra, GLOBAL float2* RESTRICT profiles, int samples, float turns) {
  const int i = (int)GROUP_ID(0) * ITEMS + LOCAL_ID(0), frequency = i - samples / 2;
  if (i >= samples) return;
  const ulong pulse = GROUP_ID(1);
  const float2 value = spectra[pulse * (ulong)samples + (ulong)i];
  GLOBAL float2* line = profiles + pulse * (ulong)(FINE * samples) + (ulong)(frequency < 0 ? frequency + samples : frequency);
  UNROLL for (int f = 0; f < FINE; ++f) {
    TURNED(c, s, (float)(f * frequency) * turns);
    line[(ulong)(f * samples)] = make_float2(FMA(value.x, c, -value.y * s), FMA(value.x, s, value.y * c));
  }
}

// A point of a row's grid that sums a group of pulses: seen from the group's centre, the components of the direction to it,
// half the inverse distance, and the distance minus the row's range.
typedef struct {
  SeenPoint seen;
  float along, across, half_inverse, beyond;
} GroupPoint;

// As farther(). SERIES: groups are so short that two terms of the root's series suffice.
FUNCTION float2 farther_pulse(GroupPoint at, float4 part) {
#if SERIES
  const float u = FMA(at.along, part.x, FMA(at.across, part.y, at.half_inverse * part.w));
  const float more = FMA(-u * at.half_inverse, u, u), inverse = 2.0f * at.half_inverse;
  return make_float2(more, FMA(-more * inverse, inverse, inverse));
#else
  return farther(at.seen, part);
#endif
}

// Adds the echo of a pulse to a point. `checked`: the point may be beyond the echo's ends.
FUNCTION float2 add_pulse(float2 sum, GroupPoint at, float4 part, GLOBAL const float2* RESTRICT pulse_points, int first_point,
                          int samples, float points_per_metre, float turns_per_metre, GLOBAL const float* RESTRICT weights,
                          float shares, int checked) {
  const float2 seen = farther_pulse(at, part);
  const float place = (at.beyond + seen.x) * points_per_metre;
  SPLIT(whole, points_beyond, place);
  const float share = place - whole;
  const int wanted = points_beyond + first_point, counts = !checked || (uint)wanted < (uint)(FINE * samples - 1);
  const uint point = (uint)(counts ? wanted : 0), fine = point % FINE;
  GLOBAL const float2* near = pulse_points + (fine * (uint)samples + point / FINE);
  const float2 low = near[0], high = near[fine == FINE - 1 ? 1 - (FINE - 1) * samples : samples];
  float x = FMA(share, high.x - low.x, low.x), y = FMA(share, high.y - low.y, low.y);
#if FIRST_WEIGHTED
  const float weight = weight_at(weights, (at.seen.off + part.x) * seen.y * shares);
  x *= weight, y *= weight;
#endif
  if (checked) x = counts ? x : 0.0f, y = counts ? y : 0.0f;
  TURNED(c, s, seen.x * turns_per_metre);
  return make_float2(FMA(x, c, FMA(-y, s, sum.x)), FMA(x, s, FMA(y, c, sum.y)));
}

// Sums the groups of the first level on ROWS rows, from refined pulses: `samples` points at whole samples, then those 1 / FINE
// of a sample later, and so on. Neighbouring work-items have neighbouring rows, which read neighbouring points. `margin`:
// refined points between the distances of a group's centre and of its pulses, at most.
FUNCTION void fill_groups(GLOBAL const float2* RESTRICT profiles, GLOBAL const float4* RESTRICT parts, LOCAL float2* local_sums,
                          GLOBAL float2* global_sums, int most, ulong row_sums, GLOBAL const float* RESTRICT weights,
                          int first_pulse, int end_pulse, int each, int middle, float step, int first_row, float near_range,
                          float cell, int samples, float points_per_metre, float turns_per_metre, float shares, int margin) {
  const int n = 2 * middle + 1, groups = (end_pulse - first_pulse + each - 1) / each;
  const int line = LOCAL_ID(0) % ROWS, row = first_row + line, first_point = row * FINE, pulse_size = FINE * samples;
  const float range = near_range + (float)row * cell;
  for (int i = LOCAL_ID(0) / ROWS; i < groups * n; i += ITEMS / ROWS) {
    const int group = i / n, j = i - group * n, first = first_pulse + group * each, end = min(first + each, end_pulse);
    const float towards = parts[first].z;
    const SeenPoint seen = seen_from_centre(range * (step * (float)(j - middle)), range - towards);
    const float inverse = RECIPROCAL_FAST(seen.distance);
    const float beyond =
        FMA(seen.off, seen.off, -towards * (2.0f * range - towards)) * RECIPROCAL_FAST(seen.distance + range);
    const GroupPoint at = {seen, seen.off * inverse, seen.across * inverse, 0.5f * inverse, beyond};
    float2 sum = make_float2(0.0f, 0.0f);
    GLOBAL const float2* pulse_points = profiles + (ulong)first * (ulong)pulse_size;
    const int centre = first_point + (int)(beyond * points_per_metre);
    int pulse = first;
    if (centre >= margin && centre < pulse_size - margin) {
      for (; pulse + PULSES_AT_ONCE <= end; pulse += PULSES_AT_ONCE, pulse_points += PULSES_AT_ONCE * pulse_size) {
        UNROLL for (int k = 0; k < PULSES_AT_ONCE; ++k) /* loads of several pulses do not wait for each other */
          sum = add_pulse(sum, at, parts[pulse + k], pulse_points + k * pulse_size, first_point, samples,
                          points_per_metre, turns_per_metre, weights, shares, 0);
      }
    }
    for (; pulse < end; ++pulse, pulse_points += pulse_size)
      sum = add_pulse(sum, at, parts[pulse], pulse_points, first_point, samples, points_per_metre, turns_per_metre,
                      weights, shares, 1);
    if (global_sums) {
      global_sums[(ulong)line * row_sums + (ulong)(group * most + j)] = sum;
    } else {
      local_sums[i * PITCH + line] = sum;
    }
  }
}

// Sums the groups of a later level on ROWS rows, from the sums of their parts. Some work-items sum one group on one row. The
// fraction of a position depends only on j modulo MERGED, so that a work-item computes the taps of each part once.
FUNCTION void merge_groups(LOCAL const float2* from, GLOBAL const float4* RESTRICT parts, LOCAL float2* local_sums,
                           GLOBAL float2* global_sums, int most, ulong row_sums, GLOBAL const float* RESTRICT weights,
                           int weighted, int first_part, int end_part, int middle, int part_middle, float step,
                           float first_range, float cell, float turns_per_metre, float shares) {
  const int n = 2 * middle + 1, part_n = 2 * part_middle + 1, count = end_part - first_part;
  const int groups = (count + MERGED - 1) / MERGED;
  // Few work-items leave fewer idle at the end of short sums.
  const int lanes = groups * ROWS >= ITEMS / FEW_LANES ? FEW_LANES : 32, lane = LOCAL_ID(0) % lanes;
  for (int i = LOCAL_ID(0) / lanes; i < groups * ROWS; i += ITEMS / lanes) {
    const int line = i / groups, group = i - line * groups, first = first_part + group * MERGED;
    const float range = FMA((float)line, cell, first_range), cells_per_metre = RECIPROCAL_FAST(range * (step * MERGED));
    LOCAL const float2* sums = from + group * MERGED * part_n * PITCH + line;
    float taps[MERGED][TAPS];
    int begin[MERGED];
    UNROLL for (int k = 0; k < MERGED; ++k) {
      const float place = FMA(parts[min(first + k, end_part - 1)].x, cells_per_metre, (float)(lane - middle) * (1.0f / MERGED));
      SPLIT(whole, index, place);
      set_taps(place - whole, taps[k]);
      begin[k] = first + k < end_part ? index + part_middle - (TAPS / 2 - 1) : -0x1000000;
    }
    for (int j = lane; j < n; j += lanes) {
      const SeenPoint at = seen_from_centre(range * (step * (float)(j - middle)), range - parts[first].z);
      float real = 0.0f, imaginary = 0.0f;
      UNROLL for (int k = 0; k < MERGED; ++k) {
        const int place = begin[k];
        begin[k] += lanes / MERGED;
        if ((uint)place > (uint)(part_n - TAPS)) continue;
        const float4 part = parts[first + k];
        const float2 seen = farther(at, part);
        SUM_TAPS(x, y, taps[k], sums + (k * part_n + place) * PITCH, PITCH)
        TURNED(c, s, seen.x * turns_per_metre);
        if (weighted) {
          const float weight = weight_at(weights, (at.off + part.x) * seen.y * shares);
          x *= weight, y *= weight;
        }
        real = FMA(x, c, FMA(-y, s, real));
        imaginary = FMA(x, s, FMA(y, c, imaginary));
      }
      if (global_sums) {
        global_sums[(ulong)line * row_sums + (ulong)(group * most + j)] = make_float2(real, imaginary);
      } else {
        local_sums[(group * n + j) * PITCH + line] = make_float2(real, imaginary);
      }
    }
  }
}

// Computes the sums of the last level for `segment` pulses on ROWS rows; stores `most` points per group, `groups` groups per row.
// `parts` has an entry per pulse, then per group of each level but the last: metres from it to the centre of the group that
// contains it, along (x) and across (y) the track; that centre's metres towards the scene (z); x^2 + y^2 (w). `shares`: 1 / the
// sine at the edge of the processed band.
KERNEL WORK_GROUP_RESIDENT(ITEMS, 1, 1, RESIDENT)
void sum_rows(GLOBAL const float2* RESTRICT profiles, GLOBAL const float4* RESTRICT parts,
              GLOBAL const float* RESTRICT lengths, GLOBAL const float* RESTRICT weights, GLOBAL float2* RESTRICT sums,
              int first_row, int pulses, int each, int levels, int segment, int samples, int most, int groups,
              float near_range, float cell, float first_step, float widest_tangent, float away, float points_per_metre,
              float turns_per_metre, float shares, int margin) {
  LOCAL_BLOCK(float2, memory, EVEN + ODD);
  LOCAL float2* even = memory;
  LOCAL float2* odd = memory + EVEN;
  const int line = ROWS * (int)GROUP_ID(0), row = first_row + line, number = (int)GROUP_ID(1);
  const float range = near_range + (float)row * cell;
  int last = each; /* pulses per group of the last level */
  for (int l = 1; l < levels; ++l) last *= MERGED;
  const ulong row_sums = (ulong)groups * (ulong)most;
  GLOBAL float2* out = sums + ((ulong)line * row_sums + (ulong)(number * (segment / last)) * (ulong)most);
  float step = first_step;
  int middle = half_points(lengths[0], step, range, widest_tangent, away);
  fill_groups(profiles, parts, even, levels == 1 ? out : 0, most, row_sums, weights, number * segment,
              min((number + 1) * segment, pulses), each, middle, step, row, near_range, cell, samples, points_per_metre,
              turns_per_metre, shares, margin);
  for (int l = 1, size = each, all = pulses; l < levels; ++l, size *= MERGED) {
    parts += all;
    all = (pulses + size - 1) / size; /* parts of this level */
    const int first = number * (segment / size), end = min(first + segment / size, all), part_middle = middle;
    step *= 1.0f / MERGED;
    middle = half_points(lengths[l], step, range, widest_tangent, away);
    BARRIER();
    merge_groups(l % 2 ? even : odd, parts, l % 2 ? odd : even, l + 1 == levels ? out : 0, most, row_sums, weights, l == 1,
                 first, end, middle, part_middle, step, range, cell, turns_per_metre, shares);
  }
}

// Computes the pixels of `rows` rows from `first_row` on: adds all groups of the last level (`each` pulses) that see them. The
// centres of these groups are `each` columns apart, the first `centre` columns from column 0, on a line at `towards` metres
// towards the scene, so that columns a multiple of `each` apart see groups in the same way. A work-item computes KEPT_COLUMNS
// columns that are `stride` apart.
KERNEL WORK_GROUP(COLUMNS, LINES, 1)
void add_rows(GLOBAL const float2* RESTRICT sums, GLOBAL const float* RESTRICT norms, GLOBAL float2* RESTRICT image,
              int first_row, int rows, int pulses, int groups, int each, int stride, int most, float centre, float towards,
              float near_range, float cell, float along, float step, float length, float widest_tangent, float away,
              float turns_per_metre) {
  const int tiles = (stride + COLUMNS - 1) / COLUMNS, block = (int)GROUP_ID(0) / tiles;
  const int column = ((int)GROUP_ID(0) - block * tiles) * COLUMNS + LOCAL_ID(0); /* minus first_column */
  const int first_column = block * (stride * KEPT_COLUMNS), first_group = first_column / each;
  const int line = (int)GROUP_ID(1) * LINES + LOCAL_ID(1), row = first_row + line;
  if (column >= stride || line >= rows) return;
  const float range = near_range + (float)row * cell, cells_per_metre = 1.0f / (range * step);
  const float first_range = near_range + (float)(row - line % ROWS) * cell;
  const int middle = half_points(length, step, first_range, widest_tangent, away), n = 2 * middle + 1;
  const int reach = (int)((float)middle * step * range / along) + 1;
  const float from_first = (float)column - centre;
  const int first = (int)floor((from_first - (float)reach) / (float)each);
  const int last = (int)ceil((from_first + (float)reach) / (float)each);
  float2 pixels[KEPT_COLUMNS];
  UNROLL for (int k = 0; k < KEPT_COLUMNS; ++k) pixels[k] = make_float2(0.0f, 0.0f);
  GLOBAL const float2* row_sums = sums + (ulong)line * (ulong)groups * (ulong)most;
  for (int group = first; group <= last; ++group) {
    const float off = (from_first - (float)(group * each)) * along, place = off * cells_per_metre;
    SPLIT(whole, index, place);
    const int begin = index + middle - (TAPS / 2 - 1);
    if ((uint)begin > (uint)(n - TAPS)) continue;
    float taps[TAPS];
    set_taps(place - whole, taps);
    const SeenPoint at = seen_from_centre(off, range - towards);
    const float beyond = FMA(off, off, -towards * (2.0f * range - towards)) * RECIPROCAL_FAST(at.distance + range);
    TURNED(c, s, beyond * turns_per_metre);
    UNROLL for (int k = 0; k < KEPT_COLUMNS; ++k) {
      const int seen = first_group + group + k * (stride / each);
      if ((uint)seen >= (uint)groups) continue;
      GLOBAL const float2* values = row_sums + ((ulong)seen * (ulong)most + (ulong)begin);
      SUM_TAPS(x, y, taps, values, 1)
      pixels[k] = make_float2(FMA(x, c, FMA(-y, s, pixels[k].x)), FMA(x, s, FMA(y, c, pixels[k].y)));
    }
  }
  UNROLL for (int k = 0; k < KEPT_COLUMNS; ++k) {
    const int p = first_column + column + k * stride;
    if (p < pulses) image[(ulong)row * (ulong)pulses + (ulong)p] = make_float2(norms[row] * pixels[k].x, norms[row] * pixels[k].y);
  }
}
