// The plain loops compiled for every instruction set, so that the baseline uses this machine's best.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peers/plain_stencil_loops.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/foreach_target.h>
// must follow foreach_target
#include <hwy/highway.h>

#include <cmath>

#include "bench/peers/plain_stencil_loops.hpp"

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

template <class T>
PlainRow<T> RowFor(std::size_t points) {
  switch (points) {
    case 3:
      return Row<T, 3>;
    case 5:
      return Row<T, 5>;
    case 7:
      return Row<T, 7>;
    case 9:
      return Row<T, 9>;
    case 13:
      return Row<T, 13>;
    case 17:
      return Row<T, 17>;
    case 19:
      return Row<T, 19>;
    case 25:
      return Row<T, 25>;
    case 27:
      return Row<T, 27>;
    default:
      return nullptr;
  }
}
PlainRow<float> FloatRow(std::size_t points) { return RowFor<float>(points); }
PlainRow<double> DoubleRow(std::size_t points) { return RowFor<double>(points); }

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
