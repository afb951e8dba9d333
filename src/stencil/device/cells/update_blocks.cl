// A block of WIDE x TALL cells per work-item, from rows that are read once, as vectors, away from borders (@block@).

KERNEL WORK_GROUP(ITEMS_X, ITEMS_Y, ITEMS_Z) void update_cells(GLOBAL const CELL* RESTRICT in, GLOBAL CELL* RESTRICT out,
                                                               @parameters@) {
  const int x = (int)GLOBAL_ID(0) * WIDE, y = (int)GLOBAL_ID(1) * TALL, z = (int)GLOBAL_ID(2);
  if (x >= end_x || y >= end_y || z >= end_z) return;
  if (x < NEAR_X || x + WIDE + RADIUS_X > end_x || y < NEAR_Y || y + TALL + RADIUS_Y > end_y || z < NEAR_Z ||
      z + 1 + RADIUS_Z > end_z) {
    for (int j = y; j < y + TALL; ++j) {
      for (int i = x; i < x + WIDE; ++i) {
        if (i >= FIRST_X && i < end_x && j >= FIRST_Y && j < end_y && z >= FIRST_Z) update_cell(in, out, @arguments@, z, j, i);
      }
    }
    return;
  }
@block@
}
