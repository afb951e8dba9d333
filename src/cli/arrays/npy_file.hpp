// Whole .npy files in memory, and the conversion of their elements to the type of a computation.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

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

// True for types that float does not hold: they are computed in double.
inline bool needs_float64(io::ElementType type) {
  return type == io::ElementType::float64 || type == io::ElementType::complex128 || type == io::ElementType::int32;
}

struct NpyFile {
  std::string name;
  io::NpyHeader header;
  std::vector<std::byte> bytes;

  explicit NpyFile(const std::string& path) : name(path) {
    io::InputStream in(path);
    header = io::read_npy_header(in);
    const std::size_t size = header.elements() * io::bytes_of(header.type);
    if (in.read_growing(bytes, size) != size) throw Error(ErrorKind::io, fmt::format("{}: is truncated", path));
  }
  template <class T>
  std::vector<T> reals() const {  // of an array that is not complex
    std::vector<T> values(header.elements());
    convert_numbers(header.type, bytes.data(), values.size(), values.data());
    return values;
  }
  template <class T>
  std::vector<std::complex<T>> complexes() const {  // imaginary parts of real input are 0
    std::vector<std::complex<T>> values(header.elements());
    if (io::is_complex(header.type)) {
      convert_numbers(header.type, bytes.data(), 2 * values.size(), reinterpret_cast<T*>(values.data()));
    } else {
      std::ranges::copy(reals<T>(), values.begin());
    }
    return values;
  }
};

// Writes an array of header.elements() values to a file or, for "-", to standard output.
inline void write_npy(const std::string& path, const io::NpyHeader& header, const void* values) {
  io::OutputStream out(path);
  const std::string text = io::npy_header(header);
  out.write(text.data(), text.size());
  out.write(values, header.elements() * io::bytes_of(header.type));
  out.finish();
}

}  // namespace ridge::cli
