// Beams of byte samples on the matrix units, between a filter bank and the search. FLOAT16: of 16-bit floats, which take
// twice the bytes; only the packing kernels are of bytes alone.
//
// A packed row has one time of one channel and polarization: all stations as (re, im) bytes, ROW_CHUNKS chunks of 16
// bytes, zeros after the last station. A beam is two rows of weights, (wr, -wi) and (wi, wr); rows r and r + 8 of a
// tile of 16 are the parts of one beam, so that one lane holds both. The order of the products within a row is
// arbitrary: a lane loads whole chunks of both factors.
// A row has SEGMENTS parts of 64 bytes; one step of the products multiplies one part.
#define STAGE 64  // times in one of three buffers, of all polarizations
#define STAGE_CHUNKS (POLARIZATIONS * STAGE * ROW_CHUNKS)
#define TILES 2  // of 8 beams per warp
// Chunk of a row in local memory: neighbouring rows use different banks.
#define PLACE(t, c) ((t)*ROW_CHUNKS + ((c) ^ (ROW_CHUNKS % 8 == 0 ? ((t)&1) * 4 : 0)))
#if FLOAT16
#define SUM_TYPE float
#define START_PRODUCT(d, a0, a1, a2, a3, b0, b1) \
  (d)[0] = (d)[1] = (d)[2] = (d)[3] = 0.0f;      \
  matrix_multiply_16(d, a0, a1, a2, a3, b0, b1)
#define ADD_PRODUCT matrix_multiply_16
#define SUM_OF(sum) (sum)
#else
// Sums start at this number: a sum of less than 2^22 and 1.5 * 2^23 is a float with the sum in its lowest bits.
#define SUM_START 0x4b400000
#define SUM_TYPE int
#define START_PRODUCT(d, a0, a1, a2, a3, b0, b1) matrix_start_bytes(d, SUM_START, a0, a1, a2, a3, b0, b1)
#define ADD_PRODUCT matrix_multiply_bytes
#define SUM_OF(bits) (FLOAT_OF((uint)(bits)) - 12582912.0f)
#endif

#if RIDGE_MATRIX
#define EXCHANGE(to, value, mask) const float to = SHUFFLE_XOR(value, mask);
#else
#define EXCHANGE(to, value, mask)            \
  BARRIER();                                 \
  ((LOCAL float*)fragments)[item] = (value); \
  BARRIER();                                 \
  const float to = ((LOCAL float*)fragments)[item ^ (mask)];
#endif

#if !FLOAT16
FUNCTION uint signed_byte(float v) {
  const float within = v >= 127.0f ? 127.0f : v <= -127.0f ? -127.0f : v == v ? v : 0.0f;  // NaN becomes 0
  return (uint)ROUND_EVEN(within) & 255u;
}

// Spectra (time, polarization, station, channel) to packed rows (channel, polarization, time), the last channel first.
// A group has one time and polarization of 32 channels of floats, or of 64 channels of pairs of bytes.
#define ROW_STATIONS (ROW_CHUNKS * 8)
#define ROW_PITCH (ROW_STATIONS + 2)

// Writes `count` rows of a group, the first for channel `first`. SWIZZLED: parts of 128 bytes of all times follow each other,
// and chunk c of time t, of eight chunks in a part, is stored at c ^ t % 8, as warp groups read it.
FUNCTION void write_packed(LOCAL const ushort* tile, GLOBAL uint* RESTRICT packed, uint first, uint count,
                           uint polarization, uint time, uint channels, uint polarizations, uint times) {
  const uint lane = LOCAL_ID(0) % 32, row = LOCAL_ID(0) / 32;
  for (uint c = row; c < count && first + c < channels; c += 8) {
    GLOBAL uint* to =
        packed + ((ulong)(channels - 1 - first - c) * polarizations + polarization) * times * (ROW_CHUNKS * 4);
    for (uint w = lane; w < ROW_CHUNKS * 4; w += 32) {
      LOCAL const ushort* two = tile + c * ROW_PITCH + 2 * w;
      const ulong place = SWIZZLED ? ((ulong)(w / 32) * times + time) * 32 + (w % 32 ^ time % 8 * 4)
                                   : (ulong)time * (ROW_CHUNKS * 4) + w;
      to[place] = (uint)two[0] | (uint)two[1] << 16;
    }
  }
}

