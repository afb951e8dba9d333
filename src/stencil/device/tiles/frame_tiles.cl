// Updates the frame of a 2D grid, the cells near its sides, in tiles: first the rows at top and bottom over the whole
// width, then the columns between them. Each step shrinks the valid range by one radius on every side that is not a
// side of the grid.
KERNEL WORK_GROUP(256, 1, 1)
void update_frame_tiles(GLOBAL const CELL* in, GLOBAL CELL* out, int width, int height, int planes, ulong pitch,
                        ulong origin, ulong field, int end_x, int end_y, int across, int along) {
  LOCAL_BLOCK(CELL, cells, 2 * FIELDS * ROOM);
  const int item = LOCAL_ID(0);
  int piece = (int)GROUP_ID(0), x0 = 0, x1 = width, y0 = 0, y1 = height;
  if (piece < 2 * across) {
    y0 = piece < across ? 0 : height - BAND_Y;
    y1 = y0 + BAND_Y;
    x0 = piece % across * LENGTH;
    x1 = x0 + LENGTH < width ? x0 + LENGTH : width;
  } else {
    piece -= 2 * across;
    x0 = piece < along ? 0 : width - BAND_X;
    x1 = x0 + BAND_X;
    y0 = BAND_Y + piece % along * LENGTH;
    y1 = y0 + LENGTH < height - BAND_Y ? y0 + LENGTH : height - BAND_Y;
  }
  const int left = x0 - BAND_X < 0 ? 0 : x0 - BAND_X, right = x1 + BAND_X > width ? width : x1 + BAND_X;
  const int top = y0 - BAND_Y < 0 ? 0 : y0 - BAND_Y, bottom = y1 + BAND_Y > height ? height : y1 + BAND_Y;
  const int row = right - left, all = row * (bottom - top);
  const int first = -(top * row + left);  // offset of cell (0, 0), which may be outside the tile
  for (int i = item; i < all; i += 256) {
    const ulong at = origin + (ulong)(top + i / row) * pitch + (left + i % row);
    for (int f = 0; f < FIELDS; ++f) cells[f * ROOM + i] = in[f * field + at];
  }
  BARRIER();
  for (int step = 1; step <= DEPTH; ++step) {
    LOCAL const CELL* const from = cells + (step - 1) % 2 * FIELDS * ROOM;
    LOCAL CELL* const to = cells + step % 2 * FIELDS * ROOM;
    const int known_left = left == 0 ? 0 : left + step * RADIUS_X;
    const int known_right = right == width ? width : right - step * RADIUS_X;
    const int known_top = top == 0 ? 0 : top + step * RADIUS_Y;
    const int known_bottom = bottom == height ? height : bottom - step * RADIUS_Y;
    // Advances from cell to cell without division: by the rows and columns that 256 cells cover.
    const int wide = known_right - known_left, rows_on = 256 / wide, columns_on = 256 % wide;
    int x = known_left + item % wide, y = known_top + item / wide;
    while (y < known_bottom) {
      if (x >= FIRST_X && x < end_x && y >= FIRST_Y && y < end_y) {
        update_cell(from, to, width, height, planes, row, first, ROOM, 0, y, x);
      } else {
        const int at = (y - top) * row + (x - left);
        for (int f = 0; f < FIELDS; ++f) to[f * ROOM + at] = from[f * ROOM + at];
      }
      x += columns_on;
      y += rows_on + (x >= known_right ? 1 : 0);
      x -= x >= known_right ? wide : 0;
    }
    BARRIER();
  }
  const int wide = x1 - x0, own = wide * (y1 - y0);
  for (int i = item; i < own; i += 256) {
    const int x = x0 + i % wide, y = y0 + i / wide;
    const ulong at = origin + (ulong)y * pitch + x;
    for (int f = 0; f < FIELDS; ++f)
      out[f * field + at] = cells[(DEPTH % 2 * FIELDS + f) * ROOM + (y - top) * row + (x - left)];
  }
}
