// One cell per work-item. @arguments@ are the sizes that update_cell() needs.

KERNEL WORK_GROUP(ITEMS_X, ITEMS_Y, ITEMS_Z) void update_cells(GLOBAL const CELL* RESTRICT in, GLOBAL CELL* RESTRICT out,
                                                               @parameters@) {
  const int x = FIRST_X + (int)GLOBAL_ID(0), y = FIRST_Y + (int)GLOBAL_ID(1), z = FIRST_Z + (int)GLOBAL_ID(2);
  if (x < end_x && y < end_y && z < end_z) update_cell(in, out, @arguments@, z, y, x);
}
