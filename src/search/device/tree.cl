// One pass of a dedispersion tree. A work-group computes some rows of one tile of times. It loads the input rows they
// need into local memory, and adds up to RADIX of them per row. Table entries:
//   groups[g] = (first fill, fills, first row, rows)
//   fills[i]  = (input row, delay of its first sample, samples, position in local memory); the second and third are
//               multiples of 8, the last of 4
//   places    = per row RADIX positions in local memory, in words: terms with an even shift, then those with an odd one
//   counts    = per row the number of terms with an even shift, and of all
//
// Samples of 32 bits take one word each; all their shifts count as even. Samples of 8 or 16 bits are stored in pairs,
// so one addition adds two samples. A term with an odd shift begins with the second sample of a pair. Such terms are added
// as they are stored; their sum is shifted by one sample once per row: the second half of a word and the first half of
// the next one, which the next work-item has.
#define PACKED (IN_BYTES <= 2)
#define AT_ONCE (PACKED ? 2 : 1)              // samples per word
#define WORDS_EACH (TIMES / (32 * AT_ONCE))  // words of a row per work-item

#if IN_BYTES == 1
// Samples p to p + 7 of a row as pairs.
FUNCTION void store_eight(LOCAL uint* to, GLOBAL const uchar* from, ulong left) {
#if ALIGNED
  uint2 v = make_uint2(0u, 0u);
  if (left > 0) v = *(GLOBAL const uint2*)from;
#else
  uint part[2] = {0u, 0u};
  UNROLL for (int j = 0; j < 8; ++j) part[j / 4] |= (uint)j < left ? (uint)from[j] << 8 * (j % 4) : 0u;
  const uint2 v = make_uint2(part[0], part[1]);
#endif
  *(LOCAL uint4*)to = make_uint4((v.x & 255u) | (v.x & 0xff00u) << 8, (v.x >> 16 & 255u) | (v.x >> 24) << 16,
                                 (v.y & 255u) | (v.y & 0xff00u) << 8, (v.y >> 16 & 255u) | (v.y >> 24) << 16);
}
#else
// Rows of a level have a multiple of 32 samples in memory, so 16 bytes are within the row or after it.
FUNCTION void store_eight(LOCAL uint* to, GLOBAL const IN* from, ulong left) {
  if (left == 0) {
    *(LOCAL uint4*)to = make_uint4(0u, 0u, 0u, 0u);
#if !PACKED
    *(LOCAL uint4*)(to + 4) = make_uint4(0u, 0u, 0u, 0u);
#endif
    return;
  }
  COPY_ASYNC_16(to, from);
#if !PACKED
  COPY_ASYNC_16(to + 4, from + 4);
#endif
}
#endif

#if SUB_GROUP_WIDTH == 32
// Word i of the next work-item, or word i + 1 of work-item 0.
#define NEXT(words, i) SHUFFLE(lane == 0 ? words[(i) + 1] : words[i], (lane + 1) % 32)
#define BEHIND 1
// The places of a row are loaded once, one per work-item.
#define LOAD_PLACES() const int mine = lane < RADIX ? at_places[lane] : 0
#define PLACE(j) SHUFFLE(mine, j)
#else
#define BEHIND 0
#define LOAD_PLACES()
#define PLACE(j) at_places[j]
#endif
#define UNROLL_PAIRS _Pragma("unroll 2")

