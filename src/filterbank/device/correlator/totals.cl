// Adds a value to a total of two floats: a sum and its accumulated rounding error.
FUNCTION float4 with_rounding(float4 total, float re, float im) {
  const float a = total.x + re, b = total.y + im;
  const float from_re = a - total.x, from_im = b - total.y;
  return make_float4(a, b, total.z + ((total.x - (a - from_re)) + (re - from_re)),
                     total.w + ((total.y - (b - from_im)) + (im - from_im)));
}

// Sums adjacent channels and writes them in output order.
KERNEL WORK_GROUP(FINISH_ITEMS, 1, 1) void finish(GLOBAL const float4* RESTRICT totals, GLOBAL float2* RESTRICT out,
                                                  ulong offset, ulong values, float factor) {
  const ulong i = (ulong)GROUP_ID(0) * FINISH_ITEMS + LOCAL_ID(0);
  if (i >= values) return;
  const ulong products = POLARIZATIONS * POLARIZATIONS;
  const ulong product = i % products, channel = i / products % (CHANNELS / SUMMED), baseline = i / products / (CHANNELS / SUMMED);
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int k = 0; k < SUMMED; ++k) {
    const float4 one = totals[((channel * SUMMED + k) * BASELINES + baseline) * products + product];
    sum = with_rounding(sum, one.x, one.y);
    sum.z += one.z;
    sum.w += one.w;
  }
  out[offset + i] = make_float2((sum.x + sum.z) * factor, (sum.y + sum.w) * factor);
}
