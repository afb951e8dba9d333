// Row-wise weighted sums on the host: convolution, separable filters, gradients.
#include <algorithm>

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

class GradientStage final : public Stage {
 public:
  GradientStage(const Gradient& o, const Shape& in) : Stage(in, output_shape(o, in), 2, 3) {
    const GradientWeights weights = gradient_weights(o);
    for (const double weight : weights.beside) factors_.push_back(static_cast<float>(weight * weights.along[2]));
  }

  std::size_t scratch() const override { return 2 * padded(in(), pad()); }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const std::size_t columns = this->in().columns;
    const float* rows[3] = {};
    for (std::size_t i = 0; i < 3; ++i) rows[i] = in.row(static_cast<std::ptrdiff_t>(r + i) - 1).plane(0) - pad();
    float* apart = scratch + padded(this->in(), pad());
    gradient_down(rows, factors_.data(), scratch, apart, columns + 2 * pad());
    gradient_across(scratch + pad(), apart + pad(), factors_.data(), out, out + stride, columns);
  }

 private:
  std::vector<float> factors_;  // three smoothing weights times the derivative's weight
};

// Sum of several separable filters, computed one after another and added.
class SumOfProducts final : public Stage {
 public:
  SumOfProducts(const std::vector<SeparableTerm>& terms, const Shape& in)
      : Stage(in, in, terms.front().across.size() / 2 + 1, terms.front().down.size() + kMostRows) {
    for (const SeparableTerm& term : terms) terms_.emplace_back(term.down, term.across, 1, in, in);
  }
  std::size_t scratch() const override { return terms_.front().scratch() + kMostRows * stride_of() * in().channels; }
  void make(std::size_t r, RowSource& from, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    sum(1, &out, stride, scratch, [&](const SeparableStage& term, float* const* outs, std::size_t apart, float* own) {
      term.make(r, from, nullptr, outs[0], apart, own);
    });
  }
  std::size_t rows_at_once() const override { return terms_.front().rows_at_once(); }
  void make_rows(std::size_t r, RowSource& from, RowSource*, float* const* outs, std::size_t stride,
                 float* scratch) const override {
    sum(rows_at_once(), outs, stride, scratch,
        [&](const SeparableStage& term, float* const* to, std::size_t apart, float* own) {
          term.make_rows(r, from, nullptr, to, apart, own);
        });
  }

 private:
  std::size_t stride_of() const { return in().columns + kRowSlack; }
  template <class Make>
  void sum(std::size_t rows, float* const* outs, std::size_t stride, float* scratch, const Make& make_term) const {
    float* more[kMostRows] = {};
    for (std::size_t j = 0; j < rows; ++j)
      more[j] = scratch + terms_.front().scratch() + j * stride_of() * in().channels;
    make_term(terms_.front(), outs, stride, scratch);
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      make_term(terms_[i], more, stride_of(), scratch);
      for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t k = 0; k < in().channels; ++k)
          add_to(more[j] + k * stride_of(), outs[j] + k * stride, in().columns);
      }
    }
  }
  std::vector<SeparableStage> terms_;
};

}  // namespace

std::unique_ptr<Stage> convolve_stage(const Convolve& o, const Shape& in) {
  // A separable term needs two passes and an addition; the direct sum needs one pass over all weights.
  const std::size_t most = o.rows * o.columns / (o.rows + o.columns + 4);
  const std::vector<SeparableTerm> terms = separable_terms(o, most);
  if (terms.size() == 1) return std::make_unique<SeparableStage>(terms[0].down, terms[0].across, 1, in, in);
  if (!terms.empty()) return std::make_unique<SumOfProducts>(terms, in);
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
