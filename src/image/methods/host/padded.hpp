// Ring buffer of image rows in their own type, padded according to the border, for a thread that moves down the image.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/aligned.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {

template <class T>
class PaddedRows {
 public:
  // `pad` pixels on either side; `keep` rows are valid at once.
  PaddedRows(const Image& image, std::size_t pad, std::size_t keep, const Edge& edge)
      : image_(image),
        pad_(pad * image.channels()),
        stride_((image.columns() * image.channels() + 2 * pad_ + 512 / sizeof(T) + 63) / 64 * 64),
        keep_(keep),
        edge_(edge),
        memory_((keep + 1) * stride_),
        held_(keep, -1) {
    const std::size_t channels = image.channels();
    std::fill_n(memory_.data() + keep * stride_, stride_, static_cast<T>(edge.constant));
    for (std::size_t k = 0; k < 2 * pad; ++k) {  // source of each padding channel; -1: the constant
      const auto columns = static_cast<std::ptrdiff_t>(image.columns());
      const auto at = static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(pad);
      const std::ptrdiff_t from = border_index(edge.border, at < 0 ? at : columns + at, columns);
      for (std::size_t c = 0; c < channels; ++c)
        places_.push_back(from < 0 ? -1
                                   : from * static_cast<std::ptrdiff_t>(channels) + static_cast<std::ptrdiff_t>(c));
    }
  }

  // Returns the first channel of row r, which may be outside the image, with `pad` pixels before it. Rows r to r + keep
  // - 1 are valid together.
  const T* row(std::ptrdiff_t r) {
    const std::ptrdiff_t y = border_index(edge_.border, r, static_cast<std::ptrdiff_t>(image_.rows()));
    if (y < 0) return memory_.data() + keep_ * stride_ + pad_;
    const auto keep = static_cast<std::ptrdiff_t>(keep_);
    const auto slot = static_cast<std::size_t>((r % keep + keep) % keep);
    T* to = memory_.data() + slot * stride_ + pad_;
    if (held_[slot] != y) {
      held_[slot] = y;
      const T* from = image_.row<T>(static_cast<std::size_t>(y));
      const std::size_t wide = image_.columns() * image_.channels();
      std::memcpy(to, from, wide * sizeof(T));
      for (std::size_t k = 0; k < pad_; ++k) {
        to[static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(pad_)] = value(from, places_[k]);
        to[wide + k] = value(from, places_[pad_ + k]);
      }
    }
    return to;
  }

 private:
  T value(const T* row, std::ptrdiff_t place) const { return place < 0 ? static_cast<T>(edge_.constant) : row[place]; }

  const Image& image_;
  std::size_t pad_, stride_, keep_;
  Edge edge_;
  base::AlignedArray<T> memory_;
  std::vector<std::ptrdiff_t> held_, places_;
};

}  // namespace ridge::image
