// Single pulses in dedispersed series: robust mean and deviation per series, boxcar filters, list of detections.
// Work-items return before a barrier only on devices with sub-groups: PoCL 3.1 without optimization computes wrong values then
// (tests/scripts/barrier_rule.py). There the loops are empty instead.

// Position of the median of `count` values: the one with count / 2 values before it in ascending order.
FUNCTION float median_of_local(LOCAL const float* values, int count, int item, LOCAL float* result) {
  if (item < count) {
    const float mine = values[item];
    int before = 0;
    for (int i = 0; i < count; ++i) before += values[i] < mine || (values[i] == mine && i < item) ? 1 : 0;
    if (before == count / 2) *result = mine;
  }
  BARRIER();
  const float found = *result;
  BARRIER();
  return found;
}

// normals[trial] = (mean, deviation) as robust_normal() on the host: medians over up to 64 parts of the first
// lengths[trial] samples. 256 work-items; each group of 32 sums a part.
KERNEL WORK_GROUP(256, 1, 1) void series_normal(GLOBAL const float* RESTRICT series, GLOBAL const uint* RESTRICT lengths,
                                                GLOBAL float2* RESTRICT normals, ulong stride) {
  LOCAL_ARRAY(float, sums, 256);
  LOCAL_ARRAY(float, squares, 256);
  LOCAL_ARRAY(float, means, 64);
  LOCAL_ARRAY(float, variances, 64);
  LOCAL_ARRAY(float, result, 1);
  const int item = LOCAL_ID(0), lane = item % 32, team = item / 32;
  const uint trial = GROUP_ID(0);
  const int length = (int)lengths[trial];
  const int part = length / 64 > 64 ? length / 64 : 64, parts = length / part;  // no parts of fewer than 64 samples
  GLOBAL const float* from = series + (ulong)trial * stride;
  const float reference = parts > 0 ? from[length / 2] : 0.0f;
  for (int first = 0; first < parts; first += 8) {
    float sum = 0.0f, square = 0.0f;
    if (first + team < parts) {
      for (int i = lane; i < part; i += 32) {
        const float x = from[(first + team) * part + i] - reference;
        sum += x;
        square = FMA(x, x, square);
      }
    }
    sums[item] = sum;
    squares[item] = square;
    BARRIER();
    for (int step = 16; step > 0; step /= 2) {
      if (lane < step) {
        sums[item] += sums[item + step];
        squares[item] += squares[item + step];
      }
      BARRIER();
    }
    if (lane == 0 && first + team < parts) {
      const float mean = sums[item] / (float)part;
      const float variance = (squares[item] - (float)part * mean * mean) / (float)(part - 1);
      means[first + team] = mean;
      variances[first + team] = variance > 0.0f ? variance : 0.0f;
    }
    BARRIER();
  }
  const float middle = median_of_local(means, parts, item, result);
  const float k = (float)(part - 1), root = 1.0f - 2.0f / (9.0f * k);
  const float variance = median_of_local(variances, parts, item, result) / (root * root * root);
  if (item != 0) return;
  if (parts == 0) {
    normals[trial] = make_float2(0.0f, 0.0f);
    return;
  }
  const float allowed = 4.0f * sqrt(variance / (float)part);
  float total = 0.0f;
  int used = 0;
  for (int i = 0; i < parts; ++i) {
    if (fabs(means[i] - middle) <= allowed) {
      total += means[i];
      ++used;
    }
  }
  normals[trial] = make_float2(reference + (used > 0 ? total / (float)used : middle), sqrt(variance));
}

// Position of a sample in padded local memory: work-items that read 16 adjacent samples each, four at a time, use
// different banks.
#define PADDED(i) ((i) + (i) / 16 * 4)
#define STARTS 2048
#define NARROW_SAMPLES (STARTS + 32)  // samples that boxcars of up to 32 samples need

// Bits of the narrow widths of which one of 16 adjacent boxcars may reach its limit. The test is slightly too generous;
// find_boxcars() decides.
FUNCTION uint narrow_boxcars(LOCAL const float4* tile, int item, GLOBAL const float* RESTRICT limits) {
  float sums[49];
  sums[0] = 0.0f;
  UNROLL for (int q = 0; q < 12; ++q) {
    const float4 x = tile[item * 5 + q / 4 * 5 + q % 4];
    sums[4 * q + 1] = sums[4 * q] + x.x;
    sums[4 * q + 2] = sums[4 * q + 1] + x.y;
    sums[4 * q + 3] = sums[4 * q + 2] + x.z;
    sums[4 * q + 4] = sums[4 * q + 3] + x.w;
  }
  uint mask = 0;
#define TEST_WIDTH(k, w)                                                                   \
  {                                                                                        \
    float most = sums[w];                                                                  \
    UNROLL for (int i = 1; i < 16; ++i) most = fmax(most, sums[i + (w)] - sums[i]);         \
    if (most >= limits[k] * sqrt((float)(w)) * 0.9999f - 0.001f) mask |= 1u << (k);        \
  }
  NARROW_WIDTHS(TEST_WIDTH)
  return mask;
}

