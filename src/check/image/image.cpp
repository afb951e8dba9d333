// Checks images: chains of operators over every depth, border and variant, local variances and flows, against plain
// loops in double (reference.hpp). Rows have any pitch, sizes are odd.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <ridge/image.hpp>

#include "check/check.hpp"
#include "check/image/reference.hpp"

namespace ridge::check {
namespace {

using namespace image;

Border draw_border(Random& random) { return static_cast<Border>(random.below(5)); }
Like draw_like(Random& random) { return random.chance(0.4) ? Like::opencv : Like::ridge; }
Depth draw_depth(Random& random) { return static_cast<Depth>(random.below(3)); }

// An image in the caller's memory, with rows padded by `gap` channels.
struct Held {
  std::vector<std::byte> bytes;
  Image image;
  Held(const Shape& shape, std::size_t gap) {
    const std::size_t pitch = shape.row_bytes() + gap * bytes_of(shape.depth);
    bytes.resize(pitch * shape.rows, std::byte{0xa5});
    image = Image::view(static_cast<void*>(bytes.data()), shape, pitch);
  }
};

void fill(Random& random, Image& image) {
  const std::size_t count = image.columns() * image.channels();
  for (std::size_t r = 0; r < image.rows(); ++r) {
    for (std::size_t c = 0; c < count; ++c) {
      const std::uint64_t bits = random.bits();
      if (image.depth() == Depth::u8) image.row<std::uint8_t>(r)[c] = static_cast<std::uint8_t>(bits);
      if (image.depth() == Depth::u16) image.row<std::uint16_t>(r)[c] = static_cast<std::uint16_t>(bits);
      if (image.depth() == Depth::f32) image.row<float>(r)[c] = static_cast<float>(bits % 65536) / 256 - 30;
    }
  }
}

std::vector<float> draw_weights(Random& random, std::size_t count) {
  std::vector<float> weights(count);
  for (float& weight : weights)
    weight = (static_cast<float>(random.uniform()) * 1.3f - 0.3f) / static_cast<float>(count);
  return weights;
}

// A word for a parameter of an operator's description: near the lower end of its range.
std::string draw_word(Random& random, const OperatorParameter& parameter) {
  using Kind = OperatorParameter::Kind;
  if (parameter.kind == Kind::word) return random.one_of(parameter.words);
  const double most = std::min(parameter.most, parameter.least + 9);
  if (parameter.kind == Kind::number)
    return fmt::format("{:.3f}", parameter.least + (most - parameter.least) * random.uniform());
  return std::to_string(random.between(static_cast<std::size_t>(parameter.least), static_cast<std::size_t>(most)));
}

// Any operator by its description: one of its examples if it has parameters that only their help describes.
Operation draw_described(Random& random, const OperatorInfo& info) {
  std::string text = info.name;
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.kind == OperatorParameter::Kind::text) return parse_chain(random.one_of(info.examples)).front();
    if (parameter.optional && random.chance(0.5)) break;
    text += " " + draw_word(random, parameter);
  }
  return parse_chain(text).front();
}

// Operators that draw_operation() does not draw itself.
const std::vector<OperatorInfo>& other_operators() {
  static const std::vector<OperatorInfo> others = [] {
    const std::vector<std::string> own{"convolve",        "separable", "gauss",    "box",     "median",
                                       "bilateral",       "resize",    "integral", "pyramid", "gradient",
                                       "cross-bilateral", "transpose", "rotate",   "gray"};
    std::vector<OperatorInfo> found = operators();
    std::erase_if(found,
                  [&](const OperatorInfo& info) { return std::find(own.begin(), own.end(), info.name) != own.end(); });
    return found;
  }();
  return others;
}

bool accepts(const Operation& operation, const Shape& shape) {
  try {
    static_cast<void>(output_shape(operation, shape));
    return true;
  } catch (const Error&) {
    return false;
  }
}

