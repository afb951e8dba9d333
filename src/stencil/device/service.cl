// Copies rows between packed and padded layouts, and computes the norm of the change of a step: partial maxima and sums
// of squares, one pair per work-group, so that the host has little to add.
KERNEL WORK_GROUP(64, 4, 1) void pad_rows(GLOBAL const CELL* RESTRICT packed, GLOBAL CELL* RESTRICT padded, int width,
                                             uint rows, uint rows_a_field, ulong pitch, ulong origin, ulong field) {
  const uint row = GROUP_ID(0) * 4 + (uint)LOCAL_ID(1);
  if (row >= rows) return;
  GLOBAL const CELL* from = packed + (ulong)row * width;
  GLOBAL CELL* to = padded + (ulong)(row / rows_a_field) * field + origin + (ulong)(row % rows_a_field) * pitch;
  for (int x = (int)GROUP_ID(1) * 64 + LOCAL_ID(0); x < width; x += (int)GROUPS(1) * 64) to[x] = from[x];
}

KERNEL WORK_GROUP(64, 4, 1) void pack_rows(GLOBAL const CELL* RESTRICT padded, GLOBAL CELL* RESTRICT packed, int width,
                                             uint rows, uint rows_a_field, ulong pitch, ulong origin, ulong field) {
  const uint row = GROUP_ID(0) * 4 + (uint)LOCAL_ID(1);
  if (row >= rows) return;
  GLOBAL const CELL* from = padded + (ulong)(row / rows_a_field) * field + origin + (ulong)(row % rows_a_field) * pitch;
  GLOBAL CELL* to = packed + (ulong)row * width;
  for (int x = (int)GROUP_ID(1) * 64 + LOCAL_ID(0); x < width; x += (int)GROUPS(1) * 64) to[x] = from[x];
}

// Copies boxes of a grid, all fields, to packed rows and back. Boxes are written to both buffers, because cells of a
// fixed border are never written again.
KERNEL WORK_GROUP(64, 4, 1) void take_box(GLOBAL const CELL* RESTRICT grid, GLOBAL CELL* RESTRICT packed, int width,
                                          uint rows, uint rows_a_plane, uint planes, ulong start, ulong pitch, ulong plane,
                                          ulong field, ulong first) {
  const uint row = GROUP_ID(0) * 4 + (uint)LOCAL_ID(1);
  if (row >= rows) return;
  const uint z = row / rows_a_plane;
  const ulong from = start + (ulong)(z / planes) * field + (ulong)(z % planes) * plane + (ulong)(row % rows_a_plane) * pitch;
  for (int x = LOCAL_ID(0); x < width; x += 64) packed[first + (ulong)row * width + x] = grid[from + x];
}

KERNEL WORK_GROUP(64, 4, 1) void put_box(GLOBAL CELL* RESTRICT grid, GLOBAL CELL* RESTRICT other,
                                         GLOBAL const CELL* RESTRICT packed, int width, uint rows, uint rows_a_plane,
                                         uint planes, ulong start, ulong pitch, ulong plane, ulong field) {
  const uint row = GROUP_ID(0) * 4 + (uint)LOCAL_ID(1);
  if (row >= rows) return;
  const uint z = row / rows_a_plane;
  const ulong to = start + (ulong)(z / planes) * field + (ulong)(z % planes) * plane + (ulong)(row % rows_a_plane) * pitch;
  for (int x = LOCAL_ID(0); x < width; x += 64) grid[to + x] = other[to + x] = packed[(ulong)row * width + x];
}

KERNEL WORK_GROUP(1, 1, 1) void add_value(GLOBAL CELL* RESTRICT grid, GLOBAL CELL* RESTRICT other, ulong at, CELL value) {
  grid[at] = other[at] = (CELL)(grid[at] + value);
}

KERNEL WORK_GROUP(256, 1, 1) void measure_change(GLOBAL const CELL* RESTRICT before, GLOBAL const CELL* RESTRICT after,
                                                 GLOBAL SUM* RESTRICT partial, int width, uint rows, uint rows_a_field,
                                                 ulong pitch, ulong origin, ulong field) {
  LOCAL_ARRAY(SUM, largest, 256);
  LOCAL_ARRAY(SUM, squares, 256);
  const int item = LOCAL_ID(0);
  SUM most = 0, sum = 0;
  for (uint row = GROUP_ID(0); row < rows; row += GROUPS(0)) {
    const ulong start = (ulong)(row / rows_a_field) * field + origin + (ulong)(row % rows_a_field) * pitch;
    for (int x = item; x < width; x += 256) {
      const SUM change = (SUM)after[start + x] - (SUM)before[start + x];
      const SUM size = change < 0 ? -change : change;
      most = size > most ? size : most;
      sum += change * change;
    }
  }
  largest[item] = most;
  squares[item] = sum;
  UNROLL
  for (int apart = 128; apart > 0; apart /= 2) {
    BARRIER();
    if (item < apart) {
      largest[item] = largest[item + apart] > largest[item] ? largest[item + apart] : largest[item];
      squares[item] += squares[item + apart];
    }
  }
  if (item == 0) {
    partial[2 * GROUP_ID(0)] = largest[0];
    partial[2 * GROUP_ID(0) + 1] = squares[0];
  }
}
