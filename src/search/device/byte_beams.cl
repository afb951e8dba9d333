// Beams of byte samples on the matrix units, between a filter bank and the search.
//
// A packed row has one time of one channel and polarization: all stations as (re, im) bytes, ROW_CHUNKS chunks of 16
// bytes, zeros behind the last station. A beam is two rows of weights, (wr, -wi) and (wi, wr); rows r and r + 8 of a
// tile of 16 are the parts of one beam, so that one lane holds both. The order of the products within a row is
// arbitrary: a lane loads whole chunks of both factors.
// SEGMENTS: 64 bytes of a row, the products of one step.
#define STAGE 128  // times in one of three buffers
#define STAGE_CHUNKS (STAGE * ROW_CHUNKS)
// Chunk of a row in local memory: neighbouring rows use different banks.
#define PLACE(t, c) ((t)*ROW_CHUNKS + ((c) ^ (ROW_CHUNKS % 8 == 0 ? ((t)&1) * 4 : 0)))

#if RIDGE_MATRIX
#define EXCHANGE(to, value, mask) const float to = SHUFFLE_XOR(value, mask);
#else
#define EXCHANGE(to, value, mask)            \
  BARRIER();                                 \
  ((LOCAL float*)fragments)[item] = (value); \
  BARRIER();                                 \
  const float to = ((LOCAL float*)fragments)[item ^ (mask)];
#endif

FUNCTION uint signed_byte(float v) {
  const float within = v >= 127.0f ? 127.0f : v <= -127.0f ? -127.0f : v == v ? v : 0.0f;  // NaN becomes 0
  return (uint)ROUND_EVEN(within) & 255u;
}

// Spectra (time, polarization, station, channel) to packed rows (channel, polarization, time), the last channel first.
// A group has one time and polarization of 32 channels.
KERNEL WORK_GROUP(256, 1, 1) void pack_stations(GLOBAL const float2* RESTRICT in, GLOBAL uint* RESTRICT packed,
                                                uint stations, uint channels, uint polarizations, uint times,
                                                float scale) {
  LOCAL_ARRAY(ushort, tile, 32 * (ROW_CHUNKS * 8 + 2));
  const uint tiles = (channels + 31) / 32, first = GROUP_ID(0) % tiles * 32;
  const uint time = GROUP_ID(0) / tiles / polarizations, polarization = GROUP_ID(0) / tiles % polarizations;
  const uint lane = LOCAL_ID(0) % 32, row = LOCAL_ID(0) / 32;
  GLOBAL const float2* from = in + ((ulong)time * polarizations + polarization) * stations * channels + first + lane;
  for (uint s = row; s < ROW_CHUNKS * 8; s += 8) {
    uint both = 0;
    if (s < stations && first + lane < channels) {
      const float2 value = LOAD_ONCE(from + (ulong)s * channels);
      both = signed_byte(value.x * scale) | signed_byte(value.y * scale) << 8;
    }
    tile[lane * (ROW_CHUNKS * 8 + 2) + s] = (ushort)both;
  }
  BARRIER();
  for (uint c = row; c < 32 && first + c < channels; c += 8) {
    GLOBAL uint* to =
        packed + (((ulong)(channels - 1 - first - c) * polarizations + polarization) * times + time) * (ROW_CHUNKS * 4);
    for (uint w = lane; w < ROW_CHUNKS * 4; w += 32) {
      LOCAL const ushort* two = tile + c * (ROW_CHUNKS * 8 + 2) + 2 * w;
      to[w] = (uint)two[0] | (uint)two[1] << 16;
    }
  }
}

