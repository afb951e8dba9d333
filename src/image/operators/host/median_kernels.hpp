#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::image {

// out[i] = the median over the square of side 2 radius + 1 (radius 1, 2) around column i: rows[k] are above each other,
// neighbours lie `step` values apart. `columns` has room for 3 (n + 2 radius step + 64) values. Buffers may be read and
// written a vector beyond n.
template <class T>
void median_row(const T* const* rows, std::size_t radius, std::size_t step, T* out, std::size_t n, T* columns);
template <>
void median_row(const std::uint8_t* const* rows, std::size_t radius, std::size_t step, std::uint8_t* out, std::size_t n,
                std::uint8_t* columns);
template <>
void median_row(const std::uint16_t* const* rows, std::size_t radius, std::size_t step, std::uint16_t* out,
                std::size_t n, std::uint16_t* columns);
template <>
void median_row(const float* const* rows, std::size_t radius, std::size_t step, float* out, std::size_t n,
                float* columns);

}  // namespace ridge::image
