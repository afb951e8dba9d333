// Batches of short contiguous transforms: a strip of them is transposed in registers into columns, transformed as
// columns and transposed back. For lengths too short to fill the lanes of a wide vector alone.

template <class P, size_t A, size_t B>
struct BatchOf {
  using T = typename P::T;
  static constexpr size_t N = A * B, L = P::kLanes;
  static_assert(N % L == 0);
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, const T* const* tables, T* scratch) {
    using Core = typename P::Core;
    T* const tile = scratch;
    T* const y = scratch + 2 * N * P::kStrip + kBufferPad / sizeof(T);
    for (size_t g = 0; g < P::kStrip; g += L) {
      for (size_t b = 0; b < N; b += L) {
        typename P::V r[L];
        P::gather_block(in + 2 * (in_distance * g + b), in_distance, r);
#pragma GCC unroll 16
        for (size_t i = 0; i < L; ++i) P::store(tile + 2 * (P::kStrip * (b + i) + g), r[i]);
      }
    }
    column_first<Core, N, A, false>(tile, P::kStrip, y, tables[0]);
    column_last<Core, N, B, A, 1, false, false>(y, 0, tile, P::kStrip);
    for (size_t g = 0; g < P::kStrip; g += L) {
      for (size_t b = 0; b < N; b += L) {
        typename P::V r[L];
#pragma GCC unroll 16
        for (size_t i = 0; i < L; ++i) r[i] = P::load(tile + 2 * (P::kStrip * (b + i) + g));
        P::scatter_block(out + 2 * (out_distance * g + b), out_distance, r);
      }
    }
  }
};
