// A grid that stays in registers for many steps, rows of a tile per sub-group (resident_rows_kernel.hpp writes the
// marked statements).
//
// A work-item holds VECTOR neighbouring cells of ROWS rows, a sub-group ROWS rows of 32 VECTOR cells, a work-group a
// tile of SUB_GROUPS ROWS rows. In every step a sub-group stores its first and last rows in local memory, one barrier
// follows, and the rows that need no other sub-group are computed first.
//
// After DEPTH steps a sub-group sends the cells that other tiles need to one of four images of the grid in `mail`,
// used cyclically, and loads its halo from there until every value has arrived. It clears what it sent two blocks
// before: the halo of block b arrives only after all receivers of block b - 1 have computed a step of block b, so all
// cells of block b - 2 have been read. The same image receives the cells of block b + 2, after a fence.
FUNCTION int at_most(int a, int b) { return a < b ? a : b; }
#define WIDTH (32 * VECTOR)
#define HEIGHT (SUB_GROUPS * ROWS)
// First column and row of a tile: tiles are distributed evenly and overlap.
FUNCTION int first_column(int tile, int tiles, int width) {
  return tiles == 1 ? 0 : (int)((long)tile * (width - WIDTH) / (tiles - 1)) / VECTOR * VECTOR;
}
FUNCTION int first_row(int tile, int tiles, int height) {
  return tiles == 1 ? 0 : (int)((long)tile * (height - HEIGHT) / (tiles - 1));
}

KERNEL WORK_GROUP_RESIDENT(GROUP_ITEMS, 1, 1, PER_UNIT) TOGETHER void resident_rows(
    GLOBAL const CELL* from, GLOBAL CELL* to, GLOBAL CELL* mail, int steps, int width, int height, int tiles_x,
    int tiles_y, int pitch, ulong origin) {
  // Edges of sub-groups: two copies, used alternately; rows at the top, then rows at the bottom.
  LOCAL_BLOCK(CELL, edges, 2 * SUB_GROUPS * 2 * RADIUS_Y * WIDTH);
  const int item = LOCAL_ID(0), lane = item % 32, part = item / 32;
  const int tile_x = (int)GROUP_ID(0) % tiles_x, tile_y = (int)GROUP_ID(0) / tiles_x;
  const int left = first_column(tile_x, tiles_x, width), top = first_row(tile_y, tiles_y, height);
  // The tile's own cells: without the halos at sides where other tiles follow.
  const int own_x = tile_x == 0 ? 0 : left + HALO_X;
  const int own_y = tile_y == 0 ? 0 : top + HALO_Y;
  const int end_x = tile_x == tiles_x - 1 ? width : first_column(tile_x + 1, tiles_x, width) + HALO_X;
  const int end_y = tile_y == tiles_y - 1 ? height : first_row(tile_y + 1, tiles_y, height) + HALO_Y;
  const int x = left + lane * VECTOR, y = top + part * ROWS;
  const int in_x = x >= own_x && x < end_x, near_x = x >= own_x - HALO_X && x < end_x + HALO_X;
  const int deep_x = (tile_x == 0 || x >= own_x + HALO_X) && (tile_x == tiles_x - 1 || x < end_x - HALO_X);
  uint own = 0, sent = 0, halo = 0;  // a bit per row
  UNROLL for (int r = 0; r < ROWS; ++r) {
    const int in_y = y + r >= own_y && y + r < end_y, near_y = y + r >= own_y - HALO_Y && y + r < end_y + HALO_Y;
    const int deep_y = (tile_y == 0 || y + r >= own_y + HALO_Y) && (tile_y == tiles_y - 1 || y + r < end_y - HALO_Y);
    own |= (uint)(in_x && in_y) << r;
    sent |= (uint)(in_x && in_y && !(deep_x && deep_y)) << r;
    halo |= (uint)(near_x && near_y && !(in_x && in_y)) << r;
  }
  const int keep_left = x == 0, keep_right = x + VECTOR == width, keep_top = y == 0, keep_bottom = y + ROWS == height;
  CELL u[ROWS][VECTOR], v[ROWS][VECTOR];
  const ulong place = origin + (ulong)y * pitch + x;
  UNROLL for (int r = 0; r < ROWS; ++r) {
    UNROLL for (int i = 0; i < VECTOR; ++i) u[r][i] = MAIL_VALUE(LOAD_L2(from + (place + (ulong)r * pitch + i)));
  }
  BARRIER();
  LOCAL CELL* const mine = edges + (part * 2 * RADIUS_Y * WIDTH + lane * VECTOR);
  const ulong letter = (ulong)y * width + x, image = (ulong)width * height;
  int done = 0;
  const int blocks = (steps + DEPTH - 1) / DEPTH;
  for (int block = 0; block < blocks; ++block) {
    const int count = at_most(DEPTH, steps - block * DEPTH);
    for (int step = 0; step < count; step += 2) {
      LOCAL CELL* here = mine + (done & 1) * (SUB_GROUPS * 2 * RADIUS_Y * WIDTH);
      {
//STEP
      }
      ++done;
      here = mine + (done & 1) * (SUB_GROUPS * 2 * RADIUS_Y * WIDTH);
      if (step + 1 < count) {
//STEP
        ++done;
      } else {
        UNROLL for (int r = 0; r < ROWS; ++r) {
          UNROLL for (int i = 0; i < VECTOR; ++i) u[r][i] = v[r][i];
        }
      }
    }
    if (block + 1 == blocks) break;
    GLOBAL CELL* const box = mail + ((ulong)(block & 3) * image + letter);
    MAIL_FENCE();
    UNROLL for (int r = 0; r < ROWS; ++r) {
      UNROLL for (int i = 0; i < VECTOR; ++i) u[r][i] = BEFORE_SENDING(u[r][i]);
      MAIL_SEND(box + (ulong)r * width, u[r], sent & 1u << r);
    }
    uint missing = halo;
    do {
      UNROLL for (int r = 0; r < ROWS; ++r) MAIL_LOAD(box + (ulong)r * width, u[r], missing & 1u << r);
      UNROLL for (int r = 0; r < ROWS; ++r) {
        uint arrived = 1;
        UNROLL for (int i = 0; i < VECTOR; ++i) arrived &= MAIL_ARRIVED(u[r][i]);
        missing &= ~(arrived << r);
      }
    } while (SUB_GROUP_ANY(missing));
    if (block < 2) continue;
    GLOBAL CELL* const old = mail + ((ulong)(block + 2 & 3) * image + letter);
    UNROLL for (int r = 0; r < ROWS; ++r) MAIL_CLEAR(old + (ulong)r * width, sent & 1u << r);
  }
  UNROLL for (int r = 0; r < ROWS; ++r) {
    UNROLL for (int i = 0; i < VECTOR; ++i) {
      if (own >> r & 1) to[place + (ulong)r * pitch + i] = u[r][i];
    }
  }
}