KERNEL WORK_GROUP(256, 1, 1) void pack_stations(GLOBAL const float2* RESTRICT in, GLOBAL uint* RESTRICT packed,
                                                uint stations, uint channels, uint polarizations, uint times,
                                                float scale) {
  LOCAL_ARRAY(ushort, tile, 32 * ROW_PITCH);
  const uint tiles = (channels + 31) / 32, first = GROUP_ID(0) % tiles * 32;
  const uint time = GROUP_ID(0) / tiles / polarizations, polarization = GROUP_ID(0) / tiles % polarizations;
  const uint lane = LOCAL_ID(0) % 32, row = LOCAL_ID(0) / 32;
  GLOBAL const float2* from = in + ((ulong)time * polarizations + polarization) * stations * channels + first + lane;
  for (uint s = row; s < ROW_STATIONS; s += 8) {
    uint both = 0;
    if (s < stations && first + lane < channels) {
      const float2 value = LOAD_ONCE(from + (ulong)s * channels);
      both = signed_byte(value.x * scale) | signed_byte(value.y * scale) << 8;
    }
    tile[lane * ROW_PITCH + s] = (ushort)both;
  }
  BARRIER();
  write_packed(tile, packed, first, 32, polarization, time, channels, polarizations, times);
}

// The number of channels is even.
KERNEL WORK_GROUP(256, 1, 1) void pack_bytes(GLOBAL const uint* RESTRICT in, GLOBAL uint* RESTRICT packed,
                                             uint stations, uint channels, uint polarizations, uint times) {
  LOCAL_ARRAY(ushort, tile, 64 * ROW_PITCH);
  const uint tiles = (channels + 63) / 64, first = GROUP_ID(0) % tiles * 64;
  const uint time = GROUP_ID(0) / tiles / polarizations, polarization = GROUP_ID(0) / tiles % polarizations;
  const uint lane = LOCAL_ID(0) % 32, row = LOCAL_ID(0) / 32;
  GLOBAL const uint* from =
      in + (((ulong)time * polarizations + polarization) * stations * channels + first) / 2 + lane;
  uint two[ROW_STATIONS / 8];
  UNROLL for (int i = 0; i < ROW_STATIONS / 8; ++i) {
    const uint s = row + 8 * i;
    two[i] = s < stations && first + 2 * lane < channels ? LOAD_ONCE(from + (ulong)s * (channels / 2)) : 0u;
  }
  UNROLL for (int i = 0; i < ROW_STATIONS / 8; ++i) {
    tile[2 * lane * ROW_PITCH + row + 8 * i] = (ushort)two[i];
    tile[(2 * lane + 1) * ROW_PITCH + row + 8 * i] = (ushort)(two[i] >> 16);
  }
  BARRIER();
  write_packed(tile, packed, first, 64, polarization, time, channels, polarizations, times);
}

#endif

