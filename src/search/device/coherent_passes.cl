// Coherent dedispersion by overlap-save in one kernel. A work-group transforms one block of POINTS = R0 * R1 * R2
// samples, multiplies it by the filter, transforms it back and writes the valid part. Each work-item has EACH = R0
// points, as one or more butterflies of a pass.
//
// Both transforms multiply the inputs of a butterfly by w^j and then transform them (decimation in time). The forward
// transform leaves its result in digit-reversed order: w of a pass depends on the digits of the frequency found so far.
// The filter's table has that order, and the inverse transform begins with it, so nothing is reordered.
//
// The factors w^j are part of the radix-2 steps: these multiply by powers of w, stored as (cosine, tangent) in `turns`,
// with six FMAs per pair of points: a +- c (1 + i t) b.
#define POINTS (R0 * R1 * R2)
#define THREADS (POINTS / EACH)
// Passes 1 and 2 of both transforms stay within SUB_BLOCK points, which SUB_ITEMS neighbouring work-items have.
#define SUB_BLOCK (R1 * R2)
#define SUB_ITEMS (SUB_BLOCK / EACH)
// Avoids bank conflicts of strides of R2, and of the sub-blocks if 16 lanes have two of them (H200: 166 instead of 152
// Gsample/s at 8192 points; clusters are not faster with it).
#define PADDED(a) ((a) + (a) / R2 + (SUB_ITEMS < 16 && GROUPS_EACH == 1 ? (a) / SUB_BLOCK * SUB_ITEMS : 0))
#define STRIDE(step) PADDED(step)  // PADDED(a + step * j) - PADDED(a) per j, for the steps of all passes
#if SUB_GROUP_WIDTH >= 16
#define SUB_BLOCK_BARRIER() SUB_GROUP_BARRIER()
#else
#define SUB_BLOCK_BARRIER() BARRIER()
#endif

// Points of an int8 sample s are 2^15 + 128 + s, which takes no conversion: the upper bytes of 2^15 are placed before the
// sample's. Their sums are exact, and only the first output of the first, plain butterflies has the constant.
#if SAMPLE_BYTES
#define SAMPLE ushort
#define NO_SAMPLE 0
#define POINT_OF(s) make_float2(FLOAT_OF(BYTE_PERMUTE((uint)(s) ^ 0x8080u, 0x47000000u, 0x7404)), \
                                FLOAT_OF(BYTE_PERMUTE((uint)(s) ^ 0x8080u, 0x47000000u, 0x7414)))
#define SUBTRACT_CONSTANT(v, radix) (v).x -= (radix) * 32896.0f, (v).y -= (radix) * 32896.0f;
#else
#define SAMPLE float2
#define NO_SAMPLE make_float2(0.0f, 0.0f)
#define POINT_OF(s) (s)
#define SUBTRACT_CONSTANT(v, radix)
#endif

// Offsets of the passes' tables in `turns`, each with RADIX / 2 pairs per w: first the forward passes (pass 0 has a table
// only if there are several groups), then the inverse passes.
#define FORWARD_0 0
#define FORWARD_1 (FORWARD_0 + (GROUPS_EACH > 1 ? R0 / 2 * GROUPS_EACH : 0))
#define FORWARD_2 (FORWARD_1 + R1 / 2 * R0 * GROUPS_EACH)
#define INVERSE_0 (FORWARD_2 + R2 / 2 * R0 * R1 * GROUPS_EACH)
#define INVERSE_1 (INVERSE_0 + R0 / 2 * R1 * R2)
#define INVERSE_GROUPS (INVERSE_1 + R1 / 2 * R2)

FUNCTION float2 product(float2 a, float2 b) {
  return make_float2(FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x));
}

// Replaces a and b by a + v and a - v. v = w b, if `quarter` times -i (forward) or i (inverse); w = turn.x * (1 + i * turn.y).
FUNCTION void turned_pair(float2* a, float2* b, float2 turn, int quarter, int inverse) {
  const float2 u = make_float2(FMA(-turn.y, b->y, b->x), FMA(turn.y, b->x, b->y)), from = *a;
  const float2 v = quarter ? inverse ? make_float2(-u.y, u.x) : make_float2(u.y, -u.x) : u;
  *a = make_float2(FMA(turn.x, v.x, from.x), FMA(turn.x, v.y, from.y));
  *b = make_float2(FMA(-turn.x, v.x, from.x), FMA(-turn.x, v.y, from.y));
}

