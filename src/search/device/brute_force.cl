// Dedispersion by brute force, four bytes at once. A work-group computes TRIALS trials x TIMES times. The tile of every
// channel is stored four times in local memory, each copy one byte later, so that one aligned word holds the four
// samples after any delay. `raw` adds whole words, `odd` the bytes 1 and 3 of each: the sums of bytes 0 and 2 are
// raw - (odd << 8), exact modulo 2^32 for up to 256 channels.
//
// A stage is STAGE channels. Each warp loads its channels of the next stage into registers, adds the current stage, and
// stores what it loaded into the other side of the tile.
#define TIMES (128 * WORDS)
#define TRIALS (WARPS * TRIALS_EACH)
#define ITEMS (32 * WARPS)
#define ROW_WORDS ((TIMES + DELAY_RANGE) / 4 + 2)
#define STAGE_WORDS (STAGE * (4 * ROW_WORDS + TRIALS))  // samples, then places
#define ROUNDS (STAGE / WARPS)                          // channels per warp and stage
#define LOADS ((ROW_WORDS + 31) / 32)                   // words per channel and work-item
#define EACH_DELAYS ((TRIALS + 31) / 32)                // delays per channel and work-item
// Sums of more than 256 channels: in local memory if it is large, to save registers.
#if WIDE_IN_LOCAL
#define WIDE_WORDS (16 * ITEMS * TRIALS_EACH * WORDS / 4)
#define WIDE(j, w, b) wide[((j) * WORDS + (w)) * 4 * ITEMS + (b) * ITEMS]
#else
#define WIDE_WORDS 0
#define WIDE(j, w, b) wide[((j) * WORDS + (w)) * 4 + (b)]
#endif

// Word `index` of the input; bytes after the end are zero.
FUNCTION uint input_word(GLOBAL const uchar* RESTRICT in, ulong index, ulong bytes) {
  if (4 * index + 4 <= bytes) return LOAD_CACHED((GLOBAL const uint*)in + index);
  uint word = 0;
  for (int k = 0; k < 4; ++k) {
    if (4 * index + k < bytes) word |= (uint)in[4 * index + k] << (8 * k);
  }
  return word;
}

// Loads the delays of this warp's channels of the stage that begins with channel `first`. They are used one stage
// later, when they have arrived.
#define LOAD_DELAYS(first)                                                                       \
  UNROLL for (int r = 0; r < ROUNDS; ++r) {                                                      \
    const uint c = (first) + r * WARPS + warp;                                                   \
    GLOBAL const int* of = delays + (ulong)(c < channels ? c : 0u) * padded_trials + first_trial; \
    later_first[r] = of[0];                                                                      \
    UNROLL for (int d = 0; d < EACH_DELAYS; ++d) later[r][d] = of[(32 * d + lane) % TRIALS];     \
  }

// Loads this warp's channels of that stage, and the word after each word. Uses the delays that were loaded before.
#define LOAD_STAGE(first)                                                                               \
  UNROLL for (int r = 0; r < ROUNDS; ++r) {                                                             \
    const uint c = (first) + r * WARPS + warp;                                                          \
    const ulong at = c < channels ? (ulong)c * row + t0 + (ulong)later_first[r] : 0;                    \
    before[r] = (int)(at % 4) - later_first[r];                                                         \
    UNROLL for (int d = 0; d < EACH_DELAYS; ++d) shifts[r][d] = c < channels ? later[r][d] + before[r] : 0; \
    GLOBAL const uint* from = (GLOBAL const uint*)in + at / 4 + lane;                                   \
    const bool inside = c < channels && at / 4 * 4 + 4 * (32 * LOADS + 1) <= bytes;                     \
    UNROLL for (int i = 0; i < LOADS; ++i) {                                                            \
      if (inside) {                                                                                     \
        next[r][i] = LOAD_CACHED(from + 32 * i);                                                        \
        beside[r][i] = LOAD_CACHED(from + 32 * i + 1);                                                  \
      } else {                                                                                          \
        next[r][i] = c < channels ? input_word(in, at / 4 + 32 * i + lane, bytes) : 0u;                 \
        beside[r][i] = c < channels ? input_word(in, at / 4 + 32 * i + lane + 1, bytes) : 0u;           \
      }                                                                                                 \
    }                                                                                                   \
  }

