// Separable filter in one launch: a work-item sums four neighbouring channels of ROWS_EACH rows vertically, row by row as
// they are loaded, and reads its neighbours' sums from local memory for the horizontal pass. DOWN, ACROSS: numbers of
// weights. LEFT, RIGHT: work-items on either side that only provide sums.
#define ITEMS_HERE 128

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void stream(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL ELEMENT* RESTRICT result,
            ulong out_offset, ulong out_pitch, int rows, int columns, int in_vec4, int out_vec4) {
  LOCAL_ARRAY(float4, sums, ROWS_EACH * ITEMS_HERE);
  const int item = LOCAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH;
  const int first = 4 * ((int)GROUP_ID(0) * (ITEMS_HERE - LEFT - RIGHT) + item - LEFT), wide = columns * CHANNELS;
  const int inside = in_vec4 && first >= 0 && first + 3 < wide;
  GLOBAL const ELEMENT* in = image + in_offset;
  int places[4];
  find_places(first, columns, places);
  float own[ROWS_EACH * 4];
  UNROLL
  for (int k = 0; k < ROWS_EACH * 4; ++k) own[k] = 0.0f;
  UNROLL
  for (int i = 0; i < ROWS_EACH + DOWN - 1; ++i) {
    const int row = BORDERED(top + i - DOWN / 2, rows);
    float v[4];
    if (row < 0) {
      UNROLL
      for (int k = 0; k < 4; ++k) v[k] = BEYOND;
    } else if (inside) {
      load_vec4(in + (ulong)row * in_pitch + first, v);
    } else {
      load_places(in + (ulong)row * in_pitch, places, v);
    }
    UNROLL
    for (int r = 0; r < ROWS_EACH; ++r) {
      if (i - r >= 0 && i - r < DOWN) {
        UNROLL
        for (int k = 0; k < 4; ++k) own[r * 4 + k] = FMA(down_weights[i - r], v[k], own[r * 4 + k]);
      }
    }
  }
  UNROLL
  for (int r = 0; r < ROWS_EACH; ++r) {
    sums[r * ITEMS_HERE + item] = make_float4(own[r * 4], own[r * 4 + 1], own[r * 4 + 2], own[r * 4 + 3]);
  }
  BARRIER();
  if (item < LEFT || item >= ITEMS_HERE - RIGHT || first >= wide) return;
  UNROLL
  for (int r = 0; r < ROWS_EACH; ++r) {
    if (top + r >= rows) return;
    float line[(LEFT + 1 + RIGHT) * 4], v[4];
    UNROLL
    for (int b = 0; b < LEFT + 1 + RIGHT; ++b) {
      const float4 some = sums[r * ITEMS_HERE + item - LEFT + b];
      line[b * 4] = some.x;
      line[b * 4 + 1] = some.y;
      line[b * 4 + 2] = some.z;
      line[b * 4 + 3] = some.w;
    }
    UNROLL
    for (int k = 0; k < 4; ++k) {
      v[k] = 0.0f;
      UNROLL
      for (int j = 0; j < ACROSS; ++j)
        v[k] = FMA(across_weights[j], line[LEFT * 4 + k + (j - ACROSS / 2) * CHANNELS], v[k]);
    }
    store_up_to_four(result + out_offset + (ulong)(top + r) * out_pitch + first, v, wide - first, out_vec4);
  }
}
