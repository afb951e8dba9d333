// A 3D grid of short rows that stays in registers for many steps (resident_planes_kernel.hpp writes the marked
// statements).
//
// A work-item holds VECTOR neighbouring cells of PLANES x ROWS rows; a row is 32 VECTOR cells, one sub-group wide and as
// wide as the grid. In every step a sub-group stores the rows at its four sides in local memory for the sub-groups of
// its work-group, and sends those at the sides of the work-group's tile to one of four images of the grid in `mail`,
// used cyclically. It computes the rows that need no others, and then loads those of its neighbours, from `mail` until
// every value has arrived.
//
// It clears what it sent two steps before: the rows of step s arrive only after their senders have computed step s - 1,
// for which they read what was sent for steps s - 1 and s - 2. It sends to that image again for step s + 2, after a
// fence. A work-item clears and reads at the places of its neighbours' work-items with the same number in a sub-group,
// so that each of them is covered by its own wait.
#define WIDTH (32 * VECTOR)
#define SIDES (2 * (ROWS + PLANES))

KERNEL WORK_GROUP_RESIDENT(GROUP_ITEMS, 1, 1, 1) TOGETHER void resident_planes(
    GLOBAL const CELL* from, GLOBAL CELL* to, GLOBAL CELL* mail, int steps, int height, int planes, int pitch,
    ulong origin) {
  // Rows at the sides of sub-groups, two copies used alternately: before and after along y, then along z.
  LOCAL_BLOCK(CELL, sides, 2 * DOWN * ACROSS * SIDES * WIDTH);
  const int item = LOCAL_ID(0), lane = item % 32, part = item / 32;
  const int part_y = part % ACROSS, part_z = part / ACROSS, tiles_y = height / (ROWS * ACROSS);
  const int y = ((int)GROUP_ID(0) % tiles_y * ACROSS + part_y) * ROWS;
  const int z = ((int)GROUP_ID(0) / tiles_y * DOWN + part_z) * PLANES;
  const int keep_left = lane == 0, keep_right = lane == 31;
  const int keep_top = y == 0, keep_bottom = y + ROWS == height, keep_front = z == 0, keep_back = z + PLANES == planes;
  // Sides at which another work-group follows.
  const uint above = part_y == 0 && !keep_top, below = part_y == ACROSS - 1 && !keep_bottom;
  const uint before = part_z == 0 && !keep_front, behind = part_z == DOWN - 1 && !keep_back;
  CELL u[PLANES * ROWS][VECTOR], v[PLANES * ROWS][VECTOR];
  const ulong place = origin + ((ulong)z * height + y) * pitch + lane * VECTOR;
  UNROLL for (int k = 0; k < PLANES * ROWS; ++k) {
    UNROLL for (int i = 0; i < VECTOR; ++i)
      u[k][i] = MAIL_VALUE(LOAD_L2(from + (place + ((ulong)(k / ROWS) * height + k % ROWS) * pitch + i)));
  }
  const ulong letter = ((ulong)z * height + y) * WIDTH + lane * VECTOR, image = (ulong)planes * height * WIDTH;
  const ulong plane = (ulong)height * WIDTH;
  for (int step = 0; step < steps; step += 2) {
    {
      const int now = step;
      LOCAL CELL* const here = sides + part * SIDES * WIDTH + lane * VECTOR;
//STEP
    }
    if (step + 1 < steps) {
      const int now = step + 1;
      LOCAL CELL* const here = sides + (DOWN * ACROSS + part) * SIDES * WIDTH + lane * VECTOR;
//STEP
    } else {
      UNROLL for (int k = 0; k < PLANES * ROWS; ++k) {
        UNROLL for (int i = 0; i < VECTOR; ++i) u[k][i] = v[k][i];
      }
    }
  }
  UNROLL for (int k = 0; k < PLANES * ROWS; ++k) {
    UNROLL for (int i = 0; i < VECTOR; ++i)
      to[place + ((ulong)(k / ROWS) * height + k % ROWS) * pitch + i] = u[k][i];
  }
}