Operation draw_operation(Random& random, const Shape& shape, bool first) {
  const std::size_t radius = random.chance(0.1) ? random.between(0, 12) : random.between(0, 3);
  switch (random.below(15 + other_operators().size())) {
    case 0: {
      Convolve o{random.between(1, 7), random.between(1, 7)};
      o.kernel = draw_weights(random, o.rows * o.columns);
      return o;
    }
    case 1: {
      Separable o;
      o.down = draw_weights(random, random.between(1, 9));
      o.across = draw_weights(random, random.between(1, 9));
      return o;
    }
    case 2:
      return Gauss{0.3 + 2 * random.uniform(), random.chance(0.5) ? 0 : random.between(1, 9)};
    case 3:
      return Box{random.between(1, 9), random.between(1, 9)};
    case 4:
      return Median{std::min<std::size_t>(radius, 5)};
    case 5:
      return Bilateral{radius, 0.5 + 3 * random.uniform(), 5 + 60 * random.uniform(), draw_like(random)};
    case 6:
      if (first)
        return CrossBilateral{radius, 0.5 + 3 * random.uniform(), 5 + 60 * random.uniform(), draw_like(random)};
      return Transpose{};
    case 7:
    case 8: {
      Resize o{.interpolation = static_cast<Interpolation>(random.below(4)), .like = draw_like(random)};
      if (random.chance(0.5)) {
        o.scale =
            random.chance(0.5) ? random.one_of(std::vector{0.5, 0.25, 2.0, 0.3, 1.6}) : 0.1 + 2 * random.uniform();
      } else {
        o.rows = random.between(1, 2 * shape.rows);
        o.columns = random.between(1, 2 * shape.columns);
      }
      return o;
    }
    case 9:
      return Pyramid{random.between(1, 2)};
    case 10:
      if (shape.channels == 1) return Gradient{static_cast<GradientKind>(random.below(3)), draw_like(random)};
      return Transpose{};
    case 11:
      return Rotate{90.0 * static_cast<double>(random.below(5)) - 90};
    case 12:
      return Rotate{360 * random.uniform(), static_cast<Interpolation>(random.below(3)), draw_like(random)};
    case 13:
      if (shape.channels >= 3) return Gray{};
      return Transpose{};
    case 14:
      return Integral{};
    default: {
      const Operation drawn = draw_described(random, random.one_of(other_operators()));
      return accepts(drawn, shape) ? drawn : Transpose{};
    }
  }
}

// Allowed error before rounding, where it exceeds float rounding: "bands" keeps 16 bits between its products,
// "resample" has 16-bit weights. In a chain any step may use either.
double before_rounding(const OperatorProblem& problem, const std::string& chosen) {
  const bool bands = chosen.find("bands") != std::string::npos, resample = chosen.find("resample") != std::string::npos;
  return problem.chain.size() > 1 || bands ? 0.016 : resample ? 0.012 : 0;
}

// Allowed difference between an integer result and the unrounded reference. A value near one half that a step rounds
// the other way propagates through the later steps.
double allowed(const OperatorProblem& problem, const std::string& chosen) {
  const Depth depth = output_shape(problem).depth;
  if (depth == Depth::u32 && problem.chain.size() == 1) return 0;
  double steps = static_cast<double>(problem.chain.size()) - 1;
  for (const Operation& operation : problem.chain) {
    if (const auto* pyramid = std::get_if<Pyramid>(&operation)) steps += static_cast<double>(pyramid->levels) - 1;
  }
  const double unit = problem.input.depth == Depth::u16 ? 0.1 : 4e-3;
  if (depth == Depth::f32 || depth == Depth::f64 || depth == Depth::u32) {
    const double apart = problem.input.depth == Depth::f32 ? unit : 2.5;
    // A sum accumulates the differences of all pixels.
    const bool sums = depth != Depth::f32 && steps > 0;
    const double pixels = sums ? static_cast<double>(problem.input.rows * problem.input.columns) * 4 : 1;
    return unit + steps * apart * pixels;
  }
  return 0.5 + std::max(unit, before_rounding(problem, chosen)) + 2.5 * steps;
}

