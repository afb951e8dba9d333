// Variance of 8-bit images by running sums down the columns, in float and yet exact: 128 is subtracted from pixels, so
// that all sums over at most 1023 cells are integers below 2^24. (Integer arithmetic takes twice as long on GPUs whose
// integer pipe is half as wide.) A work-item has four columns and moves down the image. If pixel a enters and b leaves,
// a column's squares grow by (a - b) (a + b).
// Then across the window. LEAVES 0: from sums of four columns, and of single columns at the window's ends. LEAVES 1:
// three-wise; three columns are a leaf, three adjacent leaves are joined, and for 27 columns three of those.
// LEFT, RIGHT, FIRST_FOUR, LAST_FOUR, EDGE_LEFT, EDGE_RIGHT: as in variance_exact.cl. ITEMS_HERE: work-items per group.
// TOGETHER: rows between two barriers. RESIDENT: groups that a compute unit should hold.
#define FOURS_LEFT ((LEFT + 3) / 4)
#define FOURS_RIGHT ((RIGHT + 3) / 4)
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)
#define NOTHING 0x80808080u  // four pixels that are 0 after 128 is subtracted

// Rows inside the image need no border rule.
FUNCTION int row_of(int i, int n) { return (uint)i < (uint)n ? i : bordered(i, n); }

// Location of a work-item's four pixels of a row: 0 in one word; 1 in two words, selected by bytes; 2 scattered; 3
// outside, all equal to the constant.
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
// Selected when used, not when loaded, so that no work-item waits for a load early.
FUNCTION uint picked(uint first, uint second, const struct Four* four) {
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
  return first;
}

// A pixel minus 128.
FUNCTION float centred(uint word, int k) {
#ifdef __CUDACC_RTC__  // the byte becomes the lowest bits of the float 2^23
  return FLOAT_OF(__byte_perm(word, 0x4b000000u, 0x7540u + (uint)k)) - 8388736.0f;
#else
  return (float)(int)(word >> 8 * k & 255u) - 128.0f;
#endif
}

FUNCTION void enter(uint fresh, float* sums, float* squares) {
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const float a = centred(fresh, k);
    sums[k] += a;
    squares[k] = FMA(a, a, squares[k]);
  }
}
FUNCTION void replace(uint fresh, uint stale, float* sums, float* squares) {
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const float a = centred(fresh, k), b = centred(stale, k), d = a - b;
    sums[k] += d;
    squares[k] = FMA(d, a + b, squares[k]);
  }
}

// q - s^2 / n without cancellation: m is s / n rounded, e its error; q - s m has one rounding.
FUNCTION float around_mean(float s, float q, float n) {
  const float m = s * (1.0f / n), e = FMA(-m, n, s);
  return FMA(-m, e, FMA(-s, m, q));
}

