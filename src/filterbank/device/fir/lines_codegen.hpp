// Kernel text for FFTs of rows in local memory: Stockham order, one stage after another.
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
  std::size_t table = 0;  // offset of the first stage's twiddle factors in `roots`
  std::size_t pitch = 1;  // float2 between consecutive lines
};

// One float2 in seventeen is padding, so that the writes of a first stage of radix 16 have no bank conflicts.
inline std::size_t padded(std::size_t point) { return point + point / 16; }
// Emits the store of `value` (a float2 expression) as point number `k` of the line `line`.
using StoreText = std::function<void(codegen::Text& text, const std::string& value, const std::string& k)>;

// Transforms lines in local memory `points` and passes the results to `store`. A barrier must have passed since
// `points` was written. `open_line` is called once per butterfly of the last stage, with the line's number in the
// variable `line`; it opens one scope, which is closed after the stores.
void lines_text(codegen::Text& text, const LinesDesign& design, const std::function<void()>& open_line,
                const StoreText& store);

// Number of complex twiddle factors of all stages.
std::size_t table_size(const std::vector<std::size_t>& radices);
std::vector<std::complex<float>> stage_tables(const std::vector<std::size_t>& radices);

// Radices of a transform of `channels` points, each at most `held` if possible; empty if a prime factor exceeds the
// largest butterfly.
std::vector<std::size_t> radices_of(std::size_t channels, std::size_t held);

}  // namespace ridge::filterbank::on_device
