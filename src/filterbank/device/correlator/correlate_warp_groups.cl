// Correlator for 128 signals by warp-group products (wgmma; CUDA, Hopper). A group of work-items computes three tiles
// of 64 x 64, one per warp group, and iterates over channels. A producer warp group copies rows ahead by bulk copies
// (TMA): STAGE_BLOCKS blocks of times per stage, STAGES stages in flight.
//
// Rows of A are loaded to registers, because (b, -a) in place of (a, b) with the same columns gives the imaginary part.
//
// float16 sums leave the matrix units after SEGMENT blocks of times, because these truncate the low bits of a sum. Each
// work-item accumulates them in its own part of local memory.
#define TILES 3
#define ITEMS (TILES * 128 + 128)
#define BLOCK_BYTES (SIGNAL_COUNT * 64)
#define STAGE_BYTES (STAGE_BLOCKS * BLOCK_BYTES)
#define RING_BYTES (STAGES * STAGE_BYTES + 1024)
#define KEPT_BYTES (USE_FLOAT16 * TILES * 128 * 64 * 4)

#if USE_FLOAT16
FUNCTION uint crossed(uint w) { return ((w >> 16) | (w << 16)) ^ 0x80000000u; }
#else
// Negates the upper byte of each pair as part of a 16-bit number: a carry leaves it only upwards.
FUNCTION uint crossed(uint w) {
  return __viaddmax_s16x2(__byte_perm(w, 0, 0x2301) ^ 0xff00ff00u, 0x01000100u, 0x80008000u);
}
#endif

// Adds the products of COUNT blocks of times, stored from `here` on, to re and im.
template <int COUNT>
FUNCTION void add_products(SUM* re, SUM* im, uint here, const uint* rows_at, uint columns_at, ulong columns) {
  uint a[COUNT * 2][4], c[COUNT * 2][4];
  UNROLL
  for (int k = 0; k < COUNT * 2; ++k) {
    load_matrix_rows(a[k], here + k / 2 * BLOCK_BYTES + rows_at[k % 2]);
    UNROLL
    for (int i = 0; i < 4; ++i) c[k][i] = crossed(a[k][i]);
  }
  WARP_GROUP_FENCE();
  UNROLL
  for (int k = 0; k < COUNT * 2; ++k) {
    const uint at = here + k / 2 * BLOCK_BYTES + columns_at + k % 2 * 32;
    warp_group_multiply(re, a[k], columns | ((at & 0x3ffff) >> 4));
    warp_group_multiply(im, c[k], columns | ((at & 0x3ffff) >> 4));
  }
  WARP_GROUP_WAIT();
}

#if USE_FLOAT16
FUNCTION void keep_sums(LOCAL float* kept, bool more, float* re, float* im) {
  UNROLL
  for (int i = 0; i < 32; ++i) {
    LOCAL float* const a = kept + i * (TILES * 128);
    LOCAL float* const b = kept + (i + 32) * (TILES * 128);
    *a = more ? *a + re[i] : re[i];
    *b = more ? *b + im[i] : im[i];
    re[i] = im[i] = 0;
  }
}
#endif

