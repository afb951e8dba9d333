// Cross-bilateral filter that computes every weight once for both pixels of a pair, over an Engine.
//
// Two rows of pixels are combined with the rows below them (and with their own row to the right), and each weight is
// added to both pixels' sums. A strip of columns keeps a ring buffer of rows in the L1 cache. A row has seven adjacent
// planes: words, u, v, weight, and the three sums. The inner loop runs down the rows, so that a load never closely
// follows an overlapping store.

// Approximates 2^x: the bits of 512 + 127 + x shifted left by 9 are 2^x with the fraction linear in the mantissa, up to
// 6 % too high. Adding the same value at x + 1/2, multiplied by 2^-1/2, reduces the error to +-0.75 %, up to a common
// factor.
template <class E>
static inline typename E::F quick_power(typename E::F z) {
  const auto a = E::exponent_of(z), b = E::exponent_of(E::add(z, E::set(0.5f)));
  return E::fma(b, E::set(0.70710678f), a);
}

// Bias of the exponents. They are clamped only if the least possible exponent leaves the range of floats.
struct Exponents {
  float slope, top;
  bool clamp;
};
inline Exponents exponents_of(const FilterJob& job) {
  const double least = 195075.0 * double(job.color_slope) + 2.0 * job.radius * job.radius * double(job.space_slope);
  const bool fits = least > -216.9;
  return {job.color_slope, fits ? 512 + 127 + 90.0f : 512 + 127.0f, !fits};
}

template <class E>
struct FilterShape {
  static constexpr int kStrip = 32;
  int radius, ring, wide, step;
  explicit FilterShape(int radius_)
      : radius(radius_), ring(radius_ + 2), wide((kStrip + 2 * radius_ + 15) / 16 * 16 + 16), step(7 * wide) {}
  int table_row() const { return radius + 3; }
  size_t table_floats() const { return size_t(2 * radius + 1) * size_t(table_row()) * E::kLanes; }
  size_t scratch() const { return size_t(ring + 1) * size_t(step) + table_floats(); }
};

template <class E, bool kClamp>
struct FilterStrip {
  using F = typename E::F;
  using W = typename E::W;
  const FilterShape<E>& shape;
  F slope;
  W p[2];
  F pu[2], pv[2], pw[2], a[2], b[2], s[2];

  // Exponent of the weight between p[t] and the words q; `base` holds the exponent of the distance.
  F exponent(W q, int t, const float* base) const {
    const F z = E::fma(E::lifted_squares(p[t], q), slope, E::load(base));
    return kClamp ? E::max(z, E::set(512.0f)) : z;
  }

  void one(float* k, const float* base, int t) {
    const int wide = shape.wide;
    const F w = quick_power<E>(exponent(E::words(k), t, base));
    a[t] = E::fma(w, E::load(k + wide), a[t]);
    b[t] = E::fma(w, E::load(k + 2 * wide), b[t]);
    s[t] = E::fma(w, E::load(k + 3 * wide), s[t]);
    E::store(k + 4 * wide, E::fma(w, pu[t], E::load(k + 4 * wide)));
    E::store(k + 5 * wide, E::fma(w, pv[t], E::load(k + 5 * wide)));
    E::store(k + 6 * wide, E::fma(w, pw[t], E::load(k + 6 * wide)));
  }

  // Combines both rows of pixels with `count` rows from k on. The next row's exponents are computed ahead of this row's
  // weights, because small cores reorder few instructions.
  void walk(float* k, const float* base, int count) {
    constexpr int N = E::kLanes;
    const int wide = shape.wide, step = shape.step;
    W q = E::words(k);
    F z0 = exponent(q, 0, base + N), z1 = exponent(q, 1, base);
    for (int i = 0; i < count; ++i, k += step) {
      const F w0 = quick_power<E>(z0), w1 = quick_power<E>(z1);
      base += N;
      q = E::words(k + step);
      z0 = exponent(q, 0, base + N);
      z1 = exponent(q, 1, base);
      const F qu = E::load(k + wide), qv = E::load(k + 2 * wide), qw = E::load(k + 3 * wide);
      a[0] = E::fma(w0, qu, a[0]);
      b[0] = E::fma(w0, qv, b[0]);
      s[0] = E::fma(w0, qw, s[0]);
      a[1] = E::fma(w1, qu, a[1]);
      b[1] = E::fma(w1, qv, b[1]);
      s[1] = E::fma(w1, qw, s[1]);
      E::store(k + 4 * wide, E::fma(w1, pu[1], E::fma(w0, pu[0], E::load(k + 4 * wide))));
      E::store(k + 5 * wide, E::fma(w1, pv[1], E::fma(w0, pv[0], E::load(k + 5 * wide))));
      E::store(k + 6 * wide, E::fma(w1, pw[1], E::fma(w0, pw[0], E::load(k + 6 * wide))));
    }
  }
};

