// Writes the products of one row and two adjacent columns; `re` and `im` have two values each. DIRECT: to the output,
// otherwise to totals. Only baselines whose first station does not exceed the second are written.
#if USE_FLOAT16
#define SUM float
#else
#define SUM int
#endif

FUNCTION void write_products(GLOBAL float4* RESTRICT totals, GLOBAL float4* RESTRICT out, int channel, int row, int column,
                             int begins, ulong offset, float factor, const SUM* re, const SUM* im) {
#if POLARIZATIONS == 2 && DIRECT
  const int s = row / 2, u = column / 2;
  if (column < SIGNAL_COUNT && s <= u) {
    const ulong baseline = (ulong)u * (u + 1) / 2 + s;
    STORE_ONCE(out + (offset / 2 + (baseline * CHANNELS + channel) * 2 + row % 2),
               make_float4((float)re[0] * factor, (float)im[0] * factor, (float)re[1] * factor, (float)im[1] * factor));
  }
#else
  UNROLL
  for (int e = 0; e < 2; ++e) {
    const int s = row / POLARIZATIONS, u = (column + e) / POLARIZATIONS;
    if (row < SIGNAL_COUNT && column + e < SIGNAL_COUNT && s <= u) {
      const ulong baseline = (ulong)u * (u + 1) / 2 + s;
      const int product = row % POLARIZATIONS * POLARIZATIONS + (column + e) % POLARIZATIONS;
#if DIRECT
      ((GLOBAL float2*)out)[offset + (baseline * CHANNELS + channel) * (POLARIZATIONS * POLARIZATIONS) + product] =
          make_float2((float)re[e] * factor, (float)im[e] * factor);
#else
      GLOBAL float4* const to = totals + ((ulong)channel * BASELINES + baseline) * (POLARIZATIONS * POLARIZATIONS) + product;
      float4 total = begins ? make_float4(0.0f, 0.0f, 0.0f, 0.0f) : *to;
#if USE_FLOAT16
      total = with_rounding(total, re[e], im[e]);
#else
      // In two parts, which floats represent exactly.
      const int high_re = re[e] >> 12, high_im = im[e] >> 12;
      total = with_rounding(total, (float)high_re * 4096.0f, (float)high_im * 4096.0f);
      total = with_rounding(total, (float)(re[e] & 4095), (float)(im[e] & 4095));
#endif
      *to = total;
#endif
    }
  }
#endif
}
