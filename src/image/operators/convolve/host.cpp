// Row-wise convolution on the host: directly, or as a sum of separable filters.
#include <algorithm>

#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/rows.hpp"
#include "image/operators/convolve/terms.hpp"

namespace ridge::image {
namespace {

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

// Sum of several separable filters, computed one after another and added.
class SumOfProducts final : public Stage {
 public:
  SumOfProducts(const std::vector<SeparableTerm>& terms, const Shape& in)
      : Stage(in, in, terms.front().across.size() / 2 + 1, terms.front().down.size() + kMostRows) {
    for (const SeparableTerm& term : terms) terms_.push_back(separable_stage({term.down, term.across}, in, in));
  }
  std::size_t scratch() const override { return terms_.front()->scratch() + kMostRows * stride_of() * in().channels; }
  void make(std::size_t r, RowSource& from, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    sum(1, &out, stride, scratch, [&](const Stage& term, float* const* outs, std::size_t apart, float* own) {
      term.make(r, from, nullptr, outs[0], apart, own);
    });
  }
  std::size_t rows_at_once() const override { return terms_.front()->rows_at_once(); }
  void make_rows(std::size_t r, RowSource& from, RowSource*, float* const* outs, std::size_t stride,
                 float* scratch) const override {
    sum(rows_at_once(), outs, stride, scratch, [&](const Stage& term, float* const* to, std::size_t apart, float* own) {
      term.make_rows(r, from, nullptr, to, apart, own);
    });
  }

 private:
  std::size_t stride_of() const { return in().columns + kRowSlack; }
  template <class Make>
  void sum(std::size_t rows, float* const* outs, std::size_t stride, float* scratch, const Make& make_term) const {
    float* more[kMostRows] = {};
    for (std::size_t j = 0; j < rows; ++j)
      more[j] = scratch + terms_.front()->scratch() + j * stride_of() * in().channels;
    make_term(*terms_.front(), outs, stride, scratch);
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      make_term(*terms_[i], more, stride_of(), scratch);
      for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t k = 0; k < in().channels; ++k)
          add_to(more[j] + k * stride_of(), outs[j] + k * stride, in().columns);
      }
    }
  }
  std::vector<std::unique_ptr<Stage>> terms_;
};

}  // namespace

void convolve_rows(const Convolve& o, const Shape& in, std::size_t, Stages& stages) {
  const std::vector<SeparableTerm> terms = cheap_separable_terms(o);
  if (terms.size() == 1) {
    stages.push_back(separable_stage({terms[0].down, terms[0].across}, in, in));
  } else if (!terms.empty()) {
    stages.push_back(std::make_unique<SumOfProducts>(terms, in));
  } else {
    stages.push_back(std::make_unique<ConvolveStage>(o, in));
  }
}

}  // namespace ridge::image
