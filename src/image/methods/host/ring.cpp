// Ring buffers of rows: rows are computed when they are requested, and the least recently used row is replaced.
#include "image/methods/host/ring.hpp"

#include <algorithm>

#include "image/methods/host/kernels/row_kernels.hpp"

namespace ridge::image {

Ring::Ring(const Shape& shape, std::size_t pad, std::size_t keep, const Edge& edge)
    : shape_(shape),
      pad_(pad),
      stride_((shape.columns + 2 * pad + kRowSlack + 15) / 16 * 16),
      edge_(edge),
      memory_((keep + 2) * shape.channels * stride_),  // the last slot holds the border constant
      slots_(keep + 1) {
  std::fill(memory_.begin(), memory_.end(), 0.0f);
  std::fill_n(memory_.data() + slots_.size() * shape.channels * stride_, shape.channels * stride_, edge.constant);
}

Row Ring::row(std::ptrdiff_t r) {
  const std::ptrdiff_t y = border_index(edge_.border, r, static_cast<std::ptrdiff_t>(shape_.rows));
  const auto row_at = [&](std::size_t slot) { return memory_.data() + slot * shape_.channels * stride_ + pad_; };
  if (y < 0) return {row_at(slots_.size()), stride_};
  std::size_t oldest = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].row == y) {
      slots_[i].used = ++clock_;
      return {row_at(i), stride_};
    }
    if (slots_[i].used < slots_[oldest].used) oldest = i;
  }
  slots_[oldest] = {y, ++clock_};
  make(static_cast<std::size_t>(y), row_at(oldest), stride_);
  pad_columns(row_at(oldest));
  return {row_at(oldest), stride_};
}

void Ring::pad_columns(float* planes) const {
  const auto n = static_cast<std::ptrdiff_t>(shape_.columns), pad = static_cast<std::ptrdiff_t>(pad_);
  for (std::ptrdiff_t k = 1; k <= pad; ++k) {
    const std::ptrdiff_t before = border_index(edge_.border, -k, n), behind = border_index(edge_.border, n - 1 + k, n);
    for (std::size_t channel = 0; channel < shape_.channels; ++channel) {
      float* plane = planes + channel * stride_;
      plane[-k] = before < 0 ? edge_.constant : plane[before];
      plane[n - 1 + k] = behind < 0 ? edge_.constant : plane[behind];
    }
  }
}

void ImageRing::make(std::size_t r, float* out, std::size_t stride) {
  switch (image_.depth()) {
    case Depth::u8:
      return unpack(image_.row<std::uint8_t>(r), image_.channels(), image_.columns(), out, stride);
    case Depth::u16:
      return unpack(image_.row<std::uint16_t>(r), image_.channels(), image_.columns(), out, stride);
    default:
      return unpack(image_.row<float>(r), image_.channels(), image_.columns(), out, stride);
  }
}

StageRing::StageRing(const Stage& stage, RowSource& from, RowSource* guide, std::size_t pad, std::size_t keep,
                     const Edge& edge)
    : Ring(stage.out(), pad, keep, edge), stage_(stage), from_(from), guide_(guide), scratch_(stage.scratch() + 1) {}

void StageRing::make(std::size_t r, float* out, std::size_t stride) {
  stage_.make(r, from_, guide_, out, stride, scratch_.data());
  round_planes(stage_.out(), out, stride);
}

void round_planes(const Shape& shape, float* planes, std::size_t stride) {
  if (shape.depth == Depth::f32) return;
  for (std::size_t k = 0; k < shape.channels; ++k)
    round_to(planes + k * stride, shape.columns, shape.depth == Depth::u8 ? 255.0f : 65535.0f);
}

}  // namespace ridge::image
