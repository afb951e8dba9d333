// A grid that stays in registers for many steps (resident_tiles_kernel.hpp writes the marked statements).
//
// Block b is DEPTH steps. After it a tile sends the cells that neighbours need, each word of 32 bits with the block's
// tag in one store of 64 bits, and receives its halo by loading every word until it has the tag. There are two
// mailboxes, used alternately. A tile sends block b + 2 after it has received block b + 1 of all neighbours, which they
// sent after they had received block b. So no word is overwritten before its neighbour has read it. A tile that is a
// whole grid sends nothing.
#if WORDS == 1
#define WORD_OF(value, w) BITS_OF(value)
#define CELL_OF(words) FLOAT_OF((uint)(words)[0])
#else
#define WORD_OF(value, w) (LONG_BITS_OF(value) >> 32 * (w) & 0xffffffffUL)
#define CELL_OF(words) DOUBLE_OF((words)[1] << 32 | ((words)[0] & 0xffffffffUL))
#endif
#ifdef SIGNAL
#define WHEN_SENT()  // groups run at the same time
#else
#define WHEN_SENT() BARRIER_GLOBAL()  // a single tile
#endif
FUNCTION int at_least(int a, int b) { return a > b ? a : b; }
FUNCTION int at_most(int a, int b) { return a < b ? a : b; }
FUNCTION int around(int i, int n, int wraps) { return wraps ? (i % n + n) % n : i >= 0 && i < n ? i : -1; }
// Row `row` of the region and cell `column` of it, in local memory.
#define NEAR(row, column) (((row) / REGION_Y * MORE_ROWS + (row)) * PITCH + (column) + CORNER)
#define ROWS (REGION_Z * REGION_Y)
#define PARTS (FIELDS * WORDS)  // words of a cell

KERNEL WORK_GROUP_RESIDENT(GROUP_ITEMS, 1, 1, PER_UNIT) TOGETHER void resident_tiles(
    GLOBAL const CELL* from, GLOBAL CELL* to, GLOBAL ulong* mail, int begin, int end, int steps, int width, int height,
    int planes, int tiles_x, int tiles_y, int tiles_z, int pitch, ulong origin, ulong field) {
  LOCAL_BLOCK(CELL, cells, BLOCK);
  LOCAL int* const row_at = (LOCAL int*)(cells + BUFFERS * FIELDS * ROOM);  // offsets of rows in a field, -1: outside
  LOCAL int* const column_at = row_at + ROWS;
  LOCAL int* const counts = column_at + REGION_X;
  // Cells of the halo, and cells of the tile that neighbours read: positions in local memory, offsets in a field.
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
  for (int row = item; row < ROWS; row += GROUP_ITEMS) {
    const int at_y = around(first_y + row % REGION_Y, height, wraps_y);
    const int at_z = around(first_z + row / REGION_Y, planes, wraps_z);
    row_at[row] = at_y < 0 || at_z < 0 ? -1 : (at_z * height + at_y) * pitch;
  }
  for (int i = item; i < REGION_X; i += GROUP_ITEMS) column_at[i] = around(first_x + i, width, wraps_x);
  if (item < 2) counts[item] = 0;
  BARRIER();
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

  const int received = counts[0], sent = counts[1];
  const int home = NEAR(item_z * PATCH_Z * REGION_Y + item_y * PATCH_Y, item_x * PATCH_X);
  int parity = 0;  // of the part of local memory that is in use
//PATCH
  for (int block = begin; block < end; ++block) {
    LOCAL CELL* here = cells + parity * (FIELDS * ROOM) + home;
//LOAD_PATCH
    const int count = at_most(DEPTH, steps - block * DEPTH);
    for (int step = 0; step < count; step += 2) {
      if (BUFFERS == 2) parity ^= 1;
      if (BUFFERS == 1) BARRIER();
      here = cells + parity * (FIELDS * ROOM) + home;
      {
//STORE_EDGES
        BARRIER();
//UPDATE
      }
      if (BUFFERS == 2) parity ^= 1;
      if (BUFFERS == 1) BARRIER();
      here = cells + parity * (FIELDS * ROOM) + home;
//STORE_EDGES
      BARRIER();
      if (step + 1 < count) {
//UPDATE
      } else {
//ASSIGN
      }
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
    const uint tag = (uint)(block + 1 - begin);
    const ulong all = (ulong)planes * height * pitch;  // cells of a field in a mailbox
    GLOBAL ulong* const box = mail + (tag & 1) * PARTS * all;
    UNROLL for (int j = 0; j < SHELL_ROUNDS; ++j) {
      const int entry = item + j * GROUP_ITEMS;
      if (entry >= sent) continue;
      const int position = shell[entry], at = shell_at[entry];
      UNROLL for (int f = 0; f < FIELDS; ++f) {
        UNROLL for (int w = 0; w < WORDS; ++w)
          STORE_RELAXED(box + ((f * all + at) * WORDS + w), (ulong)tag << 32 | WORD_OF(base[f * ROOM + position], w));
      }
    }
    WHEN_SENT();
    int at[RING_ROUNDS];
    ulong held[RING_ROUNDS * PARTS];  // all loads of a round are in flight at once
    UNROLL for (int j = 0; j < RING_ROUNDS; ++j) {
      const int entry = item + j * GROUP_ITEMS;
      at[j] = entry < received ? ring_at[entry] : 0;
      UNROLL for (int i = 0; i < PARTS; ++i) held[j * PARTS + i] = entry < received ? 0 : (ulong)tag << 32;
    }
    int missing;
    do {
      UNROLL for (int i = 0; i < RING_ROUNDS * PARTS; ++i) {
        if (held[i] >> 32 != tag)
          held[i] = LOAD_RELAXED(box + ((i % PARTS / WORDS * all + at[i / PARTS]) * WORDS + i % WORDS));
      }
      missing = 0;
      UNROLL for (int i = 0; i < RING_ROUNDS * PARTS; ++i) missing |= held[i] >> 32 != tag;
    } while (missing);
    UNROLL for (int j = 0; j < RING_ROUNDS; ++j) {
      const int entry = item + j * GROUP_ITEMS;
      if (entry >= received) continue;
      UNROLL for (int f = 0; f < FIELDS; ++f) base[f * ROOM + ring[entry]] = CELL_OF(held + j * PARTS + f * WORDS);
    }
    BARRIER();
  }
}
