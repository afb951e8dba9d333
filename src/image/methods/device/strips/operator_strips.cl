// Separable filter of 8-bit images: a sub-group moves down a strip of 128 neighbouring channels and keeps all data in
// registers. Horizontally, the sums of a row are a matrix product: 16 segments of 8 channels, each with its surroundings
// (16 BLOCKS channels), times a band matrix of weights. A byte v with the high byte 0x64 is the 16-bit float 1024 + v;
// weights are split into PLANES parts of 11 bits. Vertically, the sums of a row are added to the DOWN output rows that use
// them.
//
// Lane 4 g + t holds words t of segments g and g + 8 and computes channels 2 t and 2 t + 1 of both. BATCH rows are loaded
// ahead, ENDS_BATCH at the image's borders. A segment is preceded by PAD channels.
#define ITEMS_HERE 32
#define WORDS (2 * BLOCKS)
#define AS_FLOAT16(word, bytes) BYTE_PERMUTE(word, 0x64646464u, bytes)
#define INSIDE(row) ((row) < 0 ? 0 : (row))

// Loads the words of a row: inside the image `row` points to the first of them, at borders to the row's start, and the
// parts of each word are loaded.
FUNCTION void load_row(GLOBAL const uchar* row, int value, int columns, const struct place* places, uint* words,
                       const int at_ends) {
  UNROLL
  for (int k = 0; k < WORDS; ++k) {
    const int away = 16 * (k >> 1) + 64 * (k & 1);
    if (!at_ends) {
      words[k * PARTS] = LOAD_CACHED((GLOBAL const uint*)(row + away));
    } else {
      load_parts(row, value + away, columns, places + k, words + k * PARTS);
    }
  }
}

