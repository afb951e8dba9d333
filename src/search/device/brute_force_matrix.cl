// Dedispersion by brute force on the matrix units. A trial with delay k in a channel adds that channel's samples from k on.
// For 8 trials and each of 4 consecutive output times (phases), that is a product of two matrices of bytes:
//   S[d][k] = 1 if k is the delay of trial d plus the phase, otherwise 0
//   B[k][n] = sample 4 n + k of the channel; every fourth k begins an aligned word
// Column n of the product of phase p is the output at time 4 n + p. Delays are counted from that of the first of the 8
// trials, rounded down to a word, so 16 values of k are enough if the delays of the 8 trials are within 9 samples. One
// instruction multiplies four channels, whose k follow each other: rows 0 to 7 of S are the 8 trials at an even phase, rows
// 8 to 15 the same at the next phase. S has a single 1 in 16 columns, so it is given as a sparse matrix: two of every four
// columns are stored, the first and third or the second and fourth, and an index says which.
//
// A work-group computes 8 trials per warp at TIMES times. A stage is STAGE channels, in one of three buffers.
// Table entry of a channel and trial: in bits 0 to 15 the word of the tile's row from which its 8 trials count their delays;
// from bit 16 on the trial's delay from that word, times 4.
#define TIMES (32 * TILES)
#define TRIALS (8 * WARPS)
#define WORK_ITEMS (32 * WARPS)
#define ROW_PAIRS ((8 * TILES + (DELAY_RANGE + 7) / 4 + 5) / 2)  // pairs of words per row
#define STAGE_WORDS (STAGE * (2 * ROW_PAIRS + TRIALS))       // samples, then table entries
#define ROUNDS (STAGE / WARPS)                               // channels per warp and stage
#define ENTRIES (STAGE * 2 * ROW_PAIRS)                      // position of the table entries
#if RIDGE_MATRIX
#define UNROLL_CHANNELS _Pragma("unroll 2")
#else
#define UNROLL_CHANNELS
#endif
#define LOADS ((ROW_PAIRS + 31) / 32)

// d += S B of bytes: 16 x 64, of which a0 to a3 are the stored columns, times 64 x 8. `indices`: 2 bits per stored column,
// ascending. Of the four lanes of a row, the first and third have those of the row's columns 0 to 31 and 32 to 63, the
// second and fourth those of the row that is 8 further.
#if RIDGE_MATRIX
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205 || defined(RIDGE_OVERLOAD)
#define MMA_SPARSE "mma.sp::ordered_metadata.sync"
#else
#define MMA_SPARSE "mma.sp.sync"
#endif
FUNCTION void matrix_multiply_sparse_bytes(int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, uint b2, uint b3, uint indices) {
  int x = d[0], y = d[1], z = d[2], w = d[3];
  MATRIX_PTX(MMA_SPARSE ".aligned.m16n8k64.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
      : "+r"(x), "+r"(y), "+r"(z), "+r"(w) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(indices));
  d[0] = x, d[1] = y, d[2] = z, d[3] = w;
}
#define SCRATCH_WORDS 0
#else
// Emulation through local memory, 9 words per lane.
#define SCRATCH_WORDS (9 * WORK_ITEMS)
#define matrix_multiply_sparse_bytes(d, a0, a1, a2, a3, b0, b1, b2, b3, indices) { \
  const uint words[9] = {a0, a1, a2, a3, b0, b1, b2, b3, indices}; \
  BARRIER(); \
  for (int i = 0; i < 9; ++i) scratch[item * 9 + i] = words[i]; \
  BARRIER(); \
  for (int part = 0; part < 4; ++part) { \
    LOCAL const uint* const of_row = scratch + (warp * 32 + lane / 4 * 4) * 9; \
    LOCAL const uint* const of_column = scratch + (warp * 32 + (quad * 2 + (part & 1)) * 4) * 9; \
    int sum = 0; \
    for (int j = 0; j < 32; ++j) { \
      const uint one = of_row[j % 16 / 4 * 9 + j / 16 * 2 + part / 2] >> j % 4 * 8 & 255u; \
      const int column = j / 2 * 4 + (int)(of_row[(j / 16 * 2 + part / 2) * 9 + 8] >> j % 16 * 2 & 3u); \
      sum += (int)(one * (of_column[column % 16 / 4 * 9 + 4 + column / 16] >> column % 4 * 8 & 255u)); \
    } \
    (d)[part] += sum; \
  } \
}
#endif

