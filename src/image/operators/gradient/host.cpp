// Row-wise image gradients on the host.
#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/rows.hpp"
#include "image/operators/gradient/weights.hpp"

namespace ridge::image {
namespace {

class GradientStage final : public Stage {
 public:
  GradientStage(const Gradient& o, const Shape& in) : Stage(in, output_shape(o, in), 2, 3) {
    const GradientWeights weights = gradient_weights(o);
    for (const double weight : weights.beside) factors_.push_back(static_cast<float>(weight * weights.along[2]));
  }

  std::size_t scratch() const override { return 2 * padded_columns(); }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const std::size_t columns = this->in().columns;
    const float* rows[3] = {};
    for (std::size_t i = 0; i < 3; ++i) rows[i] = in.row(static_cast<std::ptrdiff_t>(r + i) - 1).plane(0) - pad();
    float* apart = scratch + padded_columns();
    gradient_down(rows, factors_.data(), scratch, apart, columns + 2 * pad());
    gradient_across(scratch + pad(), apart + pad(), factors_.data(), out, out + stride, columns);
  }

 private:
  std::size_t padded_columns() const { return in().columns + 2 * pad() + kRowSlack; }
  std::vector<float> factors_;  // three smoothing weights times the derivative's weight
};

}  // namespace

void gradient_rows(const Gradient& o, const Shape& in, std::size_t, Stages& stages) {
  stages.push_back(std::make_unique<GradientStage>(o, in));
}

}  // namespace ridge::image
