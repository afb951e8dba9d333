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
FUNCTION void warp_group_multiply(float* d, const uint* a, ulong b) {
  asm volatile(
      "{.reg .pred adds; setp.eq.u32 adds, 1, 1; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, adds, 1, 1, 0;}"
      :
      "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
      "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
      "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
      "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
FUNCTION uint crossed(uint w) { return ((w >> 16) | (w << 16)) ^ 0x80000000u; }
#else
FUNCTION void warp_group_multiply(int* d, const uint* a, ulong b) {
  asm volatile(
      "{.reg .pred adds; setp.eq.u32 adds, 1, 1; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, adds;}"
      :
      "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
      "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
      "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
      "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
// Negates the upper byte of each pair as part of a 16-bit number: a carry leaves it only upwards.
FUNCTION uint crossed(uint w) {
  return __viaddmax_s16x2(__byte_perm(w, 0, 0x2301) ^ 0xff00ff00u, 0x01000100u, 0x80008000u);
}
#endif

FUNCTION void load_rows(uint* a, uint address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

// Adds the products of COUNT blocks of times, stored from `here` on, to re and im.
template <int COUNT>
FUNCTION void add_products(SUM* re, SUM* im, uint here, const uint* rows_at, uint columns_at, ulong columns) {
  uint a[COUNT * 2][4], c[COUNT * 2][4];
  UNROLL
  for (int k = 0; k < COUNT * 2; ++k) {
    load_rows(a[k], here + k / 2 * BLOCK_BYTES + rows_at[k % 2]);
    UNROLL
    for (int i = 0; i < 4; ++i) c[k][i] = crossed(a[k][i]);
  }
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  UNROLL
  for (int k = 0; k < COUNT * 2; ++k) {
    const uint at = here + k / 2 * BLOCK_BYTES + columns_at + k % 2 * 32;
    warp_group_multiply(re, a[k], columns | ((at & 0x3ffff) >> 4));
    warp_group_multiply(im, c[k], columns | ((at & 0x3ffff) >> 4));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
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
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(ridge_local_address(full + s)) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ridge_local_address(empty + s)), "n"(TILES * 128) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
  }
  BARRIER();
  int slot = 0;
  uint round = 0;
  if (group == TILES) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (item % 128 == 0) {
      for (int channel = GROUP_ID(0); channel < CHANNELS; channel += (int)GROUPS(0)) {
        for (int t = 0; t < row_blocks; t += STAGE_BLOCKS) {
          const int now = row_blocks - t < STAGE_BLOCKS ? row_blocks - t : STAGE_BLOCKS;
          MBARRIER_WAIT(empty + slot, (round & 1) ^ 1);
          COPY_BARRIER_EXPECT(full + slot, now * BLOCK_BYTES);
          for (int b = 0; b < now; ++b) {
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                             base + slot * STAGE_BYTES + b * BLOCK_BYTES),
                         "l"(in + ((first_block + t + b) * CHANNELS + channel) * (SIGNAL_COUNT * 4)), "r"(BLOCK_BYTES),
                         "r"(ridge_local_address(full + slot))
                         : "memory");
          }
          if (++slot == STAGES) slot = 0, ++round;
        }
      }
    }
    return;
  }
  // 512 items of 128 registers: those that the producer warp group releases suffice for the consumers.
  asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
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
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ridge_local_address(empty + slot)) : "memory");
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
