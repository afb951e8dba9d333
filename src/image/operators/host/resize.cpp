#include <algorithm>

#include "image/operators/host/row_kernels.hpp"
#include "image/operators/host/rows.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image {
namespace {

std::size_t most_taps(const std::vector<ResizeTap>& taps) {
  std::size_t most = 0;
  for (const ResizeTap& tap : taps) most = std::max(most, tap.weights.size());
  return most;
}

// Down first, as vectors; then across, each pixel from its own few columns. Borders repeat, so places are clamped.
class ResizeStage final : public Stage {
 public:
  ResizeStage(const Resize& o, const Shape& in, const Shape& out, const std::vector<ResizeTap>& down,
              const std::vector<ResizeTap>& across)
      : Stage(in, out, 0, most_taps(down) + 1),
        down_(down),
        taps_(most_taps(across)),
        nearest_(o.interpolation == Interpolation::nearest) {
    // As many taps for every pixel, unused ones with no weight.
    for (const ResizeTap& tap : across) {
      for (std::size_t k = 0; k < taps_; ++k) {
        const auto at = std::clamp<std::ptrdiff_t>(tap.from + static_cast<std::ptrdiff_t>(k), 0,
                                                   static_cast<std::ptrdiff_t>(in.columns) - 1);
        places_.push_back(static_cast<std::uint32_t>(at));
        weights_.push_back(k < tap.weights.size() ? static_cast<float>(tap.weights[k]) : 0.0f);
      }
    }
  }

  std::size_t scratch() const override { return in().columns + kRowSlack; }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const ResizeTap& tap = down_[r];
    const Shape& shape = this->in();
    std::vector<Row> rows;
    std::vector<float> weights(tap.weights.begin(), tap.weights.end());
    rows.reserve(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      rows.push_back(in.row(std::clamp<std::ptrdiff_t>(tap.from + static_cast<std::ptrdiff_t>(i), 0,
                                                       static_cast<std::ptrdiff_t>(shape.rows) - 1)));
    }
    std::vector<const float*> from(weights.size());
    for (std::size_t k = 0; k < shape.channels; ++k) {
      const float* line = rows.front().plane(k);
      if (!nearest_) {
        for (std::size_t i = 0; i < weights.size(); ++i) from[i] = rows[i].plane(k);
        weighted_sum(from.data(), weights.data(), weights.size(), scratch, shape.columns);
        line = scratch;
      }
      float* to = out + k * stride;
      across(line, to);
    }
  }

 private:
  void across(const float* line, float* to) const {
    const std::size_t columns = out().columns;
    const std::uint32_t* place = places_.data();
    const float* weight = weights_.data();
    if (taps_ == 1) {
      for (std::size_t c = 0; c < columns; ++c) to[c] = line[place[c]];
    } else if (taps_ == 2) {
      for (std::size_t c = 0; c < columns; ++c)
        to[c] = line[place[2 * c]] * weight[2 * c] + line[place[2 * c + 1]] * weight[2 * c + 1];
    } else {
      for (std::size_t c = 0; c < columns; ++c, place += taps_, weight += taps_) {
        float sum = 0;
        for (std::size_t k = 0; k < taps_; ++k) sum += line[place[k]] * weight[k];
        to[c] = sum;
      }
    }
  }

  std::vector<ResizeTap> down_;
  std::size_t taps_;
  bool nearest_;
  std::vector<std::uint32_t> places_;
  std::vector<float> weights_;
};

}  // namespace

std::unique_ptr<Stage> resize_stage(const Resize& o, const Shape& in) {
  const Shape out = output_shape(o, in);
  return std::make_unique<ResizeStage>(o, in, out, resize_taps(in.rows, out.rows, o.interpolation),
                                       resize_taps(in.columns, out.columns, o.interpolation));
}

}  // namespace ridge::image
