// Resampling by tables: each output pixel is a weighted sum of DOWN rows from rows_from[row] on and ACROSS columns from
// columns_from[column] on. The vertical pass runs first, four neighbouring channels per work-item, into local memory. Used
// for resizing, pyramids and any separable filter. A group computes OUT_COLUMNS columns of ROWS_EACH rows.
#define ITEMS_HERE 128

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void lines(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL ELEMENT* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows, int out_columns, int in_vec4,
           GLOBAL const int* RESTRICT rows_from, GLOBAL const float* RESTRICT rows_weights,
           GLOBAL const int* RESTRICT columns_from, GLOBAL const float* RESTRICT columns_weights) {
  LOCAL_ARRAY(float4, sums, ROWS_EACH * ITEMS_HERE);
  const int item = LOCAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH, left = (int)GROUP_ID(0) * OUT_COLUMNS;
  const int high = out_rows - top < ROWS_EACH ? out_rows - top : ROWS_EACH;
  const int wide = out_columns - left < OUT_COLUMNS ? out_columns - left : OUT_COLUMNS;
  // First channel of the group's input, rounded down to a multiple of four for aligned loads. Rows are shorter than 2^29.
  const int origin = columns_from[left] * CHANNELS & ~3;
  const int end = (columns_from[left + wide - 1] + ACROSS) * CHANNELS;
  const int first = origin + 4 * item;
  GLOBAL const ELEMENT* in = image + in_offset;
#if ACROSS <= 8
  // Positions and weights of a channel's columns are loaded before they are needed.
  int at = 0;
  float w[ACROSS];
#define LOOK_UP(i)                                                                                 \
  if ((i) < wide * CHANNELS) {                                                                     \
    const int column = left + (i) / CHANNELS;                                                      \
    at = columns_from[column] * CHANNELS + (i) % CHANNELS - origin;                                \
    UNROLL                                                                                         \
    for (int j = 0; j < ACROSS; ++j) w[j] = columns_weights[column * ACROSS + j];                  \
  }
  LOOK_UP(item)
#endif
  if (first < end) {
    const int inside = in_vec4 && first >= 0 && first + 3 < columns * CHANNELS;
#if DOWN <= 8
    // Inside the image, all rows are loaded before the first sum.
    const int interior = inside && rows_from[top] >= 0 && rows_from[top + high - 1] + DOWN <= rows;
    if (interior) {
      UNROLL
      for (int r = 0; r < ROWS_EACH; ++r) {
        const int there = r < high ? top + r : top + high - 1;
        GLOBAL const ELEMENT* p = in + (ulong)rows_from[there] * in_pitch + first;
        float s[4];
        UNROLL
        for (int k = 0; k < 4; ++k) s[k] = 0.0f;
        UNROLL
        for (int i = 0; i < DOWN; ++i) {
          const float w = rows_weights[there * DOWN + i];
          float v[4];
          load_vec4(p + (ulong)i * in_pitch, v);
          UNROLL
          for (int k = 0; k < 4; ++k) s[k] = FMA(w, v[k], s[k]);
        }
        sums[r * ITEMS_HERE + item] = make_float4(s[0], s[1], s[2], s[3]);
      }
    } else
#endif
    {
      int places[4];
      find_places(first, columns, places);
      for (int r = 0; r < high; ++r) {
        const int from = rows_from[top + r];
        float s[4];
        UNROLL
        for (int k = 0; k < 4; ++k) s[k] = 0.0f;
        for (int i = 0; i < DOWN; ++i) {
          const int row = BORDERED(from + i, rows);
          const float w = rows_weights[(ulong)(top + r) * DOWN + i];
          float v[4];
          if (row < 0) {
            UNROLL
            for (int k = 0; k < 4; ++k) v[k] = BEYOND;
          } else if (inside) {
            load_vec4(in + (ulong)row * in_pitch + first, v);
          } else {
            load_places(in + (ulong)row * in_pitch, places, v);
          }
          UNROLL
          for (int k = 0; k < 4; ++k) s[k] = FMA(w, v[k], s[k]);
        }
        sums[r * ITEMS_HERE + item] = make_float4(s[0], s[1], s[2], s[3]);
      }
    }
  }
  BARRIER();
  LOCAL const float* line = (LOCAL const float*)sums;
  for (int i = item; i < wide * CHANNELS; i += ITEMS_HERE) {
    GLOBAL ELEMENT* to = result + out_offset + (ulong)top * out_pitch + (ulong)(left * CHANNELS + i);
#if ACROSS <= 8
    float made[ROWS_EACH];
    UNROLL
    for (int r = 0; r < ROWS_EACH; ++r) {
      made[r] = 0.0f;
      UNROLL
      for (int j = 0; j < ACROSS; ++j) made[r] = FMA(w[j], line[r * ITEMS_HERE * 4 + at + j * CHANNELS], made[r]);
    }
    LOOK_UP(i + ITEMS_HERE)
    UNROLL
    for (int r = 0; r < ROWS_EACH; ++r) {
      if (r < high) *to = STORED(made[r]);
      to += out_pitch;
    }
#else
    const int column = left + i / CHANNELS, at = columns_from[column] * CHANNELS + i % CHANNELS - origin;
    for (int r = 0; r < high; ++r) {
      float v = 0.0f;
      for (int j = 0; j < ACROSS; ++j)
        v = FMA(columns_weights[(ulong)column * ACROSS + j], line[r * ITEMS_HERE * 4 + at + j * CHANNELS], v);
      *to = STORED(v);
      to += out_pitch;
    }
#endif
  }
}