// out[beam][channel][first + t] = power of the times 8 t to 8 t + 7, summed over polarizations. A group has
// WARPS x 16 beams of one channel and goes through all times.
KERNEL WORK_GROUP_RESIDENT(WARPS * 32, 1, 1, RESIDENT) void beam_power(GLOBAL const uint4* RESTRICT packed,
                                                                       GLOBAL const uint4* RESTRICT weights,
                                                                       GLOBAL float* RESTRICT out, uint channels,
                                                                       uint times, uint beams, uint bins, uint first) {
  LOCAL_BLOCK(uint4, staged, 3 * STAGE_CHUNKS + (EMULATION_WORDS + 3) / 4);
  FRAGMENTS((LOCAL uint*)(staged + 3 * STAGE_CHUNKS))
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const uint beam_groups = (beams + WARPS * 16 - 1) / (WARPS * 16), channel = GROUP_ID(0) / beam_groups;
  const uint tile = (GROUP_ID(0) % beam_groups * WARPS + warp) * TILES;
  uint4 real[POLARIZATIONS][TILES][SEGMENTS], imaginary[POLARIZATIONS][TILES][SEGMENTS];
  UNROLL for (int p = 0; p < POLARIZATIONS; ++p) {
    UNROLL for (int m = 0; m < TILES; ++m) {
      UNROLL for (int h = 0; h < SEGMENTS; ++h) {
        const ulong row =
            (((ulong)channel * POLARIZATIONS + p) * beam_groups * WARPS * TILES + tile + m) * 16 + lane / 4;
        real[p][m][h] = weights[row * ROW_CHUNKS + h * 4 + lane % 4];
        imaginary[p][m][h] = weights[(row + 8) * ROW_CHUNKS + h * 4 + lane % 4];
      }
    }
  }
  GLOBAL const uint4* from = packed + (ulong)channel * POLARIZATIONS * times * ROW_CHUNKS;
  const int stages = (int)(times / STAGE);
#define COPY_STAGE(stage)                                                                                       \
  _Pragma("unroll 1") for (int i = item; i < STAGE_CHUNKS; i += WARPS * 32) {                                   \
    const int row = i / ROW_CHUNKS, polarization = row / STAGE;                                                 \
    COPY_ASYNC_16(staged + (stage) % 3 * STAGE_CHUNKS + PLACE(row, i % ROW_CHUNKS),                             \
                  from + ((ulong)polarization * times + (stage)*STAGE + row % STAGE) * ROW_CHUNKS + i % ROW_CHUNKS); \
  }
  COPY_STAGE(0)
  COPY_ASYNC_COMMIT();
  if (stages > 1) {
    COPY_STAGE(1)
  }
  COPY_ASYNC_COMMIT();
  const uint beam = tile * 8 + lane / 4;
  GLOBAL float* to = out + ((ulong)beam * channels + channel) * bins + first + lane % 4;
  const uint next_tile = 8 * channels * bins;
  const int tiles = beam + 8 < beams ? 2 : beam < beams ? 1 : 0;  // of this warp that have beams
  for (int stage = 0; stage < stages; ++stage) {
    COPY_ASYNC_WAIT(1);
    BARRIER();
    if (stage + 2 < stages) {
      COPY_STAGE(stage + 2)
    }
    COPY_ASYNC_COMMIT();
    LOCAL const uint4* here = staged + stage % 3 * STAGE_CHUNKS;
    _Pragma("unroll 1") for (int part = 0; part < STAGE / 32; ++part) {
      float power[TILES][4];
      UNROLL_PRODUCTS for (int n = 0; n < 4; ++n) {
        UNROLL for (int m = 0; m < TILES; ++m) power[m][n] = 0.0f;
        UNROLL_PRODUCTS for (int p = 0; p < POLARIZATIONS; ++p) {
          SUM_TYPE sums[TILES][4];
          UNROLL_PRODUCTS for (int h = 0; h < SEGMENTS; ++h) {
            const uint4 x = here[PLACE(lane / 4, h * 4 + lane % 4) + (p * STAGE + n * 8) * ROW_CHUNKS];
            UNROLL_PRODUCTS for (int m = 0; m < TILES; ++m) {
              const uint4 a = real[p][m][h], b = imaginary[p][m][h];
              if (h == 0) {
                START_PRODUCT(sums[m], a.x, b.x, a.y, b.y, x.x, x.y);
              } else {
                ADD_PRODUCT(sums[m], a.x, b.x, a.y, b.y, x.x, x.y);
              }
              ADD_PRODUCT(sums[m], a.z, b.z, a.w, b.w, x.z, x.w);
            }
          }
          UNROLL for (int m = 0; m < TILES; ++m) {
            UNROLL for (int i = 0; i < 4; ++i) {
              const float one = SUM_OF(sums[m][i]);
              power[m][n] = FMA(one, one, power[m][n]);
            }
          }
        }
      }
      // Each of four lanes holds part of four sums. The lanes exchange parts, so that lane j has the whole of sum j.
      UNROLL for (int m = 0; m < TILES; ++m) {
        float two[2];
        const int upper = lane & 2, odd = lane & 1;
        UNROLL for (int i = 0; i < 2; ++i) {
          EXCHANGE(other, upper ? power[m][i] : power[m][2 + i], 2)
          two[i] = (upper ? power[m][2 + i] : power[m][i]) + other;
        }
        EXCHANGE(last, odd ? two[0] : two[1], 1)
        if (m < tiles) to[m * next_tile] = (odd ? two[1] : two[0]) + last;
      }
      to += 4;
      here += 32 * ROW_CHUNKS;
    }
  }
}

