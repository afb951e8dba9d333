// The variance of 8-bit images by sums down the columns, the sum and the squares of a column in one word: pixels are
// taken less 128, so that up to 31 rows have squares below 2^19 and a sum of 13 bits above them. A work-item has four
// columns and goes down the image; where b leaves and a comes, a column gets a^2 - b^2 + 2^19 (a - b)
// = (a - b) (a + b + 2^19), one multiplication. Then across the window:
//   LEAVES 0: whole numbers, from the sums of four columns and, at the window's ends, of single ones; one rounding at
//             the end, for at most 1023 cells.
//   LEAVES 1: three-wise. Three columns are a leaf, in whole numbers; three leaves beside each other are joined, and
//             for 27 columns three of those.
// LEFT, RIGHT, FIRST_FOUR, LAST_FOUR, EDGE_LEFT, EDGE_RIGHT: as in variance_exact. ITEMS_HERE: work-items of a group.
// TOGETHER: rows between two barriers. RESIDENT: groups that a compute unit should hold.
#define FOURS_LEFT ((LEFT + 3) / 4)
#define FOURS_RIGHT ((RIGHT + 3) / 4)
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)
#define CENTRE 0x80808080u
#define ABOVE 524288

// Where a work-item's four pixels of a row are: 0 in one word, 1 in two, to be picked by bytes, 2 anywhere, 3 nowhere:
// all are the constant.
struct Four {
  int way, first, second;
  uint pick;
  int places[4];
};

FUNCTION struct Four four_at(int x, int columns, int aligned) {
  struct Four four;
  int least = 0x7fffffff, most = -1, outside = 0;
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const int place = bordered(x + k, columns);
    four.places[k] = place;
    least = place < least ? place : least;
    most = place > most ? place : most;
    outside += place < 0 ? 1 : 0;
  }
  four.first = least < 0 ? 0 : least & ~3;
  four.second = most < four.first + 4 ? four.first : four.first + 4;
  four.pick = 0u;
  UNROLL
  for (int k = 0; k < 4; ++k) four.pick |= (uint)((four.places[k] - four.first) & 7) << 4 * k;
  four.way = 1;
  if (!aligned || outside != 0 || most >= four.first + 8 || four.second + 3 >= columns) four.way = 2;
  if (four.way == 1 && four.second == four.first && four.pick == 0x3210u) four.way = 0;
  if (outside == 4) four.way = 3;
  return four;
}

FUNCTION uint first_word(GLOBAL const uchar* in, ulong pitch, int row, const struct Four* four) {
  uint word = (uint)BEYOND * 0x01010101u;
  GLOBAL const uchar* line = in + (ulong)(row < 0 ? 0 : row) * pitch;
  if (four->way < 2 && row >= 0) word = LOAD_CACHED((GLOBAL const uint*)(line + four->first));
  if (four->way == 2 && row >= 0) {
    uint bytes = 0u;
    UNROLL
    for (int k = 0; k < 4; ++k) {
      const uint one = four->places[k] < 0 ? (uint)BEYOND : (uint)line[four->places[k]];
      bytes |= one << 8 * k;
    }
    word = bytes;
  }
  return word;
}
FUNCTION uint second_word(GLOBAL const uchar* in, ulong pitch, int row, const struct Four* four) {
  uint word = (uint)BEYOND * 0x01010101u;
  if (four->way == 1 && row >= 0) word = LOAD_CACHED((GLOBAL const uint*)(in + (ulong)row * pitch + four->second));
  return word;
}
// Picked when they are used, not when they are loaded: nothing waits for a load before.
FUNCTION uint centred(uint first, uint second, const struct Four* four) {
  if (four->way == 1) {
#ifdef __CUDACC_RTC__
    first = __byte_perm(first, second, four->pick);
#else
    const ulong both = (ulong)second << 32 | (ulong)first;
    uint bytes = 0u;
    for (int k = 0; k < 4; ++k) bytes |= ((uint)(both >> 8 * (four->pick >> 4 * k & 7u)) & 255u) << 8 * k;
    first = bytes;
#endif
  }
  return first ^ CENTRE;
}

FUNCTION int signed_byte(uint word, int k) { return (int)(signed char)(uchar)(word >> 8 * k & 255u); }

FUNCTION void enter(uint fresh, uint* sums) {
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const int a = signed_byte(fresh, k);
    sums[k] += (uint)(a * (a + ABOVE));
  }
}
FUNCTION void replace(uint fresh, uint stale, uint* sums) {
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const int a = signed_byte(fresh, k), b = signed_byte(stale, k);
    sums[k] += (uint)((a - b) * (a + b + ABOVE));
  }
}
#define SUM_OF(word) ((int)(word) >> 19)
#define SQUARES_OF(word) ((int)((word) & 0x7ffffu))

