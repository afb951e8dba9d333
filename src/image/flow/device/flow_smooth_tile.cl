// Cross-bilateral filter from a tile in local memory. A work-item computes ROWS vertically adjacent pixels, which share
// the loaded values. The weight of the row distance is applied once per row. The weight of the column distance is part
// of the exponent's constant, as is the 2^23 that converts the dot product to a float if the slope is small enough.
#define WIDE (32 + 2 * FILTER)
#define HIGH (8 * ROWS + 2 * FILTER)
#define TILE ((WIDE * HIGH + 1) / 2 * 2)

FUNCTION float weight_between(uint own, uint other, float column) {
#if FLOAT_BITS
  const float exponent = FMA(FLOAT_OF(squares_of(own, other, 0x4b000000u)), SLOPE, column);
#else
  const float exponent = FMA((float)squares_of(own, other & 0xffffffu, 0u), SLOPE, column);
#endif
  const float weight = EXP2_FAST(exponent);
#if HIDDEN_VANISH
  return weight;
#else
  return other >> 24 ? 0.0f : weight;
#endif
}

KERNEL WORK_GROUP(32, 8, 1) void smooth(GLOBAL const uint* RESTRICT cells, GLOBAL const float2* RESTRICT flow,
                                        GLOBAL float2* RESTRICT out, int rows, int columns) {
  LOCAL_BLOCK(uint, words, 3 * TILE);
  LOCAL float2* flows = (LOCAL float2*)(words + TILE);
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const int left = (int)GROUP_ID(0) * 32, top = (int)GROUP_ID(1) * 8 * ROWS, tx = LOCAL_ID(0), ty = LOCAL_ID(1);
  for (int k = ty * 32 + tx; k < WIDE * HIGH; k += 256) {
    const int y = top - FILTER + k / WIDE, x = left - FILTER + k % WIDE;
    const int inside = y >= 0 && x >= 0 && y < rows && x < columns;
    const ulong cell = plane + (ulong)(inside ? y : 0) * (ulong)columns + (ulong)(inside ? x : 0);
    words[k] = inside ? cells[cell] : 0xff000000u;
    flows[k] = inside ? flow[cell] : make_float2(0.0f, 0.0f);
  }
  BARRIER();
  uint own[ROWS];
  float sum_u[ROWS], sum_v[ROWS], sum[ROWS];
  UNROLL
  for (int k = 0; k < ROWS; ++k) {
    own[k] = words[(ty * ROWS + k + FILTER) * WIDE + tx + FILTER] & 0xffffffu;
    sum_u[k] = 0.0f;
    sum_v[k] = 0.0f;
    sum[k] = 0.0f;
  }
  for (int j = 0; j < ROWS + 2 * FILTER; ++j) {
    LOCAL const uint* line = words + (ty * ROWS + j) * WIDE + tx;
    LOCAL const float2* field = flows + (ty * ROWS + j) * WIDE + tx;
    float u[ROWS], v[ROWS], w[ROWS];
    UNROLL
    for (int k = 0; k < ROWS; ++k) {
      u[k] = 0.0f;
      v[k] = 0.0f;
      w[k] = 0.0f;
    }
    UNROLL_COLUMNS
    for (int x = 0; x <= 2 * FILTER; ++x) {
      const uint other = line[x];
      const float2 theirs = field[x];
      UNROLL
      for (int k = 0; k < ROWS; ++k) {
        const float weight = weight_between(own[k], other, column_exponents[x]);
        u[k] = FMA(weight, theirs.x, u[k]);
        v[k] = FMA(weight, theirs.y, v[k]);
        w[k] += weight;
      }
    }
    UNROLL
    for (int k = 0; k < ROWS; ++k) {
      const float share = j >= k && j - k <= 2 * FILTER ? row_weights[j - k] : 0.0f;
      sum_u[k] = FMA(share, u[k], sum_u[k]);
      sum_v[k] = FMA(share, v[k], sum_v[k]);
      sum[k] = FMA(share, w[k], sum[k]);
    }
  }
  UNROLL
  for (int k = 0; k < ROWS; ++k) {
    const int y = top + ty * ROWS + k, x = left + tx;
    if (y < rows && x < columns) {
      const float2 kept = flows[(ty * ROWS + k + FILTER) * WIDE + tx + FILTER];
      out[plane + (ulong)y * (ulong)columns + (ulong)x] =
          sum[k] < 1e-9f ? kept : make_float2(sum_u[k] / sum[k], sum_v[k] / sum[k]);
    }
  }
}
