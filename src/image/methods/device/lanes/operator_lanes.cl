// Separable filter of float images. A lane loads four neighbouring values of ROWS_HERE rows at once. The vertical pass uses
// registers, the horizontal pass reads other lanes' sums by shuffles. Sub-groups of a group are stacked vertically, so that
// shared rows are read from memory once. STEP 2 keeps every second pixel of every second row.
#define LEFT (ACROSS / 2 * CHANNELS)
#define RIGHT ((ACROSS - 1 - ACROSS / 2) * CHANNELS)
#define LENT_LEFT ((LEFT + 3) / 4)  // lanes that only provide neighbours
#define LENT_RIGHT ((RIGHT + 3) / 4)
#define OWN (32 - LENT_LEFT - LENT_RIGHT)
#define ABOVE (DOWN / 2)
#define ROWS_HERE (STEP * (ROWS_EACH - 1) + DOWN)

// Value d relative to the lane's first value; read from a lane to the left or right if d is outside 0 to 3.
#if SUB_GROUP_WIDTH == 32
FUNCTION float value_beside(const float* mine, const int d) {
  if (d < 0) return SHUFFLE_UP(mine[(d + 64) % 4], (3 - d) / 4);
  if (d > 3) return SHUFFLE_DOWN(mine[d % 4], d / 4);
  return mine[d & 3];
}
#endif

FUNCTION void store_kept(GLOBAL float* to, int x, int wide, const float* made, int aligned) {
#if STEP == 1
  store_up_to_four(to + x, made, wide - x, aligned);
#elif CHANNELS == 1
  if (aligned && x + 2 < wide) {
    *(GLOBAL float2*)(to + x / 2) = make_float2(made[0], made[2]);
  } else {
    to[x / 2] = made[0];
    if (x + 2 < wide) to[x / 2 + 1] = made[2];
  }
#else
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const int pixel = (x + k) / CHANNELS;
    if (pixel % 2 == 0 && x + k < wide) to[x + k - pixel / 2 * CHANNELS] = made[k];
  }
#endif
}

KERNEL WORK_GROUP_RESIDENT(32 * SUB_GROUPS, 1, 1, RESIDENT)
void lanes(GLOBAL const float* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL float* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int in_vec4, int out_vec4) {
#if SUB_GROUP_WIDTH != 32
  LOCAL_ARRAY(float, exchanged, 128);
#endif
  const int wide = columns * CHANNELS, strips = (wide + 4 * OWN - 1) / (4 * OWN), lane = LOCAL_ID(0) & 31;
  const int block = (int)GROUP_ID(0) / strips, strip = (int)GROUP_ID(0) - block * strips;
  const int top = (block * SUB_GROUPS + LOCAL_ID(0) / 32) * ROWS_EACH, x = 4 * (OWN * strip + lane - LENT_LEFT);
  const int out_rows = (rows + STEP - 1) / STEP, from = STEP * top - ABOVE;
#if SUB_GROUPS > 1
  if (top >= out_rows) return;  // a surplus sub-group; one sub-group per group has barriers below, and none is surplus
#endif
  const int inside = in_vec4 && x >= 0 && x + 4 <= wide;
  int places[4];
  if (!inside) find_places(x, columns, places);
  float v[4 * ROWS_HERE];
  GLOBAL const float* in = image + in_offset;
  if (from >= 0 && from + ROWS_HERE <= rows) {
    GLOBAL const float* line = in + (ulong)from * in_pitch;
    if (inside) {
      line += x;
      UNROLL
      for (int r = 0; r < ROWS_HERE; ++r) {
        load_vec4(line, v + 4 * r);
        line += in_pitch;
      }
    } else {
      UNROLL
      for (int r = 0; r < ROWS_HERE; ++r) {
        load_places(line, places, v + 4 * r);
        line += in_pitch;
      }
    }
  } else {
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      const int row = BORDERED(from + r, rows);
      GLOBAL const float* line = in + (ulong)(row < 0 ? 0 : row) * in_pitch;
      if (row < 0) {
        UNROLL
        for (int k = 0; k < 4; ++k) v[4 * r + k] = BEYOND;
      } else if (inside) {
        load_vec4(line + x, v + 4 * r);
      } else {
        load_places(line, places, v + 4 * r);
      }
    }
  }
  const int stored = lane >= LENT_LEFT && lane < 32 - LENT_RIGHT && x < wide;
  GLOBAL float* to = result + out_offset + (ulong)top * out_pitch;
  UNROLL
  for (int o = 0; o < ROWS_EACH; ++o) {
    float mine[4];
    UNROLL
    for (int k = 0; k < 4; ++k) {
      mine[k] = down_weights[0] * v[4 * STEP * o + k];
      UNROLL
      for (int j = 1; j < DOWN; ++j) mine[k] = FMA(down_weights[j], v[4 * (STEP * o + j) + k], mine[k]);
    }
    float near[LEFT + 4 + RIGHT];
#if SUB_GROUP_WIDTH == 32
    UNROLL
    for (int i = 0; i < LEFT + 4 + RIGHT; ++i) near[i] = value_beside(mine, i - LEFT);
#else
    UNROLL
    for (int k = 0; k < 4; ++k) exchanged[4 * lane + k] = mine[k];
    BARRIER();
    UNROLL
    for (int i = 0; i < LEFT + 4 + RIGHT; ++i) {
      const int at = 4 * lane + i - LEFT;
      near[i] = exchanged[at < 0 ? 0 : at < 128 ? at : 127];
    }
#endif
    float made[4];
    UNROLL
    for (int k = 0; k < 4; ++k) {
      made[k] = across_weights[0] * near[k];
      UNROLL
      for (int j = 1; j < ACROSS; ++j) made[k] = FMA(across_weights[j], near[k + j * CHANNELS], made[k]);
    }
    if (stored && top + o < out_rows) store_kept(to, x, wide, made, out_vec4);
    to += out_pitch;
#if SUB_GROUP_WIDTH != 32
    BARRIER();
#endif
  }
}
