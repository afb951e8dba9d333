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

// Sets `largest` to the largest magnitude of 32 neighbouring work-items, which have a block of a snapshot; NaN if one is
// NaN.
#define LARGER(a, b) ((a) >= (b) || (a) != (a) ? (a) : (b))
#if SUB_GROUP_WIDTH >= 32
#define BLOCK_SCRATCH
#define FIND_LARGEST(largest, value)                    \
  CELL largest = fabs(value);                           \
  for (int apart = 16; apart > 0; apart /= 2) {         \
    const CELL other = SHUFFLE_XOR(largest, apart);     \
    largest = LARGER(largest, other);                   \
  }
#else
#define BLOCK_SCRATCH LOCAL_ARRAY(CELL, scratch, 256);
#define FIND_LARGEST(largest, value)                                                                       \
  CELL largest = fabs(value);                                                                              \
  BARRIER();                                                                                               \
  scratch[lane] = largest;                                                                                 \
  BARRIER();                                                                                               \
  for (int other = lane / 32 * 32; other < lane / 32 * 32 + 32; ++other) largest = LARGER(largest, scratch[other]);
#endif
#define LEVEL(k) ((ulong)((k) == 0 ? level_0 : (k) == 1 ? level_1 : (k)) * field)

// Stores a snapshot as small integers. A work-item has four cells, 256 apart. The previous level starts at `before`.
KERNEL WORK_GROUP(256, 1, 1) void close_small(GLOBAL const CELL* RESTRICT grid, GLOBAL const CELL* RESTRICT previous,
    GLOBAL SMALL* RESTRICT small, GLOBAL float* RESTRICT scales, ulong newer, ulong older, ulong before, ulong slot,
    ulong field, ulong blocks) {
  BLOCK_SCRATCH
  const int lane = LOCAL_ID(0);
  const ulong first = (ulong)GROUP_ID(0) * 1024 + lane;
  CELL value[4];
  UNROLL for (int k = 0; k < 4; ++k) {
    const ulong i = first + 256 * k;
    value[k] = i < field ? grid[newer + i] - 2 * grid[older + i] + previous[before + i] : 0;
  }
  UNROLL for (int k = 0; k < 4; ++k) {
    const ulong i = first + 256 * k;
    FIND_LARGEST(largest, value[k])
    const float scale = (float)(largest / LARGEST);
    const CELL factor = scale > 0 ? 1 / (CELL)scale : 0;
    const int whole = ROUND_EVEN((float)(value[k] * factor));
    if (i < field) {
      if (lane % 32 == 0) scales[slot * blocks + i / 32] = scale;
      small[slot * field + i] = (SMALL)(whole > LARGEST ? LARGEST : whole < -LARGEST ? -LARGEST : whole);
    }
  }
}

KERNEL WORK_GROUP(256, 1, 1) void correlate(GLOBAL const CELL* RESTRICT grid, GLOBAL const CELL* RESTRICT snapshot,
    GLOBAL CELL* RESTRICT image, ulong newer, ulong start, ulong field, CELL weight) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i < field) image[i] += weight * snapshot[start + i] * grid[newer + i];
}

// Correlates `count` steps at once, the last one first: level `slot + 2` and those before it with levels of the adjoint
// run, `adjoint_first` and the following ones of a ring. A level is a field of its grid; level 0 of the forward run is in
// field `level_0` and level 1 in field `level_1`.
KERNEL WORK_GROUP(256, 1, 1) void correlate_levels(GLOBAL const CELL* RESTRICT levels, GLOBAL const CELL* RESTRICT adjoint,
    GLOBAL CELL* RESTRICT image, ulong field, CELL weight, int slot, int count, int level_0, int level_1,
    int adjoint_first, int adjoint_levels) {
  const ulong i = (ulong)GLOBAL_ID(0);
  if (i >= field) return;
  CELL sum = image[i], newer = levels[LEVEL(slot + 2) + i], now = levels[LEVEL(slot + 1) + i];
  UNROLL for (int k = 0; k < TOGETHER_STEPS; ++k) {
    if (k < count) {
      const int place = adjoint_first + k;
      const CELL before = levels[LEVEL(slot - k) + i];
      const CELL back = adjoint[(ulong)(place < adjoint_levels ? place : place - adjoint_levels) * field + i];
      sum += weight * (newer - 2 * now + before) * back;
      newer = now;
      now = before;
    }
  }
  image[i] = sum;
}

// Also adds the mean square error that the snapshot's rounding may cause in a cell of the block, at most that of the
// block's largest adjoint value: `rounding` holds its root, so that small values do not underflow.
KERNEL WORK_GROUP(256, 1, 1) void correlate_small(GLOBAL const CELL* RESTRICT grid, GLOBAL const SMALL* RESTRICT small,
    GLOBAL const float* RESTRICT scales, GLOBAL CELL* RESTRICT image, GLOBAL CELL* RESTRICT rounding, ulong newer,
    ulong slot, ulong field, ulong blocks, CELL weight) {
  BLOCK_SCRATCH
  const int lane = LOCAL_ID(0);
  const ulong first = (ulong)GROUP_ID(0) * 1024 + lane;
  CELL value[4];
  UNROLL for (int k = 0; k < 4; ++k) {
    const ulong i = first + 256 * k;
    value[k] = i < field ? grid[newer + i] : 0;
  }
  UNROLL for (int k = 0; k < 4; ++k) {
    const ulong i = first + 256 * k;
    FIND_LARGEST(largest, value[k])
    if (i < field) {
      const CELL scale = weight * (CELL)scales[slot * blocks + i / 32];
      image[i] += scale * (CELL)small[slot * field + i] * value[k];
      if (lane % 32 == 0) {
        const CELL old = rounding[i / 32], added = scale * largest * (CELL)0.2886751345948129;  // 1 / sqrt(12)
        const CELL more = old >= added ? old : added, less = old >= added ? added : old;
        rounding[i / 32] = more > 0 ? more * sqrt(1 + (less / more) * (less / more)) : more;
      }
    }
  }
}
