// Transforms of lines that lie in local memory, as text: Stockham's order, one stage after the other.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "codegen/text.hpp"

namespace ridge::filterbank::on_device {

struct LinesDesign {
  std::size_t points = 1, lines = 1, items = 1;
  std::vector<std::size_t> radices = {};
  std::size_t table = 0;  // where the first stage's roots stand in `roots`
  std::size_t pitch = 1;  // float2 from a line to the next
};

// One point in sixteen stays empty, so that the writes of a first stage of 16 meet no bank twice.
inline std::size_t padded(std::size_t point) { return point + point / 16; }
// Writes point `value` (a float2 expression) with number `k` of the line `line`.
using StoreText = std::function<void(codegen::Text& text, const std::string& value, const std::string& k)>;

// From local memory `points`, where a barrier has passed since it was written, through `store`. `zero` is an int that
// the compiler cannot see through: roots are loaded again in every turn of a loop instead of being kept in registers.
// `open_line` is called once for every butterfly of the last stage with the number of its line in the variable `line`
// and closes nothing.
void lines_text(codegen::Text& text, const LinesDesign& design, const std::function<void()>& open_line,
                const StoreText& store);

// Complex values of the stages' roots, in all.
std::size_t table_size(const std::vector<std::size_t>& radices);
std::vector<std::complex<float>> stage_tables(const std::vector<std::size_t>& radices);

// Of `channels` points; empty where a prime factor is too large for a butterfly. `held` points a work-item at most.
std::vector<std::size_t> radices_of(std::size_t channels, std::size_t held);

}  // namespace ridge::filterbank::on_device
