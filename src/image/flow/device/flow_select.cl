// Selects the pixels of the finer level to search. A cell is a pixel of the coarser level and covers 2 x 2 pixels of
// the finer one. Blocks are aligned and decide independently: a block of 2^level cells that are all regular, and all of
// one level, is searched at its corners and filled between them. (With SCAN_ORDER, flow_scan_order.cl decides instead.)

#if RADIUS <= 4
#define UNROLL_WINDOW UNROLL
#else
#define UNROLL_WINDOW
#endif

// 1 if no vector within the radius differs by the threshold or more.
KERNEL WORK_GROUP(32, 8, 1) void regular(GLOBAL const float2* RESTRICT flow, GLOBAL uchar* RESTRICT is_regular, int rows,
                                         int columns, float threshold) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const ulong own_cell = plane + (ulong)r * (ulong)columns + (ulong)c;
  const float2 own = flow[own_cell];
  float most = 0.0f;
  UNROLL_WINDOW
  for (int y = -RADIUS; y <= RADIUS; ++y) {  // beyond the border the last cell is repeated
    GLOBAL const float2* row = flow + plane + (ulong)least_of(most_of(r + y, 0), rows - 1) * (ulong)columns;
    UNROLL_WINDOW
    for (int x = -RADIUS; x <= RADIUS; ++x) {
      const float2 other = LOAD_CACHED(row + least_of(most_of(c + x, 0), columns - 1));
      const float u = own.x - other.x, v = own.y - other.y, squares = u * u + v * v;
      most = squares > most ? squares : most;
    }
  }
  is_regular[own_cell] = most < threshold ? 1 : 0;
}

// New level of a cell: 0 if all its pixels are searched, else one more than before.
KERNEL WORK_GROUP(32, 8, 1) void grow(GLOBAL const uchar* RESTRICT is_regular, GLOBAL const uchar* RESTRICT coarse_level,
                                      GLOBAL uchar* RESTRICT level, int rows, int columns, int fine_rows,
                                      int fine_columns) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  const int half_rows = (rows + 1) / 2, half_columns = (columns + 1) / 2;
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const ulong half_plane = (ulong)GROUP_ID(2) * (ulong)half_rows * (ulong)half_columns;
  const int own = coarse_level[half_plane + (ulong)(r >> 1) * (ulong)half_columns + (ulong)(c >> 1)];
  const int side = 1 << own, top = r & ~(side - 1), left = c & ~(side - 1);
  const int bottom = least_of(top + side, rows), right = least_of(left + side, columns);
  int all = least_of(2 * bottom, fine_rows) - 1 > 2 * top && least_of(2 * right, fine_columns) - 1 > 2 * left;
  for (int y = top; all && y < bottom; ++y) {
    for (int x = left; all && x < right; ++x) {
      all = is_regular[plane + (ulong)y * (ulong)columns + (ulong)x] != 0 &&
            coarse_level[half_plane + (ulong)(y >> 1) * (ulong)half_columns + (ulong)(x >> 1)] == own;
    }
  }
  level[plane + (ulong)r * (ulong)columns + (ulong)c] = (uchar)(all ? own + 1 : 0);
}

// Pixels of a cell to search, as bit 2 * row + column.
#if SCAN_ORDER
#define LEAST_OF_A_BLOCK 4  // pixels that are not searched keep their start
FUNCTION int searched_in(int r, int c, int level, int fine_rows, int fine_columns) {
  return level >> 4 & (2 * r + 1 < fine_rows ? 15 : 3) & (2 * c + 1 < fine_columns ? 15 : 5);
}
#else
#define LEAST_OF_A_BLOCK 2
FUNCTION int searched_in(int r, int c, int level, int fine_rows, int fine_columns) {
  const int side = level == 0 ? 1 : 1 << (level - 1), first = 2 * (r & ~(side - 1)), left = 2 * (c & ~(side - 1));
  const int last = least_of(first + 2 * side, fine_rows) - 1, right = least_of(left + 2 * side, fine_columns) - 1;
  int mask = 0;
  for (int i = 0; i < 4; ++i) {
    const int y = 2 * r + (i >> 1), x = 2 * c + (i & 1);
    const int inside = y < fine_rows && x < fine_columns;
    const int corner = (y == first || y == last) && (x == left || x == right);
    if (inside && (level == 0 || corner)) mask |= 1 << i;
  }
  return mask;
}
#endif

