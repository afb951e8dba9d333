// A transpose problem with all strides resolved and checked: the input of every variant.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/transpose.hpp>

namespace ridge::transpose {

struct Layout {
  std::size_t rows = 0, columns = 0, batch = 1;  // of the input
  Strides input,
      output;  // in elements, never 0; output.row is the distance between the outputs of two neighbouring input columns
  std::size_t element_bytes = 0;
  bool in_place = false;
  std::size_t threads = 1;  // host: most threads this problem may use

  bool unit_columns() const { return input.column == 1 && output.column == 1; }
  std::size_t elements() const { return rows * columns * batch; }
  std::size_t input_bytes() const;   // from the first byte read to one past the last
  std::size_t output_bytes() const;  // from the first byte written to one past the last
  bool output_has_gaps() const;      // true if some bytes within output_bytes() are not written
  std::string key() const;           // text that identifies the problem, equal in every process
};

// Throws Error{invalid_argument} for empty shapes, sizes beyond the address space, overlapping outputs, and in-place
// problems that are not square or have different input and output strides.
Layout resolve(const Problem& problem, std::size_t element_bytes);

}  // namespace ridge::transpose