Outcome check_operators(Draw& draw) {
  Random& random = draw.random;
  OperatorProblem problem;
  if (random.chance(0.8)) problem.border = draw_border(random);  // otherwise each operator's default
  problem.constant = static_cast<double>(random.below(200));
  problem.threads = random.below(4);
  problem.input.channels = random.between(1, 4);
  problem.input.depth = draw_depth(random);
  const std::uint64_t choice = random.bits(), data = random.bits(), operators = random.bits();
  const std::size_t length = random.chance(0.6) ? 1 : random.between(2, 4), gap = random.below(3),
                    out_gap = random.below(3);
  const std::size_t most = std::min<std::size_t>(draw.points, draw.device.is_host() ? 20000 : 6000);
  problem.input.rows = random.length(std::min<std::size_t>(most, 300));
  problem.input.columns = random.length(std::max<std::size_t>(1, most / problem.input.rows));
  Random chain(operators);
  Shape shape = problem.input;
  while (problem.chain.size() < length) {
    const Operation operation = draw_operation(chain, shape, problem.chain.empty());
    problem.chain.push_back(operation);
    shape = output_shape(operation, shape);
    if (std::holds_alternative<Integral>(operation) || shape.rows * shape.columns > 4 * most) break;
  }
  std::string words;
  for (const Operation& operation : problem.chain) words += (words.empty() ? "" : " | ") + to_string(operation);
  draw.problem = fmt::format("operators '{}' of {}, {}", words, problem.input.text(),
                             problem.border ? to_string(*problem.border) : "default borders");

  Random values(data);
  Held in(problem.input, gap), guide(problem.input, gap), out(output_shape(problem), out_gap);
  fill(values, in.image);
  fill(values, guide.image);
  const OperatorPlan plan(draw.device, problem, some_variant(candidates(draw.device, problem), choice));
  const std::string chosen = chosen_by(plan.decisions());
  draw.problem += ", " + chosen;
  if (inputs(problem) == 2) {
    plan.run(in.image, guide.image, out.image);
  } else {
    plan.run(in.image, out.image);
  }
  draw.answered(out.bytes);
  const plain::Pixels expected = plain::apply(problem, plain::pixels_of(in.image), plain::pixels_of(guide.image)),
                      got = plain::pixels_of(out.image);
  Outcome outcome;
  if (expected.rows != got.rows || expected.columns != got.columns || expected.channels != got.channels) {
    outcome.wrong = fmt::format("{}x{} pixels of {} channels instead of {}x{} of {}", got.columns, got.rows,
                                got.channels, expected.columns, expected.rows, expected.channels);
    return outcome;
  }
  const Depth depth = out.image.depth();
  const double highest = depth == Depth::u8    ? 255
                         : depth == Depth::u16 ? 65535
                                               : INFINITY,
               bound = allowed(problem, chosen);
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double right = highest < INFINITY ? std::clamp(expected.values[i], 0.0, highest) : expected.values[i];
    if (std::abs(got.values[i] - right) <= bound * (highest < INFINITY ? 1 : std::max(1.0, 1e-6 * std::abs(right))))
      continue;
    outcome.wrong = fmt::format("value {}: {} instead of {}, allowed {:.2g}", i, got.values[i], right, bound);
    return outcome;
  }
  const std::size_t row = out.image.shape().row_bytes();
  for (std::size_t r = 0; r < out.image.rows(); ++r) {
    for (std::size_t b = row; b < out.image.pitch(); ++b) {
      if (out.bytes[r * out.image.pitch() + b] != std::byte{0xa5})
        outcome.wrong = fmt::format("a byte after the end of row {} was written", r);
    }
  }
  return outcome;
}

Outcome check_variance(Draw& draw) {
  Random& random = draw.random;
  VarianceProblem problem;
  problem.depth = draw_depth(random);
  problem.method = static_cast<VarianceMethod>(random.below(7));
  if (problem.method == VarianceMethod::exact && problem.depth == Depth::f32) problem.method = VarianceMethod::best;
  problem.border = draw_border(random);
  problem.constant = static_cast<double>(random.below(200));
  problem.threads = random.below(4);
  const std::uint64_t choice = random.bits(), data = random.bits();
  const std::size_t window = random.one_of(std::vector<std::size_t>{1, 3, 9, 27, 40});
  problem.window_rows = random.between(1, window);
  problem.window_columns = random.between(1, window);
  const std::size_t gap = random.below(3), most = std::min<std::size_t>(draw.points, 20000);
  problem.rows = random.length(std::min<std::size_t>(most, 300));
  problem.columns = random.length(std::max<std::size_t>(1, most / problem.rows));
  draw.problem =
      fmt::format("variance {} of {}x{} {}, window {}x{}, {}", to_string(problem.method), problem.columns, problem.rows,
                  to_string(problem.depth), problem.window_columns, problem.window_rows, to_string(problem.border));
  Random values(data);
  Held in({.rows = problem.rows, .columns = problem.columns, .depth = problem.depth}, gap);
  Held out({.rows = problem.rows, .columns = problem.columns, .depth = Depth::f32}, gap);
  fill(values, in.image);
  const VariancePlan plan(draw.device, problem, some_variant(candidates(draw.device, problem), choice));
  draw.problem += ", " + chosen_by(plan.decisions());
  plan.run(in.image, out.image);
  draw.answered(out.bytes);
  const plain::Pixels pixels = plain::pixels_of(in.image);
  // For values over the whole range: the error of the least accurate method.
  const double range = problem.depth == Depth::u16 ? 65535 : 256, bound = 2e-5 * range * range;
  Outcome outcome;
  for (int i = 0; i < 300; ++i) {
    const std::size_t r = values.below(problem.rows), c = values.below(problem.columns);
    const double right = plain::variance(problem, pixels, r, c),
                 got = double{std::as_const(out.image).row<float>(r)[c]};
    if (std::abs(got - right) <= bound) continue;
    outcome.wrong = fmt::format("row {} column {}: {} instead of {}, allowed {:.2g}", r, c, got, right, bound);
    return outcome;
  }
  return outcome;
}

