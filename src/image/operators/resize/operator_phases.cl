// Enlarging 8-bit images by a ratio of small integers: ACROSS_OUT pixels are made from every ACROSS_IN, and DOWN_OUT rows
// from every DOWN_IN, always with the same weights, so all positions are compile-time constants. A work-item computes
// GROUPS_ACROSS periods of PERIODS * DOWN_OUT rows, vertically and then horizontally, and loads all input words first.
#define PIXELS_IN (GROUPS_ACROSS * ACROSS_IN)
#define PIXELS_OUT (GROUPS_ACROSS * ACROSS_OUT)
#define VALUES (PIXELS_OUT * CHANNELS)
#define ROWS_OUT (PERIODS * DOWN_OUT)
// First tap of output pixel i for the ratio out : in. The offset of 8 * out keeps the dividend positive.
#define PHASE_FROM(i, in, out) (((2 * (i) + 1) * (in) - (out) + 8 * (out)) / (2 * (out)) - 4 - (TAPS / 2 - 1))
#define FIRST_PIXEL PHASE_FROM(0, ACROSS_IN, ACROSS_OUT)
#define LAST_PIXEL (PHASE_FROM(PIXELS_OUT - 1, ACROSS_IN, ACROSS_OUT) + TAPS - 1)
#define NEAR ((LAST_PIXEL - FIRST_PIXEL + 1) * CHANNELS)  // bytes of a row
#define NEAR_WORDS ((NEAR + 3) / 4)
#define FIRST_ROW PHASE_FROM(0, DOWN_IN, DOWN_OUT)
#define ROWS_IN (PHASE_FROM(ROWS_OUT - 1, DOWN_IN, DOWN_OUT) + TAPS - FIRST_ROW)

#ifdef __CUDACC_RTC__
// The bits of a byte are also a denormal float, 2^-149 times its value. Multiply-adds accept denormals, and the weights are
// scaled by 2^149 in total.
#define BYTE_AS_FLOAT(w, k) FLOAT_OF(__byte_perm(w, 0u, 0x4440u + (uint)(k)))
#define LARGER_DOWN 0x1p100f
#define LARGER_ACROSS 0x1p49f
#else
#define BYTE_AS_FLOAT(w, k) ((float)((w) >> 8 * (k) & 255u))
#define LARGER_DOWN 1.0f
#define LARGER_ACROSS 1.0f
#endif

// Rounds four results to bytes. Bicubic weights can exceed the range of a byte, but not of 16 bits.
FUNCTION uint bytes_of_four(const float* v) {
#if defined(CLAMP_WORDS) && !defined(NEVER_BEYOND)
  const uint a = BITS_OF(v[0] + 12582912.0f), b = BITS_OF(v[1] + 12582912.0f);
  const uint c = BITS_OF(v[2] + 12582912.0f), d = BITS_OF(v[3] + 12582912.0f);
  return BYTE_PERMUTE(CLAMP_WORDS(BYTE_PERMUTE(a, b, 0x5410u), 0x00ff00ffu),
                      CLAMP_WORDS(BYTE_PERMUTE(c, d, 0x5410u), 0x00ff00ffu), 0x6420u);
#else
  return BYTE_PERMUTE(BYTE_PERMUTE(STORED_BITS(v[0]), STORED_BITS(v[1]), 0x0040u),
                      BYTE_PERMUTE(STORED_BITS(v[2]), STORED_BITS(v[3]), 0x0040u), 0x5410u);
#endif
}

// Selector of byte `at` of the work-item's input within words k and k + 1; beyond the ends of the row it selects the end
// pixel.
FUNCTION uint phase_digit(int at, int k, uint which, int at_left, int at_right, int columns, uint first, uint second) {
  const int p = FIRST_PIXEL + at / CHANNELS, c = at % CHANNELS;
  if (p < 0 && at_left) return (uint)c;  // both words are the row's first
  if (p >= PIXELS_IN && p <= LAST_PIXEL && at_right) {
    const int to = (columns - 1) * CHANNELS + c;
    return (uint)(to - (int)first < 4 ? to - (int)first : 4 + to - (int)second);
  }
  return (which & 15u) + (uint)(at - 4 * k);
}

