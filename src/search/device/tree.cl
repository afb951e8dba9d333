// One pass of a dedispersion tree. A work-group computes some rows of one tile of times. It loads the input rows they
// need into local memory, four samples at a time, and adds RADIX of them per row. Table entries:
//   groups[g] = (first fill, fills, first row, rows)
//   fills[i]  = (input row, delay of its first sample, samples, position in local memory), the last three multiples of 4
//   places    = per row RADIX positions in local memory; position TILE_WORDS is zeros, for rows with fewer terms
//
// Samples of 32 bits take one word each. Those of 8 or 16 bits are stored twice, in pairs: first the pairs that begin with
// an even sample, then those that begin with an odd one. So any pair is one word, and one addition adds two samples.
#define PACKED (IN_BYTES <= 2)
#if IN_BYTES == 1
typedef uint2 quad;
#define QUAD_OF_ZEROS make_uint2(0u, 0u)
#define QUAD_OF(x, y, z, w) make_uint2((x) | (uint)(y) << 16, (z) | (uint)(w) << 16)
FUNCTION quad four(GLOBAL const uchar* p) {
  const uint w = *(GLOBAL const uint*)p;
  return QUAD_OF(w & 255u, w >> 8 & 255u, w >> 16 & 255u, w >> 24);
}
#elif IN_BYTES == 2
typedef uint2 quad;
#define QUAD_OF_ZEROS make_uint2(0u, 0u)
FUNCTION quad four(GLOBAL const ushort* p) { return *(GLOBAL const uint2*)p; }
#else
typedef uint4 quad;
#define QUAD_OF_ZEROS make_uint4(0u, 0u, 0u, 0u)
FUNCTION quad four(GLOBAL const uint* p) { return *(GLOBAL const uint4*)p; }
#endif

// Stores samples p to p + 3 of a fill of `samples` samples.
FUNCTION void store_four(LOCAL uint* to, int p, int samples, quad v) {
#if PACKED
  LOCAL ushort* const odd = (LOCAL ushort*)(to + samples / 2);
  *(LOCAL uint2*)(to + p / 2) = v;
  if (p > 0) odd[p - 1] = (ushort)v.x;
  *(LOCAL uint*)(odd + p) = v.x >> 16 | v.y << 16;
  odd[p + 2] = (ushort)(v.y >> 16);
#else
  *(LOCAL uint4*)(to + p) = v;
#endif
}

// Samples AT_ONCE * i and those behind it are written by work-item i of 32.
#define AT_ONCE (PACKED ? 2 : 1)

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
      quad now[4];
      UNROLL for (int k = 0; k < 4; ++k) {
        const int p = q + 128 * k;
        now[k] = QUAD_OF_ZEROS;
#if ALIGNED
        if (p < fill.z && begin + p < in_stride) now[k] = four(from + p);
#else
        uint part[4];
        UNROLL for (int j = 0; j < 4; ++j) part[j] = p < fill.z && begin + p + j < in_stride ? from[p + j] : 0u;
        now[k] = QUAD_OF(part[0], part[1], part[2], part[3]);
#endif
      }
      UNROLL for (int k = 0; k < 4; ++k) {
        if (q + 128 * k < fill.z) store_four(tile + fill.w, q + 128 * k, fill.z, now[k]);
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
    GLOBAL OUT* to = out + (ulong)row * out_stride + t0 + AT_ONCE * lane;
    const bool whole = t0 + TIMES <= length;
    UNROLL for (int q = 0; q < TIMES / AT_ONCE; q += 32) {
      const bool here = whole || t0 + AT_ONCE * (q + lane) < length;
#if !PACKED
      uint sum = 0;
      UNROLL for (int j = 0; j < RADIX; ++j) sum += tile[at[j] + q];
      if (here) to[q] = (OUT)sum;
#elif OUT_BYTES == 2
      // Rows of a level have an even number of samples in memory: the second sample may be behind the last one.
      uint sum = 0;
      UNROLL for (int j = 0; j < RADIX; ++j) sum += tile[at[j] + q];
      if (here) *(GLOBAL uint*)(to + 2 * q) = sum;
#else
      // raw = first sums + 2^16 * second sums, exact modulo 2^32
      uint raw = 0, second = 0;
      UNROLL for (int j = 0; j < RADIX; ++j) {
        const uint pair = tile[at[j] + q];
        raw += pair;
        second += pair >> 16;
      }
      const uint first = raw - (second << 16);
#if OUT_PAIRS
      if (here) *(GLOBAL OUT_PAIR*)(to + 2 * q) = MAKE_PAIR((OUT)first, (OUT)second);
#else
      if (here) to[2 * q] = (OUT)first;
      if (whole || t0 + 2 * (q + lane) + 1 < length) to[2 * q + 1] = (OUT)second;
#endif
#endif
    }
  }
}
