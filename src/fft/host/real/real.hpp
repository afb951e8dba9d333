// Real transforms of any length on top of complex ones.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

#include "fft/host/real/real_kernel.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// The complex transform to build on: n/2 points for even n, n for odd n, none for short lengths. A shared pointer, so
// that what the planner has already decided can serve.
template <class T>
using ShareLine = std::function<std::shared_ptr<const LineKernel<T>>(std::size_t)>;

// The best way for the length. Error{invalid_argument} for 0.
template <class T>
std::unique_ptr<RealKernel<T>> make_real(std::size_t n, const ShareLine<T>& line);

// The complex length that make_real(n) asks for; 0 where it needs none.
std::size_t real_line_length(std::size_t n);

// Its parts, for tests and comparison.
inline constexpr std::size_t kMaxShortReal = 16;
template <class T>
std::unique_ptr<RealKernel<T>> make_real_short(std::size_t n);
inline constexpr std::size_t kMaxDirectReal = 63;
template <class T>
std::unique_ptr<RealKernel<T>> make_real_even(std::shared_ptr<const LineKernel<T>> half);
// Two rows at once; `alone` does a row that has no partner, and without it zeros stand beside that row.
template <class T>
std::unique_ptr<RealKernel<T>> make_real_paired(std::shared_ptr<const LineKernel<T>> whole,
                                                std::unique_ptr<RealKernel<T>> alone = nullptr);
// An odd length with a factor real_odd_factor(n), which is 0 where there is none.
template <class T>
std::unique_ptr<RealKernel<T>> make_real_odd(std::size_t n, const ShareLine<T>& line);
std::size_t real_odd_factor(std::size_t n);
template <class T>
std::unique_ptr<RealKernel<T>> make_real_direct(std::size_t n);  // odd, up to kMaxDirectReal

}  // namespace ridge::fft
