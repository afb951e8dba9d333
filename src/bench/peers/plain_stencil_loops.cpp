// The plain loops compiled for every instruction set, so that the baseline uses this machine's best.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peers/plain_stencil_loops.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/foreach_target.h>
// must follow foreach_target
#include <hwy/highway.h>

#include <cmath>
#include <utility>

#include "bench/peers/plain_stencil.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::cli::HWY_NAMESPACE {

template <class T, std::size_t kPoints>
void Row(const T* const* in, T centre, T other, T* out, std::size_t begin, std::size_t end) {
  const T* rows[kPoints];
  for (std::size_t k = 0; k < kPoints; ++k) rows[k] = in[k];
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
  for (std::size_t x = begin; x < end; ++x) {
    T sum = rows[1][x];
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 32
#endif
    for (std::size_t k = 2; k < kPoints; ++k) sum += rows[k][x];
    out[x] = std::fma(centre, rows[0][x], other * sum);
  }
}

template <class T, std::size_t... kPoints>
PlainRow<T> RowFor(std::size_t points, std::index_sequence<kPoints...>) {
  PlainRow<T> row = nullptr;
  static_cast<void>(((points == kPoints && (row = Row<T, kPoints>, true)) || ...));
  return row;
}
using KnownPoints = std::index_sequence<3, 5, 7, 9, 13, 17, 19, 25, 27>;
PlainRow<float> FloatRow(std::size_t points) { return RowFor<float>(points, KnownPoints()); }
PlainRow<double> DoubleRow(std::size_t points) { return RowFor<double>(points, KnownPoints()); }

}  // namespace ridge::cli::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::cli {

HWY_EXPORT(FloatRow);
HWY_EXPORT(DoubleRow);

template <>
PlainRow<float> plain_row(std::size_t points) {
  return HWY_DYNAMIC_DISPATCH(FloatRow)(points);
}
template <>
PlainRow<double> plain_row(std::size_t points) {
  return HWY_DYNAMIC_DISPATCH(DoubleRow)(points);
}

}  // namespace ridge::cli
#endif
