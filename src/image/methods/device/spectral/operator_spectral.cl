// Copies between an image and the tiles that are transformed: planes of TILE_ROWS x TILE_COLUMNS floats, one per channel. A
// tile gives KEPT_ROWS x KEPT_COLUMNS results; its input begins BEFORE_ROWS above and BEFORE_COLUMNS to the left of them.
KERNEL WORK_GROUP(64, 4, 1)
void cut(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL float* RESTRICT planes, int rows,
         int columns, int across, int first, int count) {
  const int x = (int)GLOBAL_ID(0), y = (int)GLOBAL_ID(1), plane = (int)GROUP_ID(2);
  const int tile = first + plane / CHANNELS, channel = plane % CHANNELS;
  if (x >= TILE_COLUMNS || y >= TILE_ROWS) return;
  float v = 0.0f;
  const int wide = KEPT_COLUMNS + WINDOW_COLUMNS - 1, high = KEPT_ROWS + WINDOW_ROWS - 1;
  if (tile < count && x < wide && y < high) {
    const int row = BORDERED(tile / across * KEPT_ROWS + y - BEFORE_ROWS, rows);
    const int column = BORDERED(tile % across * KEPT_COLUMNS + x - BEFORE_COLUMNS, columns);
    v = BEYOND;
    if (row >= 0 && column >= 0) v = (float)image[in_offset + (ulong)row * in_pitch + (ulong)(column * CHANNELS + channel)];
  }
  planes[((ulong)plane * TILE_ROWS + (ulong)y) * TILE_COLUMNS + (ulong)x] = v;
}

KERNEL WORK_GROUP(64, 4, 1)
void paste(GLOBAL const float* RESTRICT planes, GLOBAL ELEMENT* RESTRICT result, ulong out_offset, ulong out_pitch,
           int rows, int columns, int across, int first, int count) {
  const int x = (int)GLOBAL_ID(0), y = (int)GLOBAL_ID(1), tile = first + (int)GROUP_ID(2);
  const int row = tile / across * KEPT_ROWS + y, column = tile % across * KEPT_COLUMNS + x;
  if (tile >= count || x >= KEPT_COLUMNS || y >= KEPT_ROWS || row >= rows || column >= columns) return;
  GLOBAL ELEMENT* out = result + out_offset + (ulong)row * out_pitch + (ulong)(column * CHANNELS);
  UNROLL
  for (int c = 0; c < CHANNELS; ++c)
    out[c] = STORED(planes[(((ulong)GROUP_ID(2) * CHANNELS + (ulong)c) * TILE_ROWS + (ulong)y) * TILE_COLUMNS + (ulong)x]);
}
