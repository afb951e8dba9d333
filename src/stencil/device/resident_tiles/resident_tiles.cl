// A grid that stays in registers for many steps (resident_tiles_kernel.hpp writes the marked statements).
//
// Block b is DEPTH steps. Tiles read their halos from one grid and write the cells that neighbours need to the other
// one; the grids are exchanged after every block. A tile starts block b when all its neighbours have finished block
// b - 1. So no tile overwrites cells that a neighbour has still to read: it writes them again two blocks later.
FUNCTION int at_least(int a, int b) { return a > b ? a : b; }
FUNCTION int at_most(int a, int b) { return a < b ? a : b; }
FUNCTION int around(int i, int n, int wraps) { return wraps ? (i % n + n) % n : i >= 0 && i < n ? i : -1; }
// Row `row` of the region and cell `column` of it, in local memory.
#define NEAR(row, column) (((row) / REGION_Y * MORE_ROWS + (row)) * PITCH + (column) + CORNER)
#define ROWS (REGION_Z * REGION_Y)

KERNEL WORK_GROUP_RESIDENT(GROUP_ITEMS, 1, 1, PER_UNIT) TOGETHER void resident_tiles(
    GLOBAL CELL* even, GLOBAL CELL* odd, GLOBAL uint* signals, int begin, int end, int steps, int width, int height,
    int planes, int tiles_x, int tiles_y, int tiles_z, int pitch, ulong origin, ulong field) {
  LOCAL_BLOCK(CELL, cells, BLOCK);
  LOCAL int* const row_at = (LOCAL int*)(cells + BUFFERS * FIELDS * ROOM);  // offsets of rows in a field, -1: outside
  LOCAL int* const column_at = row_at + ROWS;
  LOCAL int* const counts = column_at + REGION_X;
  // Cells of the halo, and cells of the tile that neighbours read: positions in local memory, offsets in a field. The
  // lists are filled up with positions of -1 to whole rounds of all work-items.
  LOCAL int* const ring = counts + 2;
  LOCAL int* const ring_at = ring + RING_ROUNDS * GROUP_ITEMS;
  LOCAL int* const shell = ring_at + RING_ROUNDS * GROUP_ITEMS;
  LOCAL int* const shell_at = shell + SHELL_ROUNDS * GROUP_ITEMS;
  const int item = LOCAL_ID(0), tile = (int)GROUP_ID(0);
  const int item_x = item % ITEMS_X, item_y = item / ITEMS_X % ITEMS_Y, item_z = item / (ITEMS_X * ITEMS_Y);
  const int tile_x = tile % tiles_x, tile_y = tile / tiles_x % tiles_y, tile_z = tile / (tiles_x * tiles_y);
  const int core_x = (int)((long)tile_x * width / tiles_x), end_x = (int)((long)(tile_x + 1) * width / tiles_x);
  const int core_y = (int)((long)tile_y * height / tiles_y), end_y = (int)((long)(tile_y + 1) * height / tiles_y);
  const int core_z = (int)((long)tile_z * planes / tiles_z), end_z = (int)((long)(tile_z + 1) * planes / tiles_z);
//BORDERS
  // The neighbour whose signals this work-item reads.
  int watched = -1;
  if (item < 27) {
    const int other_x = around(tile_x + item % 3 - 1, tiles_x, wraps_x);
    const int other_y = around(tile_y + item / 3 % 3 - 1, tiles_y, wraps_y);
    const int other_z = around(tile_z + item / 9 - 1, tiles_z, wraps_z);
    if (other_x >= 0 && other_y >= 0 && other_z >= 0) watched = (other_z * tiles_y + other_y) * tiles_x + other_x;
  }

  for (int row = item; row < ROWS; row += GROUP_ITEMS) {
    const int at_y = around(first_y + row % REGION_Y, height, wraps_y);
    const int at_z = around(first_z + row / REGION_Y, planes, wraps_z);
    row_at[row] = at_y < 0 || at_z < 0 ? -1 : (at_z * height + at_y) * pitch;
  }
  for (int i = item; i < REGION_X; i += GROUP_ITEMS) column_at[i] = around(first_x + i, width, wraps_x);
  if (item < 2) counts[item] = 0;
  for (int j = item; j < RING_ROUNDS * GROUP_ITEMS; j += GROUP_ITEMS) {
    ring[j] = -1;
    ring_at[j] = (core_z * height + core_y) * pitch + core_x;  // readable
  }
  for (int j = item; j < SHELL_ROUNDS * GROUP_ITEMS; j += GROUP_ITEMS) shell[j] = -1;
  BARRIER();
  GLOBAL CELL* from = (begin & 1) ? odd : even;
  GLOBAL CELL* to = (begin & 1) ? even : odd;
  for (int i = item; i < ROWS * REGION_X; i += GROUP_ITEMS) {
    const int row = i / REGION_X, column = i % REGION_X;
    const int at_x = first_x + column, at_y = first_y + row % REGION_Y, at_z = first_z + row / REGION_Y;
    if (row_at[row] < 0 || column_at[column] < 0) continue;
    for (int f = 0; f < FIELDS; ++f)
      cells[f * ROOM + NEAR(row, column)] = LOAD_L2(from + (f * field + origin + row_at[row] + column_at[column]));
    const int in_core =
        at_x >= core_x && at_x < end_x && at_y >= core_y && at_y < end_y && at_z >= core_z && at_z < end_z;
    const int deep = at_x >= core_x + HALO_X && at_x < end_x - HALO_X && at_y >= core_y + HALO_Y && at_y < end_y - HALO_Y &&
                     at_z >= core_z + HALO_Z && at_z < end_z - HALO_Z;
    const int needed = at_x >= core_x - HALO_X && at_x < end_x + HALO_X && at_y >= core_y - HALO_Y &&
                       at_y < end_y + HALO_Y && at_z >= core_z - HALO_Z && at_z < end_z + HALO_Z;
    if (in_core ? !deep : needed) {
      const int entry = ATOMIC_ADD(counts + in_core, 1);
      (in_core ? shell : ring)[entry] = NEAR(row, column);
      (in_core ? shell_at : ring_at)[entry] = row_at[row] + column_at[column];
    }
  }
  BARRIER();

  const int home = NEAR(item_z * PATCH_Z * REGION_Y + item_y * PATCH_Y, item_x * PATCH_X);
  int parity = 0;  // of the part of local memory that is in use
//PATCH
  for (int block = begin; block < end; ++block) {
    LOCAL CELL* here = cells + parity * (FIELDS * ROOM) + home;
//LOAD_PATCH
    const int count = at_most(DEPTH, steps - block * DEPTH);
    for (int step = 0; step < count; ++step) {
      if (BUFFERS == 2) parity ^= 1;
      if (BUFFERS == 1) BARRIER();
      here = cells + parity * (FIELDS * ROOM) + home;
//STORE_EDGES
      BARRIER();
//UPDATE
    }
    if (BUFFERS == 2) parity ^= 1;
    if (BUFFERS == 1) BARRIER();
    here = cells + parity * (FIELDS * ROOM) + home;
//STORE_PATCH
    BARRIER();
    LOCAL CELL* const base = cells + parity * (FIELDS * ROOM);
    if (block + 1 == end) {
      for (int i = item; i < ROWS * REGION_X; i += GROUP_ITEMS) {
        const int row = i / REGION_X, column = i % REGION_X;
        const int at_x = first_x + column, at_y = first_y + row % REGION_Y, at_z = first_z + row / REGION_Y;
        if (at_x < core_x || at_x >= end_x || at_y < core_y || at_y >= end_y || at_z < core_z || at_z >= end_z) continue;
        for (int f = 0; f < FIELDS; ++f)
          to[f * field + origin + row_at[row] + column_at[column]] = base[f * ROOM + NEAR(row, column)];
      }
      break;
    }
    UNROLL for (int j = 0; j < SHELL_ROUNDS; ++j) {
      const int position = shell[item + j * GROUP_ITEMS], at = shell_at[item + j * GROUP_ITEMS];
      if (position < 0) continue;
      UNROLL for (int f = 0; f < FIELDS; ++f) to[f * field + origin + at] = base[f * ROOM + position];
    }
    BARRIER_GLOBAL();
#ifdef SIGNAL
    if (item == 0) SIGNAL(signals + 8 * tile);
    if (watched >= 0) {
      while (SIGNAL_COUNT(signals + 8 * watched) < (uint)(block + 1 - begin)) {}
    }
    BARRIER();
#endif
    CELL held[FIELDS * RING_ROUNDS];  // all loads are in flight at once
    UNROLL for (int j = 0; j < RING_ROUNDS; ++j) {
      UNROLL for (int f = 0; f < FIELDS; ++f)
        held[f * RING_ROUNDS + j] = LOAD_L2(to + (f * field + origin + ring_at[item + j * GROUP_ITEMS]));
    }
    UNROLL for (int j = 0; j < RING_ROUNDS; ++j) {
      const int position = ring[item + j * GROUP_ITEMS];
      if (position < 0) continue;
      UNROLL for (int f = 0; f < FIELDS; ++f) base[f * ROOM + position] = held[f * RING_ROUNDS + j];
    }
    BARRIER();
    GLOBAL CELL* const other = from;
    from = to;
    to = other;
  }
}
