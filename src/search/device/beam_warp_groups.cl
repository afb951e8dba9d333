// Power of beams by warp-group products (wgmma; CUDA, Hopper), of bytes or 16-bit floats (FLOAT16). Computes what
// beam_power() does, 64 beams per work-group of two warp groups. A packed row of one time has PARTS parts of 128 bytes;
// rows are stored part by part (channel, polarization, part, time). Weights stay in registers. Samples are read from
// local memory, filled by bulk copies (TMA), in the order that wgmma reads (SWIZZLED in byte_beams.cl).
#define STAGE_TIMES 128  // times of all planes in one of three buffers
#define PLANES (POLARIZATIONS * PARTS)
#define PLANE_BYTES (STAGE_TIMES * 128)
#define STAGE_BYTES (PLANES * PLANE_BYTES)
#define RING_BYTES (3 * STAGE_BYTES + 1024)
#if FLOAT16
#define SUM_TYPE float
#else
#define SUM_TYPE int
#endif

// Loads a lane's fragments of one part of the weights (64 rows for 32 beams). Fragment k has words 8 k + lane % 4 and
// 8 k + 4 + lane % 4 of the rows lane / 4 and lane / 4 + 8 of the warp.
FUNCTION void load_weights(uint (*to)[4], GLOBAL const uint* from) {
  UNROLL
  for (int k = 0; k < 4; ++k) {
    to[k][0] = from[8 * k];
    to[k][1] = from[8 * k + 8 * 32 * PARTS];
    to[k][2] = from[8 * k + 4];
    to[k][3] = from[8 * k + 4 + 8 * 32 * PARTS];
  }
}

// Adds the power at 128 times to 16 sums, 8 times to each. `sums` stays in the same registers: two sets would not fit.
FUNCTION void add_power(float* power, SUM_TYPE* sums, const uint (*weights)[4], uint samples) {
  const ulong rows = (1ul << 62) | (64ul << 32) | (1ul << 16);  // descriptor: 128-byte swizzle, 8 rows in 1024 bytes
  WARP_GROUP_FENCE();
  UNROLL
  for (int k = 0; k < 4 * PARTS; ++k) {
    const ulong columns = rows | (((samples + k / 4 * PLANE_BYTES + k % 4 * 32) & 0x3ffff) >> 4);
    warp_group_multiply_128(sums, weights[k], columns, k > 0);
  }
  WARP_GROUP_WAIT();
  UNROLL
  for (int i = 0; i < 64; ++i) {
    const float one = (float)sums[i];
    power[i / 4] = FMA(one, one, power[i / 4]);
  }
}

// Starts the bulk copies of a stage's samples to one of the three buffers.
FUNCTION void copy_stage(ulong* full, uint base, GLOBAL const uint4* from, uint times, int stage) {
  COPY_BARRIER_EXPECT(full + stage % 3, STAGE_BYTES);
  for (int p = 0; p < PLANES; ++p) {
    BULK_COPY_TO_ADDRESS(full + stage % 3, base + stage % 3 * STAGE_BYTES + p * PLANE_BYTES,
                         from + ((ulong)p * times + stage * STAGE_TIMES) * 8, PLANE_BYTES);
  }
}

KERNEL WORK_GROUP_RESIDENT(256, 1, 1, 2) void beam_power_warp_groups(GLOBAL const uint4* RESTRICT packed,
                                                                     GLOBAL const uint* RESTRICT weights,
                                                                     GLOBAL float* RESTRICT out, uint channels,
                                                                     uint times, uint beams, uint bins, uint first) {
  LOCAL_BLOCK(uint4, ring, RING_BYTES / 16);
  __shared__ __align__(8) ulong full[3];
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;  // a warp has 8 beams
  const uint base = (ridge_local_address(ring) + 1023) / 1024 * 1024;  // the swizzle pattern repeats every 1024 bytes
  const uint beam_groups = (beams + 127) / 128 * 2, channel = GROUP_ID(0) / beam_groups;
  const uint first_beam = GROUP_ID(0) % beam_groups * 64;
  GLOBAL const uint4* from = packed + (ulong)channel * PLANES * times * 8;
  const int stages = (int)(times / STAGE_TIMES);
  if (item == 0) {
    for (int s = 0; s < 3; ++s) MBARRIER_INIT_UNFENCED(full + s, 1);
    MBARRIERS_FENCE();
    for (int s = 0; s < 2 && s < stages; ++s) copy_stage(full, base, from, times, s);
  }
  uint held[POLARIZATIONS][4 * PARTS][4];  // of 32 beams
  UNROLL
  for (int p = 0; p < PLANES; ++p) {
    const ulong row = ((ulong)channel * POLARIZATIONS + p / PARTS) * beam_groups * 128 + first_beam * 2 + warp * 16 + lane / 4;
    load_weights(held[p / PARTS] + p % PARTS * 4, weights + (row * PARTS + p % PARTS) * 32 + lane % 4);
  }
  const uint beam = first_beam + warp * 8 + lane / 4;
  GLOBAL float* to = out + ((ulong)beam * channels + channel) * bins + first + 2 * (lane % 4);
  uint round = 0;  // of the three buffers
  SUM_TYPE sums[64];
  UNROLL
  for (int i = 0; i < 64; ++i) sums[i] = 0;
  for (int stage = 0; stage < stages; ++stage) {
    BARRIER();  // every warp has read the buffer of the previous stage
    if (item == 0 && stage + 2 < stages) copy_stage(full, base, from, times, stage + 2);
    MBARRIER_WAIT(full + stage % 3, round & 1);
    if (stage % 3 == 2) ++round;
    const uint here = base + stage % 3 * STAGE_BYTES;
    float power[16];
    UNROLL
    for (int n = 0; n < 16; ++n) power[n] = 0.0f;
    UNROLL
    for (int p = 0; p < POLARIZATIONS; ++p) add_power(power, sums, held[p], here + p * PARTS * PLANE_BYTES);
    // Each of four lanes holds part of the sums. The lanes exchange parts; of each eight, lane j has sums 2 j and 2 j + 1.
    UNROLL
    for (int half = 0; half < 16; half += 8) {
      float four[4], two[2];
      const bool upper = lane & 2, odd = lane & 1;
      UNROLL
      for (int i = 0; i < 4; ++i) {
        const float low = power[half + i], high = power[half + 4 + i];
        four[i] = (upper ? high : low) + SHUFFLE_XOR(upper ? low : high, 2);
      }
      UNROLL
      for (int i = 0; i < 2; ++i)
        two[i] = (odd ? four[2 + i] : four[i]) + SHUFFLE_XOR(odd ? four[i] : four[2 + i], 1);
      if (beam < beams) *(GLOBAL float2*)(to + half) = make_float2(two[0], two[1]);
    }
    to += 16;
  }
}
