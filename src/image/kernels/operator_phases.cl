// Bytes, images that grow by a ratio of small numbers: ACROSS_OUT pixels are made from ACROSS_IN again and again, and DOWN_OUT
// rows from DOWN_IN, with the same weights. So every place is known to the compiler. A work-item makes GROUPS_ACROSS such
// pieces of PERIODS times DOWN_OUT rows; all words of the image it needs are on their way first.
#define PIXELS_IN (GROUPS_ACROSS * ACROSS_IN)
#define PIXELS_OUT (GROUPS_ACROSS * ACROSS_OUT)
#define VALUES (PIXELS_OUT * CHANNELS)
#define ROWS_OUT (PERIODS * DOWN_OUT)
// The first tap of pixel i of OUT made from IN; numbers below zero do not come to be divided.
#define PHASE_FROM(i, in, out) (((2 * (i) + 1) * (in) - (out) + 8 * (out)) / (2 * (out)) - 4 - (TAPS / 2 - 1))
#define FIRST_PIXEL PHASE_FROM(0, ACROSS_IN, ACROSS_OUT)
#define LAST_PIXEL (PHASE_FROM(PIXELS_OUT - 1, ACROSS_IN, ACROSS_OUT) + TAPS - 1)
#define NEAR ((LAST_PIXEL - FIRST_PIXEL + 1) * CHANNELS)  // bytes of a row
#define NEAR_WORDS ((NEAR + 3) / 4)
#define FIRST_ROW PHASE_FROM(0, DOWN_IN, DOWN_OUT)
#define ROWS_IN (PHASE_FROM(ROWS_OUT - 1, DOWN_IN, DOWN_OUT) + TAPS - FIRST_ROW)

// What a row of the image gives: the work-item's values of a row of the result.
FUNCTION void across_row(const uint* words, uint which, int at_left, int at_right, float* made) {
  float v[4 * NEAR_WORDS];
  UNROLL
  for (int k = 0; k < NEAR_WORDS; ++k) take_apart(CHOOSE_BYTES(words[k], words[k + 1], which), v + 4 * k);
  UNROLL
  for (int p = FIRST_PIXEL; p <= LAST_PIXEL; ++p) {  // beyond the ends stands what is there
    UNROLL
    for (int c = 0; c < CHANNELS; ++c) {
      const int at = (p - FIRST_PIXEL) * CHANNELS + c;
      if (p < 0 && at_left) v[at] = v[-FIRST_PIXEL * CHANNELS + c];
      if (p >= PIXELS_IN && at_right) v[at] = v[(PIXELS_IN - 1 - FIRST_PIXEL) * CHANNELS + c];
    }
  }
  UNROLL
  for (int i = 0; i < VALUES; ++i) {
    const int pixel = i / CHANNELS;
    const float* near = v + (PHASE_FROM(pixel, ACROSS_IN, ACROSS_OUT) - FIRST_PIXEL) * CHANNELS + i % CHANNELS;
    made[i] = across_weights[pixel % ACROSS_OUT * TAPS] * near[0];
    UNROLL
    for (int j = 1; j < TAPS; ++j) made[i] = FMA(across_weights[pixel % ACROSS_OUT * TAPS + j], near[j * CHANNELS], made[i]);
  }
}

KERNEL WORK_GROUP(128, 1, 1)
void phases(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
            ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows) {
  const int item = (int)GLOBAL_ID(0), items = columns / PIXELS_IN, top = (int)GROUP_ID(1) * ROWS_OUT;
  if (item >= items) return;
  const int at_left = item == 0, at_right = item == items - 1;
  const int start = (item * PIXELS_IN + FIRST_PIXEL) * CHANNELS, word = start >> 2, last = columns * CHANNELS / 4 - 1;
  const uint which = 0x3210u + 0x1111u * (uint)(start & 3);
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset + (ulong)top * out_pitch + (ulong)(item * VALUES);
  uint places[NEAR_WORDS + 1], words[ROWS_IN * (NEAR_WORDS + 1)];
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
  float lines[ROWS_IN * VALUES];
  UNROLL
  for (int r = 0; r < ROWS_IN; ++r) {
    across_row(words + r * (NEAR_WORDS + 1), which, at_left, at_right, lines + r * VALUES);
    UNROLL
    for (int o = 0; o < ROWS_OUT; ++o) {
      if (PHASE_FROM(o, DOWN_IN, DOWN_OUT) - FIRST_ROW + TAPS - 1 == r && top + o < out_rows) {
        const float* near = lines + (r - TAPS + 1) * VALUES;
        uint made[VALUES / 4];
        UNROLL
        for (int w = 0; w < VALUES / 4; ++w) {
          uint bits[4];
          UNROLL
          for (int e = 0; e < 4; ++e) {
            float sum = down_weights[o % DOWN_OUT * TAPS] * near[4 * w + e];
            UNROLL
            for (int j = 1; j < TAPS; ++j) sum = FMA(down_weights[o % DOWN_OUT * TAPS + j], near[j * VALUES + 4 * w + e], sum);
            bits[e] = STORED_BITS(sum);
          }
          made[w] = CHOOSE_BYTES(CHOOSE_BYTES(bits[0], bits[1], 0x0040u), CHOOSE_BYTES(bits[2], bits[3], 0x0040u), 0x5410u);
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