// Stores the loaded words in a side of the tile, and the places of each trial's samples.
#define STORE_STAGE(side)                                                                                      \
  UNROLL for (int r = 0; r < ROUNDS; ++r) {                                                                    \
    LOCAL uint* to = tile + (side) * STAGE_WORDS + (r * WARPS + warp) * 4 * ROW_WORDS;                         \
    LOCAL uint* place = tile + (side) * STAGE_WORDS + STAGE * 4 * ROW_WORDS + (r * WARPS + warp) * TRIALS;     \
    UNROLL for (int i = 0; i < LOADS; ++i) {                                                                   \
      if (32 * i + lane >= ROW_WORDS) continue;                                                                \
      to[32 * i + lane] = next[r][i];                                                                          \
      to[32 * i + lane + ROW_WORDS] = BYTE_PERMUTE(next[r][i], beside[r][i], 0x4321u);                         \
      to[32 * i + lane + 2 * ROW_WORDS] = BYTE_PERMUTE(next[r][i], beside[r][i], 0x5432u);                     \
      to[32 * i + lane + 3 * ROW_WORDS] = BYTE_PERMUTE(next[r][i], beside[r][i], 0x6543u);                     \
    }                                                                                                          \
    UNROLL for (int d = 0; d < EACH_DELAYS; ++d) {                                                             \
      const int shift = shifts[r][d];                                                                          \
      if (32 * d + lane < TRIALS)                                                                              \
        place[32 * d + lane] = (uint)((r * WARPS + warp) * 4 * ROW_WORDS + shift % 4 * ROW_WORDS + shift / 4); \
    }                                                                                                          \
  }

KERNEL WORK_GROUP(ITEMS, 1, 1) void dedisperse(GLOBAL const uchar* RESTRICT in, GLOBAL float* RESTRICT out,
                                               GLOBAL const int* RESTRICT delays, uint channels, uint trials,
                                               uint padded_trials, ulong times, ulong row) {
  LOCAL_BLOCK(uint4, memory, (2 * STAGE_WORDS + WIDE_WORDS) / 4);
  LOCAL uint* const tile = (LOCAL uint*)memory;
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const uint first_trial = GROUP_ID(1) * TRIALS;
  const ulong t0 = (ulong)GROUP_ID(0) * TIMES, bytes = (ulong)channels * row;
#if WIDE_IN_LOCAL
  LOCAL uint* const wide = tile + 2 * STAGE_WORDS + item;
#else
  uint wide[TRIALS_EACH * WORDS * 4];
#endif
  uint raw[TRIALS_EACH][WORDS], odd[TRIALS_EACH][WORDS], next[ROUNDS][LOADS], beside[ROUNDS][LOADS];
  UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
    UNROLL for (int w = 0; w < WORDS; ++w) {
      raw[j][w] = odd[j][w] = 0;
      UNROLL for (int b = 0; b < 4; ++b) WIDE(j, w, b) = 0;
    }
  }
  int later_first[ROUNDS], later[ROUNDS][EACH_DELAYS], before[ROUNDS], shifts[ROUNDS][EACH_DELAYS];
  LOAD_DELAYS(0u);
  LOAD_STAGE(0u);
  LOAD_DELAYS((uint)STAGE);
  STORE_STAGE(0);
  BARRIER();
  for (uint c0 = 0; c0 < channels; c0 += STAGE) {
    const int side = (int)(c0 / STAGE % 2);
    const bool more = c0 + STAGE < channels;
    if (more) {
      LOAD_STAGE(c0 + STAGE);
      LOAD_DELAYS(c0 + 2 * STAGE);
    }
    LOCAL const uint* const from = tile + side * STAGE_WORDS + lane;
    LOCAL const uint* const places = tile + side * STAGE_WORDS + STAGE * 4 * ROW_WORDS + warp * TRIALS_EACH;
    UNROLL for (int c = 0; c < STAGE; c += 2) {
      const uint4 one = *(LOCAL const uint4*)(places + c * TRIALS);
      const uint4 two = *(LOCAL const uint4*)(places + (c + 1) * TRIALS);
      const uint first[4] = {one.x, one.y, one.z, one.w}, second[4] = {two.x, two.y, two.z, two.w};
      UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
        UNROLL for (int w = 0; w < WORDS; ++w) {
          const uint a = from[first[j] + 32 * w], b = from[second[j] + 32 * w];
          raw[j][w] += a + b;
          odd[j][w] += BYTE_PERMUTE(a, 0u, 0x4341u) + BYTE_PERMUTE(b, 0u, 0x4341u);
        }
      }
    }
    if ((c0 + STAGE) % 256 == 0 || !more) {
      UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
        UNROLL for (int w = 0; w < WORDS; ++w) {
          const uint even = raw[j][w] - (odd[j][w] << 8);
          WIDE(j, w, 0) += even & 0xffffu;
          WIDE(j, w, 1) += odd[j][w] & 0xffffu;
          WIDE(j, w, 2) += even >> 16;
          WIDE(j, w, 3) += odd[j][w] >> 16;
          raw[j][w] = odd[j][w] = 0;
        }
      }
    }
    if (more) {
      STORE_STAGE(1 - side);
    }
    BARRIER();
  }
  UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
    const uint trial = first_trial + warp * TRIALS_EACH + j;
    if (trial >= trials) continue;
    UNROLL for (int w = 0; w < WORDS; ++w) {
      UNROLL for (int b = 0; b < 4; ++b) {
        const ulong t = t0 + w * 128 + lane * 4 + b;
        if (t < times) out[trial * times + t] = (float)WIDE(j, w, b);
      }
    }
  }
}