// Start of a pixel's search. `top`: there is no coarser flow.
FUNCTION int2 start_at(GLOBAL const float2* start, ulong plane, int r, int c, int columns, int fine_rows, int fine_columns,
                       int top) {
  if (top) return make_int2(0, 0);
  const float2 coarse = start[plane + (ulong)(r >> 1) * (ulong)columns + (ulong)(c >> 1)];
  return make_int2(start_of(2.0f * coarse.x, r, fine_rows), start_of(2.0f * coarse.y, c, fine_columns));
}

// True if the four pixels from (r, c) on have the same start. This always holds inside a cell, except at the picture's
// borders, where starts are clamped.
FUNCTION int start_together(GLOBAL const float2* start, ulong plane, int r, int c, int columns, int fine_rows,
                            int fine_columns, int top) {
  const int2 first = start_at(start, plane, r, c, columns, fine_rows, fine_columns, top);
  int same = 1;
  for (int i = 1; i < 4; ++i) {
    const int2 next = start_at(start, plane, r + (i >> 1), c + (i & 1), columns, fine_rows, fine_columns, top);
    same = same && next.x == first.x && next.y == first.y;
  }
  return same;
}

// Appends 2 x 2 blocks to one list and single pixels to another: direction << 31 | row << 16 | column. Four single
// corners at the meeting point of four blocks also form a 2 x 2 block, if their starts are equal.
KERNEL WORK_GROUP(32, 8, 1) void choose(GLOBAL const uchar* RESTRICT level, GLOBAL const float2* RESTRICT start, int rows,
                                        int columns, int fine_rows, int fine_columns, GLOBAL uint* RESTRICT blocks,
                                        GLOBAL uint* RESTRICT singles, GLOBAL uint* RESTRICT counts, int first_count,
                                        int top) {
  LOCAL_ARRAY(uint, mine, 2);
  LOCAL_ARRAY(uint, base, 2);
  const int item = LOCAL_ID(1) * 32 + LOCAL_ID(0);
  if (item < 2) mine[item] = 0;
  BARRIER();
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1), z = (int)GROUP_ID(2);
  const ulong plane = (ulong)z * (ulong)rows * (ulong)columns;
  int mask = 0, block = 0;
  uint anchor = 0, place = 0;
  if (c < columns && r < rows) {
    mask = searched_in(r, c, level[plane + (ulong)r * (ulong)columns + (ulong)c], fine_rows, fine_columns);
    const int count = (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1);
    anchor = (uint)(2 * r) << 16 | (uint)(2 * c);
    if (BLOCKS && count >= LEAST_OF_A_BLOCK && 2 * r + 1 < fine_rows && 2 * c + 1 < fine_columns) {
      block = start_together(start, plane, 2 * r, 2 * c, columns, fine_rows, fine_columns, top);
    }
    if (BLOCKS && count == 1) {
      const int i = mask == 1 ? 0 : mask == 2 ? 1 : mask == 4 ? 2 : 3;
      const int y = 2 * r + (i >> 1) - ((i >> 1) ^ 1), x = 2 * c + (i & 1) - ((i & 1) ^ 1);  // first of the four pixels
      int together = y >= 0 && x >= 0 && y + 1 < fine_rows && x + 1 < fine_columns;
      for (int k = 0; together && k < 4; ++k) {
        const int py = y + (k >> 1), px = x + (k & 1), cy = py >> 1, cx = px >> 1;
        together = searched_in(cy, cx, level[plane + (ulong)cy * (ulong)columns + (ulong)cx], fine_rows, fine_columns) ==
                   1 << ((py & 1) * 2 + (px & 1));
      }
      together = together && start_together(start, plane, y, x, columns, fine_rows, fine_columns, top);
      if (together) {
        block = i == 3;  // the upper left cell appends the block for all four
        if (!block) mask = 0;
        anchor = (uint)y << 16 | (uint)x;
      }
    }
    if (mask) place = ATOMIC_ADD(&mine[block ? 0 : 1], (uint)(block ? 1 : count));
  }
  BARRIER();
  if (item < 2) base[item] = ATOMIC_ADD(&counts[first_count + item], mine[item]);
  BARRIER();
  if (!mask) return;
  place += base[block ? 0 : 1];
  anchor |= (uint)z << 31;
  if (block) {
    blocks[place] = anchor;
    return;
  }
  for (int i = 0; i < 4; ++i) {
    if (mask >> i & 1) singles[place++] = anchor + ((uint)(i >> 1) << 16) + (uint)(i & 1);
  }
}
