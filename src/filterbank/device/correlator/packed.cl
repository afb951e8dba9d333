// Packs values rounded for the matrix units. A row is 64 bytes: ROW_TIMES times of one signal and channel, float16 or
// bytes, the real part first. Rows are stored as [block of times][channel][signal]. The four 16-byte chunks of a row
// are permuted by its signal, so that unpadded rows use all banks of local memory; warp-group products expect this
// swizzle. Needs USE_FLOAT16, CHANNELS and SIGNAL_COUNT.
#define ROW_WORDS 16
#define ROW_CHUNK(signal, chunk) ((chunk) ^ ((signal) / 2 % 4))
#define ROW_WORD(signal, word) (ROW_CHUNK(signal, (word) / 4) * 4 + (word) % 4)
#if USE_FLOAT16
#define ROW_TIMES 16
#else
#define ROW_TIMES 32
#endif

FUNCTION float2 unpacked(GLOBAL const uint* RESTRICT rows, ulong row, int time) {
  const int signal = (int)(row % SIGNAL_COUNT);
#if USE_FLOAT16
  const uint word = rows[row * ROW_WORDS + ROW_WORD(signal, time)];
  return make_float2(low_float16(word), high_float16(word));
#else
  const uint word = rows[row * ROW_WORDS + ROW_WORD(signal, time / 2)] >> (time % 2 * 16);
  return make_float2((float)((int)(word << 24) >> 24), (float)((int)(word << 16) >> 24));
#endif
}

#if USE_FLOAT16
#define PACKED(a, b) float16x2_of(a.x * scale, a.y * scale)
#else
FUNCTION uint byte_of(float v) {
  // NaN becomes 0.
  const float within = v >= 127.0f ? 127.0f : v <= -127.0f ? -127.0f : v == v ? v : 0.0f;
  return (uint)ROUND_EVEN(within) & 255u;
}
#define PACKED(a, b) (byte_of(a.x * scale) | byte_of(a.y * scale) << 8 | byte_of(b.x * scale) << 16 | byte_of(b.y * scale) << 24)
#endif

// Packs one word per work-item; times from `times` on are 0. PLACE_OF(time, signal) is the position of a value of
// `channel`.
KERNEL WORK_GROUP(PACK_ITEMS, 1, 1) void pack(GLOBAL const float2* RESTRICT in, GLOBAL uint* RESTRICT rows, int first, int times,
                                              ulong words, float scale) {
  const ulong word = (ulong)GROUP_ID(0) * PACK_ITEMS + LOCAL_ID(0);
  if (word >= words) return;
  const int signal = (int)(word / ROW_WORDS % SIGNAL_COUNT), channel = (int)(word / ROW_WORDS / SIGNAL_COUNT % CHANNELS);
  const int block = (int)(word / ROW_WORDS / SIGNAL_COUNT / CHANNELS);
  const int time = block * ROW_TIMES + ROW_WORD(signal, (int)(word % ROW_WORDS)) * (ROW_TIMES / ROW_WORDS);
  float2 a = make_float2(0.0f, 0.0f), b = a;
  if (time < times) a = LOAD_ONCE(in + PLACE_OF(first + time, signal));
  if (!USE_FLOAT16 && time + 1 < times) b = LOAD_ONCE(in + PLACE_OF(first + time + 1, signal));
  rows[word] = PACKED(a, b);
}
