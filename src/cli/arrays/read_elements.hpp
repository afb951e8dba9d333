// Reads parts of .npy files as the type of a computation, with little memory beside the result.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "cli/arrays/npy_file.hpp"
#include "command/disk_passes.hpp"

namespace ridge::cli {

// Reads `count` real numbers from byte `offset` on, or as many pairs for complex types, in small parts, and calls
// sink(first, values).
template <class T, class Sink>
void read_parts(const WorkFile& file, io::ElementType type, std::size_t offset, std::size_t count, const Sink& sink) {
  const std::size_t bytes = io::bytes_of(type) / (io::is_complex(type) ? 2 : 1);
  const std::size_t part = std::max<std::size_t>(1, file.chunk() / 4 / std::max(bytes, sizeof(T)));
  std::vector<std::byte> raw(std::min(part, count) * bytes);
  std::vector<T> values(std::min(part, count));
  for (std::size_t first = 0; first < count; first += part) {
    const std::size_t now = std::min(part, count - first);
    file.read(raw.data(), now * bytes, offset + first * bytes);
    convert_numbers(type, raw.data(), now, values.data());
    sink(first, std::span<const T>(values.data(), now));
  }
}

// Reads elements of `type` as values of a type that may be complex; imaginary parts of real input are 0.
template <class Element>
void read_elements(const WorkFile& file, io::ElementType type, std::size_t offset, std::size_t count, Element* to) {
  using T = decltype(std::real(Element()));
  using enum io::ElementType;
  constexpr bool kComplex = !std::is_same_v<Element, T>, kDouble = sizeof(T) == 8;
  constexpr io::ElementType kSame = kComplex ? (kDouble ? complex128 : complex64) : (kDouble ? float64 : float32);
  if (type == kSame) return file.read(to, count * sizeof(Element), offset);
  const bool pairs = io::is_complex(type);
  read_parts<T>(file, type, offset, count * (pairs ? 2 : 1), [&](std::size_t first, std::span<const T> values) {
    if (pairs) {
      std::ranges::copy(values, reinterpret_cast<T*>(to) + first);
    } else {
      std::ranges::copy(values, to + first);
    }
  });
}

}  // namespace ridge::cli
