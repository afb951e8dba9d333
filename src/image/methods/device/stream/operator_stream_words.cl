// Variant of operator_stream for 8-bit and 16-bit images: a work-item owns VEC4S vec4s of neighbouring channels and loads
// them as WORDS packed words per row, BATCH rows at once, the next batch before the current one is summed. Its own sums
// stay in registers. The border constant must be an integer.
#define ITEMS_HERE 128
#define VALUES (4 * VEC4S)
#define WORDS (VEC4S * DEPTH)
#define IN_ROWS (ROWS_EACH + DOWN - 1)
#define LEFT_ITEMS ((LEFT + VEC4S - 1) / VEC4S)
#define RIGHT_ITEMS ((RIGHT + VEC4S - 1) / VEC4S)

FUNCTION float value_of(const uint* words, int k) {
#if DEPTH == 1
#ifdef __CUDACC_RTC__  // inserts the byte into the mantissa of 2^23
  return FLOAT_OF(__byte_perm(words[k / 4], 0x4b000000u, 0x7540u + (uint)(k % 4))) - 8388608.0f;
#else
  return (float)(words[k / 4] >> 8 * (k % 4) & 255u);
#endif
#else
#ifdef __CUDACC_RTC__
  return FLOAT_OF(__byte_perm(words[k / 2], 0x4b000000u, k % 2 == 0 ? 0x7510u : 0x7532u)) - 8388608.0f;
#else
  return (float)(words[k / 2] >> 16 * (k % 2) & 65535u);
#endif
#endif
}

FUNCTION void load_words(GLOBAL const ELEMENT* p, uint* words) {
#if WORDS == 1
  words[0] = LOAD_CACHED((GLOBAL const uint*)p);
#elif WORDS == 2
  const uint2 w = LOAD_CACHED((GLOBAL const uint2*)p);
  words[0] = w.x;
  words[1] = w.y;
#else
  const uint4 w = LOAD_CACHED((GLOBAL const uint4*)p);
  words[0] = w.x;
  words[1] = w.y;
  words[2] = w.z;
  words[3] = w.w;
#endif
}

// Loads value by value, for words that reach beyond the ends of the row.
FUNCTION void gather_words(GLOBAL const ELEMENT* row, int first, int columns, uint* words) {
  UNROLL
  for (int k = 0; k < WORDS; ++k) words[k] = 0u;
  UNROLL
  for (int k = 0; k < VALUES; ++k) {
    const int value = first + k, pixel = value >= 0 ? value / CHANNELS : -((CHANNELS - 1 - value) / CHANNELS);
    const int there = BORDERED(pixel, columns);
    const uint v = there < 0 ? (uint)BEYOND : (uint)row[there * CHANNELS + value - pixel * CHANNELS];
    words[k * DEPTH / 4] |= v << 8 * (k * DEPTH % 4);
  }
}
FUNCTION void fill_words(uint* words) {
  UNROLL
  for (int k = 0; k < WORDS; ++k) words[k] = (uint)BEYOND * (DEPTH == 1 ? 0x01010101u : 0x00010001u);
}

FUNCTION void load_batch(GLOBAL const ELEMENT* in, ulong pitch, int row, int rows, int first, int columns, int interior,
                         int begin, uint* words) {
  if (interior) {
    GLOBAL const ELEMENT* p = in + (ulong)(row + begin) * pitch + first;
    UNROLL
    for (int i = 0; i < BATCH; ++i) {
      if (begin + i < IN_ROWS) load_words(p + (ulong)i * pitch, words + i * WORDS);
    }
  } else {
    UNROLL
    for (int i = 0; i < BATCH; ++i) {
      if (begin + i < IN_ROWS) {
        const int there = BORDERED(row + begin + i, rows);
        if (there < 0) {
          fill_words(words + i * WORDS);
        } else {
          gather_words(in + (ulong)there * pitch, first, columns, words + i * WORDS);
        }
      }
    }
  }
}

