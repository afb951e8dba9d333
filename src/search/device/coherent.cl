// Coherent dedispersion by overlap-save in one kernel. A work-group transforms one block of POINTS = 4096 * LAST
// samples, multiplies it by the filter, transforms it back and writes the valid part. Each work-item has 16 points.
//
// The forward transform (decimation in frequency, passes of 16, 16, 16 and LAST) leaves its result in digit-reversed
// order. The filter's table has that order, and the inverse transform (decimation in time) begins with it, so nothing
// is reordered.
#define POINTS (4096 * LAST)
#define THREADS (256 * LAST)
#define PADDED(a) ((a) + ((a) >> 4))  // avoids bank conflicts of strides of 16

#if SAMPLE_BYTES
#define SAMPLE char2
#else
#define SAMPLE float2
#endif

FUNCTION float2 product(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
FUNCTION float2 conjugate_if(int inverse, float2 a) { return make_float2(a.x, inverse ? -a.y : a.y); }

FUNCTION void transform_2(float2* a, float2* b) {
  const float2 difference = make_float2(a->x - b->x, a->y - b->y);
  *a = make_float2(a->x + b->x, a->y + b->y);
  *b = difference;
}

FUNCTION void transform_4(float2* a, float2* b, float2* c, float2* d, int inverse) {
  const float2 s = make_float2(a->x + c->x, a->y + c->y), t = make_float2(a->x - c->x, a->y - c->y);
  const float2 u = make_float2(b->x + d->x, b->y + d->y), v = make_float2(b->x - d->x, b->y - d->y);
  const float2 w = inverse ? make_float2(-v.y, v.x) : make_float2(v.y, -v.x);
  *a = make_float2(s.x + u.x, s.y + u.y);
  *c = make_float2(s.x - u.x, s.y - u.y);
  *b = make_float2(t.x + w.x, t.y + w.y);
  *d = make_float2(t.x - w.x, t.y - w.y);
}

FUNCTION void transform_16(float2* v, int inverse) {
  // Real and imaginary parts of exp(-2 pi i k / 16).
  const float re[10] = {1.0f,  0.92387953251f,  0.70710678119f,  0.38268343236f,
                        0.0f,  -0.38268343236f, -0.70710678119f, -0.92387953251f,
                        -1.0f, -0.92387953251f};
  const float im[10] = {0.0f,  -0.38268343236f, -0.70710678119f, -0.92387953251f,
                        -1.0f, -0.92387953251f, -0.70710678119f, -0.38268343236f,
                        0.0f,  0.38268343236f};
  UNROLL for (int i = 0; i < 4; ++i) transform_4(v + i, v + i + 4, v + i + 8, v + i + 12, inverse);
  UNROLL for (int k = 1; k < 4; ++k) {
    UNROLL for (int i = 1; i < 4; ++i) v[4 * k + i] =
        product(v[4 * k + i], conjugate_if(inverse, make_float2(re[i * k], im[i * k])));
  }
  float2 r[16];
  UNROLL for (int k = 0; k < 4; ++k) {
    transform_4(v + 4 * k, v + 4 * k + 1, v + 4 * k + 2, v + 4 * k + 3, inverse);
    UNROLL for (int i = 0; i < 4; ++i) r[k + 4 * i] = v[4 * k + i];
  }
  UNROLL for (int i = 0; i < 16; ++i) v[i] = r[i];
}

// Multiplies point k by w^k.
FUNCTION void multiply_powers(float2* v, float2 w) {
  float2 power[4];  // w^0 is not needed
  power[1] = w, power[2] = product(w, w), power[3] = product(power[2], w);
  const float2 fourth = product(power[2], power[2]);
  float2 start = fourth;
  v[1] = product(v[1], power[1]), v[2] = product(v[2], power[2]), v[3] = product(v[3], power[3]);
  UNROLL for (int q = 4; q < 16; q += 4) {
    v[q] = product(v[q], start);
    UNROLL for (int k = 1; k < 4; ++k) v[q + k] = product(v[q + k], product(start, power[k]));
    start = product(start, fourth);
  }
}

// Butterflies of LAST neighbouring points.
FUNCTION void transform_last(float2* v, int inverse) {
#if LAST == 2
  UNROLL for (int j = 0; j < 16; j += 2) transform_2(v + j, v + j + 1);
#elif LAST == 4
  UNROLL for (int j = 0; j < 16; j += 4) transform_4(v + j, v + j + 1, v + j + 2, v + j + 3, inverse);
#endif
}

// Block b has the outputs from b * hop on. Output 0 is at sample `offset` of the input; samples outside the input are
// 0.
KERNEL WORK_GROUP_RESIDENT(THREADS, 1, 1, RESIDENT) void dedisperse_block(
    GLOBAL const SAMPLE* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL const float2* RESTRICT filter,
    GLOBAL const float2* RESTRICT roots, ulong samples, ulong outputs, ulong offset, uint before, uint hop) {
  LOCAL_BLOCK(float2, line, POINTS + POINTS / 16);
  const int item = LOCAL_ID(0);
  const long start = (long)GROUP_ID(0) * hop, from = start + (long)offset - (long)before;
  float2 v[16];
  if (from >= 0 && from + POINTS <= (long)samples) {
    GLOBAL const SAMPLE* first = in + from + item;
    UNROLL for (int j = 0; j < 16; ++j) {
      const SAMPLE x = first[THREADS * j];
      v[j] = make_float2((float)x.x, (float)x.y);
    }
  } else {
    UNROLL for (int j = 0; j < 16; ++j) {
      const long at = from + item + THREADS * j;
      v[j] = make_float2(0.0f, 0.0f);
      if (at >= 0 && at < (long)samples) {
        const SAMPLE x = in[at];
        v[j] = make_float2((float)x.x, (float)x.y);
      }
    }
  }
  UNROLL for (int p = 0; p < 3; ++p) {
    const int span = p == 0 ? POINTS : p == 1 ? POINTS / 16 : POINTS / 256, step = span / 16;
    const int within = item % step, at = item / step * span + within;
    if (p > 0) {
      UNROLL for (int j = 0; j < 16; ++j) v[j] = line[PADDED(at + step * j)];
    }
    transform_16(v, 0);
    if (step > 1) multiply_powers(v, roots[within * (POINTS / span)]);
    if (p < 2 || LAST > 1) {
      UNROLL for (int j = 0; j < 16; ++j) line[PADDED(at + step * j)] = v[j];
      BARRIER();
    }
  }
  if (LAST > 1) {
    UNROLL for (int j = 0; j < 16; ++j) v[j] = line[PADDED(16 * item + j)];
    transform_last(v, 0);
  }
  UNROLL for (int j = 0; j < 16; ++j) v[j] = product(v[j], LOAD_CACHED(filter + THREADS * j + item));
  if (LAST > 1) {
    transform_last(v, 1);
    UNROLL for (int j = 0; j < 16; ++j) line[PADDED(16 * item + j)] = v[j];
    BARRIER();
  }
  UNROLL for (int p = 2; p >= 0; --p) {
    const int span = p == 0 ? POINTS : p == 1 ? POINTS / 16 : POINTS / 256, step = span / 16;
    const int within = item % step, at = item / step * span + within;
    if (p < 2 || LAST > 1) {
      UNROLL for (int j = 0; j < 16; ++j) v[j] = line[PADDED(at + step * j)];
    }
    if (step > 1) multiply_powers(v, conjugate_if(1, roots[within * (POINTS / span)]));
    transform_16(v, 1);
    if (p > 0) {
      UNROLL for (int j = 0; j < 16; ++j) line[PADDED(at + step * j)] = v[j];
      BARRIER();
    }
  }
  const uint count = outputs - (ulong)start < hop ? (uint)(outputs - (ulong)start) : hop;
  UNROLL for (int j = 0; j < 16; ++j) {
    const uint within = (uint)(item + THREADS * j) - before;  // wraps to a large number before the first output
    if (within < count) out[start + within] = v[j];
  }
}
