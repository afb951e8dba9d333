// Dedispersion by brute force, four bytes at once. A work-group makes TRIALS trials x TIMES times. The tile of every
// channel is stored four times in local memory, each copy one byte later, so that one aligned word holds the four
// samples behind any delay. `raw` adds whole words, `odd` the bytes 1 and 3 of each: the sums of bytes 0 and 2 are
// raw - (odd << 8), exact modulo 2^32 for up to 256 channels.
#define TIMES (128 * WORDS)
#define TRIALS (WARPS * TRIALS_EACH)
#define ROW_WORDS ((TIMES + SPREAD) / 4 + 2)

// Word `index` of the input; bytes behind the end are zero.
FUNCTION uint input_word(GLOBAL const uchar* RESTRICT in, ulong index, ulong bytes) {
  if (4 * index + 4 <= bytes) return LOAD_CACHED((GLOBAL const uint*)in + index);
  uint word = 0;
  for (int k = 0; k < 4; ++k) {
    if (4 * index + k < bytes) word |= (uint)in[4 * index + k] << (8 * k);
  }
  return word;
}

KERNEL WORK_GROUP(32 * WARPS, 1, 1) void dedisperse(GLOBAL const uchar* RESTRICT in, GLOBAL float* RESTRICT out,
                                                    GLOBAL const int* RESTRICT delays, uint channels, uint trials,
                                                    uint padded_trials, ulong times, ulong row) {
  LOCAL_ARRAY(uint, tile, STAGE * 4 * ROW_WORDS);
  LOCAL_ARRAY(int, places, STAGE * TRIALS);
  const int item = LOCAL_ID(0), lane = item % 32, warp = item / 32;
  const uint first_trial = GROUP_ID(1) * TRIALS;
  const ulong t0 = (ulong)GROUP_ID(0) * TIMES, bytes = (ulong)channels * row;
  uint raw[TRIALS_EACH][WORDS], odd[TRIALS_EACH][WORDS], sum[TRIALS_EACH][4 * WORDS];
  UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
    UNROLL for (int w = 0; w < WORDS; ++w) raw[j][w] = odd[j][w] = 0;
    UNROLL for (int w = 0; w < 4 * WORDS; ++w) sum[j][w] = 0;
  }
  for (uint c0 = 0; c0 < channels; c0 += STAGE) {
    BARRIER();
    for (int i = item; i < STAGE * ROW_WORDS; i += 32 * WARPS) {
      const uint c = c0 + i / ROW_WORDS, word = i % ROW_WORDS;
      uint w0 = 0, w1 = 0, w2 = 0, late = 0;
      if (c < channels) {
        const ulong at = (ulong)c * row + t0 + (ulong)delays[(ulong)c * padded_trials + first_trial] + 4 * word;
        late = (uint)(at % 4);
        w0 = input_word(in, at / 4, bytes), w1 = input_word(in, at / 4 + 1, bytes), w2 = input_word(in, at / 4 + 2, bytes);
      }
      UNROLL for (uint k = 0; k < 4; ++k) {
        const uint shift = late + k;
        tile[((i / ROW_WORDS) * 4 + k) * ROW_WORDS + word] =
            shift < 4 ? BYTE_PERMUTE(w0, w1, 0x3210u + 0x1111u * shift)
                      : BYTE_PERMUTE(w1, w2, 0x3210u + 0x1111u * (shift - 4));
      }
    }
    for (int i = item; i < STAGE * TRIALS; i += 32 * WARPS) {
      const uint c = c0 + i / TRIALS;
      int place = (i / TRIALS) * 4 * ROW_WORDS;
      if (c < channels) {
        GLOBAL const int* of = delays + (ulong)c * padded_trials + first_trial;
        const int shift = of[i % TRIALS] - of[0];
        place += (shift % 4) * ROW_WORDS + shift / 4;
      }
      places[i] = place;
    }
    BARRIER();
    for (int c = 0; c < STAGE; ++c) {
      UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
        const int at = places[c * TRIALS + warp * TRIALS_EACH + j] + lane;
        UNROLL for (int w = 0; w < WORDS; ++w) {
          const uint word = tile[at + 32 * w];
          raw[j][w] += word;
          odd[j][w] += (word >> 8) & 0x00ff00ffu;
        }
      }
    }
    if ((c0 + STAGE) % 256 == 0 || c0 + STAGE >= channels) {
      UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
        UNROLL for (int w = 0; w < WORDS; ++w) {
          const uint even = raw[j][w] - (odd[j][w] << 8);
          sum[j][4 * w] += even & 0xffffu;
          sum[j][4 * w + 1] += odd[j][w] & 0xffffu;
          sum[j][4 * w + 2] += even >> 16;
          sum[j][4 * w + 3] += odd[j][w] >> 16;
          raw[j][w] = odd[j][w] = 0;
        }
      }
    }
  }
  UNROLL for (int j = 0; j < TRIALS_EACH; ++j) {
    const uint trial = first_trial + warp * TRIALS_EACH + j;
    if (trial >= trials) continue;
    UNROLL for (int w = 0; w < 4 * WORDS; ++w) {
      const ulong t = t0 + (w / 4) * 128 + lane * 4 + w % 4;
      if (t < times) out[trial * times + t] = (float)sum[j][w];
    }
  }
}