// `at_ends` is a constant at each call. It is 0 if no row or channel is outside the image, including the BATCH rows after
// the last, and the number of rows is a multiple of the batch.
FUNCTION void go_down(LOCAL float* scratch, GLOBAL const uchar* in, ulong in_pitch, GLOBAL uchar* to, ulong out_pitch,
                      int rows, int columns, int strip, int top, int out_rows, GLOBAL const uint* bands, int in_aligned,
                      int out_aligned, const int at_ends) {
  const int lane = LOCAL_ID(0), g = lane >> 2, t = lane & 3, wide = columns * CHANNELS;
  const int value = strip + 8 * g + 4 * t - PAD, count = out_rows + DOWN - 1, ahead = at_ends ? ENDS_BATCH : BATCH;
  uint band[2 * BLOCKS * PLANES];
  UNROLL
  for (int k = 0; k < 2 * BLOCKS * PLANES; ++k) band[k] = LOAD_CACHED(bands + 32 * k + lane);
  struct place places[WORDS];
  if (at_ends) {
    UNROLL
    for (int k = 0; k < WORDS; ++k) places[k] = find_place(value + 16 * (k >> 1) + 64 * (k & 1), columns, in_aligned);
  }
  int row = top - DOWN / 2;  // next row to load
  GLOBAL const uchar* line = at_ends ? in : in + (ulong)row * in_pitch + value;
  uint words[BATCH * WORDS * PARTS];
  UNROLL
  for (int i = 0; i < BATCH; ++i) {
    if (i < ahead) {
      if (at_ends) line = in + (ulong)INSIDE(BORDERED(row, rows)) * in_pitch;
      load_row(line, value, columns, places, words + i * WORDS * PARTS, at_ends);
      line += in_pitch;
      ++row;
    }
  }
  const float bias[4] = {BIAS, BIAS, BIAS, BIAS};
  float sums[4 * DOWN];
  UNROLL
  for (int j = 0; j < DOWN; ++j) sums[4 * j] = sums[4 * j + 1] = sums[4 * j + 2] = sums[4 * j + 3] = 0.0f;
  to += strip + 8 * g + 2 * t;
  for (int begin = 0; begin < count; begin += ahead) {
    UNROLL
    for (int i = 0; i < BATCH; ++i) {
      if (i < ahead) {
        float v[4], out[4];
        UNROLL
        for (int b = 0; b < BLOCKS; ++b) {
          uint two[2];
          UNROLL
          for (int k = 0; k < 2; ++k) {
            const uint* parts = words + (i * WORDS + 2 * b + k) * PARTS;
            two[k] = parts[0];
            if (at_ends) two[k] = put_together(parts, places + 2 * b + k, row >= ahead && row - ahead < rows);
          }
          const uint a0 = AS_FLOAT16(two[0], 0x4140u), a1 = AS_FLOAT16(two[1], 0x4140u), a2 = AS_FLOAT16(two[0], 0x4342u),
                     a3 = AS_FLOAT16(two[1], 0x4342u);
          UNROLL
          for (int p = 0; p < PLANES; ++p)
            MATRIX_F16(scratch, v, a0, a1, a2, a3, band[2 * (b * PLANES + p)], band[2 * (b * PLANES + p) + 1],
                       b == 0 && p == 0 ? bias : v);
        }
        if (at_ends) line = in + (ulong)INSIDE(BORDERED(row, rows)) * in_pitch;
        load_row(line, value, columns, places, words + i * WORDS * PARTS, at_ends);
        line += in_pitch;
        ++row;
        UNROLL
        for (int k = 0; k < 4; ++k) {
          out[k] = FMA(down_weights[DOWN - 1], v[k], sums[k]);
          UNROLL
          for (int j = 0; j + 1 < DOWN; ++j)
            sums[4 * j + k] = FMA(down_weights[DOWN - 2 - j], v[k], j + 2 < DOWN ? sums[4 * (j + 1) + k] : 0.0f);
        }
        const int at = begin + i;
        if (at >= DOWN - 1 && (!at_ends || at < count)) {
          UNROLL
          for (int side = 0; side < 2; ++side) {
            const int here = strip + 8 * g + 2 * t + 64 * side;
            const uint low = STORED_BITS(out[2 * side]), high = STORED_BITS(out[2 * side + 1]);
            if (!at_ends || (out_aligned && here + 1 < wide)) {
              *(GLOBAL ushort*)(to + 64 * side) = (ushort)BYTE_PERMUTE(low, high, 0x0040u);
            } else {
              if (here < wide) to[64 * side] = (uchar)(low & 255u);
              if (here + 1 < wide) to[64 * side + 1] = (uchar)(high & 255u);
            }
          }
          if (at_ends) to += out_pitch;
        }
        if (!at_ends) to += out_pitch;
      }
    }
  }
}

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void strips(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
            ulong out_offset, ulong out_pitch, int rows, int columns, int in_aligned, int out_aligned,
            GLOBAL const uint* RESTRICT bands, int rows_each) {
  MATRIX_SCRATCH(scratch, ITEMS_HERE);
  const int strip = (int)GROUP_ID(0) * 128, top = (int)GROUP_ID(1) * rows_each, wide = columns * CHANNELS;
  const int out_rows = rows - top < rows_each ? rows - top : rows_each, row = top - DOWN / 2;
  GLOBAL uchar* to = result + out_offset;
  const int inside = in_aligned && out_aligned && strip >= PAD && strip + 120 + 16 * BLOCKS - PAD <= wide &&
                     strip + 128 <= wide && row >= 0 && row + out_rows + DOWN - 1 + BATCH <= rows &&
                     (out_rows + DOWN - 1) % BATCH == 0;
  if (inside) {  // `to` starts DOWN - 1 rows earlier, because it also advances for rows without results
    to += (long)(top - DOWN + 1) * (long)out_pitch;
    go_down(scratch, image + in_offset, in_pitch, to, out_pitch, rows, columns, strip, top, out_rows, bands, 1, 1, 0);
  } else {
    to += (ulong)top * out_pitch;
    go_down(scratch, image + in_offset, in_pitch, to, out_pitch, rows, columns, strip, top, out_rows, bands, in_aligned,
            out_aligned, 1);
  }
}
