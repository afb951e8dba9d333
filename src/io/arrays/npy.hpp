// NumPy's .npy files: a short header in Python's notation, then the elements. Reads only what a transform can use:
// integers, floats and complex numbers in native byte order, last axis fastest.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/telescopes/stream.hpp"

namespace ridge::io {

enum class ElementType { int8, uint8, int16, uint16, int32, float32, float64, complex64, complex128 };
std::size_t bytes_of(ElementType type);
const char* name_of(ElementType type);  // "complex64"
bool is_complex(ElementType type);

struct NpyHeader {
  ElementType type = ElementType::float32;
  std::vector<std::size_t> shape = {};  // empty: a scalar
  std::size_t elements() const;         // overflow was checked when the header was read
};

inline constexpr std::size_t kMaxNpyHeader = 65536, kMaxNpyAxes = 32;

bool looks_like_npy(std::string_view first_bytes);  // six bytes are enough

// Throws Error{io} with the stream name and the defect for anything else. Afterwards the stream is at the first element
// and expects exactly the elements of the shape: a file that is too short or too long fails here, a pipe when it is
// read.
NpyHeader read_npy_header(InputStream& in);

// An array of shape (count, 3) of float64 or float32, all of them finite.
std::vector<std::array<double, 3>> read_npy_vectors(const std::string& name);

// Parses the dictionary only. Throws Error{io} as above, with `name` in the message.
NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name);

// Returns all bytes before the elements. At least `reserve` long, so that a longer shape can replace it.
std::string npy_header(const NpyHeader& header, std::size_t reserve = 0);

}  // namespace ridge::io
