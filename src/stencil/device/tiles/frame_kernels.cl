// Updates or copies the cells near the sides of a grid. @cell@ is frame_cell.cl, which finds a work-item's cell.

KERNEL WORK_GROUP(256, 1, 1) void update_frame(GLOBAL const CELL* in, GLOBAL CELL* out, @coefficients@@sizes@, int end_x, int end_y,
                                               int end_z, uint cells, int band_z, int band_y, int band_x, int keep) {
@cell@
  if (changes) {
    update_cell(in, out, @arguments@, z, y, x);
  } else if (keep) {
    const ulong at = origin + ((ulong)z * height + y) * pitch + x;
    for (int f = 0; f < FIELDS; ++f) out[f * field + at] = in[f * field + at];
  }
}

// Copies fixed cells of one field to another.
KERNEL WORK_GROUP(256, 1, 1) void copy_frame(GLOBAL const CELL* in, GLOBAL CELL* out, @sizes@, int end_x, int end_y,
                                             int end_z, uint cells, int band_z, int band_y, int band_x, int from, int to) {
@cell@
  if (changes) return;
  const ulong at = origin + ((ulong)z * height + y) * pitch + x;
  out[to * field + at] = in[from * field + at];
}
