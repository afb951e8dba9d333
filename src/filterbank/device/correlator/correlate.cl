// Correlator without matrix units: SIDE x SIDE work-items, EACH x EACH products per item, STAGED times in local memory.
// VALUE_OF(time, signal) reads a value of this group's channel from `in`, of type VALUES.
#define TILE (SIDE * EACH)
#define PITCH (TILE + 1)

KERNEL WORK_GROUP(SIDE * SIDE, 1, 1) void correlate(GLOBAL const VALUES* RESTRICT in, GLOBAL float4* RESTRICT totals,
                                                    GLOBAL const int2* RESTRICT tiles, int first, int times, int begins) {
  LOCAL_ARRAY(float2, rows, STAGED * PITCH);
  LOCAL_ARRAY(float2, columns, STAGED * PITCH);
  const int item = LOCAL_ID(0), x = item % SIDE, y = item / SIDE;
  const int channel = (int)(GROUP_ID(0) % CHANNELS);
  const int2 tile = tiles[GROUP_ID(0) / CHANNELS];
  float re[EACH * EACH], im[EACH * EACH];
  for (int i = 0; i < EACH * EACH; ++i) re[i] = im[i] = 0.0f;
  for (int stage = 0; stage * STAGED < times; ++stage) {
    for (int n = item; n < STAGED * TILE; n += SIDE * SIDE) {
      const int time = stage * STAGED + n % STAGED, signal = n / STAGED;
      const int row = tile.x * TILE + signal, column = tile.y * TILE + signal;
      float2 a = make_float2(0.0f, 0.0f), b = make_float2(0.0f, 0.0f);
      if (time < times && row < SIGNAL_COUNT) a = VALUE_OF(first + time, row);
      if (time < times && column < SIGNAL_COUNT) b = VALUE_OF(first + time, column);
      rows[n % STAGED * PITCH + signal] = a;
      columns[n % STAGED * PITCH + signal] = b;
    }
    BARRIER();
    for (int time = 0; time < STAGED; ++time) {
      float2 a[EACH], b[EACH];
      UNROLL
      for (int i = 0; i < EACH; ++i) {
        a[i] = rows[time * PITCH + y + i * SIDE];
        b[i] = columns[time * PITCH + x + i * SIDE];
      }
      UNROLL
      for (int i = 0; i < EACH; ++i) {
        UNROLL
        for (int j = 0; j < EACH; ++j) {
          re[i * EACH + j] = FMA(a[i].x, b[j].x, FMA(a[i].y, b[j].y, re[i * EACH + j]));
          im[i * EACH + j] = FMA(a[i].y, b[j].x, FMA(-a[i].x, b[j].y, im[i * EACH + j]));
        }
      }
    }
    BARRIER();
  }
  UNROLL
  for (int i = 0; i < EACH; ++i) {
    UNROLL
    for (int j = 0; j < EACH; ++j) {
      const int row = tile.x * TILE + y + i * SIDE, column = tile.y * TILE + x + j * SIDE;
      const int s = row / POLARIZATIONS, u = column / POLARIZATIONS;
      if (column < SIGNAL_COUNT && s <= u) {
        const ulong baseline = (ulong)u * (u + 1) / 2 + s;
        GLOBAL float4* const to = totals + (((ulong)channel * BASELINES + baseline) * POLARIZATIONS +
                                            row % POLARIZATIONS) * POLARIZATIONS + column % POLARIZATIONS;
        const float4 before = begins ? make_float4(0.0f, 0.0f, 0.0f, 0.0f) : *to;
        *to = with_rounding(before, re[i * EACH + j], im[i * EACH + j]);
      }
    }
  }
}