#if LEAVES
FUNCTION float2 joined(float2 a, float2 b, float2 c, float share) {
  const float x = a.x - b.x, y = c.x - b.x;
  return make_float2(a.x + b.x + c.x, FMA(share, FMA(x, x, y * (y - x)), a.y + b.y + c.y));
}
// Column c of the row's sums, four per work-item, relative to its own first column.
#define PART(parts, c) parts[((c) & 3) * ITEMS_HERE + ((c) >> 2)]
#endif

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void variance(GLOBAL const uchar* RESTRICT image, ulong offset, ulong pitch, GLOBAL float* RESTRICT out, ulong out_offset,
              ulong out_pitch, int rows, int columns, int chunk, int aligned, int out_aligned) {
#if LEAVES
  LOCAL_ARRAY(float2, singles, TOGETHER * 4 * ITEMS_HERE);
  LOCAL_ARRAY(float2, threes, TOGETHER * 4 * ITEMS_HERE);
#if WINDOW_COLUMNS == 27
  LOCAL_ARRAY(float2, nines, TOGETHER * 4 * ITEMS_HERE);
#endif
#else
  LOCAL_ARRAY(float2, singles, 2 * TOGETHER * 4 * ITEMS_HERE);  // double buffer: two batches of rows
  LOCAL_ARRAY(float2, fours, 2 * TOGETHER * ITEMS_HERE);
#endif
  GLOBAL const uchar* in = image + offset;
  const int t = LOCAL_ID(0);
  const int x = 4 * ((int)GROUP_ID(0) * (ITEMS_HERE - FOURS_LEFT - FOURS_RIGHT) + t - FOURS_LEFT);
  const int top = (int)GROUP_ID(1) * chunk, here = chunk < rows - top ? chunk : rows - top;
  const int writes = t >= FOURS_LEFT && t < ITEMS_HERE - FOURS_RIGHT && x < columns;
  const struct Four four = four_at(x, columns, aligned);
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f}, squares[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  int next = top - WINDOW_ROWS / 2;  // the row that enters next
  for (int begin = 0; begin < WINDOW_ROWS - 1; begin += 4) {  // four rows in flight at once
    uint words[4], words_2[4];
    UNROLL
    for (int k = 0; k < 4; ++k) {
      const int row = row_of(next + begin + k, rows);
      words[k] = first_word(in, pitch, row, &four);
      words_2[k] = second_word(in, pitch, row, &four);
    }
    UNROLL
    for (int k = 0; k < 4; ++k)
      enter(begin + k < WINDOW_ROWS - 1 ? picked(words[k], words_2[k], &four) : NOTHING, sums, squares);
  }
  next += WINDOW_ROWS - 1;
  uint fresh[TOGETHER], fresh_2[TOGETHER], stale[TOGETHER], stale_2[TOGETHER];
  UNROLL
  for (int k = 0; k < TOGETHER; ++k) {
    const int comes = row_of(next + k, rows), goes = row_of(next + k - WINDOW_ROWS, rows);
    fresh[k] = first_word(in, pitch, comes, &four);
    fresh_2[k] = second_word(in, pitch, comes, &four);
    stale[k] = first_word(in, pitch, goes, &four);
    stale_2[k] = second_word(in, pitch, goes, &four);
  }
  GLOBAL float* to = out + out_offset + (ulong)top * out_pitch + (ulong)(writes ? x : 0);
  for (int begin = 0; begin < here; begin += TOGETHER, next += TOGETHER) {
    float2 own[TOGETHER * 4];
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      const uint leaves = begin + k == 0 ? NOTHING : picked(stale[k], stale_2[k], &four);
      replace(picked(fresh[k], fresh_2[k], &four), leaves, sums, squares);
      UNROLL
      for (int c = 0; c < 4; ++c) own[k * 4 + c] = make_float2(sums[c], squares[c]);
    }
    // Loads for the next rows are in flight while these are computed.
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      const int comes = row_of(next + TOGETHER + k, rows), goes = row_of(next + TOGETHER + k - WINDOW_ROWS, rows);
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
      float2 around[6];
      around[0] = singles[(k * 4 + 3) * ITEMS_HERE + (t > 0 ? t - 1 : 0)];
      around[5] = singles[k * 4 * ITEMS_HERE + (t < last ? t + 1 : last)];
      UNROLL
      for (int c = 0; c < 4; ++c) around[c + 1] = own[k * 4 + c];
      UNROLL
      for (int c = 0; c < 4; ++c) {
        const float s = around[c].x + around[c + 1].x + around[c + 2].x;
        const float q = around[c].y + around[c + 1].y + around[c + 2].y;
        parts[k * 4 + c] = make_float2(s, around_mean(s, q, 3.0f * WINDOW_ROWS));
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
        for (int c = 0; c < 4; ++c) parts[k * 4 + c] = joined(before[c], parts[k * 4 + c], after[c], 2.0f / (9.0f * WINDOW_ROWS));
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
          parts[k * 4 + c] = joined(PART(line, c - 9), parts[k * 4 + c], PART(line, c + 9), 2.0f / (27.0f * WINDOW_ROWS));
      }
    }
#endif
    UNROLL
    for (int k = 0; k < TOGETHER * 4; ++k) result[k] = parts[k].y * (1.0f / (float)CELLS);
#else
    const int batch = begin / TOGETHER & 1;
    UNROLL
    for (int k = 0; k < TOGETHER; ++k) {
      const int at = batch * TOGETHER + k;
      float s = 0.0f, q = 0.0f;
      UNROLL
      for (int c = 0; c < 4; ++c) {
        singles[(at * 4 + c) * ITEMS_HERE + t] = own[k * 4 + c];
        s += own[k * 4 + c].x;
        q += own[k * 4 + c].y;
      }
      fours[at * ITEMS_HERE + t] = make_float2(s, q);
    }
    BARRIER();
    if (writes) {
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        const int at = batch * TOGETHER + k;
        LOCAL const float2* single = singles + at * 4 * ITEMS_HERE + t;
        LOCAL const float2* four_columns = fours + at * ITEMS_HERE + t;
        float s = 0.0f, q = 0.0f;
        UNROLL
        for (int c = -LEFT; c < -LEFT + EDGE_LEFT; ++c) {
          const float2 one = single[(c & 3) * ITEMS_HERE + (c >> 2)];
          s += one.x;
          q += one.y;
        }
        UNROLL
        for (int f = FIRST_FOUR; f <= LAST_FOUR; ++f) {
          const float2 some = four_columns[f];
          s += some.x;
          q += some.y;
        }
        UNROLL
        for (int c = RIGHT - EDGE_RIGHT + 1; c <= RIGHT; ++c) {
          const float2 one = single[(c & 3) * ITEMS_HERE + (c >> 2)];
          s += one.x;
          q += one.y;
        }
        result[k * 4] = around_mean(s, q, (float)CELLS) * (1.0f / (float)CELLS);
        UNROLL
        for (int c = 1; c < 4; ++c) {
          const int in_column = RIGHT + c, out_column = c - 1 - LEFT;
          const float2 comes = single[(in_column & 3) * ITEMS_HERE + (in_column >> 2)];
          const float2 goes = single[(out_column & 3) * ITEMS_HERE + (out_column >> 2)];
          s += comes.x - goes.x;
          q += comes.y - goes.y;
          result[k * 4 + c] = around_mean(s, q, (float)CELLS) * (1.0f / (float)CELLS);
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
