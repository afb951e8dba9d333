// Codelets of some of the radices in Highway, compiled once per instruction set for each Number and each kPart
// (cmake/RidgeNumbers.cmake).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/mixed/codelets-inl.hpp"
// Highway requires this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "fft/host/mixed/engine.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::mixed::HWY_NAMESPACE {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/simd/simd-inl.hpp"
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/mixed/butterflies-inl.hpp"
#include "fft/host/mixed/odd_butterflies-inl.hpp"
#include "fft/host/mixed/passes-inl.hpp"
// clang-format on

// Parts with about the same amount of code.
using First = std::index_sequence<2, 3, 4, 5, 6, 7, 8, 9, 10>;
using Second = std::index_sequence<11, 12, 13>;
using Third = std::index_sequence<14, 15, 16>;
using Mine = std::conditional_t<kPart == 0, First, std::conditional_t<kPart == 1, Second, Third>>;

template <size_t... R>
constexpr std::array<Codelet<Number>, sizeof...(R)> table(std::index_sequence<R...>) {
  return {codelet<Number, R>()...};
}
constexpr auto kCodelets = table(Mine());

std::span<const Codelet<Number>> these_codelets() { return kCodelets; }

}  // namespace
}  // namespace ridge::fft::mixed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::mixed {
HWY_EXPORT(these_codelets);
template <>
std::span<const Codelet<Number>> codelets<Number, kPart>() {
  return HWY_DYNAMIC_DISPATCH(these_codelets)();
}
}  // namespace ridge::fft::mixed
#endif
