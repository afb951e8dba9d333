// Search of a pixel, or of a 2 x 2 block with a common start, over an Engine. Lanes are candidates: nine rows of eight
// columns; the ninth column is transposed, so that its candidates are contiguous too.

inline constexpr int kSide = 2 * kSearchRadius + 1, kAcross = 2 * kSearchReach + 1, kCandidates = kAcross * kAcross;
inline constexpr int kCostPitch = 96;  // floats per pixel of candidate costs

template <int kCount>
struct Count {};

static inline const uint32_t* at(const Words& words, int r, int c) { return words.cells + r * words.pitch + c; }

// 2^t as in weights.hpp with the same roundings, multiplied by the engine's unit.
template <class E>
static inline typename E::F search_power(typename E::F t) {
  using F = typename E::F;
  const F z = E::add(t, E::set(kRounder)), f = E::sub(t, E::sub(z, E::set(kRounder)));
  F p = E::set(kExp2[0]);
  for (int k = 1; k < 6; ++k) p = E::fma(f, p, E::set(kExp2[k]));
  return E::scale_by_bits(p, z);
}

// Exponents of the distances in a window. For one pixel: per cell. For a block: four adjacent values per cell, one per
// pixel. Values of cells outside a pixel's window are never used.
struct Distances {
  alignas(64) float single[32], block[36 * 4];
  float slope;
  Distances(float space_slope, float color_slope) : slope(color_slope) {
    for (int k = 0; k < 32; ++k) single[k] = of(k / 5 - 2, k % 5 - 2, space_slope);
    for (int k = 0; k < 36; ++k)
      for (int i = 0; i < 4; ++i) block[4 * k + i] = of(k / 6 - 2 - i / 2, k % 6 - 2 - i % 2, space_slope);
  }
  static float of(int dy, int dx, float slope_) { return float(dy * dy + dx * dx) * slope_; }
};

template <class E>
static inline typename E::F weight_of(typename E::F squares, const Distances& distances, typename E::F space) {
  const auto t = E::max(E::fma(squares, E::set(distances.slope), space), E::set(kLeastExponent));
  return E::mul(search_power<E>(t), E::set(1.0f / E::kSquaresUnit));
}

// Weights of the 6 x 6 cells around a block, four pixels per cell.
template <class E>
static inline void block_weights(const Words& from, int r, int c, const Distances& distances, float* to) {
  constexpr int N = E::kLanes, kCells = N / 4;
  uint32_t own[N];
  for (int i = 0; i < N; ++i) own[i] = *at(from, r + i / 2 % 2, c + i % 2);
  const auto mine = E::words(own);
  for (int k = 0; k < 36; k += kCells) {
    const auto other = E::cells_of_four(at(from, r + k / 6 - 2, c + k % 6 - 2));
    E::store(to + 4 * k, weight_of<E>(E::as_float(mine, other), distances, E::load(distances.block + 4 * k)));
  }
}
template <class E>
static inline void single_weights(const Words& from, int r, int c, const Distances& distances,
                                  float* to) {  // to: 32 floats
  constexpr int N = E::kLanes;
  uint32_t cells[32];
  for (int k = 0; k < 32; ++k) cells[k] = k < 25 ? *at(from, r + k / 5 - 2, c + k % 5 - 2) : 0;
  const auto mine = E::all(at(from, r, c));
  for (int k = 0; k < 32; k += N)
    E::store(to + k, weight_of<E>(E::as_float(mine, E::words(cells + k)), distances, E::load(distances.single + k)));
}