// Moving waves: on noise, a slightly different sum changes whole vectors.
Image waves(Random& random, const Shape& shape, double down, double right) {
  Image image(shape);
  const double tall = 0.1 + 0.2 * random.uniform(), wide = 0.1 + 0.2 * random.uniform();
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      for (std::size_t k = 0; k < shape.channels; ++k) {
        const double y = static_cast<double>(r) + down, x = static_cast<double>(c) + right,
                     phase = static_cast<double>(k);
        const double wave = std::sin(tall * y + 0.7 * wide * x + phase) +
                            std::sin(0.4 * tall * y - wide * x + 2 * phase) + std::sin(0.37 * y) + std::sin(0.29 * x);
        image.row<std::uint8_t>(r)[c * shape.channels + k] = static_cast<std::uint8_t>(std::lrint(128 + 30 * wave));
      }
    }
  }
  return image;
}

Outcome check_flow(Draw& draw) {
  Random& random = draw.random;
  FlowProblem problem;
  problem.channels = random.one_of(std::vector<std::size_t>{1, 3, 4});
  problem.threads = random.below(4);
  problem.parameters.layers = static_cast<int>(random.between(1, 3));
  problem.parameters.max_flow = static_cast<int>(random.between(1, 4));
  problem.parameters.averaging_radius = static_cast<int>(random.between(1, 3));
  problem.parameters.postprocess_window = problem.parameters.upscale_averaging_radius =
      static_cast<int>(random.between(2, 8));
  const std::uint64_t choice = random.bits(), data = random.bits();
  const std::size_t most = std::min<std::size_t>(draw.points, 3000);
  problem.rows = std::max<std::size_t>(1, random.length(std::min<std::size_t>(most, 60)));
  problem.columns = std::max<std::size_t>(1, random.length(std::max<std::size_t>(1, most / problem.rows)));
  draw.problem = fmt::format("flow of {}x{}, {} channels, {} layers", problem.columns, problem.rows, problem.channels,
                             problem.parameters.layers);
  const Shape shape{.rows = problem.rows, .columns = problem.columns, .channels = problem.channels};
  Random first(data), second(data);
  const Image a = waves(first, shape, 0, 0), b = waves(second, shape, 1, -2);
  Held out({.rows = shape.rows, .columns = shape.columns, .channels = 2, .depth = Depth::f32}, 0);
  const FlowPlan plan(draw.device, problem, some_variant(candidates(draw.device, problem), choice));
  draw.problem += ", " + chosen_by(plan.decisions());
  plan.run(a, b, out.image);
  draw.answered(out.bytes);
  const plain::Pixels before = plain::pixels_of(a), after = plain::pixels_of(b), got = plain::pixels_of(out.image);
  const plain::Pixels right = plain::flow(problem, before, after);
  // With slightly different smoothing, a search may start one pixel away, or a pixel may count as regular or hidden. A
  // value is therefore compared only if the reference, disturbed by that much, agrees with itself. Weights exact to
  // 0.75 % shift a vector by 0.004 where its neighbours are similar and by 0.03 where they differ by eight pixels.
  const double allowed = 0.02;
  plain::Pixels lowest = right, highest = right;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const plain::Pixels other = plain::flow(problem, before, after, seed % 2 == 0 ? 0.03 : 0.004, seed);
    for (std::size_t i = 0; i < other.values.size(); ++i) {
      lowest.values[i] = std::min(lowest.values[i], other.values[i]);
      highest.values[i] = std::max(highest.values[i], other.values[i]);
    }
  }
  std::size_t differing = 0, unreal = 0, unsteady = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    unreal += std::isfinite(got.values[i]) ? 0 : 1;
    if (highest.values[i] - lowest.values[i] > allowed) {
      ++unsteady;
    } else if (!(std::abs(got.values[i] - right.values[i]) <= allowed)) {
      ++differing;
    }
  }
  const std::size_t numbers = 2 * shape.rows * shape.columns;
  draw.problem += fmt::format(", {} of {} numbers unsteady", unsteady, numbers);
  Outcome outcome;
  if (unreal > 0) {
    outcome.wrong = fmt::format("{} of {} numbers are not finite", unreal, numbers);
  } else if (differing > (unsteady + 3) / 4) {  // four disturbed runs find most, but not all, of the unsteady values
    outcome.wrong =
        fmt::format("{} of {} steady numbers differ by more than {}", differing, numbers - unsteady, allowed);
  }
  return outcome;
}

}  // namespace

Outcome check_image(Draw& draw) {
  const double kind = draw.random.uniform();
  if (kind < 0.7) return check_operators(draw);
  return kind < 0.9 ? check_variance(draw) : check_flow(draw);
}

}  // namespace ridge::check
