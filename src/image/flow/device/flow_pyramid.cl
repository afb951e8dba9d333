// Packs a frame into words, and downscales pictures by two.

KERNEL WORK_GROUP(32, 8, 1) void pack(GLOBAL const uchar* RESTRICT frame, ulong offset, ulong frame_pitch, int channels,
                                      GLOBAL uint* RESTRICT words, int rows, int columns, int pitch) {
  const int c = (int)GLOBAL_ID(0) - PAD, r = (int)GLOBAL_ID(1) - PAD;
  if (c >= columns + PAD || r >= rows + PAD) return;
  GLOBAL const uchar* pixel = frame + offset + (ulong)reflected(r, rows) * frame_pitch +
                              (ulong)(reflected(c, columns) * channels);
  const int second = channels < 3 ? 0 : 1, third = channels < 3 ? 0 : 2;
  words[padded_cell(r, c, pitch)] = (uint)pixel[0] | (uint)pixel[second] << 8 | (uint)pixel[third] << 16;
}

// Bicubic with 11-bit weights, replicated borders, rounding half to even. Border cells compute the cell they reflect. A
// tap is the index of the first of four cells, and their weights.
KERNEL WORK_GROUP(32, 8, 1) void halve(GLOBAL uint* RESTRICT words, ulong from, int rows, int columns, int pitch, ulong to,
                                       int half_rows, int half_columns, int half_pitch, GLOBAL const int* RESTRICT taps,
                                       int down, int across) {
  const int c = (int)GLOBAL_ID(0) - PAD, r = (int)GLOBAL_ID(1) - PAD;
  if (c >= half_columns + PAD || r >= half_rows + PAD) return;
  GLOBAL const int* y = taps + down + 5 * reflected(r, half_rows);
  GLOBAL const int* x = taps + across + 5 * reflected(c, half_columns);
  // The magnitudes of the 11-bit weights sum to at most 1.375: two passes over a byte fit 31 bits.
  int red = 0, green = 0, blue = 0;
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const int row = least_of(most_of(y[0] + i, 0), rows - 1);
    int line_red = 0, line_green = 0, line_blue = 0;
    UNROLL
    for (int j = 0; j < 4; ++j) {
      const int column = least_of(most_of(x[0] + j, 0), columns - 1);
      const uint word = words[from + padded_cell(row, column, pitch)];
      line_red += x[1 + j] * (int)(word & 255);
      line_green += x[1 + j] * (int)(word >> 8 & 255);
      line_blue += x[1 + j] * (int)(word >> 16 & 255);
    }
    red += y[1 + i] * line_red;
    green += y[1 + i] * line_green;
    blue += y[1 + i] * line_blue;
  }
  const int half_way = (1 << 21) - 1;
  const int whole_red = (red + half_way + (red >> 22 & 1)) >> 22;
  const int whole_green = (green + half_way + (green >> 22 & 1)) >> 22;
  const int whole_blue = (blue + half_way + (blue >> 22 & 1)) >> 22;
  words[to + padded_cell(r, c, half_pitch)] = (uint)least_of(most_of(whole_red, 0), 255) |
                                              (uint)least_of(most_of(whole_green, 0), 255) << 8 |
                                              (uint)least_of(most_of(whole_blue, 0), 255) << 16;
}
