// Selects and fills points in the scan order of the SimpleFlow paper. A block begins where the scan finds an uncovered
// cell, and later blocks start from values that earlier ones filled.
// A block is at most `lag` wide and high, so a row may proceed while the row above is at least `lag` columns ahead: at
// step t, row r is at column t - lag * r, and the rows of one step touch disjoint cells. One work-group per direction.
// A level's byte holds the level of the cell's block in the lower four bits and the cell's searched pixels in the upper
// four, as bit 4 + 2 * row + column.

#define ROWS_AT_ONCE 256

// First and last active row at step t.
FUNCTION int first_row(int t, int columns, int lag) { return t < columns ? 0 : (t - columns) / lag + 1; }
FUNCTION int last_row(int t, int rows, int lag) { return least_of(t / lag, rows - 1); }

FUNCTION void grow_at(GLOBAL uchar* cells, GLOBAL const uchar* coarse, GLOBAL uchar* out, int r, int c, int rows, int columns,
                      int fine_rows, int fine_columns) {
  const int here = cells[(ulong)r * (ulong)columns + (ulong)c];
  if (here & 2) return;
  const int own = coarse[(ulong)(r >> 1) * (ulong)((columns + 1) / 2) + (ulong)(c >> 1)] & 15;
  int all = here != 0 && 2 * r + 1 < fine_rows && 2 * c + 1 < fine_columns;
  const int step = all ? (1 << own) - 1 : 0;
  const int bottom = least_of(r + step, rows - 1), right = least_of(c + step, columns - 1);
  for (int y = r; y <= bottom; ++y) {
    for (int x = c; x <= right; ++x) {
      const ulong at = (ulong)y * (ulong)columns + (ulong)x;
      all = all && (cells[at] & 1);
      cells[at] |= 2;
    }
  }
  for (int y = r; y <= bottom; ++y) {
    for (int x = c; x <= right; ++x) {
      const ulong at = (ulong)y * (ulong)columns + (ulong)x;
      out[at] = (uchar)(all ? (out[at] & 0xf0) | (own + 1) : out[at] | 0xf0);
    }
  }
  if (!all) return;
  const int last = least_of(2 * (r + step) + 1, fine_rows - 1), end = least_of(2 * (c + step) + 1, fine_columns - 1);
  for (int i = 0; i < 4; ++i) {
    const int y = i & 2 ? last : 2 * r, x = i & 1 ? end : 2 * c;
    out[(ulong)(y >> 1) * (ulong)columns + (ulong)(x >> 1)] |= (uchar)(16 << (2 * (y & 1) + (x & 1)));
  }
}

// Bits of is_regular: 1 regular, 2 covered. `level` must be zeroed.
KERNEL WORK_GROUP(ROWS_AT_ONCE, 1, 1) void grow_in_order(GLOBAL uchar* RESTRICT is_regular,
                                                         GLOBAL const uchar* RESTRICT coarse_level,
                                                         GLOBAL uchar* RESTRICT level, int rows, int columns,
                                                         int fine_rows, int fine_columns, int lag) {
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const ulong half_plane = (ulong)GROUP_ID(2) * (ulong)((rows + 1) / 2) * (ulong)((columns + 1) / 2);
  const int steps = columns + lag * (rows - 1);
  for (int t = 0; t < steps; ++t) {
    const int last = last_row(t, rows, lag);
    for (int r = first_row(t, columns, lag) + (int)LOCAL_ID(0); r <= last; r += ROWS_AT_ONCE) {
      grow_at(is_regular + plane, coarse_level + half_plane, level + plane, r, t - lag * r, rows, columns, fine_rows,
              fine_columns);
    }
    BARRIER_GLOBAL();
  }
}

// Upscales the coarse flow to the start of every pixel; searched pixels replace it, and blocks may begin from it.
KERNEL WORK_GROUP(32, 8, 1) void upscale_start(GLOBAL const float2* RESTRICT start, GLOBAL float2* RESTRICT flow, int rows,
                                        int columns) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  const ulong half_plane = (ulong)((rows + 1) / 2) * (ulong)((columns + 1) / 2);
  const float2 coarse =
      start[(ulong)GROUP_ID(2) * half_plane + (ulong)(r >> 1) * (ulong)((columns + 1) / 2) + (ulong)(c >> 1)];
  flow[((ulong)GROUP_ID(2) * (ulong)rows + (ulong)r) * (ulong)columns + (ulong)c] =
      make_float2(2.0f * coarse.x, 2.0f * coarse.y);
}

FUNCTION void fill_at(GLOBAL float2* flow, GLOBAL const uchar* level, GLOBAL uchar* covered, int r, int c, int rows,
                      int columns) {
  const int own = level[(ulong)(r >> 1) * (ulong)((columns + 1) / 2) + (ulong)(c >> 1)] & 15;
  if (own < 2 || covered[(ulong)r * (ulong)columns + (ulong)c]) return;
  const int bottom = least_of(r + (1 << own) - 1, rows - 1), right = least_of(c + (1 << own) - 1, columns - 1);
  const int height = bottom - r, width = right - c;
  const float2 a = flow[(ulong)r * (ulong)columns + (ulong)c], b = flow[(ulong)r * (ulong)columns + (ulong)right];
  const float2 d = flow[(ulong)bottom * (ulong)columns + (ulong)c];
  const float2 e = flow[(ulong)bottom * (ulong)columns + (ulong)right];
  for (int y = 0; y <= height; ++y) {
    for (int x = 0; x <= width; ++x) {
      const ulong at = (ulong)(r + y) * (ulong)columns + (ulong)(c + x);
      covered[at] = 1;
      if ((y == 0 || y == height) && (x == 0 || x == width)) continue;
      const float q = height == 0 ? 0.0f : (float)y / (float)height, p = 1.0f - q;
      const float s = width == 0 ? 0.0f : (float)x / (float)width, t = 1.0f - s;
      flow[at] = make_float2(a.x * p * t + b.x * p * s + d.x * q * t + e.x * s * q,
                             a.y * p * t + b.y * p * s + d.y * q * t + e.y * s * q);
    }
  }
}

// `done` must be zeroed.
KERNEL WORK_GROUP(ROWS_AT_ONCE, 1, 1) void fill_in_order(GLOBAL float2* RESTRICT flow, GLOBAL const uchar* RESTRICT level,
                                                         GLOBAL uchar* RESTRICT done, int rows, int columns, int lag) {
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const ulong half_plane = (ulong)GROUP_ID(2) * (ulong)((rows + 1) / 2) * (ulong)((columns + 1) / 2);
  const int steps = columns + lag * (rows - 1);
  for (int t = 0; t < steps; ++t) {
    const int last = last_row(t, rows, lag);
    for (int r = first_row(t, columns, lag) + (int)LOCAL_ID(0); r <= last; r += ROWS_AT_ONCE) {
      fill_at(flow + plane, level + half_plane, done + plane, r, t - lag * r, rows, columns);
    }
    BARRIER_GLOBAL();
  }
}
