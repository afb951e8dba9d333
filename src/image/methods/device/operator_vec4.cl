// Loads and stores of four neighbouring channels of a row, in one access if they are aligned. DEPTH: bytes per channel, 4
// for float.
#if DEPTH == 1
#define ELEMENT uchar
#define VEC4 uint
#define MOST 255.0f
FUNCTION void unpack_vec4(uint w, float* v) {
#ifdef __CUDACC_RTC__  // inserts the byte into the mantissa of 2^23: cheaper than a conversion
  UNROLL
  for (int k = 0; k < 4; ++k) v[k] = FLOAT_OF(__byte_perm(w, 0x4b000000u, 0x7540u + (uint)k)) - 8388608.0f;
#else
  v[0] = (float)(w & 255u);
  v[1] = (float)(w >> 8 & 255u);
  v[2] = (float)(w >> 16 & 255u);
  v[3] = (float)(w >> 24);
#endif
}
#elif DEPTH == 2
#define ELEMENT ushort
#define VEC4 uint2
#define MOST 65535.0f
FUNCTION void unpack_vec4(uint2 w, float* v) {
  v[0] = (float)(w.x & 65535u);
  v[1] = (float)(w.x >> 16);
  v[2] = (float)(w.y & 65535u);
  v[3] = (float)(w.y >> 16);
}
#else
#define ELEMENT float
#define VEC4 float4
FUNCTION void unpack_vec4(float4 w, float* v) {
  v[0] = w.x;
  v[1] = w.y;
  v[2] = w.z;
  v[3] = w.w;
}
#endif
FUNCTION void load_vec4(GLOBAL const ELEMENT* p, float* v) { unpack_vec4(LOAD_CACHED((GLOBAL const VEC4*)p), v); }

// Adding 2^23 rounds half to even and leaves the integer in the low bits. NEVER_BEYOND: no weight is negative and their sum
// is at most 1, so results need no clamp.
#if DEPTH == 4
#define STORED(v) (v)
#else
#ifdef NEVER_BEYOND
#define STORED_BITS(v) BITS_OF((v) + 8388608.0f)
#else
#define STORED_BITS(v) BITS_OF(fmin(fmax((v), 0.0f), MOST) + 8388608.0f)
#endif
#define STORED(v) ((ELEMENT)(STORED_BITS(v) & (uint)MOST))
#endif
FUNCTION void store_vec4(GLOBAL ELEMENT* p, const float* v) {
#if DEPTH == 1
  const uint a = STORED_BITS(v[0]), b = STORED_BITS(v[1]), c = STORED_BITS(v[2]), d = STORED_BITS(v[3]);
#ifdef __CUDACC_RTC__
  *(GLOBAL uint*)p = __byte_perm(__byte_perm(a, b, 0x0040u), __byte_perm(c, d, 0x0040u), 0x5410u);
#else
  *(GLOBAL uint*)p = (a & 255u) | (b & 255u) << 8 | (c & 255u) << 16 | d << 24;
#endif
#elif DEPTH == 2
  const uint a = STORED_BITS(v[0]) & 65535u, c = STORED_BITS(v[2]) & 65535u;
  *(GLOBAL uint2*)p = make_uint2(a | STORED_BITS(v[1]) << 16, c | STORED_BITS(v[3]) << 16);
#else
  *(GLOBAL float4*)p = make_float4(v[0], v[1], v[2], v[3]);
#endif
}

// Stores four channels, or as many as remain in the row.
FUNCTION void store_up_to_four(GLOBAL ELEMENT* p, const float* v, int left, int aligned) {
  if (aligned && left > 3) {
    store_vec4(p, v);
  } else {
    for (int k = 0; k < 4; ++k) {
      if (k < left) p[k] = STORED(v[k]);
    }
  }
}

// Loads channels [first, first + 4) of a row, any of which may be beyond its ends; places[k] < 0 stands for the constant.
FUNCTION void load_places(GLOBAL const ELEMENT* row, const int* places, float* v) {
  UNROLL
  for (int k = 0; k < 4; ++k) v[k] = places[k] < 0 ? BEYOND : (float)row[places[k]];
}
FUNCTION void find_places(int first, int columns, int* places) {
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const int value = first + k, pixel = value >= 0 ? value / CHANNELS : -((CHANNELS - 1 - value) / CHANNELS);
    const int there = BORDERED(pixel, columns);
    places[k] = there < 0 ? -1 : there * CHANNELS + value - pixel * CHANNELS;
  }
}
