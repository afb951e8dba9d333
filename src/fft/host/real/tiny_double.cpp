#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/real/tiny_double.cpp"
// The order Highway wants.
// clang-format off
#include "fft/host/power2/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <utility>

#include "fft/host/real/constexpr_trigonometry.hpp"
#include "fft/host/real/tiny.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::real::HWY_NAMESPACE {
namespace {

#include "fft/host/real/tiny-inl.hpp"

Tiny<double> of_length(size_t n) { return tiny_of<double>(n, std::make_index_sequence<kMaxTiny>()); }

}  // namespace
}  // namespace ridge::fft::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::real {
HWY_EXPORT(of_length);
template <>
Tiny<double> tiny<double>(std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(of_length)(n);
}
}  // namespace ridge::fft::real
#endif
