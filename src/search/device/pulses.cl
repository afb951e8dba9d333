// Single pulses in dedispersed series: robust mean and deviation per series, boxcar filters, list of detections.

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
  if (length < 64) {
    if (item == 0) normals[trial] = make_float2(0.0f, 0.0f);
    return;
  }
  const int part = length / 64 > 64 ? length / 64 : 64, parts = length / part;
  GLOBAL const float* from = series + (ulong)trial * stride;
  const float reference = from[length / 2];
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

// Appends the best boxcar of each width in every 256 starts that reaches its limit: places = (trial, start, width index,
// 0). A group has STARTS = 2048 starts of one series and their prefix sums in local memory. widths and limits (S/N) have
// `widths_count` entries. Starts end at starts[trial], boxcars at lengths[trial].
KERNEL WORK_GROUP(256, 1, 1) void find_boxcars(GLOBAL const float* RESTRICT series, GLOBAL const float2* RESTRICT normals,
                                               GLOBAL const uint* RESTRICT starts, GLOBAL const uint* RESTRICT lengths,
                                               GLOBAL const uint* RESTRICT widths, GLOBAL const float* RESTRICT limits,
                                               GLOBAL uint* RESTRICT count, GLOBAL uint4* RESTRICT places,
                                               GLOBAL float* RESTRICT snrs, uint widths_count, uint capacity,
                                               ulong stride) {
  LOCAL_BLOCK(float, prefix, 2048 + WIDEST + 1);
  LOCAL_ARRAY(float, chunk, 257);
  LOCAL_ARRAY(int, best_at, 256);
  const int item = LOCAL_ID(0), lane = item % 32, cell = item / 32;
  const uint trial = GROUP_ID(1);
  const int begin = (int)GROUP_ID(0) * 2048;
  const float2 normal = normals[trial];
  const int all = (int)lengths[trial] - begin, mine = (int)starts[trial] - begin;
  if (all <= 0 || mine <= 0 || !(normal.y > 0.0f)) return;
  const int here = mine < 2048 ? mine : 2048, length = all < here + WIDEST ? all : here + WIDEST;
  const float scale = 1.0f / normal.y;
  GLOBAL const float* from = series + (ulong)trial * stride + begin;
  const int each = (length + 255) / 256, first = item * each;
  const int last = first + each < length ? first + each : length;
  for (int i = item; i < length; i += 256) prefix[i + 1] = (from[i] - normal.x) * scale;
  if (item == 0) prefix[0] = chunk[0] = 0.0f;
  BARRIER();
  float sum = 0.0f;
  for (int i = first; i < last; ++i) sum += prefix[i + 1];
  chunk[item + 1] = sum;
  BARRIER();
  for (int apart = 1; apart < 256; apart *= 2) {
    const float before = item >= apart ? chunk[item + 1 - apart] : 0.0f;
    BARRIER();
    chunk[item + 1] += before;
    BARRIER();
  }
  sum = chunk[item];
  for (int i = first; i < last; ++i) {
    sum += prefix[i + 1];
    prefix[i + 1] = sum;
  }
  BARRIER();
  // In most tiles no boxcar reaches its limit: the best ones are looked for only where one does (one bit per width).
  uint mask = 0;
  for (uint k = 0; k < widths_count; ++k) {
    const int w = (int)widths[k];
    const int boxcars = length - w + 1 < here ? length - w + 1 : here;
    const float least = limits[k] * sqrt((float)w);
    for (int t = item; t < boxcars; t += 256) mask |= prefix[t + w] - prefix[t] >= least ? 1u << k % 32 : 0u;
  }
  best_at[item] = (int)mask;
  for (int apart = 128; apart > 0; apart /= 2) {
    BARRIER();
    if (item < apart) best_at[item] |= best_at[item + apart];
  }
  BARRIER();
  mask = (uint)best_at[0];
  BARRIER();
  for (uint k = 0; k < widths_count; ++k) {
    if ((mask >> k % 32 & 1u) == 0u) continue;
    const int w = (int)widths[k];
    const int boxcars = length - w + 1 < here ? length - w + 1 : here;
    const float root = sqrt((float)w);
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
