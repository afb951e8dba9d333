// Weighted sums: convolution, products of a column and a row, gradients.
#include "image/operators/host/row_kernels.hpp"
#include "image/operators/host/rows.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image {
namespace {

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }
std::size_t padded(const Shape& shape, std::size_t pad) { return shape.columns + 2 * pad + kRowSlack; }

class ConvolveStage final : public Stage {
 public:
  ConvolveStage(const Convolve& o, const Shape& in) : Stage(in, in, o.columns / 2 + 1, o.rows), o_(o) {}

  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float*) const override {
    std::vector<Row> rows;
    rows.reserve(o_.rows);
    for (std::size_t i = 0; i < o_.rows; ++i)
      rows.push_back(in.row(static_cast<std::ptrdiff_t>(r + i) - static_cast<std::ptrdiff_t>(o_.rows / 2)));
    std::vector<const float*> from(o_.kernel.size());
    for (std::size_t k = 0; k < this->in().channels; ++k) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = rows[i / o_.columns].plane(k) + i % o_.columns - o_.columns / 2;
      }
      weighted_sum(from.data(), o_.kernel.data(), from.size(), out + k * stride, this->in().columns);
    }
  }

 private:
  Convolve o_;
};

// Down first, then across; with a step, every step-th row and column (the pyramid's).
class SeparableStage final : public Stage {
 public:
  SeparableStage(const std::vector<double>& down, const std::vector<double>& across, std::size_t step, const Shape& in,
                 const Shape& out)
      : Stage(in, out, across.size() / 2 + 1, down.size() + step),
        down_(floats(down)),
        across_(floats(across)),
        step_(step) {}

  std::size_t scratch() const override { return 2 * padded(in(), pad()); }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const Shape& shape = this->in();
    std::vector<const float*> from(std::max(down_.size(), across_.size()));
    std::vector<Row> rows;
    rows.reserve(down_.size());
    for (std::size_t i = 0; i < down_.size(); ++i)
      rows.push_back(
          in.row(static_cast<std::ptrdiff_t>(step_ * r + i) - static_cast<std::ptrdiff_t>(down_.size() / 2)));
    float* line = scratch + pad();
    for (std::size_t k = 0; k < shape.channels; ++k) {
      for (std::size_t i = 0; i < down_.size(); ++i) from[i] = rows[i].plane(k) - pad();
      weighted_sum(from.data(), down_.data(), down_.size(), scratch, shape.columns + 2 * pad());
      for (std::size_t i = 0; i < across_.size(); ++i) from[i] = line + i - across_.size() / 2;
      if (step_ == 1) {
        weighted_sum(from.data(), across_.data(), across_.size(), out + k * stride, shape.columns);
        continue;
      }
      float* whole = scratch + padded(shape, pad());
      weighted_sum(from.data(), across_.data(), across_.size(), whole, shape.columns);
      for (std::size_t c = 0; c < this->out().columns; ++c) out[k * stride + c] = whole[step_ * c];
    }
  }

 private:
  std::vector<float> down_, across_;
  std::size_t step_;
};

class GradientStage final : public Stage {
 public:
  GradientStage(const Gradient& o, const Shape& in)
      : Stage(in, output_shape(o, in), 2, 3),
        along_(floats(gradient_weights(o.kind).along)),
        beside_(floats(gradient_weights(o.kind).beside)) {}

  std::size_t scratch() const override { return padded(in(), pad()); }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const std::size_t columns = this->in().columns;
    Row rows[3];
    for (std::size_t i = 0; i < 3; ++i) rows[i] = in.row(static_cast<std::ptrdiff_t>(r + i) - 1);
    for (std::size_t way = 0; way < 2; ++way) {  // d/dx: smoothed down, differences across; d/dy the other way round
      const float* down[3] = {rows[0].plane(0) - pad(), rows[1].plane(0) - pad(), rows[2].plane(0) - pad()};
      weighted_sum(down, (way == 0 ? beside_ : along_).data(), 3, scratch, columns + 2 * pad());
      const float* line = scratch + pad();
      const float* across[3] = {line - 1, line, line + 1};
      weighted_sum(across, (way == 0 ? along_ : beside_).data(), 3, out + way * stride, columns);
    }
  }

 private:
  std::vector<float> along_, beside_;
};

}  // namespace

std::unique_ptr<Stage> convolve_stage(const Convolve& o, const Shape& in) {
  return std::make_unique<ConvolveStage>(o, in);
}
std::unique_ptr<Stage> separable_stage(const std::vector<double>& down, const std::vector<double>& across,
                                       std::size_t step, const Shape& in, const Shape& out) {
  return std::make_unique<SeparableStage>(down, across, step, in, out);
}
std::unique_ptr<Stage> gradient_stage(const Gradient& o, const Shape& in) {
  return std::make_unique<GradientStage>(o, in);
}

}  // namespace ridge::image
