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

}  // namespace ridge::fft