FUNCTION void plain_pair(float2* a, float2* b, int quarter, int inverse) {
  const float2 from = *a, v = quarter ? inverse ? make_float2(-b->y, b->x) : make_float2(b->y, -b->x) : *b;
  *a = make_float2(from.x + v.x, from.y + v.y);
  *b = make_float2(from.x - v.x, from.y - v.y);
}

FUNCTION int reversed_bits(int i, int radix) {
  int r = 0;
  UNROLL for (int bit = 1; bit < radix; bit *= 2) r = 2 * r + (i / bit & 1);
  return r;
}

// Transforms v[j] w^j in place, `radix` points. turns[k * stride] is the (cosine, tangent) number k of this w.
FUNCTION void butterfly(float2* v, const int radix, const int turned, GLOBAL const float2* turns, const int stride,
                        const int inverse) {
  // Cosine and tangent of -2 pi k / 64.
  const float cosine[16] = {1.0f,           0.99518472667f, 0.98078528040f, 0.95694033573f, 0.92387953251f, 0.88192126435f,
                            0.83146961230f, 0.77301045336f, 0.70710678119f, 0.63439328416f, 0.55557023302f, 0.47139673683f,
                            0.38268343236f, 0.29028467725f, 0.19509032202f, 0.09801714033f};
  const float tangent[16] = {0.0f,            -0.09849140336f, -0.19891236738f, -0.30334668361f, -0.41421356237f, -0.53451113595f,
                             -0.66817863792f, -0.82067879083f, -1.0f,           -1.21850352559f, -1.49660576267f, -1.87086841179f,
                             -2.41421356237f, -3.29655820893f, -5.02733949213f, -10.1531703876f};
  float2 a[EACH];
  UNROLL for (int i = 0; i < radix; ++i) a[i] = v[reversed_bits(i, radix)];
  UNROLL for (int span = 1; span < radix; span *= 2) {
    UNROLL for (int k = 0; k < (span + 1) / 2; ++k) {
      const int at = k * (32 / span);
      float2 turn = make_float2(cosine[at], inverse ? -tangent[at] : tangent[at]);
      if (turned) turn = LOAD_CACHED(turns + (span / 2 + k) * stride);
      UNROLL for (int i = k; i < radix; i += 2 * span) {
        if (turned || k > 0) {
          turned_pair(a + i, a + i + span, turn, 0, inverse);
          if (span > 1) turned_pair(a + i + span / 2, a + i + span / 2 + span, turn, 1, inverse);
        } else {
          plain_pair(a + i, a + i + span, 0, inverse);
          if (span > 1) plain_pair(a + i + span / 2, a + i + span / 2 + span, 1, inverse);
        }
      }
    }
  }
  UNROLL for (int i = 0; i < radix; ++i) v[i] = a[i];
}

// Number q of this work-item's butterflies in a pass of radix RADIX. Its points are v[q * RADIX + j].
#define BUTTERFLY(q, RADIX) (item / SUB_ITEMS * (SUB_BLOCK / RADIX) + item % SUB_ITEMS + (q) * SUB_ITEMS)
// A pass within blocks of SPAN points.
#define LOAD_POINTS(RADIX, SPAN)                                                                           \
  UNROLL for (int q = 0; q < EACH / RADIX; ++q) {                                                          \
    const int b = BUTTERFLY(q, RADIX), at = b / (SPAN / RADIX) * (SPAN) + b % (SPAN / RADIX);              \
    UNROLL for (int j = 0; j < RADIX; ++j) v[q * RADIX + j] = line[PADDED(at) + STRIDE(SPAN / RADIX) * j]; \
  }
#define STORE_POINTS(RADIX, SPAN)                                                                          \
  UNROLL for (int q = 0; q < EACH / RADIX; ++q) {                                                          \
    const int b = BUTTERFLY(q, RADIX), at = b / (SPAN / RADIX) * (SPAN) + b % (SPAN / RADIX);              \
    UNROLL for (int j = 0; j < RADIX; ++j) line[PADDED(at) + STRIDE(SPAN / RADIX) * j] = v[q * RADIX + j]; \
  }
// INDEX: which of the COUNT factors w of the pass butterfly b uses.
#define TRANSFORM(RADIX, TURNED, TABLE, COUNT, INDEX, INVERSE)                                             \
  UNROLL for (int q = 0; q < EACH / RADIX; ++q) {                                                          \
    const int b = BUTTERFLY(q, RADIX);                                                                     \
    butterfly(v + q * RADIX, RADIX, TURNED, turns + TABLE + (INDEX), COUNT, INVERSE);                      \
  }
