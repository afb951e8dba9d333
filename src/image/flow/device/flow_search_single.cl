// One pixel per work-item. Rows of the other picture are loaded once; SIDE rows of candidates are accumulated at a
// time.
KERNEL WORK_GROUP(128, 1, 1)
void search_single(GLOBAL const uint* RESTRICT first, GLOBAL const uint* RESTRICT second, ulong picture, int rows,
                   int columns, int pitch, GLOBAL const float2* RESTRICT start, int top, GLOBAL const uint* RESTRICT list,
                   GLOBAL const uint* RESTRICT counts, int own_count, GLOBAL float2* RESTRICT flow) {
  const int coarse_rows = (rows + 1) / 2, coarse_columns = (columns + 1) / 2;
  const uint count = counts[own_count];
  for (uint k = GLOBAL_ID(0); k < count; k += GROUPS(0) * 128u) {
    const uint entry = list[k];
    const int z = (int)(entry >> 31), r = (int)(entry >> 16 & 0x7fff), c = (int)(entry & 0xffff);
    GLOBAL const uint* from = (z ? second : first) + picture;
    GLOBAL const uint* to = (z ? first : second) + picture;
    const int2 guess = first_guess(start, z, r, c, coarse_rows, coarse_columns, rows, columns, top);
    uint own[SIDE * SIDE];
    float w[SIDE * SIDE];
    UNROLL
    for (int i = 0; i < SIDE * SIDE; ++i) {
      own[i] = LOAD_CACHED(from + padded_cell(r + i / SIDE - RADIUS, c + i % SIDE - RADIUS, pitch));
    }
    UNROLL
    for (int i = 0; i < SIDE * SIDE; ++i) {
      w[i] = scaled(weight_of(squares_of(own[SIDE * SIDE / 2], own[i], 0u), i / SIDE - RADIUS, i % SIDE - RADIUS));
    }
    float sums[SIDE][ACROSS];
    UNROLL
    for (int j = 0; j < SIDE; ++j) {
      UNROLL
      for (int v = 0; v < ACROSS; ++v) sums[j][v] = 0.0f;
    }
    float least = 3.402823466e+38f;
    int best = REACH * ACROSS + REACH;
    const int above = r + guess.x - REACH, left = c + guess.y - REACH;
    GLOBAL const uint* row = to + padded_cell(above - RADIUS, left - RADIUS, pitch);
    for (int m = 0; m < ACROSS + SIDE - 1; ++m, row += pitch) {
      uint cells[ACROSS + SIDE - 1];
      UNROLL
      for (int x = 0; x < ACROSS + SIDE - 1; ++x) cells[x] = LOAD_CACHED(row + x);
      UNROLL
      for (int j = 0; j < SIDE; ++j) {
        const int u = m - (SIDE - 1) + j;  // this is row SIDE - 1 - j of the window of candidate row u
        if (u >= 0 && u < ACROSS) {
          UNROLL
          for (int x = 0; x < SIDE; ++x) {
            UNROLL
            for (int v = 0; v < ACROSS; ++v) {
              const int cell = (SIDE - 1 - j) * SIDE + x;
              sums[j][v] = FMA(w[cell], squares_as_float(own[cell], cells[v + x]), sums[j][v]);
            }
          }
        }
      }
      const int u = m - (SIDE - 1);
      if (u >= 0 && above + u >= 0 && above + u < rows) {
        UNROLL
        for (int v = 0; v < ACROSS; ++v) {
          const int better = sums[0][v] < least || (v == REACH && u == REACH && sums[0][v] == least);
          if (better && left + v >= 0 && left + v < columns) {
            least = sums[0][v];
            best = u * ACROSS + v;
          }
        }
      }
      UNROLL
      for (int j = 0; j < SIDE - 1; ++j) {
        UNROLL
        for (int v = 0; v < ACROSS; ++v) sums[j][v] = sums[j + 1][v];
      }
      UNROLL
      for (int v = 0; v < ACROSS; ++v) sums[SIDE - 1][v] = 0.0f;
    }
    flow[((ulong)z * (ulong)rows + (ulong)r) * (ulong)columns + (ulong)c] =
        make_float2((float)(guess.x - REACH + best / ACROSS), (float)(guess.y - REACH + best % ACROSS));
  }
}
