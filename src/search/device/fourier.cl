// Dedispersion in the Fourier domain (fourier_plan.hpp): the steps between the transforms. The second axis of the grid
// has `bins` frequencies from `first` on; spectra have `stride` per row.

// Bytes to floats around their mean, with zeros after the row. One group per channel; rows have at most 2^24 samples.
KERNEL WORK_GROUP(256, 1, 1) void samples_of_bytes(GLOBAL const uchar* RESTRICT in, GLOBAL float* RESTRICT out,
                                                   GLOBAL float* RESTRICT means, ulong row, ulong length) {
  LOCAL_ARRAY(uint, sums, 256);
  const int item = LOCAL_ID(0);
  const ulong c = GROUP_ID(0);
  uint sum = 0;
  for (ulong t = item; t < row; t += 256) sum += in[c * row + t];
  sums[item] = sum;
  for (int apart = 128; apart > 0; apart /= 2) {
    BARRIER();
    if (item < apart) sums[item] += sums[item + apart];
  }
  BARRIER();
  const float mean = (float)sums[0] / (float)row;
  if (item == 0) means[c] = mean;
  for (ulong t = item; t < length; t += 256) out[c * length + t] = t < row ? (float)in[c * row + t] - mean : 0.0f;
}

// Adds the channels' means, in the order of the channels.
KERNEL WORK_GROUP(1, 1, 1) void total_mean(GLOBAL const float* RESTRICT means, GLOBAL float* RESTRICT total, uint channels) {
  float sum = 0;
  for (uint c = 0; c < channels; ++c) sum += means[c];
  total[0] = sum;
}

// Grid point m is the sum of the channels whose taps include it: ranges[m] = (first channel, end).
KERNEL WORK_GROUP(128, 1, 1) void spread(GLOBAL const float2* RESTRICT spectra, GLOBAL float2* RESTRICT grid,
                                         GLOBAL const int2* RESTRICT ranges, GLOBAL const uint* RESTRICT cells,
                                         GLOBAL const float2* RESTRICT weights, uint points, uint first, uint bins,
                                         ulong stride) {
  const uint k = GROUP_ID(0) * 128 + LOCAL_ID(0), m = GROUP_ID(1);
  if (k >= bins) return;
  const int2 range = ranges[m];
  float real = 0, imaginary = 0;
  for (int c = range.x; c < range.y; ++c) {
    const uint tap = m >= cells[c] ? m - cells[c] : m + points - cells[c];
    const float2 w = weights[c * TAPS + tap], x = spectra[c * stride + first + k];
    real = FMA(w.x, x.x, FMA(-w.y, x.y, real));
    imaginary = FMA(w.x, x.y, FMA(w.y, x.x, imaginary));
  }
  grid[(ulong)m * bins + k] = make_float2(real, imaginary);
}

// Spectrum of every trial from the transformed grid, times exp(pi i u).
KERNEL WORK_GROUP(128, 1, 1) void interpolate(GLOBAL const float2* RESTRICT grid, GLOBAL float2* RESTRICT spectra,
                                              GLOBAL const ulong* RESTRICT steps, GLOBAL const float* RESTRICT kernel_rows,
                                              uint points, uint middle, uint first, uint bins, uint all_bins,
                                              ulong stride) {
  const uint k = GROUP_ID(0) * 128 + LOCAL_ID(0), d = GROUP_ID(1);
  if (k >= bins || first + k >= all_bins) return;
  const ulong position = (ulong)(first + k) * steps[d];
  const uint fine = (uint)(position >> (POSITION_BITS - 20)) & 0xfffffu;
  GLOBAL const float* row = kernel_rows + fine / (1048576u / STEPS) * TAPS;
  const float part = (float)(fine % (1048576u / STEPS)) * (STEPS / 1048576.0f);
  int point = (int)(position >> POSITION_BITS) - (TAPS / 2 - 1) - (int)middle;
  if (point < 0) point += (int)points;
  float real = 0, imaginary = 0;
  UNROLL for (int i = 0; i < TAPS; ++i) {
    const float w = FMA(part, row[i + TAPS] - row[i], row[i]);
    const float2 value = grid[(ulong)point * bins + k];
    real = FMA(w, value.x, real);
    imaginary = FMA(w, value.y, imaginary);
    point = point + 1 == (int)points ? 0 : point + 1;
  }
  // The phase in quarter turns: the two lowest bits of the whole part and the fraction.
  const float angle = (float)fine * (1.5707963267948966f / 1048576.0f);
  float c = cos(angle), s = sin(angle);
  const uint quarter = (uint)(position >> POSITION_BITS) & 3u;
  if ((quarter & 1u) != 0u) {
    const float old = c;
    c = -s;
    s = old;
  }
  if ((quarter & 2u) != 0u) c = -c, s = -s;
  spectra[d * stride + first + k] = make_float2(real * c - imaginary * s, real * s + imaginary * c);
}

KERNEL WORK_GROUP(256, 1, 1) void sums_of_samples(GLOBAL const float* RESTRICT in, GLOBAL float* RESTRICT out,
                                                  GLOBAL const float* RESTRICT total, float scale, ulong times,
                                                  ulong length) {
  const ulong t = (ulong)GROUP_ID(0) * 256 + LOCAL_ID(0), d = GROUP_ID(1);
  if (t < times) out[d * times + t] = FMA(in[d * length + t], scale, total[0]);
}