FUNCTION uint packed(const float* v) {
#if DEPTH == 1
  const uint a = STORED_BITS(v[0]), b = STORED_BITS(v[1]), c = STORED_BITS(v[2]), d = STORED_BITS(v[3]);
#ifdef __CUDACC_RTC__
  return __byte_perm(__byte_perm(a, b, 0x0040u), __byte_perm(c, d, 0x0040u), 0x5410u);
#else
  return (a & 255u) | (b & 255u) << 8 | (c & 255u) << 16 | d << 24;
#endif
#else
  return (STORED_BITS(v[0]) & 65535u) | STORED_BITS(v[1]) << 16;
#endif
}

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void stream(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL ELEMENT* RESTRICT result,
            ulong out_offset, ulong out_pitch, int rows, int columns, int in_aligned, int out_aligned) {
  LOCAL_ARRAY(float4, sums, ROWS_EACH * VEC4S * ITEMS_HERE);
  const int item = LOCAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH, row = top - DOWN / 2, wide = columns * CHANNELS;
  const int first = VALUES * ((int)GROUP_ID(0) * (ITEMS_HERE - LEFT_ITEMS - RIGHT_ITEMS) + item - LEFT_ITEMS);
  const int interior = in_aligned && first >= 0 && first + VALUES <= wide && row >= 0 && row + IN_ROWS <= rows;
  GLOBAL const ELEMENT* in = image + in_offset;
  float own[ROWS_EACH * VALUES];
  UNROLL
  for (int k = 0; k < ROWS_EACH * VALUES; ++k) own[k] = 0.0f;
  uint now[BATCH * WORDS], next[BATCH * WORDS];
  load_batch(in, in_pitch, row, rows, first, columns, interior, 0, now);
  UNROLL
  for (int begin = 0; begin < IN_ROWS; begin += BATCH) {
    if (begin + BATCH < IN_ROWS) load_batch(in, in_pitch, row, rows, first, columns, interior, begin + BATCH, next);
    UNROLL
    for (int b = 0; b < BATCH; ++b) {
      const int i = begin + b;
      if (i < IN_ROWS) {
        float v[VALUES];
        UNROLL
        for (int k = 0; k < VALUES; ++k) v[k] = value_of(now + b * WORDS, k);
        UNROLL
        for (int r = 0; r < ROWS_EACH; ++r) {
          if (i - r >= 0 && i - r < DOWN) {
            UNROLL
            for (int k = 0; k < VALUES; ++k) own[r * VALUES + k] = FMA(down_weights[i - r], v[k], own[r * VALUES + k]);
          }
        }
      }
    }
    if (begin + BATCH < IN_ROWS) {
      UNROLL
      for (int k = 0; k < BATCH * WORDS; ++k) now[k] = next[k];
    }
  }
  UNROLL
  for (int r = 0; r < ROWS_EACH; ++r) {
    UNROLL
    for (int f = 0; f < VEC4S; ++f) {
      const float* four = own + r * VALUES + 4 * f;
      sums[(r * VEC4S + f) * ITEMS_HERE + item] = make_float4(four[0], four[1], four[2], four[3]);
    }
  }
  BARRIER();
  if (item < LEFT_ITEMS || item >= ITEMS_HERE - RIGHT_ITEMS || first >= wide) return;
  GLOBAL ELEMENT* to = result + out_offset + (ulong)top * out_pitch + first;
  const int whole = out_aligned && first + VALUES <= wide;
  UNROLL
  for (int r = 0; r < ROWS_EACH; ++r) {
    if (top + r >= rows) return;
    float line[(LEFT + VEC4S + RIGHT) * 4];
    UNROLL
    for (int b = 0; b < LEFT + VEC4S + RIGHT; ++b) {
      if (b >= LEFT && b < LEFT + VEC4S) {
        UNROLL
        for (int k = 0; k < 4; ++k) line[b * 4 + k] = own[r * VALUES + (b - LEFT) * 4 + k];
      } else {
        const int f = b - LEFT + LEFT_ITEMS * VEC4S;  // counted from the first vec4 of the item LEFT_ITEMS before
        const float4 some = sums[(r * VEC4S + f % VEC4S) * ITEMS_HERE + item - LEFT_ITEMS + f / VEC4S];
        line[b * 4] = some.x;
        line[b * 4 + 1] = some.y;
        line[b * 4 + 2] = some.z;
        line[b * 4 + 3] = some.w;
      }
    }
    float v[VALUES];
    UNROLL
    for (int k = 0; k < VALUES; ++k) {
      v[k] = 0.0f;
      UNROLL
      for (int j = 0; j < ACROSS; ++j)
        v[k] = FMA(across_weights[j], line[LEFT * 4 + k + (j - ACROSS / 2) * CHANNELS], v[k]);
    }
    if (whole) {
      uint words[WORDS];
      UNROLL
      for (int k = 0; k < WORDS; ++k) words[k] = packed(v + 4 / DEPTH * k);
#if WORDS == 1
      *(GLOBAL uint*)to = words[0];
#elif WORDS == 2
      *(GLOBAL uint2*)to = make_uint2(words[0], words[1]);
#else
      *(GLOBAL uint4*)to = make_uint4(words[0], words[1], words[2], words[3]);
#endif
    } else {
      UNROLL
      for (int k = 0; k < VALUES; ++k) {
        if (first + k < wide) to[k] = STORED(v[k]);
      }
    }
    to += out_pitch;
  }
}
