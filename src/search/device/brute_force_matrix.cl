// Dedispersion by brute force on the matrix units. A trial with delay k in a channel adds that channel's samples from k on.
// For 8 trials and each of 4 consecutive output times (phases), that is a product of two matrices of bytes:
//   A[r][k] = sample 4 r + k of the channel; every fourth k begins an aligned word
//   S[k][d] = 1 if k is the delay of trial d plus the phase, otherwise 0
// Row r of the product of phase p is the output at time 4 r + p. Delays are counted from that of the first of the 8 trials,
// rounded down to a word, so 16 values of k are enough if the delays of the 8 trials are within 9 samples. One instruction
// multiplies two channels: rows 0 to 15 of its S are the k of the first channel, rows 16 to 31 those of the second.
//
// A work-group computes 8 * OCTETS trials per warp at TIMES times. A stage is STAGE channels, in one of three buffers.
// Table entry of a channel and trial: in bits 0 to 15 the word of the tile's row from which its 8 trials count their delays;
// from bit 16 on the trial's delay from that word, times 8 (in bits).
#define TIMES (64 * TILES)
#define WARP_TRIALS (8 * OCTETS)
#define TRIALS (WARP_TRIALS * WARPS)
#define WORK_ITEMS (32 * WARPS)
#define ROW_PAIRS ((16 * TILES + (SPREAD + 7) / 4 + 5) / 2)  // pairs of words per row
#define STAGE_WORDS (STAGE * (2 * ROW_PAIRS + TRIALS))       // samples, then table entries
#define ROUNDS (STAGE / WARPS)                               // channels per warp and stage
#define ENTRIES (STAGE * 2 * ROW_PAIRS)                      // position of the table entries
#if RIDGE_MATRIX
#define UNROLL_CHANNELS _Pragma("unroll 2")
#else
#define UNROLL_CHANNELS
#endif
#define LOADS ((ROW_PAIRS + 31) / 32)

// A word with its bit `at` set, 0 if there is no such bit.
FUNCTION uint bit_at(int at) { return (uint)at < 32u ? 1u << at : 0u; }

// Copies 8 bytes of the input; bytes beyond the end are zero.
FUNCTION void copy_pair(LOCAL uint* to, GLOBAL const uchar* RESTRICT in, ulong at, ulong bytes) {
  if (at + 8 <= bytes) {
    COPY_ASYNC_8(to, in + at);
    return;
  }
  uint both[2] = {0u, 0u};
  for (int k = 0; k < 8; ++k) {
    if (at + k < bytes) both[k / 4] |= (uint)in[at + k] << (8 * (k % 4));
  }
  to[0] = both[0], to[1] = both[1];
}

// Loads the delays at which this warp's rows of a stage begin. They are used one stage later, when the loads are complete.
#define LOAD_STARTS(first)                                                                    \
  UNROLL for (int r = 0; r < ROUNDS; ++r) {                                                   \
    const uint c = (first) + r * WARPS + warp;                                                \
    start[r] = c < channels ? starts[(ulong)c * GROUPS(1) + GROUP_ID(1)] : 0;                 \
  }

// Copies this warp's rows of a stage, and their table entries.
#define COPY_STAGE(first, side)                                                               \
  UNROLL for (int r = 0; r < ROUNDS; ++r) {                                                   \
    const uint within = r * WARPS + warp, c = (first) + within;                               \
    if (c >= padded_channels) continue;                                                       \
    LOCAL uint* const row_to = tile + (side) * STAGE_WORDS + within * 2 * ROW_PAIRS;          \
    const ulong at = c < channels ? ((ulong)c * row + t0 + (ulong)start[r]) / 8 * 8 : bytes;  \
    UNROLL for (int i = 0; i < LOADS; ++i) {                                                  \
      const int pair = 32 * i + lane;                                                         \
      if (pair < ROW_PAIRS) copy_pair(row_to + 2 * pair, in, at + 8 * pair, bytes);           \
    }                                                                                         \
    LOCAL uint* const table_to = tile + (side) * STAGE_WORDS + ENTRIES + within * TRIALS;     \
    GLOBAL const uint* const table_from = table + (ulong)c * padded_trials + first_trial;     \
    for (int i = 4 * lane; i < TRIALS; i += 128) COPY_ASYNC_16(table_to + i, table_from + i); \
  }

