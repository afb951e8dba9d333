// Row-wise separable filters on the host.
#include <algorithm>

#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {
namespace {

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }
std::size_t padded(const Shape& shape, std::size_t pad) { return shape.columns + 2 * pad + kRowSlack; }

// Separable filter: vertical pass, then horizontal pass. Step 2 keeps every second row and column (pyramid).
class SeparableStage final : public Stage {
 public:
  SeparableStage(const std::vector<double>& down, const std::vector<double>& across, std::size_t step, const Shape& in,
                 const Shape& out)
      : Stage(in, out, across.size() / 2 + 1, down.size() + step + (step == 1 ? kMostRows - 1 : 0)),
        down_(floats(down)),
        across_(floats(across)),
        step_(step) {}

  std::size_t scratch() const override {
    return std::max(padded(in(), pad()), kMostRows * (kStrip + across_.size() + kRowSlack));
  }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const Shape& shape = this->in();
    const std::vector<Row> rows = rows_of(in, step_ * r, down_.size());
    std::vector<const float*> from(down_.size());
    const float* line = scratch + pad() - across_.size() / 2;
    for (std::size_t k = 0; k < shape.channels; ++k) {
      for (std::size_t i = 0; i < down_.size(); ++i) from[i] = rows[i].plane(k) - pad();
      weighted_sum(from.data(), down_.data(), down_.size(), scratch, shape.columns + 2 * pad());
      const auto across = step_ == 2 ? weighted_sum_half : weighted_sum_along;
      across(line, across_.data(), across_.size(), out + k * stride, this->out().columns);
    }
  }
  std::size_t rows_at_once() const override { return step_ == 1 && down_.size() >= kMostRows ? kMostRows : 1; }
  // Processes strips, so that the column sums are still in the L1 cache when they are summed horizontally.
  void make_rows(std::size_t r, RowSource& in, RowSource* guide, float* const* outs, std::size_t stride,
                 float* scratch) const override {
    if (rows_at_once() == 1) return make(r, in, guide, outs[0], stride, scratch);
    const Shape& shape = this->in();
    const std::vector<Row> rows = rows_of(in, r, down_.size() + kMostRows - 1);
    const std::size_t left = across_.size() / 2, pitch = kStrip + across_.size() + kRowSlack;
    float* sums[kMostRows];
    for (std::size_t j = 0; j < kMostRows; ++j) sums[j] = scratch + j * pitch;
    std::vector<const float*> from(rows.size());
    for (std::size_t k = 0; k < shape.channels; ++k) {
      for (std::size_t begin = 0; begin < shape.columns; begin += kStrip) {
        const std::size_t wide = std::min(kStrip, shape.columns - begin);
        for (std::size_t i = 0; i < rows.size(); ++i) from[i] = rows[i].plane(k) + begin - left;
        weighted_sums_down(from.data(), down_.data(), down_.size(), sums, wide + across_.size() - 1);
        for (std::size_t j = 0; j < kMostRows; ++j)
          weighted_sum_along(sums[j], across_.data(), across_.size(), outs[j] + k * stride + begin, wide);
      }
    }
  }

 private:
  static constexpr std::size_t kStrip = 480;

  std::vector<Row> rows_of(RowSource& in, std::size_t first, std::size_t count) const {
    std::vector<Row> rows;
    rows.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      rows.push_back(in.row(static_cast<std::ptrdiff_t>(first + i) - static_cast<std::ptrdiff_t>(down_.size() / 2)));
    return rows;
  }
  std::vector<float> down_, across_;
  std::size_t step_;
};

}  // namespace

std::unique_ptr<Stage> separable_stage(const Product& product, const Shape& in, const Shape& out) {
  return std::make_unique<SeparableStage>(product.down, product.across, product.step, in, out);
}

}  // namespace ridge::image
