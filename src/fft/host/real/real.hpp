// Real transforms of any length by complex ones.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

#include "fft/host/real/real_kernel.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// Returns the inner complex transform: n/2 points for even n, n for odd n, none for short lengths. A shared pointer, so
// that the planner's kernels can be reused.
template <class T>
using ShareLine = std::function<std::shared_ptr<const LineKernel<T>>(std::size_t)>;

// The best kernel for the length. Throws Error{invalid_argument} for 0.
template <class T>
std::unique_ptr<RealKernel<T>> make_real(std::size_t n, const ShareLine<T>& line);

// The complex length that make_real(n) requests; 0 if it needs none.
std::size_t real_line_length(std::size_t n);

// Its variants, for tests and comparison.
inline constexpr std::size_t kMaxShortReal = 16;
template <class T>
std::unique_ptr<RealKernel<T>> make_real_short(std::size_t n);
inline constexpr std::size_t kMaxDirectReal = 63;
template <class T>
std::unique_ptr<RealKernel<T>> make_real_even(std::shared_ptr<const LineKernel<T>> half);
// Two rows at once. `alone` transforms a row without a partner; without it such a row is paired with zeros.
template <class T>
std::unique_ptr<RealKernel<T>> make_real_paired(std::shared_ptr<const LineKernel<T>> whole,
                                                std::unique_ptr<RealKernel<T>> alone = nullptr);
// An odd length with a factor real_odd_factor(n), which is 0 if there is none.
template <class T>
std::unique_ptr<RealKernel<T>> make_real_odd(std::size_t n, const ShareLine<T>& line);
std::size_t real_odd_factor(std::size_t n);
template <class T>
std::unique_ptr<RealKernel<T>> make_real_direct(std::size_t n);  // odd, up to kMaxDirectReal

}  // namespace ridge::fft
