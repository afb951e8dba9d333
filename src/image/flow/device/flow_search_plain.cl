// One pixel per work-item, one candidate at a time: for windows and reaches of any size, and devices whose compilers
// cannot keep many values in registers.
KERNEL WORK_GROUP(64, 1, 1)
void search_single(GLOBAL const uint* RESTRICT first, GLOBAL const uint* RESTRICT second, ulong picture, int rows,
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
    const uint centre = LOAD_CACHED(mine + RADIUS * pitch + RADIUS);
    float w[SIDE * SIDE];
    for (int i = 0; i < SIDE; ++i) {
      for (int j = 0; j < SIDE; ++j) {
        w[i * SIDE + j] = weight_of(squares_of(centre, LOAD_CACHED(mine + i * pitch + j), 0u), i - RADIUS, j - RADIUS);
      }
    }
    float least = 3.402823466e+38f;
    int best_u = guess.x, best_v = guess.y;
    for (int u = most_of(guess.x - REACH, -r); u <= least_of(guess.x + REACH, rows - 1 - r); ++u) {
      for (int v = most_of(guess.y - REACH, -c); v <= least_of(guess.y + REACH, columns - 1 - c); ++v) {
        GLOBAL const uint* theirs = to + padded_cell(r + u - RADIUS, c + v - RADIUS, pitch);
        float cost = 0.0f;
        for (int i = 0; i < SIDE; ++i) {
          for (int j = 0; j < SIDE; ++j) {
            const float d = (float)squares_of(LOAD_CACHED(mine + i * pitch + j), LOAD_CACHED(theirs + i * pitch + j), 0u);
            cost = FMA(w[i * SIDE + j], d, cost);
          }
        }
        if (cost < least || (cost == least && u == guess.x && v == guess.y)) {
          least = cost;
          best_u = u;
          best_v = v;
        }
      }
    }
    flow[((ulong)z * (ulong)rows + (ulong)r) * (ulong)columns + (ulong)c] = make_float2((float)best_u, (float)best_v);
  }
}