// out[channel][row][bin] = the square of `factor` times the sum of `parts` neighbouring powers of sums[beam][channel]. Rows
// after the last beam are not written.
KERNEL WORK_GROUP(256, 1, 1) void join_powers(GLOBAL const float* RESTRICT sums, GLOBAL float* RESTRICT out,
                                              uint channels, uint beams, uint rows, uint length, uint parts, uint bins,
                                              float factor) {
  const uint tiles = (bins + 255) / 256, bin = GROUP_ID(0) % tiles * 256 + LOCAL_ID(0);
  const uint beam = GROUP_ID(0) / tiles % beams, channel = GROUP_ID(0) / tiles / beams;
  if (bin >= bins) return;
  GLOBAL const float* from = sums + ((ulong)beam * channels + channel) * length + (ulong)bin * parts;
  float sum = 0.0f;
  for (uint k = 0; k < parts; ++k) sum += from[k];
  out[((ulong)channel * rows + beam) * bins + bin] = sum * factor * factor;
}

// Sum of `joined` powers from i * joined on.
FUNCTION float joined_power(GLOBAL const float* RESTRICT from, uint i, uint joined) {
  float sum = 0.0f;
  for (uint k = 0; k < joined; ++k) sum += from[i * joined + k];
  return sum;
}

// Rows of the power of up to 8 beams from `beam` on to bytes with mean 60 and deviation 10, as the search expects. A
// group has one channel of one beam; a row has at most 8 x 256 sums, which stay in registers. Rows of constant power
// become 60.
KERNEL WORK_GROUP(256, 1, 1) void power_bytes(GLOBAL const float* RESTRICT power, GLOBAL uchar* plane0,
                                              GLOBAL uchar* plane1, GLOBAL uchar* plane2, GLOBAL uchar* plane3,
                                              GLOBAL uchar* plane4, GLOBAL uchar* plane5, GLOBAL uchar* plane6,
                                              GLOBAL uchar* plane7, uint beam, uint channels, uint bins, uint joined,
                                              ulong row, ulong first) {
  LOCAL_ARRAY(float2, sums, 256);
  LOCAL_ARRAY(float2, parts, 16);
  const int item = LOCAL_ID(0);
  const uint channel = GROUP_ID(0), which = GROUP_ID(1), count = bins / joined;
  GLOBAL uchar* const low = which == 0 ? plane0 : which == 1 ? plane1 : which == 2 ? plane2 : plane3;
  GLOBAL uchar* const high = which == 4 ? plane4 : which == 5 ? plane5 : which == 6 ? plane6 : plane7;
  GLOBAL uchar* const plane = which < 4 ? low : high;
  GLOBAL const float* from = power + ((ulong)(beam + which) * channels + channel) * bins;
  const float reference = joined_power(from, 0, joined);
  float held[8];
  float2 sum = make_float2(0.0f, 0.0f);
  UNROLL for (int k = 0; k < 8; ++k) {
    const uint i = item + 256 * k;
    held[k] = i < count ? joined_power(from, i, joined) - reference : 0.0f;
  }
  UNROLL for (int k = 0; k < 8; ++k) {
    sum.x += held[k];
    sum.y = FMA(held[k], held[k], sum.y);
  }
  sums[item] = sum;
  BARRIER();
  if (item < 16) {
    for (int i = item + 16; i < 256; i += 16) {
      sum.x += sums[i].x;
      sum.y += sums[i].y;
    }
    parts[item] = sum;
  }
  BARRIER();
  sum = make_float2(0.0f, 0.0f);
  UNROLL for (int i = 0; i < 16; ++i) {
    sum.x += parts[i].x;
    sum.y += parts[i].y;
  }
  const float mean = sum.x / (float)count, variance = sum.y / (float)count - mean * mean;
  const float scale = variance > 0.0f ? 10.0f / sqrt(variance) : 0.0f;
  UNROLL for (int k = 0; k < 8; ++k) {
    const uint i = item + 256 * k;
    const float level = FMA(held[k] - mean, scale, 60.0f);
    if (i < count)
      plane[channel * row + first + i] = (uchar)ROUND_EVEN(level >= 255.0f ? 255.0f : level >= 0.0f ? level : 0.0f);
  }
}