// q - s^2 / n without losing what cancels: both are whole numbers below 2^24; m is s / n rounded, e what it lacks.
FUNCTION float variance_of(int sum, int squares) {
  const float s = (float)sum, m = s * (1.0f / (float)CELLS), e = FMA(-m, (float)CELLS, s);
  const float high = s * m, low = FMA(s, m, -high);
  return FMA(-m, e, ((float)squares - high) - low) * (1.0f / (float)CELLS);
}

#if LEAVES
FUNCTION float2 joined(float2 a, float2 b, float2 c, float share) {
  const float x = a.x - b.x, y = c.x - b.x;
  return make_float2(a.x + b.x + c.x, FMA(share, FMA(x, x, y * (y - x)), a.y + b.y + c.y));
}
// The column c of the row's parts, four to a work-item, relative to its own first.
#define PART(parts, c) parts[((c) & 3) * ITEMS_HERE + ((c) >> 2)]
#endif

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void variance(GLOBAL const uchar* RESTRICT image, ulong offset, ulong pitch, GLOBAL float* RESTRICT out, ulong out_offset,
              ulong out_pitch, int rows, int columns, int chunk, int aligned, int out_aligned) {
#if LEAVES
  LOCAL_ARRAY(uint, singles, TOGETHER * 4 * ITEMS_HERE);
  LOCAL_ARRAY(float2, threes, TOGETHER * 4 * ITEMS_HERE);
#if WINDOW_COLUMNS == 27
  LOCAL_ARRAY(float2, nines, TOGETHER * 4 * ITEMS_HERE);
#endif
#else
  LOCAL_ARRAY(uint, singles, 2 * TOGETHER * 4 * ITEMS_HERE);  // two batches of rows in turn
  LOCAL_ARRAY(int2, fours, 2 * TOGETHER * ITEMS_HERE);
#endif
  GLOBAL const uchar* in = image + offset;
  const int t = LOCAL_ID(0);
  const int x = 4 * ((int)GROUP_ID(0) * (ITEMS_HERE - FOURS_LEFT - FOURS_RIGHT) + t - FOURS_LEFT);
  const int top = (int)GROUP_ID(1) * chunk, here = chunk < rows - top ? chunk : rows - top;
  const int writes = t >= FOURS_LEFT && t < ITEMS_HERE - FOURS_RIGHT && x < columns;
  const struct Four four = four_at(x, columns, aligned);
  uint sums[4] = {0u, 0u, 0u, 0u};
  int next = top - WINDOW_ROWS / 2;  // the row that comes next
  for (int begin = 0; begin < WINDOW_ROWS - 1; begin += 4) {  // four rows on their way at once
    uint words[4], words_2[4];
    UNROLL
    for (int k = 0; k < 4; ++k) {
      const int row = bordered(next + begin + k, rows);
      words[k] = first_word(in, pitch, row, &four);
      words_2[k] = second_word(in, pitch, row, &four);
    }
    UNROLL
    for (int k = 0; k < 4; ++k)
      enter(begin + k < WINDOW_ROWS - 1 ? centred(words[k], words_2[k], &four) : 0u, sums);
  }
  next += WINDOW_ROWS - 1;
  uint fresh[TOGETHER], fresh_2[TOGETHER], stale[TOGETHER], stale_2[TOGETHER];
  UNROLL
  for (int k = 0; k < TOGETHER; ++k) {
    const int comes = bordered(next + k, rows), goes = bordered(next + k - WINDOW_ROWS, rows);
    fresh[k] = first_word(in, pitch, comes, &four);
    fresh_2[k] = second_word(in, pitch, comes, &four);
    stale[k] = first_word(in, pitch, goes, &four);
    stale_2[k] = second_word(in, pitch, goes, &four);
  }
  GLOBAL float* to = out + out_offset + (ulong)top * out_pitch + (ulong)(writes ? x : 0);
  for (int begin = 0; begin < here; begin += TOGETHER, next += TOGETHER) {
    uint own[TOGETHER * 4];
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      const uint leaves = begin + k == 0 ? 0u : centred(stale[k], stale_2[k], &four);
      replace(centred(fresh[k], fresh_2[k], &four), leaves, sums);
      UNROLL
      for (int c = 0; c < 4; ++c) own[k * 4 + c] = sums[c];
    }
    // What the next rows need is on its way while these are computed.
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      const int comes = bordered(next + TOGETHER + k, rows), goes = bordered(next + TOGETHER + k - WINDOW_ROWS, rows);
      fresh[k] = first_word(in, pitch, comes, &four);
      fresh_2[k] = second_word(in, pitch, comes, &four);
      stale[k] = first_word(in, pitch, goes, &four);
      stale_2[k] = second_word(in, pitch, goes, &four);
    }
    float result[TOGETHER * 4];
