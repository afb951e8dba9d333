// The textbooks' and the papers' ways to do a power of two, kept for teaching, for tests and to be measured beside the
// fast path. Each is a file of its own.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

inline constexpr std::size_t kMaxClassic = std::size_t{1} << 24;

// How the two registers of CPU version 2 exchange lanes between the stages they hold.
enum class RegisterLayout { per_stage, constant_geometry };

// Error{invalid_argument} where n is no power of two up to kMaxClassic.
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

// Appends them all as "classic/...". Their efficiencies keep the planner from choosing one unless it is asked for.
template <class T>
void list_classic(std::size_t n, std::vector<LineChoice<T>>& out);

}  // namespace ridge::fft