KERNEL WORK_GROUP_RESIDENT(WORK_ITEMS, 1, 1, RESIDENT)
void dedisperse_products(GLOBAL const uchar* RESTRICT in, GLOBAL float* RESTRICT out, GLOBAL const uint* RESTRICT table,
                         GLOBAL const int* RESTRICT starts, uint channels, uint padded_channels, uint trials,
                         uint padded_trials, ulong times, ulong row) {
  LOCAL_BLOCK(uint4, memory, 3 * STAGE_WORDS / 4 + (EMULATION_WORDS + 3) / 4);
  FRAGMENTS((LOCAL uint*)(memory + 3 * STAGE_WORDS / 4))
  LOCAL uint* const tile = (LOCAL uint*)memory;
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const uint first_trial = GROUP_ID(1) * TRIALS;
  const ulong t0 = (ulong)GROUP_ID(0) * TIMES, bytes = (ulong)channels * row;
  int sums[OCTETS][TILES][4][4], start[ROUNDS];
  UNROLL for (int i = 0; i < OCTETS * TILES * 16; ++i) sums[i / 16 / TILES][i / 16 % TILES][i / 4 % 4][i % 4] = 0;
  LOAD_STARTS(0u);
  COPY_STAGE(0u, 0);
  COPY_ASYNC_COMMIT();
  LOAD_STARTS((uint)STAGE);
  COPY_STAGE((uint)STAGE, 1);
  COPY_ASYNC_COMMIT();
  LOAD_STARTS(2u * STAGE);
  int side = 0;
  for (uint c0 = 0; c0 < channels; c0 += STAGE) {
    COPY_ASYNC_WAIT(1);
    BARRIER();
    COPY_STAGE(c0 + 2 * STAGE, (side + 2) % 3);
    COPY_ASYNC_COMMIT();
    LOAD_STARTS(c0 + 3 * STAGE);
    LOCAL const uint* const here = tile + side * STAGE_WORDS;
    LOCAL const uint* const entries = here + ENTRIES + warp * WARP_TRIALS + lane / 4;
    LOCAL const uint* const samples = here + lane / 4 + lane % 4;
    UNROLL_CHANNELS for (int c = 0; c < STAGE; c += 2) {
      uint a[TILES][4], base[2] = {0u, 0u};
      UNROLL_PRODUCTS for (int g = 0; g < OCTETS; ++g) {
        const uint one = entries[c * TRIALS + 8 * g], two = entries[(c + 1) * TRIALS + 8 * g];
        // The same in all lanes. Emulated products have barriers: without a branch between them PoCL needs no saved values.
        if (!RIDGE_MATRIX || g == 0 || base[0] != (one & 0xffffu) || base[1] != (two & 0xffffu)) {
          base[0] = one & 0xffffu, base[1] = two & 0xffffu;
          LOCAL const uint* const from = samples + 2 * c * ROW_PAIRS + base[0];
          LOCAL const uint* const next = samples + 2 * (c + 1) * ROW_PAIRS + base[1];
          UNROLL for (int m = 0; m < TILES; ++m) {
            a[m][0] = from[16 * m], a[m][1] = from[16 * m + 8];
            a[m][2] = next[16 * m], a[m][3] = next[16 * m + 8];
          }
        }
        // b0, b1: words of S for phase 0. Each further phase shifts in one more byte of the words before them.
        const int x = (int)(one >> 16) - 32 * (lane % 4), y = (int)(two >> 16) - 32 * (lane % 4);
        const uint b0 = bit_at(x), before0 = bit_at(x + 32), b1 = bit_at(y), before1 = bit_at(y + 32);
        UNROLL_PRODUCTS for (int p = 0; p < 4; ++p) {
          const uint moved = 0x3210u + 0x1111u * (uint)(4 - p);
          const uint first = BYTE_PERMUTE(before0, b0, moved), second = BYTE_PERMUTE(before1, b1, moved);
          UNROLL_PRODUCTS for (int m = 0; m < TILES; ++m)
            matrix_multiply_unsigned_bytes(sums[g][m][p], a[m][0], a[m][1], a[m][2], a[m][3], first, second);
        }
      }
    }
    side = side == 2 ? 0 : side + 1;
  }
  // A work-item holds 4 consecutive output times of two trials, in two rows of every product.
  UNROLL for (int g = 0; g < OCTETS; ++g) {
    UNROLL for (int d = 0; d < 2; ++d) {
      const uint trial = first_trial + warp * WARP_TRIALS + 8 * g + 2 * (lane % 4) + d;
      if (trial >= trials) continue;
      UNROLL for (int k = 0; k < 2 * TILES; ++k) {
        const ulong t = t0 + 32 * k + 4 * (lane / 4);
        GLOBAL float* const to = out + trial * times + t;
        const int i = d + k % 2 * 2;
        if (times % 4 == 0) {
          if (t < times) *(GLOBAL float4*)to = make_float4((float)sums[g][k / 2][0][i], (float)sums[g][k / 2][1][i], (float)sums[g][k / 2][2][i], (float)sums[g][k / 2][3][i]);
        } else {
          UNROLL for (int p = 0; p < 4; ++p) {
            if (t + p < times) to[p] = (float)sums[g][k / 2][p][i];
          }
        }
      }
    }
  }
}