// Loads a row into the ring buffer: words and weighted flow of the strip's columns, zeros outside the picture, sums
// zeroed.
template <class E>
static inline void load_row(const FilterJob& job, const FilterShape<E>& shape, int left, int r, float* line) {
  const int wide = shape.wide;
  const int first = left - shape.radius < 0 ? shape.radius - left : 0;
  int last = job.columns - (left - shape.radius);
  last = r >= job.rows || last < 0 ? 0 : last > wide ? wide : last;
  for (int x = 0; x < 7 * wide; ++x) line[x] = 0;
  if (r >= job.rows) return;
  const ptrdiff_t at = ptrdiff_t(r) * job.columns + left - shape.radius;
  const uint32_t* words = job.guide.cells + r * job.guide.pitch + left - shape.radius;
  for (int x = first; x < last; ++x) {
    const float w = float(job.seen[at + x]);
    __builtin_memcpy(line + x, words + x, 4);
    line[wide + x] = w * job.u[at + x];
    line[2 * wide + x] = w * job.v[at + x];
    line[3 * wide + x] = w;
  }
}

template <class E, bool kClamp>
static void filter_strips(const FilterJob& job, int begin, int end, const FilterSums& sums, float* scratch) {
  using F = typename E::F;
  constexpr int N = E::kLanes;
  const FilterShape<E> shape(job.radius);
  const int radius = shape.radius, wide = shape.wide, step = shape.step, ring = shape.ring, S = shape.kStrip;
  float* const table = scratch;
  float* const lines = scratch + shape.table_floats();
  const Exponents exponents = exponents_of(job);
  // lifted_squares() adds 2^23: the table subtracts it.
  for (int j = -radius; j <= radius; ++j)
    for (int i = 0; i < shape.table_row(); ++i)
      for (int lane = 0; lane < N; ++lane)
        table[(size_t(j + radius) * size_t(shape.table_row()) + size_t(i)) * N + size_t(lane)] =
            float(exponents.top - double(exponents.slope) * 8388608.0 + (i * i + j * j) * double(job.space_slope));
  const F own_weight = quick_power<E>(E::set(exponents.top));
  const auto line_of = [&](int r) { return lines + size_t(r % ring) * size_t(step); };
  FilterStrip<E, kClamp> strip{shape, E::set(exponents.slope), {}, {}, {}, {}, {}, {}, {}};
  const int rows = (end - begin + 1) / 2 * 2;
  for (int left = 0; left < job.columns; left += S) {
    for (int r = 0; r < radius; ++r) load_row(job, shape, left, begin + r, line_of(r));
    const int wanted = job.columns - left < S ? job.columns - left : S;
    for (int r = 0; r < rows; r += 2) {
      load_row(job, shape, left, begin + r + radius, line_of(r + radius));
      load_row(job, shape, left, begin + r + radius + 1, line_of(r + radius + 1));
      for (int x = radius; x < radius + wanted; x += N) {
        for (int t = 0; t < 2; ++t) {
          const float* own = line_of(r + t) + x;
          strip.p[t] = E::words(own);
          strip.pu[t] = E::load(own + wide);
          strip.pv[t] = E::load(own + 2 * wide);
          strip.pw[t] = E::load(own + 3 * wide);
          strip.a[t] = E::mul(strip.pu[t], own_weight);
          strip.b[t] = E::mul(strip.pv[t], own_weight);
          strip.s[t] = E::mul(strip.pw[t], own_weight);
        }
        if (radius > 0) {
          const int start = (r + 2) % ring, together = ring - start < radius - 1 ? ring - start : radius - 1;
          for (int j = -radius; j <= radius; ++j) {
            const float* base = table + size_t(j + radius) * size_t(shape.table_row()) * N;
            if (j > 0) strip.one(line_of(r) + x + j, base, 0);
            strip.walk(line_of(r + 2) + x + j, base + N, together);
            strip.walk(lines + x + j, base + (1 + together) * N, radius - 1 - together);
            strip.one(line_of(r + 1) + x + j, base + N, 0);
            strip.one(line_of(r + 1 + radius) + x + j, base + radius * N, 1);
            if (j > 0) strip.one(line_of(r + 1) + x + j, base, 1);
          }
        }
        for (int t = 0; t < 2; ++t) {
          float* to = line_of(r + t) + 4 * wide + x;
          E::store(to, E::add(E::load(to), strip.a[t]));
          E::store(to + wide, E::add(E::load(to + wide), strip.b[t]));
          E::store(to + 2 * wide, E::add(E::load(to + 2 * wide), strip.s[t]));
        }
      }
      const auto leave = [&](int row) {
        for (int plane = 0; plane < 3; ++plane) {
          float* to = sums.cells + (ptrdiff_t(row) * 3 + plane) * sums.pitch + left;
          const float* with = line_of(row) + (4 + plane) * wide;
          for (int x = 0; x < S + 2 * radius; ++x) to[x] += with[x];
        }
      };
      leave(r);
      leave(r + 1);
      if (r + 2 >= rows)
        for (int k = r + 2; k < r + 2 + radius; ++k) leave(k);
    }
  }
}
