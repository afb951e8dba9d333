// Row-wise resize on the host.
#include <algorithm>
#include <cmath>

#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/rows.hpp"
#include "image/operators/resize/taps.hpp"

namespace ridge::image {
namespace {

std::size_t most_taps(const std::vector<ResizeTap>& taps) {
  std::size_t most = 0;
  for (const ResizeTap& tap : taps) most = std::max(most, tap.weights.size());
  return most;
}

// Taps of the output columns as tables with the same number of taps per pixel; unused taps have weight 0. Lines need
// space before the first and after the last column, where the end values are repeated.
class Across {
 public:
  Across(const std::vector<ResizeTap>& taps, std::size_t columns) : taps_(most_taps(taps)), columns_(columns) {
    const auto end = static_cast<std::ptrdiff_t>(columns);
    for (const ResizeTap& tap : taps) {
      before_ = std::max(before_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, -tap.from)));
      behind_ = std::max(behind_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(
                                      0, tap.from + static_cast<std::ptrdiff_t>(taps_) - end)));
    }
    stride_ = taps.size() + kRowSlack;
    places_.resize(stride_);
    weights_.resize(taps_ * stride_);
    every_second_ = true;
    for (std::size_t i = 0; i < stride_; ++i) {
      const ResizeTap& tap = taps[std::min(i, taps.size() - 1)];
      places_[i] = static_cast<std::int32_t>(tap.from);
      for (std::size_t k = 0; k < tap.weights.size(); ++k) {
        weights_[k * stride_ + i] = static_cast<float>(tap.weights[k]);
        every_second_ = every_second_ && std::abs(tap.weights[k] - taps[0].weights[k]) < 1e-12;
      }
      if (i < taps.size()) {
        every_second_ = every_second_ && tap.weights.size() == taps_ &&
                        tap.from == taps[0].from + 2 * static_cast<std::ptrdiff_t>(i);
      }
    }
    for (std::size_t i = 0; i + 3 < stride_; ++i)
      span_ = std::max(span_, static_cast<std::size_t>(places_[i + 3] - places_[i]) + taps_);
    if (every_second_) {
      for (std::size_t k = 0; k < taps_; ++k) alike_.push_back(weights_[k * stride_]);
    }
  }

  std::size_t before() const { return before_; }
  std::size_t room() const { return before_ + columns_ + behind_ + kRowSlack; }
  // Repeats the end values; `line` is column 0 of a line with `room()` floats.
  void repeat_ends(float* line) const {
    std::fill_n(line - before_, before_, line[0]);
    std::fill_n(line + columns_, behind_, line[columns_ - 1]);
  }
  void run(const float* const* lines, std::size_t count, float* const* outs, std::size_t n) const {
    if (!every_second_)
      return resample(lines, count, {places_.data(), weights_.data(), taps_, stride_, span_}, outs, n);
    for (std::size_t j = 0; j < count; ++j) weighted_sum_half(lines[j] + places_[0], alike_.data(), taps_, outs[j], n);
  }

 private:
  std::size_t taps_, columns_, before_ = 0, behind_ = 0, stride_ = 0, span_ = 0;
  bool every_second_ = false;  // taps start at every second column and have the same weights
  std::vector<std::int32_t> places_;
  std::vector<float> weights_, alike_;
};

// Interpolates vertically in vectors, then horizontally for all channels of some rows at once.
class ResizeStage final : public Stage {
 public:
  ResizeStage(const Resize& o, const Shape& in, const Shape& out, const std::vector<ResizeTap>& down,
              const std::vector<ResizeTap>& across)
      : Stage(in, out, 0, rows_held(down)),
        down_(down),
        across_(across, in.columns),
        nearest_(o.interpolation == Interpolation::nearest) {}

  std::size_t scratch() const override { return rows_at_once() * in().channels * across_.room(); }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    some_rows(r, 1, in, &out, stride, scratch);
  }
  std::size_t rows_at_once() const override { return in().channels == 1 ? kMostRows : 1; }
  void make_rows(std::size_t r, RowSource& in, RowSource*, float* const* outs, std::size_t stride,
                 float* scratch) const override {
    some_rows(r, rows_at_once(), in, outs, stride, scratch);
  }

 private:
  // Most input rows needed for the output rows that are computed together.
  static std::size_t rows_held(const std::vector<ResizeTap>& down) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < down.size(); ++i) {
      const ResizeTap& last = down[std::min(i + kMostRows, down.size()) - 1];
      most = std::max(most, static_cast<std::size_t>(last.from - down[i].from) + most_taps({last}));
    }
    return most + 1;
  }
  void some_rows(std::size_t r, std::size_t count, RowSource& in, float* const* outs, std::size_t stride,
                 float* scratch) const {
    const Shape& shape = this->in();
    const float* lines[4 * kMostRows];
    float* to[4 * kMostRows];
    std::vector<const float*> from;
    for (std::size_t j = 0; j < count; ++j) {
      const ResizeTap& tap = down_[std::min(r + j, down_.size() - 1)];
      const std::vector<float> weights(tap.weights.begin(), tap.weights.end());
      for (std::size_t k = 0; k < shape.channels; ++k) {
        from.clear();
        for (std::size_t i = 0; i < weights.size(); ++i) {
          from.push_back(in.row(std::clamp<std::ptrdiff_t>(tap.from + static_cast<std::ptrdiff_t>(i), 0,
                                                           static_cast<std::ptrdiff_t>(shape.rows) - 1))
                             .plane(k));
        }
        const std::size_t at = j * shape.channels + k;
        lines[at] = from.front();
        to[at] = outs[j] + k * stride;
        if (nearest_) continue;
        float* sums = scratch + at * across_.room() + across_.before();
        weighted_sum(from.data(), weights.data(), weights.size(), sums, shape.columns);
        across_.repeat_ends(sums);
        lines[at] = sums;
      }
    }
    across_.run(lines, count * shape.channels, to, out().columns);
  }

  std::vector<ResizeTap> down_;
  Across across_;
  bool nearest_;
};

}  // namespace

void resize_rows(const Resize& o, const Shape& in, std::size_t, Stages& stages) {
  const ResizeTaps taps = resize_taps(o, in);
  stages.push_back(std::make_unique<ResizeStage>(o, in, output_shape(o, in), taps.down, taps.across));
}

}  // namespace ridge::image
