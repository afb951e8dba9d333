// Straight-line transforms of tiny real lines, compiled once per instruction set for each Number
// (cmake/RidgeNumbers.cmake).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/real/tiny_table-inl.hpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <utility>

#include "fft/host/real/constexpr_trigonometry.hpp"
#include "fft/host/real/spectra.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::real::HWY_NAMESPACE {
namespace {

#include "fft/host/real/tiny-inl.hpp"

Tiny<Number> of_length(size_t n) { return tiny_of<Number>(n, std::make_index_sequence<kMaxTiny>()); }

}  // namespace
}  // namespace ridge::fft::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::real {
HWY_EXPORT(of_length);
template <>
Tiny<Number> tiny<Number>(std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(of_length)(n);
}
}  // namespace ridge::fft::real
#endif
