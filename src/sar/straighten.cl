// Range cell migration correction and azimuth compression, one point of the range-Doppler plane per work-item.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void straighten(GLOBAL const float2* RESTRICT in, GLOBAL const float2* RESTRICT azimuth,
                GLOBAL const float* RESTRICT taps, GLOBAL const float* RESTRICT stretch, GLOBAL float2* RESTRICT out,
                int ranges, int pulses, float first_range) {
  const int f = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0);
  const int r = (int)GROUP_ID(1);
  if (f >= pulses) return;
  const ulong at = (ulong)r * (ulong)pulses + (ulong)f;
  const float2 filter = azimuth[at];
  float real = 0.0f, imaginary = 0.0f;
  if (filter.x != 0.0f || filter.y != 0.0f) {
    const float shift = (first_range + (float)r) * stretch[f];
    const float whole = floor(shift);
    GLOBAL const float* weights = taps + (int)((shift - whole) * FRACTIONS + 0.5f) * TAPS;
    const int row = r + (int)whole - (TAPS / 2 - 1);
    UNROLL for (int tap = 0; tap < TAPS; ++tap) {
      if (row + tap >= 0 && row + tap < ranges) {
        const float2 value = in[(ulong)(row + tap) * (ulong)pulses + (ulong)f];
        real = FMA(weights[tap], value.x, real);
        imaginary = FMA(weights[tap], value.y, imaginary);
      }
    }
  }
  out[at] = make_float2(real * filter.x - imaginary * filter.y, real * filter.y + imaginary * filter.x);
}
