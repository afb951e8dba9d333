// Correlator on the matrix units. A group has one channel, SIDE signals as rows and SIDE as columns (the same signals
// if DIAGONAL); each warp computes a 32 x 32 tile of their products. Times run along the inner dimension, real and
// imaginary parts interleaved: a row's (a, b) with the column's (c, d) gives the real part ac + bd, and with (-d, c)
// the imaginary part bc - ad. The order of summation over times is arbitrary, so each lane loads 8 consecutive bytes of
// a row.
#define TILES (SIDE / 32)
#define LOADED (DIAGONAL ? SIDE : 2 * SIDE)  // signals that are copied to local memory
#define COPIES ((LOADED * 4 + WARPS * 32 - 1) / (WARPS * 32))

#if USE_FLOAT16
#define ZERO 0.0f
#define MULTIPLY matrix_multiply_16
#define CROSSED(w) ((((w) >> 16) | ((w) << 16)) ^ 0x8000u)
#else
#define ZERO 0
#define MULTIPLY matrix_multiply_bytes
FUNCTION uint negated_bytes(uint w) { return (0x80808080u - (w & 0x7f7f7f7fu)) ^ (~w & 0x80808080u); }
FUNCTION uint crossed_bytes(uint w) { return ((negated_bytes(w) >> 8) & 0x00ff00ffu) | ((w << 8) & 0xff00ff00u); }
#define CROSSED(w) crossed_bytes(w)
#endif

KERNEL WORK_GROUP_RESIDENT(WARPS * 32, 1, 1, RESIDENT) void correlate(GLOBAL const uint4* RESTRICT in, GLOBAL float4* RESTRICT totals,
                                                                     GLOBAL float4* RESTRICT out, GLOBAL const int2* RESTRICT blocks,
                                                                     ulong first_block, int row_blocks, int begins, ulong offset,
                                                                     float factor) {
  LOCAL_BLOCK(uint4, staged, STAGES * STAGE_BLOCKS * LOADED * 4 + (EMULATION_WORDS + 3) / 4);
  FRAGMENTS((LOCAL uint*)(staged + STAGES * STAGE_BLOCKS * LOADED * 4))
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const int channel = (int)(GROUP_ID(0) % CHANNELS);
  const int2 block = blocks[GROUP_ID(0) / CHANNELS];
#if DIAGONAL
  int tile_row = 0, tile_column = 0;  // warp = column (column + 1) / 2 + row
  for (int left = warp; left > tile_column; left -= tile_column) ++tile_column;
  tile_row = warp - tile_column * (tile_column + 1) / 2;
  const int columns_from = 0;
#else
  const int tile_row = warp % TILES, tile_column = warp / TILES;
  const int columns_from = SIDE;
#endif
  SUM re[32], im[32];
  UNROLL
  for (int i = 0; i < 32; ++i) re[i] = im[i] = ZERO;

  // The item's share of a block of rows; the pointers advance to the next block. The halves of some rows are swapped so
  // that lanes of adjacent rows use different banks.
  GLOBAL const uint4* from[COPIES];
  UNROLL
  for (int i = 0; i < COPIES; ++i) {
    const int n = item + i * (WARPS * 32);
    int signal = n / 4 % SIDE + (n / 4 < SIDE ? block.x : block.y) * SIDE;
    if (signal >= SIGNAL_COUNT) signal = SIGNAL_COUNT - 1;  // its products are not written
    from[i] = in + (first_block * CHANNELS + channel) * (SIGNAL_COUNT * 4) + signal * 4 + ROW_CHUNK(signal, n % 4);
  }
  // STAGE_BLOCKS blocks of rows per barrier; STAGES such stages in local memory.
  const int stages = (row_blocks + STAGE_BLOCKS - 1) / STAGE_BLOCKS;
  int copied = 0;  // blocks
#define COPY_STAGE(slot)                                                                                          \
  for (int b = 0; b < STAGE_BLOCKS && copied < row_blocks; ++b, ++copied) {                                              \
    UNROLL                                                                                                       \
    for (int i = 0; i < COPIES; ++i) {                                                                           \
      const int n = item + i * (WARPS * 32);                                                                     \
      if (n < LOADED * 4) COPY_ASYNC_16(staged + ((slot) * STAGE_BLOCKS + b) * (LOADED * 4) + (n ^ (n / 8 % 2 * 2)), from[i]); \
      from[i] += CHANNELS * SIGNAL_COUNT * 4;                                                                         \
    }                                                                                                            \
  }

  for (int stage = 0; stage < STAGES - 1; ++stage) {
    COPY_STAGE(stage)
    COPY_ASYNC_COMMIT();
  }
  for (int stage = 0; stage < stages; ++stage) {
    COPY_ASYNC_WAIT(STAGES - 2);
    BARRIER();
    COPY_STAGE((stage + STAGES - 1) % STAGES)
    COPY_ASYNC_COMMIT();
    const int here_blocks = row_blocks - stage * STAGE_BLOCKS < STAGE_BLOCKS ? row_blocks - stage * STAGE_BLOCKS : STAGE_BLOCKS;
    for (int r = 0; r < here_blocks; ++r) {
      LOCAL const uint4* const here = staged + (stage % STAGES * STAGE_BLOCKS + r) * (LOADED * 4);
      UNROLL
      for (int k = 0; k < 2; ++k) {
        uint2 a[4];
        UNROLL
        for (int m = 0; m < 4; ++m) a[m] = ((LOCAL const uint2*)here)[(tile_row * 32 + m * 8 + lane / 4) * 8 + (k ^ (lane / 8 & 1)) * 4 + lane % 4];
        UNROLL_PRODUCTS
        for (int n = 0; n < 4; ++n) {
          const uint2 b = ((LOCAL const uint2*)here)[(columns_from + tile_column * 32 + n * 8 + lane / 4) * 8 + (k ^ (lane / 8 & 1)) * 4 + lane % 4];
          const uint2 c = make_uint2(CROSSED(b.x), CROSSED(b.y));
          UNROLL_PRODUCTS
          for (int m = 0; m < 2; ++m) {
            MULTIPLY(re + (m * 4 + n) * 4, a[2 * m].x, a[2 * m + 1].x, a[2 * m].y, a[2 * m + 1].y, b.x, b.y);
            MULTIPLY(im + (m * 4 + n) * 4, a[2 * m].x, a[2 * m + 1].x, a[2 * m].y, a[2 * m + 1].y, c.x, c.y);
          }
        }
      }
    }
  }

  // A lane has columns 2 (lane % 4) and the next one, and rows lane / 4 and lane / 4 + 8.
  UNROLL
  for (int m = 0; m < 4; ++m) {
    const int row = block.x * SIDE + tile_row * 32 + m * 8 + lane / 4;
    UNROLL
    for (int n = 0; n < 4; ++n) {
      const int column = block.y * SIDE + tile_column * 32 + n * 8 + lane % 4 * 2, at = (m / 2 * 4 + n) * 4 + m % 2 * 2;
      write_products(totals, out, channel, row, column, begins, offset, factor, re + at, im + at);
    }
  }
}