// A word with bit number `bit` set, 0 if there is none.
FUNCTION uint bit_at(uint bit) {
#if RIDGE_MATRIX
  uint word;
  PTX("shl.b32 %0, 1, %1;" : "=r"(word) : "r"(bit));  // 0 for 32 and more
  return word;
#else
  return bit < 32u ? 1u << bit : 0u;
#endif
}

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
  LOCAL_BLOCK(uint4, memory, 3 * STAGE_WORDS / 4 + (SCRATCH_WORDS + 3) / 4);
  LOCAL uint* const tile = (LOCAL uint*)memory;
#if !RIDGE_MATRIX
  LOCAL uint* const scratch = tile + 3 * STAGE_WORDS;
#endif
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32, quad = lane % 4;
  const uint first_trial = GROUP_ID(1) * TRIALS;
  const ulong t0 = (ulong)GROUP_ID(0) * TIMES, bytes = (ulong)channels * row;
  int sums[TILES][2][4], start[ROUNDS];
  UNROLL for (int i = 0; i < 8 * TILES; ++i) sums[i / 8][i / 4 % 2][i % 4] = 0;
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
    LOCAL const uint* const entries = here + ENTRIES + warp * 8 + lane / 4;
    LOCAL const uint* const samples = here + lane / 4 + lane % 4;
    UNROLL_CHANNELS for (int c = 0; c < STAGE; c += 4) {
      // Of this lane's trial and four channels; the words from which delays count are the same in all lanes.
      uint entry[4];
      LOCAL const uint* from[4];
      UNROLL for (int q = 0; q < 4; ++q) {
        entry[q] = entries[(c + q) * TRIALS];
        from[q] = samples + 2 * (c + q) * ROW_PAIRS + (entry[q] & 0xffffu);
      }
      // The lane stores columns of one of the first two channels and of one of the last two: of those with k < 8 if `quad`
      // is even, of the others otherwise. Column k is stored as number k / 2 of its channel: even ones are the
      // first and third of four, odd ones the second and fourth.
      const uint before = 32u * (uint)(quad % 2);
      uint a[4][2];
      UNROLL for (int h = 0; h < 2; ++h) {
        const uint four = (quad < 2 ? entry[2 * h] : entry[2 * h + 1]) >> 16;
        const uint even = (four & ~7u) - before, odd = ((four + 4u) & ~7u) - before;
        a[0][h] = bit_at(even), a[1][h] = bit_at(odd), a[2][h] = bit_at(even + 8u), a[3][h] = bit_at(odd + 8u);
      }
      // Indices of two channels for the row of this lane: of a trial at even phases, or of one at odd phases.
      const uint one = (quad < 2 ? entry[0] : entry[2]) >> 18, two = (quad < 2 ? entry[1] : entry[3]) >> 18;
      const uint indices = 0x88888888u ^ ((0u - ((one + (uint)quad) & 1u)) & 0x5555u) ^ ((0u - ((two + (uint)quad) & 1u)) & 0x55550000u);
      UNROLL_PRODUCTS for (int m = 0; m < TILES; ++m) {
        const uint b0 = from[0][8 * m], b1 = from[1][8 * m], b2 = from[2][8 * m], b3 = from[3][8 * m];
        UNROLL_PRODUCTS for (int p = 0; p < 2; ++p)
          matrix_multiply_sparse_bytes(sums[m][p], a[2 * p][0], a[2 * p + 1][0], a[2 * p][1], a[2 * p + 1][1], b0, b1, b2, b3, indices);
      }
    }
    side = side == 2 ? 0 : side + 1;
  }
  // A work-item holds 8 consecutive output times of one trial per tile.
  const uint trial = first_trial + warp * 8 + lane / 4;
  if (trial < trials) {
    UNROLL for (int k = 0; k < 2 * TILES; ++k) {
      const ulong t = t0 + 32 * (k / 2) + 8 * quad + 4 * (k % 2);
      GLOBAL float* const to = out + trial * times + t;
      const float4 value = make_float4((float)sums[k / 2][0][k % 2], (float)sums[k / 2][0][2 + k % 2], (float)sums[k / 2][1][k % 2], (float)sums[k / 2][1][2 + k % 2]);
      if (times % 4 == 0) {
        if (t < times) *(GLOBAL float4*)to = value;
      } else {
        if (t < times) to[0] = value.x;
        if (t + 1 < times) to[1] = value.y;
        if (t + 2 < times) to[2] = value.z;
        if (t + 3 < times) to[3] = value.w;
      }
    }
  }
}
