// Layout of the blocks of a depth-first transform: sub-blocks of every level are padded, so that the streams of one
// pass never share an L1 set, for any length.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::power2 {

class Descent {
 public:
  Descent() = default;
  // `leaf` and `pad` in points.
  Descent(std::vector<std::size_t> radices, std::size_t leaf, std::size_t pad);

  std::size_t levels() const { return radices_.size(); }
  std::size_t radix(std::size_t level) const { return radices_[level]; }
  std::size_t length(std::size_t level) const { return lengths_[level]; }  // points of a block before that pass
  std::size_t stride(std::size_t level) const { return strides_[level]; }  // between its sub-blocks
  // A sub-block of that level is padded too: positions of its runs of leaf() points, in order.
  const std::vector<std::size_t>& runs(std::size_t level) const { return runs_[level]; }
  std::size_t leaf() const { return leaf_; }
  std::size_t span() const { return span_; }  // size of the whole work area
  std::size_t blocks() const { return offsets_.size(); }
  // Leaf b in output order: bin k of that leaf is bin k * blocks() + b of the transform.
  const std::size_t* offsets() const { return offsets_.data(); }

 private:
  std::vector<std::size_t> radices_, lengths_, strides_, offsets_;
  std::vector<std::vector<std::size_t>> runs_;
  std::size_t leaf_ = 0, span_ = 0;
};

}  // namespace ridge::fft::power2