// Computes kVectors vectors of candidates at once: independent chains of additions hide their latency, and colours and
// weights are shared. `cells[h]` is the first word of vector h's window; down and right are the strides to its other
// words; `to[h]` receives the costs of the first pixel. Never inlined: the compiler would keep all weights of a block
// in registers and spill.
template <class E, int kBlock, int kVectors>
__attribute__((noinline)) static void window_sums(const uint32_t* const* cells, ptrdiff_t down, ptrdiff_t right,
                                                  const typename E::W* own, const float* weights, float* const* to) {
  constexpr int kWindow = kSide + kBlock - 1, kPixels = kBlock * kBlock;
  typename E::F sums[kVectors][kPixels];
  for (int h = 0; h < kVectors; ++h)
    for (int i = 0; i < kPixels; ++i) sums[h][i] = E::set(0.0f);
#pragma GCC unroll 6
  for (int y = 0; y < kWindow; ++y)
#pragma GCC unroll 6
    for (int x = 0; x < kWindow; ++x) {
      const auto mine = own[y * kWindow + x];
      if constexpr (kBlock == 1) {
        const auto w = E::set(weights[y * kWindow + x]);
#pragma GCC unroll 8
        for (int h = 0; h < kVectors; ++h)
          sums[h][0] = E::fma(E::squares(mine, E::words(cells[h] + y * down + x * right)), w, sums[h][0]);
      } else {
        const auto w = E::four(weights + (y * kWindow + x) * 4);
#pragma GCC unroll 8
        for (int h = 0; h < kVectors; ++h) {
          const auto square = E::squares(mine, E::words(cells[h] + y * down + x * right));
          if (y < kSide && x < kSide) sums[h][0] = E::template fma_one<0>(square, w, sums[h][0]);
          if (y < kSide && x > 0) sums[h][1] = E::template fma_one<1>(square, w, sums[h][1]);
          if (y > 0 && x < kSide) sums[h][2] = E::template fma_one<2>(square, w, sums[h][2]);
          if (y > 0 && x > 0) sums[h][3] = E::template fma_one<3>(square, w, sums[h][3]);
        }
      }
    }
  for (int h = 0; h < kVectors; ++h)
    for (int i = 0; i < kPixels; ++i) E::store(to[h] + i * kCostPitch, sums[h][i]);
}

// Costs of the 81 candidates for each pixel of a block, in rows of nine.
template <class E, int kBlock>
static void block_costs(const Words& from, const Words& to, int r, int c, int u0, int v0, const float* weights,
                        float* costs) {
  constexpr int N = E::kLanes, kWindow = kSide + kBlock - 1, kPixels = kBlock * kBlock;
  constexpr int kPerRow = 8 / N, kTall = kAcross + kWindow - 1, kTransposedPitch = 24;
  typename E::W own[kWindow * kWindow];
  for (int y = 0; y < kWindow; ++y)
    for (int x = 0; x < kWindow; ++x) own[y * kWindow + x] = E::all(at(from, r + y - 2, c + x - 2));
  alignas(64) uint32_t transposed[kWindow * kTransposedPitch] = {};
  for (int y = 0; y < kTall; ++y) {
    const uint32_t* row = at(to, r + u0 - kSearchReach - 2 + y, c + v0 + kSearchReach - 2);
    for (int x = 0; x < kWindow; ++x) transposed[x * kTransposedPitch + y] = row[x];
  }
  // Processes two rows of candidates at once.
  constexpr int kRows = 2;
  const uint32_t* first = at(to, r + u0 - kSearchReach - 2, c + v0 - kSearchReach - 2);
  const auto rows = [&]<int kVectors>(int u, Count<kVectors>) {
    const uint32_t* cells[kVectors];
    float* out[kVectors];
    for (int h = 0; h < kVectors; ++h) {
      cells[h] = first + (u + h / kPerRow) * to.pitch + h % kPerRow * N;
      out[h] = costs + (u + h / kPerRow) * kAcross + h % kPerRow * N;
    }
    window_sums<E, kBlock, kVectors>(cells, to.pitch, 1, own, weights, out);
  };
  for (int u = 0; u + kRows <= kAcross; u += kRows) rows(u, Count<kRows * kPerRow>());
  rows(kAcross - 1, Count<kPerRow>());
  // The transposed ninth column: nine candidates; the last vector is mostly empty.
  constexpr int kColumn = (kAcross + N - 1) / N;
  alignas(64) float last[3 * kCostPitch + kColumn * N];
  const uint32_t* cells[kColumn];
  float* out[kColumn];
  for (int h = 0; h < kColumn; ++h) {
    cells[h] = transposed + h * N;
    out[h] = last + h * N;
  }
  window_sums<E, kBlock, kColumn>(cells, 1, kTransposedPitch, own, weights, out);
  for (int i = 0; i < kPixels; ++i)
    for (int u = 0; u < kAcross; ++u) costs[i * kCostPitch + u * kAcross + kAcross - 1] = last[i * kCostPitch + u];
}

