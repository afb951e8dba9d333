// Checks linear operators on float images by identities: linearity; constants are preserved if the weights add up to
// one; shifts between wrapped borders; the adjoint of a convolution.
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/image.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

using namespace ridge::image;

constexpr double kImageGate = 2e-5;  // for values within 1: float sums of some hundred weights

struct LawOperator {
  Operation operation{};
  bool keeps_constants = false, moves_along = false;
};

LawOperator draw_linear_operator(Random& random) {
  const auto weights = [&](std::size_t count) {
    std::vector<float> list(count);
    float sum = 0;
    for (float& weight : list) sum += weight = static_cast<float>(random.uniform());
    for (float& weight : list) weight /= sum;
    return list;
  };
  switch (random.below(6)) {
    case 0: {
      Convolve o{.rows = 2 * random.below(4) + 1, .columns = 2 * random.below(4) + 1};
      o.kernel = weights(o.rows * o.columns);
      return {o, true, true};
    }
    case 1:
      return {Separable{weights(random.between(1, 9)), weights(random.between(1, 9))}, true, true};
    case 2:
      return {Gauss{0.4 + 2 * random.uniform(), 0}, true, true};
    case 3:
      return {Box{random.between(1, 9), random.between(1, 9)}, true, true};
    case 4:
      return {
          Resize{.scale = 0.3 + 1.5 * random.uniform(), .interpolation = static_cast<Interpolation>(random.below(4))},
          true, false};
    default:
      return {Pyramid{random.between(1, 2)}, true, false};
  }
}

// Rows are written and compared as a whole: a call per value would take longer than the operators.
using FillRow = std::function<void(std::size_t r, float* row)>;

Image law_image(const Shape& shape, const FillRow& fill) {
  Image image(shape);
  for (std::size_t r = 0; r < shape.rows; ++r) fill(r, image.row<float>(r));
  return image;
}

double law_inner(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t r = 0; r < a.rows(); ++r) {
    const float *x = a.row<float>(r), *y = b.row<float>(r);
    for (std::size_t c = 0; c < a.columns() * a.channels(); ++c) sum += double{x[c]} * double{y[c]};
  }
  return sum;
}

// out = a x + b y, `count` values.
void mix_rows(float a, const float* x, float b, const float* y, std::size_t count, float* out) {
  for (std::size_t c = 0; c < count; ++c) out[c] = a * x[c] + b * y[c];
}

// Describes the first value that violates a law; empty if none does.
std::string compare_rows(const char* law, const Image& got, const FillRow& right) {
  const std::size_t count = got.columns() * got.channels();
  std::vector<float> expected(count);
  for (std::size_t r = 0; r < got.rows(); ++r) {
    right(r, expected.data());
    const float* row = got.row<float>(r);
    for (std::size_t c = 0; c < count; ++c) {
      const double off = double{row[c]} - double{expected[c]};
      if (!(off <= kImageGate && off >= -kImageGate))
        return fmt::format("{}: row {}, value {}: {} instead of {}, allowed {:.1e}", law, r, c, row[c], expected[c],
                           kImageGate);
    }
  }
  return {};
}

}  // namespace

Outcome image_laws(Draw& draw) {
  Random& random = draw.random;
  const LawOperator drawn = draw_linear_operator(random);
  OperatorProblem problem{.chain = {drawn.operation}};
  problem.border = drawn.moves_along && random.chance(0.5) ? Border::wrap : Border::replicate;
  problem.threads = random.below(4);
  const std::uint64_t data = random.bits(), by_chance = random.bits();
  problem.input = {.channels = random.between(1, 4), .depth = Depth::f32};
  const std::size_t pixels = std::max<std::size_t>(64, draw.points / problem.input.channels);
  problem.input.rows = std::max<std::size_t>(8, random.length(pixels / 8));
  problem.input.columns = std::max<std::size_t>(8, pixels / problem.input.rows);
  draw.problem =
      fmt::format("'{}' of {}, {}", to_string(drawn.operation), problem.input.text(), to_string(*problem.border));
  const OperatorPlan plan(draw.device, problem, some_variant(candidates(draw.device, problem), by_chance));
  draw.problem += ", " + chosen_by(plan.decisions());
  const Shape shape = problem.input;
  const std::size_t row = shape.columns * shape.channels;
  const auto noise = [&](std::uint64_t seed) {
    Image image(shape);
    for (std::size_t r = 0; r < shape.rows; ++r)
      fill_values(std::as_writable_bytes(std::span(image.row<float>(r), row)), Values::float32, seed + r);
    return image;
  };
  const auto applied = [&](const OperatorPlan& by, const Image& in) {
    Image out(output_shape(by.problem()));
    by.run(in, out);
    return out;
  };
  const Image x = noise(data), y = noise(data ^ 0x5555555555555555U);
  Image ax = applied(plan, x);
  draw.answered({ax.bytes(), ax.span_bytes()});
  const Image ay = applied(plan, y);
  const Image mixed = law_image(
      shape, [&](std::size_t r, float* out) { mix_rows(0.5F, x.row<float>(r), -0.25F, y.row<float>(r), row, out); });
  const std::size_t out_row = ay.columns() * ay.channels();
  std::string wrong = compare_rows("linearity", applied(plan, mixed), [&](std::size_t r, float* out) {
    mix_rows(0.5F, std::as_const(ax).row<float>(r), -0.25F, ay.row<float>(r), out_row, out);
  });
  if (wrong.empty() && drawn.keeps_constants) {
    const auto constant = [](std::size_t count) {
      return [count](std::size_t, float* out) { std::fill_n(out, count, 0.75F); };
    };
    wrong = compare_rows("constant", applied(plan, law_image(shape, constant(row))), constant(out_row));
  }
  if (wrong.empty() && problem.border == Border::wrap) {
    const std::size_t by = random.below(shape.rows), across = random.below(shape.columns) * shape.channels;
    const auto moved = [&](const Image& of) {
      return [&of, by, across, row](std::size_t r, float* out) {
        const float* from = of.row<float>((r + by) % of.rows());
        std::rotate_copy(from, from + across, from + row, out);
      };
    };
    wrong = compare_rows("shift", applied(plan, law_image(shape, moved(x))), moved(ax));
    // <K x, y> = <x, K* y>, where K* is the kernel rotated by 180 degrees.
    if (const auto* convolve = std::get_if<Convolve>(&drawn.operation); wrong.empty() && convolve != nullptr) {
      Convolve turned = *convolve;
      std::reverse(turned.kernel.begin(), turned.kernel.end());
      OperatorProblem opposite = problem;
      opposite.chain = {turned};
      const OperatorPlan adjoint(draw.device, opposite,
                                 {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
      const double one = law_inner(ax, y), other = law_inner(x, applied(adjoint, y));
      const double allowed = 1e-6 * std::sqrt(law_inner(x, x) * law_inner(y, y));
      if (!(std::abs(one - other) <= allowed))
        wrong = fmt::format("adjoint: <K x, y> is {} and <x, K* y> {}, allowed {:.1e}", one, other, allowed);
    }
  }
  return {.wrong = wrong};
}

}  // namespace ridge::check
