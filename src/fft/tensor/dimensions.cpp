// Merges and sorts loops and axes, without a change of the elements that they visit.
#include "fft/tensor/dimensions.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include <ridge/error.hpp>

#include "fft/layout.hpp"

namespace ridge::fft {
namespace {

std::ptrdiff_t stride(const Dimension& dimension, TensorSide side) {
  return side == TensorSide::input ? dimension.input : dimension.output;
}

}  // namespace

std::vector<Dimension> shortest(std::vector<Dimension> loops) {
  for (const Dimension& loop : loops) {
    if (loop.length == 0) return {{.length = 0}};
  }
  std::erase_if(loops, [](const Dimension& loop) { return loop.length == 1; });
  // Slowest first, ordered by the output strides: strided writes cost more than strided reads.
  std::stable_sort(loops.begin(), loops.end(), [](const Dimension& a, const Dimension& b) {
    const auto key = [](const Dimension& d) { return std::pair(std::abs(d.output), std::abs(d.input)); };
    return key(a) > key(b);
  });
  std::vector<Dimension> merged;
  for (const Dimension& loop : loops) {
    const auto length = static_cast<std::ptrdiff_t>(loop.length);
    if (!merged.empty() && merged.back().input == length * loop.input && merged.back().output == length * loop.output) {
      merged.back() = {merged.back().length * loop.length, loop.input, loop.output};
    } else {
      merged.push_back(loop);
    }
  }
  return merged;
}

std::size_t count(const std::vector<Dimension>& dimensions) {
  std::size_t product = 1;
  for (const Dimension& dimension : dimensions) product *= dimension.length;
  return product;
}

bool shares_elements(const std::vector<Dimension>& dimensions, TensorSide side) {
  std::vector<Run> runs;
  for (const Dimension& dimension : dimensions) {
    if (dimension.length == 0) return false;
    runs.push_back({dimension.length, static_cast<std::size_t>(std::abs(stride(dimension, side)))});
  }
  return share_elements(std::move(runs));
}

Reach reach(const std::vector<Dimension>& dimensions, TensorSide side) {
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / 64;
  Reach result;
  for (const Dimension& dimension : dimensions) {
    if (dimension.length < 2) continue;
    std::ptrdiff_t last;
    if (dimension.length > static_cast<std::size_t>(kMost) ||
        __builtin_mul_overflow(static_cast<std::ptrdiff_t>(dimension.length - 1), stride(dimension, side), &last) ||
        std::abs(last) > kMost) {
      throw Error(ErrorKind::invalid_argument, "fft: the strides reach beyond the address space");
    }
    (last < 0 ? result.low : result.high) += last;
    if (result.high > kMost || result.low < -kMost) {
      throw Error(ErrorKind::invalid_argument, "fft: the strides reach beyond the address space");
    }
  }
  return result;
}

std::vector<Dimension> packed(const std::vector<Dimension>& dimensions) {
  std::vector<Dimension> result = dimensions;
  std::ptrdiff_t step = 1;
  for (std::size_t d = result.size(); d-- > 0;) {
    result[d].input = result[d].output = step;
    step *= static_cast<std::ptrdiff_t>(result[d].length);
  }
  return result;
}

}  // namespace ridge::fft
