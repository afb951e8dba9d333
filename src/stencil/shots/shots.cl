// Sources, receivers and snapshots of a run of single steps. Fields start `newer` and `older` elements into the grid.

// Adds to each listed cell the weighted values of its points, times the medium. A cell has one work-item, so the sum
// has one order.
KERNEL WORK_GROUP(64, 1, 1) void add_points(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const ulong* RESTRICT places, GLOBAL const uint* RESTRICT first, GLOBAL const uint* RESTRICT points,
    GLOBAL const CELL* RESTRICT weights, GLOBAL const CELL* RESTRICT values, ulong newer, ulong row, int cells) {
  const int k = (int)GLOBAL_ID(0);
  if (k >= cells) return;
  CELL sum = 0;
  for (uint i = first[k]; i < first[k + 1]; ++i) sum += weights[i] * values[row + points[i]];
  grid[newer + places[k]] += media[places[k]] * sum;
}

KERNEL WORK_GROUP(64, 1, 1) void take_points(GLOBAL const CELL* RESTRICT grid, GLOBAL const ulong* RESTRICT places,
    GLOBAL const uint* RESTRICT first, GLOBAL const CELL* RESTRICT weights, GLOBAL CELL* RESTRICT values, ulong newer,
    ulong row, int points) {
  const int k = (int)GLOBAL_ID(0);
  if (k >= points) return;
  CELL sum = 0;
  for (uint i = first[k]; i < first[k + 1]; ++i) sum += weights[i] * grid[newer + places[i]];
  values[row + k] = sum;
}

// new - 2 now + previous; the snapshot holds the previous level.
KERNEL WORK_GROUP(256, 1, 1) void close_snapshot(GLOBAL const CELL* RESTRICT grid, GLOBAL CELL* RESTRICT snapshot,
    ulong newer, ulong older, ulong start, ulong field) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i < field) snapshot[start + i] += grid[newer + i] - 2 * grid[older + i];
}

// The same as 16-bit integers with a scale per 32 cells.
KERNEL WORK_GROUP(64, 1, 1) void close_small(GLOBAL const CELL* RESTRICT grid, GLOBAL const CELL* RESTRICT previous,
    GLOBAL short* RESTRICT small, GLOBAL float* RESTRICT scales, ulong newer, ulong older, ulong slot, ulong field,
    ulong blocks) {
  const ulong block = (ulong)GLOBAL_ID(0);
  if (block >= blocks) return;
  const ulong begin = block * 32, end = begin + 32 < field ? begin + 32 : field;
  CELL largest = 0;
  for (ulong i = begin; i < end; ++i) {
    const CELL value = grid[newer + i] - 2 * grid[older + i] + previous[i];
    largest = fabs(value) > largest ? fabs(value) : largest;
  }
  const float scale = (float)(largest / 32767);
  const CELL factor = scale > 0 ? 1 / (CELL)scale : 0;
  scales[slot * blocks + block] = scale;
  for (ulong i = begin; i < end; ++i) {
    const CELL value = (grid[newer + i] - 2 * grid[older + i] + previous[i]) * factor;
    const int whole = ROUND_EVEN((float)value);
    small[slot * field + i] = (short)(whole > 32767 ? 32767 : whole < -32767 ? -32767 : whole);
  }
}

KERNEL WORK_GROUP(256, 1, 1) void correlate(GLOBAL const CELL* RESTRICT grid, GLOBAL const CELL* RESTRICT snapshot,
    GLOBAL CELL* RESTRICT image, ulong newer, ulong start, ulong field, CELL weight) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i < field) image[i] += weight * snapshot[start + i] * grid[newer + i];
}

KERNEL WORK_GROUP(256, 1, 1) void correlate_small(GLOBAL const CELL* RESTRICT grid, GLOBAL const short* RESTRICT small,
    GLOBAL const float* RESTRICT scales, GLOBAL CELL* RESTRICT image, ulong newer, ulong slot, ulong field, ulong blocks,
    CELL weight) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i < field)
    image[i] += weight * (CELL)scales[slot * blocks + i / 32] * (CELL)small[slot * field + i] * grid[newer + i];
}