#if LEAVES
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      UNROLL
      for (int c = 0; c < 4; ++c) singles[(k * 4 + c) * ITEMS_HERE + t] = own[k * 4 + c];
    }
    BARRIER();
    const int last = ITEMS_HERE - 1;
    float2 parts[TOGETHER * 4];
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      uint around[6];
      around[0] = singles[(k * 4 + 3) * ITEMS_HERE + (t > 0 ? t - 1 : 0)];
      around[5] = singles[k * 4 * ITEMS_HERE + (t < last ? t + 1 : last)];
      UNROLL
      for (int c = 0; c < 4; ++c) around[c + 1] = own[k * 4 + c];
      UNROLL
      for (int c = 0; c < 4; ++c) {
        const int s = SUM_OF(around[c]) + SUM_OF(around[c + 1]) + SUM_OF(around[c + 2]);
        const int q = SQUARES_OF(around[c]) + SQUARES_OF(around[c + 1]) + SQUARES_OF(around[c + 2]);
        parts[k * 4 + c] = make_float2((float)s, (float)(3 * WINDOW_ROWS * q - s * s));
        threes[(k * 4 + c) * ITEMS_HERE + t] = parts[k * 4 + c];
      }
    }
    BARRIER();
    if (t >= 1 && t < last) {
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        LOCAL const float2* line = threes + k * 4 * ITEMS_HERE + t;
        const float2 before[4] = {PART(line, -3), PART(line, -2), PART(line, -1), parts[k * 4]};
        const float2 after[4] = {parts[k * 4 + 3], PART(line, 4), PART(line, 5), PART(line, 6)};
        UNROLL
        for (int c = 0; c < 4; ++c) parts[k * 4 + c] = joined(before[c], parts[k * 4 + c], after[c], 2.0f / 3.0f);
      }
    }
#if WINDOW_COLUMNS == 27
    UNROLL
    for (int k = 0; k < TOGETHER * 4; ++k) nines[k * ITEMS_HERE + t] = parts[k];
    BARRIER();
    if (writes) {
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        LOCAL const float2* line = nines + k * 4 * ITEMS_HERE + t;
        UNROLL
        for (int c = 0; c < 4; ++c)
          parts[k * 4 + c] = joined(PART(line, c - 9), parts[k * 4 + c], PART(line, c + 9), 2.0f / 9.0f);
      }
    }
#endif
    UNROLL
    for (int k = 0; k < TOGETHER * 4; ++k) result[k] = parts[k].y * (1.0f / (3.0f * WINDOW_ROWS * (float)CELLS));
#else
    const int batch = begin / TOGETHER & 1;
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      const int at = batch * TOGETHER + k;
      int s = 0, q = 0;
      UNROLL
      for (int c = 0; c < 4; ++c) {
        singles[(at * 4 + c) * ITEMS_HERE + t] = own[k * 4 + c];
        s += SUM_OF(own[k * 4 + c]);
        q += SQUARES_OF(own[k * 4 + c]);
      }
      fours[at * ITEMS_HERE + t] = make_int2(s, q);
    }
    BARRIER();
    if (writes) {
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        const int at = batch * TOGETHER + k;
        LOCAL const uint* single = singles + at * 4 * ITEMS_HERE + t;
        LOCAL const int2* four_columns = fours + at * ITEMS_HERE + t;
        int s = 0, q = 0;
        UNROLL
        for (int c = -LEFT; c < -LEFT + EDGE_LEFT; ++c) {
          const uint one = single[(c & 3) * ITEMS_HERE + (c >> 2)];
          s += SUM_OF(one);
          q += SQUARES_OF(one);
        }
        UNROLL
        for (int f = FIRST_FOUR; f <= LAST_FOUR; ++f) {
          const int2 some = four_columns[f];
          s += some.x;
          q += some.y;
        }
        UNROLL
        for (int c = RIGHT - EDGE_RIGHT + 1; c <= RIGHT; ++c) {
          const uint one = single[(c & 3) * ITEMS_HERE + (c >> 2)];
          s += SUM_OF(one);
          q += SQUARES_OF(one);
        }
        result[k * 4] = variance_of(s, q);
        UNROLL
        for (int c = 1; c < 4; ++c) {
          const int in_column = RIGHT + c, out_column = c - 1 - LEFT;
          const uint comes = single[(in_column & 3) * ITEMS_HERE + (in_column >> 2)];
          const uint goes = single[(out_column & 3) * ITEMS_HERE + (out_column >> 2)];
          s += SUM_OF(comes) - SUM_OF(goes);
          q += SQUARES_OF(comes) - SQUARES_OF(goes);
          result[k * 4 + c] = variance_of(s, q);
        }
      }
    }
#endif
    UNROLL
    for (int k = 0; k < TOGETHER; ++k, to += out_pitch) {
      if (writes && begin + k < here) {
        if (out_aligned && x + 3 < columns) {
          STORE_ONCE((GLOBAL float4*)to,
                     make_float4(result[k * 4], result[k * 4 + 1], result[k * 4 + 2], result[k * 4 + 3]));
        } else {
          UNROLL
          for (int c = 0; c < 4; ++c) {
            if (x + c < columns) to[c] = result[k * 4 + c];
          }
        }
      }
    }
  }
}