// Sums of values[0 .. i) of `length` values in place of values[i], by 128 work-items; values[length] is the last one.
FUNCTION void prefix_sums(LOCAL float* values, LOCAL float* chunk, int length, int item) {
  const int each = (length + 127) / 128, first = item * each < length ? item * each : length;
  const int last = first + each < length ? first + each : length;
  float sum = 0.0f;
  for (int i = first; i < last; ++i) sum += values[i + 1];
  chunk[item + 1] = sum;
  if (item == 0) values[0] = chunk[0] = 0.0f;
  BARRIER();
  for (int apart = 1; apart < 128; apart *= 2) {
    const float before = item >= apart ? chunk[item + 1 - apart] : 0.0f;
    BARRIER();
    chunk[item + 1] += before;
    BARRIER();
  }
  sum = chunk[item];
  for (int i = first; i < last; ++i) {
    sum += values[i + 1];
    values[i + 1] = sum;
  }
  BARRIER();
}

// Appends the best boxcar of each width in every 256 starts that reaches its limit: places = (trial, start, width index,
// 0). A group has STARTS starts of one series. widths and limits (S/N) have `widths_count` entries, of which the first
// NARROW are at most 32. Starts end at starts[trial], boxcars at lengths[trial].
KERNEL WORK_GROUP(128, 1, 1) void find_boxcars(GLOBAL const float* RESTRICT series, GLOBAL const float2* RESTRICT normals,
                                               GLOBAL const uint* RESTRICT starts, GLOBAL const uint* RESTRICT lengths,
                                               GLOBAL const uint* RESTRICT widths, GLOBAL const float* RESTRICT limits,
                                               GLOBAL uint* RESTRICT count, GLOBAL uint4* RESTRICT places,
                                               GLOBAL float* RESTRICT snrs, uint widths_count, uint capacity,
                                               ulong stride) {
  LOCAL_BLOCK(float4, block, LOCAL_VALUES / 4);
  LOCAL float* const prefix = (LOCAL float*)block;
  LOCAL_ARRAY(float, chunk, 129);
  LOCAL_ARRAY(int, best_at, 128);
  LOCAL_ARRAY(uint, reached, 32);  // per width, modulo 32: a boxcar may reach the limit
  const int item = LOCAL_ID(0), lane = item % 32;
  const uint trial = GROUP_ID(1);
  const int begin = (int)GROUP_ID(0) * STARTS;
  const float2 normal = normals[trial];
  const int all = (int)lengths[trial] - begin, mine = (int)starts[trial] - begin;
  const int busy = all > 0 && mine > 0 && normal.y > 0.0f;
#if SUB_GROUP_WIDTH > 0
  if (!busy) return;
#endif
  const int here = !busy ? 0 : mine < STARTS ? mine : STARTS, length = !busy ? 0 : all < here + WIDEST ? all : here + WIDEST;
  const float scale = 1.0f / normal.y;
  GLOBAL const float* from = series + (ulong)trial * stride + begin;
  for (int i = item; i < NARROW_SAMPLES; i += 128) prefix[PADDED(i)] = i < length ? (from[i] - normal.x) * scale : 0.0f;
  if (item < 32) reached[item] = 0u;
  BARRIER();
  const uint narrow = narrow_boxcars(block, item, limits);
  for (uint k = 0; k < NARROW; ++k) {
    if ((narrow >> k & 1u) != 0u) reached[k] = 1u;
  }
  BARRIER();
  uint mask = 0;
  UNROLL for (int k = 0; k < NARROW; ++k) mask |= reached[k] << k;
  // In most tiles no narrow boxcar reaches its limit.
  const int summed = mask == 0u && WIDEST <= 32 ? 0 : length;
#if SUB_GROUP_WIDTH > 0
  if (summed == 0) return;
#endif
  BARRIER();
  for (int i = item; i < summed; i += 128) prefix[i + 1] = (from[i] - normal.x) * scale;
  BARRIER();
  prefix_sums(prefix, chunk, summed, item);
#if WIDEST > 32
  for (uint k = NARROW; k < widths_count; ++k) {
    const int w = (int)widths[k];
    const int boxcars = length - w + 1 < here ? length - w + 1 : here;
    const float least = limits[k] * sqrt((float)w);
    float most = 0.0f;
    for (int t = item; t < boxcars; t += 128) most = fmax(most, prefix[t + w] - prefix[t]);
    if (most >= least) reached[k % 32] = 1u;
  }
  BARRIER();
  for (int k = 0; k < 32; ++k) mask |= reached[k] << k;
#endif
  for (uint k = 0; k < widths_count; ++k) {
    if ((mask >> k % 32 & 1u) == 0u) continue;
    const int w = (int)widths[k];
    const int boxcars = length - w + 1 < here ? length - w + 1 : here;
    const float root = sqrt((float)w);
    for (int cell = item / 32; cell < STARTS / 256; cell += 4) {
      int at = -1;
      float value = 0.0f;
      for (int t = cell * 256 + lane; t < cell * 256 + 256 && t < boxcars; t += 32) {
        const float now = prefix[t + w] - prefix[t];
        if (at < 0 || now > value) {
          value = now;
          at = t;
        }
      }
      chunk[item] = value;
      best_at[item] = at;
      BARRIER();
      if (lane == 0) {
        for (int i = 1; i < 32; ++i) {
          const int other = best_at[item + i];
          if (other < 0) continue;
          if (chunk[item + i] > value || (chunk[item + i] == value && other < at)) {
            value = chunk[item + i];
            at = other;
          }
        }
        if (at >= 0 && value >= limits[k] * root) {
          const uint slot = ATOMIC_ADD(count, 1u);
          if (slot < capacity) {
            places[slot] = make_uint4(trial, (uint)(begin + at), k, 0u);
            snrs[slot] = value / root;
          }
        }
      }
      BARRIER();
    }
  }
}
