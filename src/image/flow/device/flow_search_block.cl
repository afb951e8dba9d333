// One block of 2 x 2 pixels per work-item: the squared differences of (SIDE + 1)^2 cells are shared by four windows.
KERNEL WORK_GROUP(64, 1, 1)
void search_block(GLOBAL const uint* RESTRICT first, GLOBAL const uint* RESTRICT second, ulong picture, int rows,
                  int columns, int pitch, GLOBAL const float2* RESTRICT start, int top, GLOBAL const uint* RESTRICT list,
                  GLOBAL const uint* RESTRICT counts, int own_count, GLOBAL float2* RESTRICT flow) {
  const int coarse_rows = (rows + 1) / 2, coarse_columns = (columns + 1) / 2;
  const uint count = counts[own_count];
  for (uint k = GLOBAL_ID(0); k < count; k += GROUPS(0) * 64u) {
    const uint entry = list[k];
    const int z = (int)(entry >> 31), r = (int)(entry >> 16 & 0x7fff), c = (int)(entry & 0xffff);
    GLOBAL const uint* from = (z ? second : first) + picture;
    GLOBAL const uint* to = (z ? first : second) + picture;
    const int2 guess = first_guess(start, z, r, c, coarse_rows, coarse_columns, rows, columns, top);
    GLOBAL const uint* mine = from + padded_cell(r - RADIUS, c - RADIUS, pitch);
    float w[4][SIDE * SIDE];
    UNROLL
    for (int i = 0; i < 4; ++i) {
      const uint centre = LOAD_CACHED(mine + (i / 2 + RADIUS) * pitch + i % 2 + RADIUS);
      UNROLL
      for (int n = 0; n < SIDE * SIDE; ++n) {
        const uint other = LOAD_CACHED(mine + (i / 2 + n / SIDE) * pitch + i % 2 + n % SIDE);
        w[i][n] = scaled(weight_of(squares_of(centre, other, 0u), n / SIDE - RADIUS, n % SIDE - RADIUS));
      }
    }
    float least[4];
    int best[4];
    UNROLL
    for (int i = 0; i < 4; ++i) {
      least[i] = 3.402823466e+38f;
      best[i] = REACH * ACROSS + REACH;
    }
    const int above = r + guess.x - REACH, left = c + guess.y - REACH;
    const int inside = above >= 0 && left >= 0 && above + ACROSS < rows && left + ACROSS < columns;
    GLOBAL const uint* corner = to + padded_cell(above - RADIUS, left - RADIUS, pitch);
    for (int u = 0; u < ACROSS; ++u, corner += pitch) {
      float sums[4][ACROSS];
      UNROLL
      for (int i = 0; i < 4; ++i) {
        UNROLL
        for (int v = 0; v < ACROSS; ++v) sums[i][v] = 0.0f;
      }
      UNROLL
      for (int y = 0; y <= SIDE; ++y) {
        uint own[SIDE + 1], cells[SIDE + ACROSS];
        UNROLL
        for (int x = 0; x <= SIDE; ++x) own[x] = LOAD_CACHED(mine + y * pitch + x);
        UNROLL
        for (int x = 0; x < SIDE + ACROSS; ++x) cells[x] = LOAD_CACHED(corner + y * pitch + x);
        UNROLL
        for (int x = 0; x <= SIDE; ++x) {
          UNROLL
          for (int v = 0; v < ACROSS; ++v) {
            const float d = squares_as_float(own[x], cells[v + x]);
            if (y < SIDE && x < SIDE) sums[0][v] = FMA(w[0][y * SIDE + x], d, sums[0][v]);
            if (y < SIDE && x > 0) sums[1][v] = FMA(w[1][y * SIDE + x - 1], d, sums[1][v]);
            if (y > 0 && x < SIDE) sums[2][v] = FMA(w[2][(y - 1) * SIDE + x], d, sums[2][v]);
            if (y > 0 && x > 0) sums[3][v] = FMA(w[3][(y - 1) * SIDE + x - 1], d, sums[3][v]);
          }
        }
      }
      if (inside) {
        UNROLL
        for (int i = 0; i < 4; ++i) {
          UNROLL
          for (int v = 0; v < ACROSS; ++v) {
            if (sums[i][v] < least[i] || (v == REACH && u == REACH && sums[i][v] == least[i])) {
              least[i] = sums[i][v];
              best[i] = u * ACROSS + v;
            }
          }
        }
      } else {
        UNROLL
        for (int i = 0; i < 4; ++i) {
          const int row = above + i / 2 + u;
          if (row >= 0 && row < rows) {
            UNROLL
            for (int v = 0; v < ACROSS; ++v) {
              const int column = left + i % 2 + v;
              const int better = sums[i][v] < least[i] || (v == REACH && u == REACH && sums[i][v] == least[i]);
              if (better && column >= 0 && column < columns) {
                least[i] = sums[i][v];
                best[i] = u * ACROSS + v;
              }
            }
          }
        }
      }
    }
    // Pixels of the block that are not in the list are overwritten later by the fill stage.
    UNROLL
    for (int i = 0; i < 4; ++i) {
      flow[((ulong)z * (ulong)rows + (ulong)(r + i / 2)) * (ulong)columns + (ulong)(c + i % 2)] =
          make_float2((float)(guess.x - REACH + best[i] / ACROSS), (float)(guess.y - REACH + best[i] % ACROSS));
    }
  }
}
