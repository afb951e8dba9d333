// Weighted sums of integer cells, which wrap: row i of `in` is already shifted by its offset.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::stencil {

void sum_integers(const std::int32_t* const* in, const std::int32_t* weights, std::size_t count, std::int32_t* out,
                  std::size_t begin, std::size_t end);
// Bytes are summed as wider integers and truncated when stored.
void sum_integers(const std::uint8_t* const* in, const std::int32_t* weights, std::size_t count, std::uint8_t* out,
                  std::size_t begin, std::size_t end);

}  // namespace ridge::stencil