KERNEL WORK_GROUP_RESIDENT(ITEMS_IN_GROUP, 1, 1, 2)
void tree_pass(GLOBAL const IN* RESTRICT in, GLOBAL OUT* RESTRICT out,
               GLOBAL const int4* RESTRICT groups, GLOBAL const int4* RESTRICT fills,
               GLOBAL const int* RESTRICT places, GLOBAL const int2* RESTRICT counts,
               GLOBAL const uint* RESTRICT lengths, ulong in_stride, ulong out_stride) {
  LOCAL_BLOCK(uint4, words, TILE_WORDS / 4);
  LOCAL uint* const tile = (LOCAL uint*)words;
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const int4 group = groups[GROUP_ID(0)];
  const ulong t0 = (ulong)GROUP_ID(1) * TIMES;
  for (int i = warp; i < group.y; i += ITEMS_IN_GROUP / 32) {
    const int4 fill = fills[group.x + i];
    const ulong begin = t0 + (ulong)fill.y;
    GLOBAL const IN* from = in + (ulong)fill.x * in_stride + begin;
    for (int q = 8 * lane; q < fill.z; q += 256)
      store_eight(tile + fill.w + q / AT_ONCE, from + q, begin + q < in_stride ? in_stride - begin - q : 0u);
  }
  COPY_ASYNC_COMMIT();
  COPY_ASYNC_WAIT(0);
  BARRIER();
  for (int i = warp; i < group.w; i += ITEMS_IN_GROUP / 32) {
    const uint row = group.z + i;
    const uint length = lengths[row];
    if (t0 >= length) continue;
    const int2 count = counts[row];
    GLOBAL const int* at_places = places + row * RADIX;
    LOAD_PLACES();
    GLOBAL OUT* to = out + (ulong)row * out_stride + t0 + AT_ONCE * lane;
    const bool whole = t0 + TIMES <= length;
#if !PACKED
    uint sum[WORDS_EACH];
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) sum[k] = 0;
    UNROLL_PAIRS for (int j = 0; j < count.y; ++j) {
      LOCAL const uint* at = tile + PLACE(j) + lane;
      UNROLL for (int k = 0; k < WORDS_EACH; ++k) sum[k] += at[32 * k];
    }
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) {
      if (whole || t0 + 32 * k + lane < length) to[32 * k] = (OUT)sum[k];
    }
#else
    // Sums of words, and of their upper 16 bits if sums may exceed 16 bits. The sum of the lower 16 bits is then
    // word - (upper << 16), exact modulo 2^32.
    uint even[WORDS_EACH], odd[WORDS_EACH + 1];
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) even[k] = odd[k] = 0;
    odd[WORDS_EACH] = 0;
#if OUT_BYTES > 2
    uint even_second[WORDS_EACH], odd_second[WORDS_EACH];
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) even_second[k] = odd_second[k] = 0;
#define ADD_SECOND(sums, k, word) sums[k] += (word) >> 16
#define FIRST(sums, seconds, k) (sums[k] - (seconds[k] << 16))
#else
#define ADD_SECOND(sums, k, word)
#endif
#if !BEHIND
    uint next[WORDS_EACH];
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) next[k] = 0;
#endif
    UNROLL_PAIRS for (int j = 0; j < count.x; ++j) {
      LOCAL const uint* at = tile + PLACE(j) + lane;
      UNROLL for (int k = 0; k < WORDS_EACH; ++k) {
        const uint word = at[32 * k];
        even[k] += word;
        ADD_SECOND(even_second, k, word);
      }
    }
    UNROLL_PAIRS for (int j = count.x; j < count.y; ++j) {
      LOCAL const uint* at = tile + PLACE(j) + lane;
      UNROLL for (int k = 0; k < WORDS_EACH; ++k) {
        const uint word = at[32 * k];
        odd[k] += word;
        ADD_SECOND(odd_second, k, word);
#if !BEHIND
        next[k] += at[32 * k + 1] & 0xffffu;
#endif
      }
#if BEHIND
      odd[WORDS_EACH] += at[32 * WORDS_EACH - lane] & 0xffffu;
#endif
    }
#if BEHIND
    uint next[WORDS_EACH];
#if OUT_BYTES > 2
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) odd[k] = FIRST(odd, odd_second, k);
#endif
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) next[k] = NEXT(odd, k);
#endif
    UNROLL for (int k = 0; k < WORDS_EACH; ++k) {
      const ulong t = t0 + 64 * k + 2 * lane;
#if OUT_BYTES == 2
      // Rows of a level have an even number of samples in memory: the second sample may be after the last one.
      if (whole || t < length) *(GLOBAL uint*)(to + 64 * k) = even[k] + (odd[k] >> 16 | next[k] << 16);
#else
      const uint first = FIRST(even, even_second, k) + odd_second[k], second = even_second[k] + next[k];
#if OUT_PAIRS
      if (whole || t < length) *(GLOBAL OUT_PAIR*)(to + 64 * k) = MAKE_PAIR((OUT)first, (OUT)second);
#else
      if (whole || t < length) to[64 * k] = (OUT)first;
      if (whole || t + 1 < length) to[64 * k + 1] = (OUT)second;
#endif
#endif
    }
#endif
  }
}
