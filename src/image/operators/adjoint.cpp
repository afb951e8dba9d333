// Adjoints of linear operators: every operator is a sum of products of a map along the columns and a map along the
// rows, so its adjoint is the same sum with both lists of taps transposed.
#include <ridge/image/adjoint.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "image/methods/weights.hpp"
#include "image/operators/convolve/terms.hpp"
#include "image/operators/definition.hpp"
#include "image/operators/gradient/weights.hpp"
#include "image/operators/resize/taps.hpp"

namespace ridge::image {
namespace {

struct Tap {
  std::size_t at;  // index in the array that is read
  double weight;
};
using Taps = std::vector<std::vector<Tap>>;  // one list per value that is written

// The forward map along one axis: `out` values, each a weighted sum of pixels around i * step, beyond the border as
// given.
Taps filter_taps(const std::vector<double>& weights, std::size_t size, std::size_t out, std::size_t step,
                 Border border) {
  Taps taps(out);
  for (std::size_t i = 0; i < out; ++i) {
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const std::ptrdiff_t at = border_index(
          border, static_cast<std::ptrdiff_t>(i * step + j) - static_cast<std::ptrdiff_t>(weights.size() / 2),
          static_cast<std::ptrdiff_t>(size));
      if (at >= 0) taps[i].push_back({static_cast<std::size_t>(at), weights[j]});
    }
  }
  return taps;
}

Taps taps_of(const std::vector<ResizeTap>& resize, std::size_t size) {
  Taps taps(resize.size());
  for (std::size_t i = 0; i < resize.size(); ++i) {
    for (std::size_t j = 0; j < resize[i].weights.size(); ++j) {
      const std::ptrdiff_t at = border_index(Border::replicate, resize[i].from + static_cast<std::ptrdiff_t>(j),
                                             static_cast<std::ptrdiff_t>(size));
      taps[i].push_back({static_cast<std::size_t>(at), resize[i].weights[j]});
    }
  }
  return taps;
}

Taps transposed(const Taps& taps, std::size_t size) {
  Taps result(size);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    for (const Tap& tap : taps[i]) result[tap.at].push_back({i, tap.weight});
  }
  return result;
}

// One product of maps, from a channel of g to a channel of the result. Channel -1: every channel to itself.
struct Term {
  Taps down, across;
  int from = -1, to = -1;
};

struct Pixels {
  std::size_t rows, columns, channels;
  std::vector<double> values;
  double& at(std::size_t r, std::size_t c, std::size_t k) { return values[(r * columns + c) * channels + k]; }
  double at(std::size_t r, std::size_t c, std::size_t k) const { return values[(r * columns + c) * channels + k]; }
};

struct AdjointStep {
  Shape in{}, out{};  // of the forward operator
  bool transpose = false;
  std::vector<Term> terms{};

  Pixels run(const Pixels& g) const {
    Pixels result{in.rows, in.columns, in.channels, std::vector<double>(in.rows * in.columns * in.channels)};
    if (transpose) {
      for (std::size_t r = 0; r < in.rows; ++r)
        for (std::size_t c = 0; c < in.columns; ++c)
          for (std::size_t k = 0; k < in.channels; ++k) result.at(r, c, k) = g.at(c, r, k);
    }
    for (const Term& term : terms) add(term, g, result);
    return result;
  }

 private:
  void add(const Term& term, const Pixels& g, Pixels& result) const {
    const std::size_t first = term.from < 0 ? 0 : static_cast<std::size_t>(term.from);
    const std::size_t count = term.from < 0 ? g.channels : 1;
    const std::size_t to = term.to < 0 ? 0 : static_cast<std::size_t>(term.to);
    Pixels rows{g.rows, in.columns, count, std::vector<double>(g.rows * in.columns * count)};
    each_row(g.rows, [&](std::size_t r) {
      for (std::size_t c = 0; c < in.columns; ++c)
        for (const Tap& tap : term.across[c])
          for (std::size_t k = 0; k < count; ++k) rows.at(r, c, k) += tap.weight * g.at(r, tap.at, first + k);
    });
    each_row(in.rows, [&](std::size_t r) {
      for (const Tap& tap : term.down[r])
        for (std::size_t c = 0; c < in.columns; ++c)
          for (std::size_t k = 0; k < count; ++k) result.at(r, c, to + k) += tap.weight * rows.at(tap.at, c, k);
    });
  }
  template <class Row>
  static void each_row(std::size_t rows, const Row& row) {
    const std::size_t threads = std::min(base::hardware_threads(), rows / 16 + 1);
    base::parallel(threads, [&](std::size_t thread, std::size_t of) {
      for (std::size_t r = thread; r < rows; r += of) row(r);
    });
  }
};

// Appends the steps of one operator.
struct AdjointSteps {
  Shape in;
  Border border;
  std::vector<AdjointStep>& steps;

