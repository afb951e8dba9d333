// Row-wise bilateral and cross-bilateral filters on the host.
#include <algorithm>
#include <array>

#include "image/flow/weights.hpp"
#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {
namespace {

class BilateralStage final : public Stage {
 public:
  BilateralStage(const Bilateral& o, bool cross, std::size_t guide_channels, const Shape& in)
      : Stage(in, in, o.radius + 1, 2 * o.radius + 1),
        radius_(static_cast<std::ptrdiff_t>(o.radius)),
        space_(flow::slope_of(o.sigma_space)),
        color_(flow::slope_of(o.sigma_color)),
        absolute_(o.like == Like::opencv),
        cross_(cross),
        guide_channels_(cross ? guide_channels : in.channels) {}

  bool wants_guide() const override { return cross_; }
  std::size_t scratch() const override { return in().columns + kRowSlack; }
  void make(std::size_t r, RowSource& in, RowSource* guide, float* out, std::size_t stride,
            float* scratch) const override {
    const Shape& shape = this->in();
    if (!cross_ && (shape.channels == 1 || shape.channels == 3)) return whole(r, in, out, stride);
    std::array<float*, 4> sums{};
    for (std::size_t k = 0; k < shape.channels; ++k) {
      sums[k] = out + k * stride;
      std::fill_n(sums[k], shape.columns, 0.0f);
    }
    std::fill_n(scratch, shape.columns, 0.0f);
    RowSource& look = cross_ ? *guide : in;
    const Row own = look.row(static_cast<std::ptrdiff_t>(r));
    for (std::ptrdiff_t i = -radius_; i <= radius_; ++i) {
      const Row values = in.row(static_cast<std::ptrdiff_t>(r) + i),
                colors = cross_ ? look.row(static_cast<std::ptrdiff_t>(r) + i) : values;
      for (std::ptrdiff_t j = -radius_; j <= radius_; ++j) {
        if (i * i + j * j > radius_ * radius_) continue;
        std::array<const float*, 4> at_own{}, at_other{}, at_values{};
        for (std::size_t k = 0; k < guide_channels_; ++k) {
          at_own[k] = own.plane(k);
          at_other[k] = colors.plane(k) + j;
        }
        for (std::size_t k = 0; k < shape.channels; ++k) at_values[k] = values.plane(k) + j;
        bilateral_tap({.own = at_own.data(),
                       .other = at_other.data(),
                       .guide_channels = guide_channels_,
                       .values = at_values.data(),
                       .channels = shape.channels,
                       .slope = color_,
                       .space = static_cast<float>(i * i + j * j) * space_,
                       .absolute = absolute_,
                       .sums = sums.data(),
                       .total = scratch},
                      shape.columns);
      }
    }
    for (std::size_t k = 0; k < shape.channels; ++k) divide(sums[k], scratch, shape.columns);
  }

 private:
  void whole(std::size_t r, RowSource& in, float* out, std::size_t stride) const {
    std::vector<const float*> rows;
    std::vector<float> space;
    std::vector<std::size_t> reach;
    std::array<float*, 4> outs{};
    const std::size_t channels = this->in().channels;
    for (std::size_t k = 0; k < channels; ++k) outs[k] = out + k * stride;
    for (std::ptrdiff_t i = -radius_; i <= radius_; ++i) {
      const Row row = in.row(static_cast<std::ptrdiff_t>(r) + i);
      for (std::size_t k = 0; k < channels; ++k) rows.push_back(row.plane(k));
      for (std::ptrdiff_t j = -radius_; j <= radius_; ++j) space.push_back(static_cast<float>(i * i + j * j) * space_);
      std::ptrdiff_t far = radius_;
      while (i * i + far * far > radius_ * radius_) --far;
      reach.push_back(static_cast<std::size_t>(far));
    }
    const float farthest = static_cast<float>(radius_ * radius_) * space_ + 255.0f * 255.0f * color_;
    const bool bytes = this->in().depth == Depth::u8 && (channels > 1 || farthest > -126.0f);
    bilateral_row({.rows = rows.data(),
                   .space = space.data(),
                   .reach = reach.data(),
                   .radius = static_cast<std::size_t>(radius_),
                   .slope = color_,
                   .bytes = bytes,
                   .absolute = absolute_},
                  channels, outs.data(), this->in().columns);
  }

  std::ptrdiff_t radius_;
  float space_, color_;
  bool absolute_, cross_;
  std::size_t guide_channels_;
};

}  // namespace

void bilateral_rows(const Bilateral& o, const Shape& in, std::size_t, Stages& stages) {
  stages.push_back(std::make_unique<BilateralStage>(o, false, in.channels, in));
}

void cross_bilateral_rows(const CrossBilateral& o, const Shape& in, std::size_t guide_channels, Stages& stages) {
  const Bilateral own{o.radius, o.sigma_space, o.sigma_color, o.like};
  stages.push_back(std::make_unique<BilateralStage>(own, true, guide_channels, in));
}

}  // namespace ridge::image
