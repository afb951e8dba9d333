// One pass of a dedispersion tree. A work-group makes some rows of one tile of times. It fetches the input rows they
// need to local memory, one word per sample, and adds RADIX of them per row. Table entries:
//   groups[g] = (first fill, fills, first row, rows)
//   fills[i]  = (input row, delay of its first sample, samples, position in local memory)
//   places    = per row RADIX positions in local memory; -1: no term
KERNEL WORK_GROUP(ITEMS_IN_GROUP, 1, 1) void tree_pass(GLOBAL const IN* RESTRICT in, GLOBAL OUT* RESTRICT out,
                                              GLOBAL const int4* RESTRICT groups, GLOBAL const int4* RESTRICT fills,
                                              GLOBAL const int* RESTRICT places, GLOBAL const uint* RESTRICT lengths,
                                              ulong in_stride, ulong out_stride) {
  LOCAL_BLOCK(uint, tile, TILE_WORDS);
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const int4 group = groups[GROUP_ID(0)];
  const ulong t0 = (ulong)GROUP_ID(1) * TIMES;
  for (int i = warp; i < group.y; i += ITEMS_IN_GROUP / 32) {
    const int4 fill = fills[group.x + i];
    GLOBAL const IN* from = in + (ulong)fill.x * in_stride;
    const ulong begin = t0 + (ulong)fill.y;
    for (int q = lane; q < fill.z; q += 32) tile[fill.w + q] = begin + q < in_stride ? (uint)from[begin + q] : 0u;
  }
  BARRIER();
  for (int i = warp; i < group.w; i += ITEMS_IN_GROUP / 32) {
    const uint row = group.z + i;
    const uint length = lengths[row];
    if (t0 >= length) continue;
    int at[RADIX];
    UNROLL for (int j = 0; j < RADIX; ++j) at[j] = places[row * RADIX + j];
    GLOBAL OUT* to = out + (ulong)row * out_stride + t0;
    for (int q = lane; q < TIMES && t0 + q < length; q += 32) {
      uint sum = 0;
      UNROLL for (int j = 0; j < RADIX; ++j) sum += at[j] >= 0 ? tile[at[j] + q] : 0u;
      to[q] = (OUT)sum;
    }
  }
}
