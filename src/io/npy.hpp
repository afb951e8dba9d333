// NumPy's .npy files: a short header in Python's notation, then the elements. Only what a transform can use is read:
// integers, floats and complex numbers in this machine's byte order, last axis fastest.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/stream.hpp"

namespace ridge::io {

enum class ElementType { int8, uint8, int16, uint16, int32, float32, float64, complex64, complex128 };
std::size_t bytes_of(ElementType type);
const char* name_of(ElementType type);  // "complex64"
bool is_complex(ElementType type);

struct NpyHeader {
  ElementType type = ElementType::float32;
  std::vector<std::size_t> shape = {};  // empty: a single value
  std::size_t elements() const;         // checked when the header was read
};

inline constexpr std::size_t kMaxNpyHeader = 65536, kMaxNpyAxes = 32;

bool looks_like_npy(std::string_view first_bytes);  // six are enough

// Error{io} for anything that is not such a header, naming the stream and what is wrong. The stream then stands at the
// first element and expects as many as the shape says: a file that ends early or goes on is an error here, a pipe when
// it is read.
NpyHeader read_npy_header(InputStream& in);

// The dictionary alone. Error{io} as above, `name` in the message.
NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name);

// Everything before the elements. With `reserve`, at least that long, so that a longer shape can replace it.
std::string npy_header(const NpyHeader& header, std::size_t reserve = 0);

}  // namespace ridge::io
