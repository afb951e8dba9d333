// Converts elements of files to the element type of a transform.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "io/arrays/npy.hpp"

namespace ridge::cli {

template <class From, class To>
void convert(const std::byte* from, std::size_t count, To* to) {
  From value;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value);
  }
}

// Converts `count` real numbers.
template <class To>
void convert_numbers(io::ElementType type, const std::byte* from, std::size_t count, To* to) {
  switch (type) {
    case io::ElementType::int8:
      return convert<std::int8_t>(from, count, to);
    case io::ElementType::uint8:
      return convert<std::uint8_t>(from, count, to);
    case io::ElementType::int16:
      return convert<std::int16_t>(from, count, to);
    case io::ElementType::uint16:
      return convert<std::uint16_t>(from, count, to);
    case io::ElementType::int32:
      return convert<std::int32_t>(from, count, to);
    case io::ElementType::float32:
    case io::ElementType::complex64:
      return convert<float>(from, count, to);
    default:
      return convert<double>(from, count, to);
  }
}

}  // namespace ridge::cli