KERNEL WORK_GROUP_RESIDENT(ITEMS, 1, 1, 1) void correlate(GLOBAL const uint4* RESTRICT in, GLOBAL float4* RESTRICT totals,
                                                        GLOBAL float4* RESTRICT out, ulong first_block, int row_blocks,
                                                        int begins, ulong offset, float factor) {
  LOCAL_BLOCK(uint4, ring, (RING_BYTES + KEPT_BYTES) / 16);
  __shared__ __align__(8) ulong full[STAGES], empty[STAGES];
  const int item = LOCAL_ID(0), group = item / 128, warp = item / 32 % 4, lane = item % 32;
  const uint base = (ridge_local_address(ring) + 1023) / 1024 * 1024;  // the swizzle pattern repeats every 1024 bytes
  if (item == 0) {
    for (int s = 0; s < STAGES; ++s) {
      MBARRIER_INIT_UNFENCED(full + s, 1);
      MBARRIER_INIT_UNFENCED(empty + s, TILES * 128);
    }
    MBARRIERS_FENCE();
  }
  BARRIER();
  int slot = 0;
  uint round = 0;
  if (group == TILES) {
    RELEASE_REGISTERS(24);
    if (item % 128 == 0) {
      for (int channel = GROUP_ID(0); channel < CHANNELS; channel += (int)GROUPS(0)) {
        for (int t = 0; t < row_blocks; t += STAGE_BLOCKS) {
          const int now = row_blocks - t < STAGE_BLOCKS ? row_blocks - t : STAGE_BLOCKS;
          MBARRIER_WAIT(empty + slot, (round & 1) ^ 1);
          COPY_BARRIER_EXPECT(full + slot, now * BLOCK_BYTES);
          for (int b = 0; b < now; ++b) {
            BULK_COPY_TO_ADDRESS(full + slot, base + slot * STAGE_BYTES + b * BLOCK_BYTES,
                                 in + ((first_block + t + b) * CHANNELS + channel) * (SIGNAL_COUNT * 4), BLOCK_BYTES);
          }
          if (++slot == STAGES) slot = 0, ++round;
        }
      }
    }
    return;
  }
  // 512 items of 128 registers: those that the producer warp group releases suffice for the consumers.
  CLAIM_REGISTERS(160);
  const int tile_row = group / 2, tile_column = (group + 1) / 2;
  uint rows_at[2];
  UNROLL
  for (int k = 0; k < 2; ++k) {
    const int row = tile_row * 64 + warp * 16 + lane % 16;
    rows_at[k] = row * 64 + ROW_CHUNK(row, k * 2 + lane / 16) * 16;
  }
  const uint columns_at = tile_column * 64 * 64;
#if USE_FLOAT16
  LOCAL float* const kept = (LOCAL float*)(ring + RING_BYTES / 16) + item;
#endif
  const ulong columns = (2ul << 62) | (32ul << 32) | (1ul << 16);  // descriptor: 64-byte swizzle, 8 rows in 512 bytes
  for (int channel = GROUP_ID(0); channel < CHANNELS; channel += (int)GROUPS(0)) {
    SUM re[32], im[32];
    UNROLL
    for (int i = 0; i < 32; ++i) re[i] = im[i] = 0;
    for (int t = 0; t < row_blocks; t += STAGE_BLOCKS) {
#if USE_FLOAT16
      if (t > 0 && t % SEGMENT == 0) keep_sums(kept, t > SEGMENT, re, im);
#endif
      MBARRIER_WAIT(full + slot, round & 1);
      if (row_blocks - t >= STAGE_BLOCKS) {
        add_products<STAGE_BLOCKS>(re, im, base + slot * STAGE_BYTES, rows_at, columns_at, columns);
      } else {
        add_products<1>(re, im, base + slot * STAGE_BYTES, rows_at, columns_at, columns);
      }
      // Each item arrives itself, because the items of a warp group may finish reading at different times. One arrival
      // per warp was 5 % slower.
      MBARRIER_ARRIVE(empty + slot);
      if (++slot == STAGES) slot = 0, ++round;
    }
#if USE_FLOAT16
    if (row_blocks > SEGMENT) {
      UNROLL
      for (int i = 0; i < 32; ++i) {
        re[i] += kept[i * (TILES * 128)];
        im[i] += kept[(i + 32) * (TILES * 128)];
      }
    }
#endif
    UNROLL
    for (int n = 0; n < 8; ++n) {
      UNROLL
      for (int h = 0; h < 2; ++h) {
        const int row = tile_row * 64 + warp * 16 + lane / 4 + h * 8;
        const int column = tile_column * 64 + n * 8 + lane % 4 * 2;
        write_products(totals, out, channel, row, column, begins, offset, factor, re + n * 4 + h * 2, im + n * 4 + h * 2);
      }
    }
  }
}
