// A transpose problem with every stride resolved and everything checked: what variants work from.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/transpose.hpp>

namespace ridge::transpose {

struct Layout {
  std::size_t rows = 0, columns = 0, batch = 1;  // of the input
  Strides input, output;  // in elements, none 0; output.row leads from an input column to the next
  std::size_t element_bytes = 0;
  bool in_place = false;
  std::size_t threads = 1;  // host: how many this problem may use

  bool unit_columns() const { return input.column == 1 && output.column == 1; }
  std::size_t elements() const { return rows * columns * batch; }
  std::size_t matrix_bytes() const { return rows * columns * element_bytes; }
  std::size_t input_bytes() const;   // from the first byte read to behind the last
  std::size_t output_bytes() const;  // from the first byte written to behind the last
  bool output_has_gaps() const;      // bytes inside output_bytes() that are not written
  std::string key() const;           // the problem in words, the same in every process
};

// Error{invalid_argument} for empty shapes, sizes beyond the address space, outputs that overlap each other, and in
// place with anything but a square whose input and output lie alike.
Layout resolve(const Problem& problem, std::size_t element_bytes);

}  // namespace ridge::transpose
