// Computes the padded offsets of the blocks of a depth-first transform.
#include "fft/host/power2/descent.hpp"

#include <utility>

namespace ridge::fft::power2 {

Descent::Descent(std::vector<std::size_t> radices, std::size_t leaf, std::size_t pad)
    : radices_(std::move(radices)),
      lengths_(radices_.size()),
      strides_(radices_.size()),
      runs_(radices_.size()),
      leaf_(leaf) {
  std::size_t length = leaf, span = leaf;
  std::vector<std::size_t> runs = {0};
  for (std::size_t level = levels(); level-- > 0;) {
    strides_[level] = span + pad;
    runs_[level] = runs;
    runs.clear();
    for (std::size_t digit = 0; digit < radices_[level]; ++digit) {
      for (const std::size_t run : runs_[level]) runs.push_back(digit * strides_[level] + run);
    }
    span = radices_[level] * strides_[level];
    length *= radices_[level];
    lengths_[level] = length;
  }
  span_ = span;

  // Decimation in frequency: the sub-block of the first pass is the lowest digit of the bin.
  offsets_.assign(1, 0);
  for (std::size_t level = 0; level < levels(); ++level) {
    const std::size_t known = offsets_.size();
    offsets_.resize(known * radices_[level]);
    for (std::size_t digit = 1; digit < radices_[level]; ++digit) {
      for (std::size_t i = 0; i < known; ++i) offsets_[digit * known + i] = offsets_[i] + digit * strides_[level];
    }
  }
}

}  // namespace ridge::fft::power2