// out[polarization][beam][channel][first + t] = power of the times 8 t to 8 t + 7. A group has WARPS x 32 beams of one
// channel and polarization and goes through all times.
KERNEL WORK_GROUP(WARPS * 32, 1, 1) void beam_power(GLOBAL const uint4* RESTRICT packed,
                                                    GLOBAL const uint4* RESTRICT weights, GLOBAL float* RESTRICT out,
                                                    uint channels, uint polarizations, uint times, uint beams,
                                                    uint bins, uint first) {
  LOCAL_BLOCK(uint4, staged, 3 * STAGE_CHUNKS + (EMULATION_WORDS + 3) / 4);
  FRAGMENTS((LOCAL uint*)(staged + 3 * STAGE_CHUNKS))
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const uint beam_groups = (beams + WARPS * 32 - 1) / (WARPS * 32), signal = GROUP_ID(0) / beam_groups;
  const uint tile = (GROUP_ID(0) % beam_groups * WARPS + warp) * 4;  // of 8 beams
  uint4 real[4][SEGMENTS], imaginary[4][SEGMENTS];
  UNROLL for (int m = 0; m < 4; ++m) {
    UNROLL for (int h = 0; h < SEGMENTS; ++h) {
      const ulong row = ((ulong)signal * beam_groups * WARPS * 4 + tile + m) * 16 + lane / 4;
      real[m][h] = weights[row * ROW_CHUNKS + h * 4 + lane % 4];
      imaginary[m][h] = weights[(row + 8) * ROW_CHUNKS + h * 4 + lane % 4];
    }
  }
  GLOBAL const uint4* from = packed + (ulong)signal * times * ROW_CHUNKS;
  const int stages = (int)(times / STAGE);
#define COPY_STAGE(stage)                                                                      \
  for (int i = item; i < STAGE_CHUNKS; i += WARPS * 32) {                                      \
    COPY_ASYNC_16(staged + (stage) % 3 * STAGE_CHUNKS + PLACE(i / ROW_CHUNKS, i % ROW_CHUNKS), \
                  from + (ulong)(stage)*STAGE_CHUNKS + i);                                     \
  }
  COPY_STAGE(0)
  COPY_ASYNC_COMMIT();
  if (stages > 1) {
    COPY_STAGE(1)
  }
  COPY_ASYNC_COMMIT();
  GLOBAL float* to = out + first + 2 * (lane % 4);
  for (int stage = 0; stage < stages; ++stage) {
    COPY_ASYNC_WAIT(1);
    BARRIER();
    if (stage + 2 < stages) {
      COPY_STAGE(stage + 2)
    }
    COPY_ASYNC_COMMIT();
    LOCAL const uint4* const here = staged + stage % 3 * STAGE_CHUNKS;
    for (int part = 0; part < STAGE / 64; ++part) {
      float power[4][8];
      UNROLL_PRODUCTS for (int n = 0; n < 8; ++n) {
        int sums[4][4];
        UNROLL for (int m = 0; m < 4; ++m) sums[m][0] = sums[m][1] = sums[m][2] = sums[m][3] = 0;
        const int t = part * 64 + n * 8 + lane / 4;
        UNROLL_PRODUCTS for (int h = 0; h < SEGMENTS; ++h) {
          const uint4 x = here[PLACE(t, h * 4 + lane % 4)];
          UNROLL_PRODUCTS for (int m = 0; m < 4; ++m) {
            const uint4 a = real[m][h], b = imaginary[m][h];
            matrix_multiply_bytes(sums[m], a.x, b.x, a.y, b.y, x.x, x.y);
            matrix_multiply_bytes(sums[m], a.z, b.z, a.w, b.w, x.z, x.w);
          }
        }
        UNROLL for (int m = 0; m < 4; ++m) {
          const float u = (float)sums[m][0], v = (float)sums[m][1], w = (float)sums[m][2], z = (float)sums[m][3];
          power[m][n] = FMA(u, u, v * v) + FMA(w, w, z * z);
        }
      }
      // Four lanes have two times each of every sum. Lane j of them gets sums 2 j and 2 j + 1.
      UNROLL for (int m = 0; m < 4; ++m) {
        float four[4], two[2];
        const int upper = lane & 2, odd = lane & 1;
        UNROLL for (int i = 0; i < 4; ++i) {
          EXCHANGE(other, upper ? power[m][i] : power[m][4 + i], 2)
          four[i] = (upper ? power[m][4 + i] : power[m][i]) + other;
        }
        UNROLL for (int i = 0; i < 2; ++i) {
          EXCHANGE(other, odd ? four[i] : four[2 + i], 1)
          two[i] = (odd ? four[2 + i] : four[i]) + other;
        }
        const uint beam = (tile + m) * 8 + lane / 4;
        if (beam < beams) {
          const ulong row = ((ulong)(signal % polarizations) * beams + beam) * channels + signal / polarizations;
          *(GLOBAL float2*)(to + row * bins + (stage * (STAGE / 64) + part) * 8) = make_float2(two[0], two[1]);
        }
      }
    }
  }
}

// Power of both polarizations and of `joined` bins from i * joined on.
FUNCTION float joined_power(GLOBAL const float* RESTRICT from, ulong apart, uint i, uint joined) {
  float sum = 0.0f;
  for (uint k = 0; k < joined; ++k) {
    UNROLL for (int p = 0; p < POLARIZATIONS; ++p) sum += from[p * apart + i * joined + k];
  }
  return sum;
}

// Rows of one beam's power to bytes with mean 60 and deviation 10, as the search expects. One group per channel; a row
// has at most 8 x 256 sums, which stay in registers. Rows of constant power become 60.
KERNEL WORK_GROUP(256, 1, 1) void power_bytes(GLOBAL const float* RESTRICT power, GLOBAL uchar* RESTRICT plane,
                                              uint beam, uint beams, uint channels, uint bins, uint joined, ulong row,
                                              ulong first) {
  LOCAL_ARRAY(float2, sums, 256);
  const int item = LOCAL_ID(0);
  const uint channel = GROUP_ID(0), count = bins / joined;
  GLOBAL const float* from = power + ((ulong)beam * channels + channel) * bins;
  const ulong apart = (ulong)beams * channels * bins;
  const float reference = joined_power(from, apart, 0, joined);
  float held[8];
  float2 sum = make_float2(0.0f, 0.0f);
  UNROLL for (int k = 0; k < 8; ++k) {
    const uint i = item + 256 * k;
    held[k] = i < count ? joined_power(from, apart, i, joined) - reference : 0.0f;
  }
  UNROLL for (int k = 0; k < 8; ++k) {
    sum.x += held[k];
    sum.y = FMA(held[k], held[k], sum.y);
  }
  sums[item] = sum;
  for (int half_items = 128; half_items > 0; half_items /= 2) {
    BARRIER();
    if (item < half_items) {
      sum.x += sums[item + half_items].x;
      sum.y += sums[item + half_items].y;
      sums[item] = sum;
    }
  }
  BARRIER();
  sum = sums[0];
  const float mean = sum.x / (float)count, variance = sum.y / (float)count - mean * mean;
  const float scale = variance > 0.0f ? 10.0f / sqrt(variance) : 0.0f;
  UNROLL for (int k = 0; k < 8; ++k) {
    const uint i = item + 256 * k;
    const float level = FMA(held[k] - mean, scale, 60.0f);
    if (i < count)
      plane[channel * row + first + i] = (uchar)ROUND_EVEN(level >= 255.0f ? 255.0f : level >= 0.0f ? level : 0.0f);
  }
}