  void filter(const std::vector<SeparableTerm>& terms, std::size_t step, const Shape& from, const Shape& to) const {
    AdjointStep made{.in = from, .out = to};
    for (const SeparableTerm& term : terms) {
      made.terms.push_back(
          {transposed(filter_taps(term.down, from.rows, to.rows, step, border), from.rows),
           transposed(filter_taps(term.across, from.columns, to.columns, step, border), from.columns)});
    }
    steps.push_back(std::move(made));
  }
  void operator()(const Convolve& o) const {
    std::vector<SeparableTerm> terms = separable_terms(o, std::min(o.rows, o.columns));
    filter(terms, 1, in, in);
  }
  void product(const Operation& o, const Shape& from, const Shape& to) const {
    Product weights;
    product_of(o, in.depth, weights);
    filter({{weights.down, weights.across}}, weights.step, from, to);
  }
  void operator()(const Separable& o) const { product(o, in, in); }
  void operator()(const Gauss& o) const { product(o, in, in); }
  void operator()(const Box& o) const { product(o, in, in); }
  void operator()(const Resize& o) const {
    const ResizeTaps taps = resize_taps(o, in);
    steps.push_back({.in = in,
                     .out = output_shape(o, in),
                     .terms = {{transposed(taps_of(taps.down, in.rows), in.rows),
                                transposed(taps_of(taps.across, in.columns), in.columns)}}});
  }
  void operator()(const Pyramid& o) const {
    Shape shape = in;
    for (std::size_t i = 0; i < o.levels; ++i) {
      const Shape half = output_shape(Pyramid{1}, shape);
      product(Pyramid{1}, shape, half);
      shape = half;
    }
  }
  void operator()(const Gradient& o) const {
    const GradientWeights weights = gradient_weights(o);
    filter({{weights.beside, weights.along}, {weights.along, weights.beside}}, 1, in, output_shape(o, in));
    for (int k = 0; k < 2; ++k) steps.back().terms[static_cast<std::size_t>(k)].from = k;
    for (Term& term : steps.back().terms) term.to = 0;
  }
  void operator()(const Transpose& o) const {
    steps.push_back({.in = in, .out = output_shape(o, in), .transpose = true});
  }
  void operator()(const Gray& o) const {
    AdjointStep made{.in = in, .out = output_shape(o, in)};
    for (std::size_t k = 0; k < std::min<std::size_t>(in.channels, 3); ++k) {
      const double weight = in.channels < 3 ? (k == 0 ? 1.0 : 0.0) : Gray::kWeights[k];
      made.terms.push_back({filter_taps({weight}, in.rows, in.rows, 1, Border::replicate),
                            filter_taps({1.0}, in.columns, in.columns, 1, Border::replicate), 0, static_cast<int>(k)});
    }
    steps.push_back(std::move(made));
  }
  template <class Other>
  void operator()(const Other& o) const {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("image: \"{}\" has no adjoint: use linear operators (convolve, separable, gauss, box, "
                            "resize, pyramid, gradient, transpose, gray)",
                            short_name(o)));
  }
};

}  // namespace

class AdjointChain {
 public:
  explicit AdjointChain(const OperatorProblem& problem) : in_(problem.input), out_(output_shape(problem)) {
    if (in_.depth != Depth::f32) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("image: an adjoint needs float images, got {}; integers are rounded", in_.text()));
    }
    Shape shape = in_;
    for (const Operation& operation : problem.chain) {
      std::visit(AdjointSteps{shape, border_for(operation, problem.border), steps_}, operation);
      shape = output_shape(operation, shape);
    }
  }

  void run(const Image& g, Image& out) const {
    if (g.shape() != out_ || out.shape() != in_ || g.resident() || out.resident()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("image: this adjoint reads {} and writes {} in host memory, got {} and {}", out_.text(),
                              in_.text(), g.shape().text(), out.shape().text()));
    }
    const std::size_t wide = out_.columns * out_.channels;
    Pixels pixels{out_.rows, out_.columns, out_.channels, std::vector<double>(out_.rows * wide)};
    for (std::size_t r = 0; r < out_.rows; ++r)
      std::copy_n(g.row<float>(r), wide, pixels.values.begin() + static_cast<std::ptrdiff_t>(r * wide));
    for (std::size_t i = steps_.size(); i-- > 0;) pixels = steps_[i].run(pixels);
    const std::size_t back = in_.columns * in_.channels;
    for (std::size_t r = 0; r < in_.rows; ++r) {
      for (std::size_t i = 0; i < back; ++i) out.row<float>(r)[i] = static_cast<float>(pixels.values[r * back + i]);
    }
  }

 private:
  Shape in_, out_;
  std::vector<AdjointStep> steps_;
};

AdjointPlan::AdjointPlan(const OperatorProblem& problem) : chain_(std::make_shared<const AdjointChain>(problem)) {}
void AdjointPlan::run(const Image& g, Image& out) const { chain_->run(g, out); }

AdjointPlan OperatorPlan::adjoint() const { return AdjointPlan(problem_); }

}  // namespace ridge::image