// Returns the first smallest cost among candidates inside the picture; the start's own if none is smaller.
template <class E>
static inline void take_least(float* costs, int r, int c, int u0, int v0, const SearchJob& job) {
  constexpr float kNever = __builtin_inff();
  const int y = r + u0 - kSearchReach, x = c + v0 - kSearchReach;
  if (y < 0 || x < 0 || y + kAcross > job.rows || x + kAcross > job.columns)
    for (int k = 0; k < kCandidates; ++k) {
      const int a = y + k / kAcross, b = x + k % kAcross;
      if (a < 0 || b < 0 || a >= job.rows || b >= job.columns) costs[k] = kNever;
    }
  constexpr int kWhole = (kCandidates + E::kLanes - 1) / E::kLanes * E::kLanes;
  for (int k = kCandidates; k < kWhole; ++k) costs[k] = kNever;
  const int first = E::first_least(costs, kWhole), start = kCandidates / 2;
  const int k = costs[start] <= costs[first] ? start : first;
  job.u[ptrdiff_t(r) * job.columns + c] = float(u0 - kSearchReach + k / kAcross);
  job.v[ptrdiff_t(r) * job.columns + c] = float(v0 - kSearchReach + k % kAcross);
}

// Start of a search: the flow rounded half to even and clamped to the picture.
static inline int start_at(float flow, int from, int size) {
  const int to = from + int(__builtin_rintf(flow));
  return (to < 0 ? 0 : to > size - 1 ? size - 1 : to) - from;
}

template <class E>
static void search_rows(const SearchJob& job, int begin, int end) {
  const Distances distances(job.space_slope, job.color_slope);
  alignas(64) float costs[4 * kCostPitch], weights[36 * 4];
  for (int r = begin; r < end; r += 2)
    for (int c = 0; c < job.columns; c += 2) {
      int wanted = 0, inside = 0, u[4] = {}, v[4] = {};
      bool ask[4] = {}, same = true;
      for (int i = 0; i < 4; ++i) {
        const int y = r + i / 2, x = c + i % 2;
        if (y >= job.rows || x >= job.columns) continue;
        const ptrdiff_t k = ptrdiff_t(y) * job.columns + x;
        ++inside;
        ask[i] = job.mask[k] != 0;
        wanted += ask[i];
        u[i] = start_at(job.u[k], y, job.rows);
        v[i] = start_at(job.v[k], x, job.columns);
        same = same && u[i] == u[0] && v[i] == v[0];
      }
      if (wanted >= 2 && inside == 4 && same) {
        block_weights<E>(job.from, r, c, distances, weights);
        block_costs<E, 2>(job.from, job.to, r, c, u[0], v[0], weights, costs);
        for (int i = 0; i < 4; ++i)
          if (ask[i]) take_least<E>(costs + i * kCostPitch, r + i / 2, c + i % 2, u[0], v[0], job);
        continue;
      }
      for (int i = 0; i < 4; ++i) {
        if (!ask[i]) continue;
        const int y = r + i / 2, x = c + i % 2;
        single_weights<E>(job.from, y, x, distances, weights);
        block_costs<E, 1>(job.from, job.to, y, x, u[i], v[i], weights, costs);
        take_least<E>(costs, y, x, u[i], v[i], job);
      }
    }
}
