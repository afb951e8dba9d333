// One pass of a dedispersion tree. A work-group computes some rows of one tile of times. It loads the input rows they
// need into local memory, four samples at a time and one word per sample, and adds RADIX of them per row. Table entries:
//   groups[g] = (first fill, fills, first row, rows)
//   fills[i]  = (input row, delay of its first sample, samples, position in local memory), the last three multiples of 4
//   places    = per row RADIX positions in local memory; position TILE_WORDS is zeros, for rows with fewer terms
#if IN_BYTES == 1
FUNCTION uint4 four(GLOBAL const uchar* p) {
  const uint w = *(GLOBAL const uint*)p;
  return make_uint4(w & 255u, w >> 8 & 255u, w >> 16 & 255u, w >> 24);
}
#elif IN_BYTES == 2
FUNCTION uint4 four(GLOBAL const ushort* p) {
  const uint2 w = *(GLOBAL const uint2*)p;
  return make_uint4(w.x & 65535u, w.x >> 16, w.y & 65535u, w.y >> 16);
}
#else
FUNCTION uint4 four(GLOBAL const uint* p) { return *(GLOBAL const uint4*)p; }
#endif

KERNEL WORK_GROUP(ITEMS_IN_GROUP, 1, 1) void tree_pass(GLOBAL const IN* RESTRICT in, GLOBAL OUT* RESTRICT out,
                                              GLOBAL const int4* RESTRICT groups, GLOBAL const int4* RESTRICT fills,
                                              GLOBAL const int4* RESTRICT places, GLOBAL const uint* RESTRICT lengths,
                                              ulong in_stride, ulong out_stride) {
  LOCAL_BLOCK(uint4, words, (TILE_WORDS + TIMES) / 4);
  LOCAL uint* const tile = (LOCAL uint*)words;
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const int4 group = groups[GROUP_ID(0)];
  const ulong t0 = (ulong)GROUP_ID(1) * TIMES;
  for (int q = item; q < TIMES / 4; q += ITEMS_IN_GROUP) words[TILE_WORDS / 4 + q] = make_uint4(0u, 0u, 0u, 0u);
  for (int i = warp; i < group.y; i += ITEMS_IN_GROUP / 32) {
    const int4 fill = fills[group.x + i];
    const ulong begin = t0 + (ulong)fill.y;
    GLOBAL const IN* from = in + (ulong)fill.x * in_stride + begin;
    // Four loads in flight per work-item.
    for (int q = 4 * lane; q < fill.z; q += 512) {
      uint4 now[4];
      UNROLL for (int k = 0; k < 4; ++k) {
        const int p = q + 128 * k;
        now[k] = make_uint4(0u, 0u, 0u, 0u);
#if ALIGNED
        if (p < fill.z && begin + p < in_stride) now[k] = four(from + p);
#else
        if (p < fill.z && begin + p < in_stride) now[k].x = from[p];
        if (p < fill.z && begin + p + 1 < in_stride) now[k].y = from[p + 1];
        if (p < fill.z && begin + p + 2 < in_stride) now[k].z = from[p + 2];
        if (p < fill.z && begin + p + 3 < in_stride) now[k].w = from[p + 3];
#endif
      }
      UNROLL for (int k = 0; k < 4; ++k) {
        if (q + 128 * k < fill.z) words[(fill.w + q) / 4 + 32 * k] = now[k];
      }
    }
  }
  BARRIER();
  for (int i = warp; i < group.w; i += ITEMS_IN_GROUP / 32) {
    const uint row = group.z + i;
    const uint length = lengths[row];
    if (t0 >= length) continue;
    int at[RADIX];
    UNROLL for (int j = 0; j < RADIX; j += 4) {
      const int4 four_places = places[(row * RADIX + j) / 4];
      at[j] = four_places.x + lane, at[j + 1] = four_places.y + lane;
      at[j + 2] = four_places.z + lane, at[j + 3] = four_places.w + lane;
    }
    GLOBAL OUT* to = out + (ulong)row * out_stride + t0 + lane;
    if (t0 + TIMES <= length) {
      UNROLL for (int q = 0; q < TIMES; q += 32) {
        uint sum = 0;
        UNROLL for (int j = 0; j < RADIX; ++j) sum += tile[at[j] + q];
        to[q] = (OUT)sum;
      }
    } else {
      for (int q = 0; t0 + q + lane < length; q += 32) {
        uint sum = 0;
        UNROLL for (int j = 0; j < RADIX; ++j) sum += tile[at[j] + q];
        to[q] = (OUT)sum;
      }
    }
  }
}
