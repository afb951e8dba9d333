// Textbook and published power-of-two algorithms, kept for teaching, for tests and for comparison with the fast
// variants. One file each.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

inline constexpr std::size_t kMaxClassic = std::size_t{1} << 24;

// The lane exchange between the stages that CPU version 2 holds in two registers.
enum class RegisterLayout { per_stage, constant_geometry };

// Throws Error{invalid_argument} unless n is a power of two up to kMaxClassic.
template <class T>
std::unique_ptr<LineKernel<T>> make_radix2_dit(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_radix2_dif(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_split_radix(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_fma6(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_cpu_v1(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_cpu_v2(std::size_t n, RegisterLayout layout);
template <class T>
std::unique_ptr<LineKernel<T>> make_cpu_244(std::size_t n);
// Passes of these radices (2, 4, 8, 16), whose product is n.
template <class T>
std::unique_ptr<LineKernel<T>> make_stockham(std::size_t n, const std::vector<std::size_t>& radices);

// Appends all of them as "classic/...". Their low efficiencies keep the planner from choosing one unless requested by
// name.
template <class T>
void list_classic(std::size_t n, std::vector<LineChoice<T>>& out);

// The part of a twiddle that the butterflies divide by: the larger one, or always the imaginary one, with 1e-7 in place
// of 0, as in the work before the thesis. None: butterflies of ten operations, for comparison.
enum class Divisor { larger, imaginary, none };

template <class T>
std::unique_ptr<LineKernel<T>> make_fma6_divided_by(Divisor divisor, std::size_t n);

// Prime-factor transforms (winograd.cpp), for products of coprime factors 2, 3, 4, 5, 7, 8: the divisors of 840.
bool has_coprime_factors(std::size_t n);
// Throw Error{invalid_argument} for other lengths.
template <class T>
std::unique_ptr<LineKernel<T>> make_good_thomas(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_winograd(std::size_t n);

}  // namespace ridge::fft