KERNEL WORK_GROUP(128, 1, 1)
void phases(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
            ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows) {
  const int item = (int)GLOBAL_ID(0), items = columns / PIXELS_IN, top = (int)GROUP_ID(1) * ROWS_OUT;
  if (item >= items) return;
  const int at_left = item == 0, at_right = item == items - 1;
  const int start = (item * PIXELS_IN + FIRST_PIXEL) * CHANNELS, word = start >> 2, last = columns * CHANNELS / 4 - 1;
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset + (ulong)top * out_pitch + (ulong)(item * VALUES);
  uint places[NEAR_WORDS + 1], which[NEAR_WORDS], words[ROWS_IN * (NEAR_WORDS + 1)];
  UNROLL
  for (int k = 0; k <= NEAR_WORDS; ++k) places[k] = 4u * (uint)(word + k < 0 ? 0 : word + k < last ? word + k : last);
  UNROLL
  for (int r = 0; r < ROWS_IN; ++r) {
    const int row = bordered_replicate((int)GROUP_ID(1) * PERIODS * DOWN_IN + FIRST_ROW + r, rows);
    GLOBAL const uchar* line = in + (ulong)row * in_pitch;
    UNROLL
    for (int k = 0; k <= NEAR_WORDS; ++k) {
#ifdef BYTEWISE
      GLOBAL const uchar* b = line + places[k];
      words[r * (NEAR_WORDS + 1) + k] = (uint)b[0] | (uint)b[1] << 8 | (uint)b[2] << 16 | (uint)b[3] << 24;
#else
      words[r * (NEAR_WORDS + 1) + k] = LOAD_CACHED((GLOBAL const uint*)(line + places[k]));
#endif
    }
  }
  UNROLL
  for (int k = 0; k < NEAR_WORDS; ++k) {
    const uint plain = 0x3210u + 0x1111u * (uint)(start & 3);
    which[k] = plain;
    if (4 * k < -FIRST_PIXEL * CHANNELS || 4 * k + 3 >= (PIXELS_IN - FIRST_PIXEL) * CHANNELS) {
      which[k] = 0u;
      UNROLL
      for (int b = 0; b < 4; ++b)
        which[k] |= phase_digit(4 * k + b, k, plain, at_left, at_right, columns, places[k], places[k + 1]) << 4 * b;
    }
  }
  float v[ROWS_IN * NEAR];
  UNROLL
  for (int r = 0; r < ROWS_IN; ++r) {
    UNROLL
    for (int k = 0; k < NEAR_WORDS; ++k) {
      const uint chosen = BYTE_PERMUTE(words[r * (NEAR_WORDS + 1) + k], words[r * (NEAR_WORDS + 1) + k + 1], which[k]);
      UNROLL
      for (int b = 0; b < 4; ++b) {
        if (4 * k + b < NEAR) v[r * NEAR + 4 * k + b] = BYTE_AS_FLOAT(chosen, b);
      }
    }
    UNROLL
    for (int o = 0; o < ROWS_OUT; ++o) {
      if (PHASE_FROM(o, DOWN_IN, DOWN_OUT) - FIRST_ROW + TAPS - 1 == r && top + o < out_rows) {
        const float* near = v + (r - TAPS + 1) * NEAR;
        float line[NEAR];
        UNROLL
        for (int k = 0; k < NEAR; ++k) {
          line[k] = LARGER_DOWN * down_weights[o % DOWN_OUT * TAPS] * near[k];
          UNROLL
          for (int j = 1; j < TAPS; ++j)
            line[k] = FMA(LARGER_DOWN * down_weights[o % DOWN_OUT * TAPS + j], near[j * NEAR + k], line[k]);
        }
        uint made[VALUES / 4];
        UNROLL
        for (int w = 0; w < VALUES / 4; ++w) {
          float sum[4];
          UNROLL
          for (int e = 0; e < 4; ++e) {
            const int pixel = (4 * w + e) / CHANNELS;
            const float* from =
                line + (PHASE_FROM(pixel, ACROSS_IN, ACROSS_OUT) - FIRST_PIXEL) * CHANNELS + (4 * w + e) % CHANNELS;
            sum[e] = LARGER_ACROSS * across_weights[pixel % ACROSS_OUT * TAPS] * from[0];
            UNROLL
            for (int j = 1; j < TAPS; ++j)
              sum[e] = FMA(LARGER_ACROSS * across_weights[pixel % ACROSS_OUT * TAPS + j], from[j * CHANNELS], sum[e]);
          }
          made[w] = bytes_of_four(sum);
        }
        GLOBAL uchar* to = out + (ulong)o * out_pitch;
#ifdef BYTEWISE
        for (int i = 0; i < VALUES; ++i) to[i] = (uchar)(made[i / 4] >> 8 * (i % 4) & 255u);
#elif VALUES % 16 == 0
        UNROLL
        for (int w = 0; w < VALUES / 16; ++w)
          ((GLOBAL uint4*)to)[w] = make_uint4(made[4 * w], made[4 * w + 1], made[4 * w + 2], made[4 * w + 3]);
#elif VALUES % 8 == 0
        UNROLL
        for (int w = 0; w < VALUES / 8; ++w) ((GLOBAL uint2*)to)[w] = make_uint2(made[2 * w], made[2 * w + 1]);
#else
        UNROLL
        for (int w = 0; w < VALUES / 4; ++w) ((GLOBAL uint*)to)[w] = made[w];
#endif
      }
    }
  }
}
