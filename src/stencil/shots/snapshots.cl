// Snapshots of the second difference in time, new - 2 now + previous, as cells or as SMALL integers up to LARGEST with
// one scale per 32 cells, and their correlation with a level of the adjoint run.

// Copies cells of a level to a slot, or back.
KERNEL WORK_GROUP(256, 1, 1) void move_frame(GLOBAL CELL* RESTRICT grid, GLOBAL CELL* RESTRICT values,
    GLOBAL const uint* RESTRICT place, ulong newer, ulong slot, ulong cells, int back) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i >= cells) return;
  if (back) {
    grid[newer + place[i]] = values[slot * cells + i];
  } else {
    values[slot * cells + i] = grid[newer + place[i]];
  }
}

// Completes a snapshot that holds the previous level: adds new - 2 now.
KERNEL WORK_GROUP(256, 1, 1) void close_snapshot(GLOBAL const CELL* RESTRICT grid, GLOBAL CELL* RESTRICT snapshot,
    ulong newer, ulong older, ulong start, ulong field) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i < field) snapshot[start + i] += grid[newer + i] - 2 * grid[older + i];
}

// Stores a snapshot as small integers. One work-item per cell; the largest magnitude of 32 cells is found by a tree.
KERNEL WORK_GROUP(256, 1, 1) void close_small(GLOBAL const CELL* RESTRICT grid, GLOBAL const CELL* RESTRICT previous,
    GLOBAL SMALL* RESTRICT small, GLOBAL float* RESTRICT scales, ulong newer, ulong older, ulong slot, ulong field,
    ulong blocks) {
  LOCAL_ARRAY(CELL, largest, 256);
  const ulong i = (ulong)GLOBAL_ID(0);
  const int lane = LOCAL_ID(0), at = lane % 32;
  const CELL value = i < field ? grid[newer + i] - 2 * grid[older + i] + previous[i] : 0;
  largest[lane] = fabs(value);
  BARRIER();
  for (int apart = 16; apart > 0; apart /= 2) {
    // Written so that NaN stays: it makes the scale NaN.
    if (at < apart && !(largest[lane] >= largest[lane + apart])) largest[lane] = largest[lane + apart];
    BARRIER();
  }
  if (i >= field) return;
  const float scale = (float)(largest[lane - at] / LARGEST);
  const CELL factor = scale > 0 ? 1 / (CELL)scale : 0;
  if (at == 0) scales[slot * blocks + i / 32] = scale;
  const int whole = ROUND_EVEN((float)(value * factor));
  small[slot * field + i] = (SMALL)(whole > LARGEST ? LARGEST : whole < -LARGEST ? -LARGEST : whole);
}

KERNEL WORK_GROUP(256, 1, 1) void correlate(GLOBAL const CELL* RESTRICT grid, GLOBAL const CELL* RESTRICT snapshot,
    GLOBAL CELL* RESTRICT image, ulong newer, ulong start, ulong field, CELL weight) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i < field) image[i] += weight * snapshot[start + i] * grid[newer + i];
}

// Also adds the mean square error that the snapshot's rounding may cause in a cell of the block, at most that of the
// block's largest adjoint value: `rounding` holds its root, so that small values do not underflow.
KERNEL WORK_GROUP(256, 1, 1) void correlate_small(GLOBAL const CELL* RESTRICT grid, GLOBAL const SMALL* RESTRICT small,
    GLOBAL const float* RESTRICT scales, GLOBAL CELL* RESTRICT image, GLOBAL CELL* RESTRICT rounding, ulong newer,
    ulong slot, ulong field, ulong blocks, CELL weight) {
  LOCAL_ARRAY(CELL, largest, 256);
  const ulong i = (ulong)GLOBAL_ID(0);
  const int lane = LOCAL_ID(0), at = lane % 32;
  const CELL value = i < field ? grid[newer + i] : 0;
  largest[lane] = fabs(value);
  BARRIER();
  for (int apart = 16; apart > 0; apart /= 2) {
    if (at < apart && !(largest[lane] >= largest[lane + apart])) largest[lane] = largest[lane + apart];
    BARRIER();
  }
  if (i >= field) return;
  const CELL scale = weight * (CELL)scales[slot * blocks + i / 32];
  image[i] += scale * (CELL)small[slot * field + i] * value;
  if (at == 0) {
    const CELL before = rounding[i / 32], added = scale * largest[lane] * (CELL)0.2886751345948129;  // 1 / sqrt(12)
    const CELL more = before >= added ? before : added, less = before >= added ? added : before;
    rounding[i / 32] = more > 0 ? more * sqrt(1 + (less / more) * (less / more)) : more;
  }
}
