// Draws shapes, strides, kinds and operators of a transform, and prints them as text.
#include "check/fft/case.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridge::check {

using fft::Kind;

std::size_t points_of(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

std::vector<std::size_t> spectrum_shape(const fft::Problem& problem) {
  std::vector<std::size_t> shape = problem.shape;
  if (problem.kind == Kind::real) shape.back() = shape.back() / 2 + 1;
  return shape;
}

std::vector<std::size_t> given_shape(const fft::Problem& problem) {
  return problem.given.count.empty() ? problem.shape : problem.given.count;
}
std::vector<std::size_t> wanted_shape(const fft::Problem& problem) {
  return problem.wanted.count.empty() ? spectrum_shape(problem) : problem.wanted.count;
}

std::size_t whole_place(const fft::Box& box, const std::vector<std::size_t>& shape, std::size_t index) {
  if (box.whole()) return index;
  std::size_t place = 0, step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t count = box.count.empty() ? shape[axis] : box.count[axis];
    place += (index % count + (box.first.empty() ? 0 : box.first[axis])) % shape[axis] * step;
    index /= count;
    step *= shape[axis];
  }
  return place;
}

namespace {

// Strides other than the packed ones.
fft::Strides draw_strides(Random& random, const std::vector<std::size_t>& shape, std::size_t batch) {
  const std::size_t kind = random.below(4), gap = random.below(5), apart = 2 + random.below(2);
  const std::size_t axes = shape.size();
  fft::Strides strides;
  strides.axes.resize(axes);
  std::size_t step = 1;
  if (kind == 0) {  // batch index fastest
    strides.batch = 1;
    step = batch + gap;
    for (std::size_t axis = axes; axis-- > 0; step *= shape[axis]) strides.axes[axis] = step;
    return strides;
  }
  if (kind == 1) {  // first axis fastest
    for (std::size_t axis = 0; axis < axes; ++axis) {
      strides.axes[axis] = step;
      step = step * shape[axis] + gap;
    }
  } else {  // padded rows, points apart
    step = kind == 2 ? 1 : apart;
    for (std::size_t axis = axes; axis-- > 0;) {
      strides.axes[axis] = step;
      step = step * shape[axis] + gap;
    }
  }
  strides.batch = step;
  return strides;
}

template <class T>
std::vector<double> draw_window(Random& random, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<T>(random.uniform() + 0.25);
  return values;
}

template <class T>
std::vector<std::complex<double>> draw_multiply(Random& random, std::size_t count) {
  std::vector<std::complex<double>> values(count);
  for (auto& value : values) {
    const double re = static_cast<T>(2 * random.uniform() - 1), im = static_cast<T>(2 * random.uniform() - 1);
    value = {re, im};
  }
  return values;
}

}  // namespace

template <class T>
FftCase draw_fft(Draw& draw) {
  Random& random = draw.random;
  FftCase made;
  fft::Problem& problem = made.problem;
  problem.kind = random.chance(0.4) ? Kind::real : Kind::complex;
  problem.in_place = random.chance(0.25);
  const std::size_t axes = random.one_of(std::vector<std::size_t>{1, 1, 1, 2, 2, 3});
  const bool strided_in = random.chance(0.35), strided_out = random.chance(0.35), batched = random.chance(0.6);
  const bool operators = random.chance(0.25);
  const std::size_t integers = random.below(4);
  made.oddity = random.one_of(std::vector{Oddity::none, Oddity::none, Oddity::nan, Oddity::infinite, Oddity::denormal});
  made.data = random.bits();
  made.by_chance = random.bits();
  made.shift = random.chance(0.3) ? random.below(4) : 0;
  problem.threads = random.below(4);
  if (random.chance(0.3)) problem.scale_forward = 0.5;
  if (random.chance(0.3)) problem.scale_inverse = 0.125;
  Random details(random.bits());
  const std::size_t boxed = details.chance(0.2) ? 1 + details.below(3) : 0;

  std::size_t left = draw.points;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    // The axes share the number of points.
    const double share = 1.0 / static_cast<double>(axes - axis);
    const std::size_t most = static_cast<std::size_t>(std::pow(static_cast<double>(left), share));
    problem.shape.push_back(random.length(std::max<std::size_t>(most, 1)));
    left = std::max<std::size_t>(1, left / problem.shape.back());
  }
  if (batched && left > 1) problem.batch = random.magnitude(left);
  made.odd_line = details.below(problem.batch);
  if (problem.batch == 1) made.oddity = Oddity::none;

  // Boxes of part of the samples, of part of the spectrum, or of both.
  const auto draw_box = [&](const std::vector<std::size_t>& shape, bool wraps) {
    fft::Box box;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::size_t n = shape[axis], count = 1 + details.below(n);
      const std::size_t most = axis + 1 == shape.size() && !wraps ? n - count + 1 : n;
      box.count.push_back(count);
      box.first.push_back(details.below(most));
    }
    return box;
  };
  if (boxed > 0 && !problem.in_place) {
    if (boxed != 2) problem.given = draw_box(problem.shape, true);
    if (boxed != 1) problem.wanted = draw_box(spectrum_shape(problem), problem.kind == Kind::complex);
  }

  if (strided_in && !(problem.in_place && problem.kind == Kind::real))
    problem.input = draw_strides(details, given_shape(problem), problem.batch);
  if (problem.in_place) {
    problem.output = problem.input;
  } else if (strided_out) {
    problem.output = draw_strides(details, wanted_shape(problem), problem.batch);
  }
  if (operators) {
    const std::size_t samples = points_of(given_shape(problem)), spectrum = points_of(wanted_shape(problem));
    const bool complex = problem.kind == Kind::complex;
    if (!problem.in_place && integers == 1) problem.load_forward.samples = Samples::int8;
    if (!problem.in_place && integers == 2) problem.load_forward.samples = Samples::int16;
    if (details.chance(0.5)) problem.load_forward.window = draw_window<T>(details, samples);
    if (complex && details.chance(0.3)) problem.load_forward.multiply = draw_multiply<T>(details, samples);
    if (details.chance(0.3)) problem.store_forward.window = draw_window<T>(details, spectrum);
    if (details.chance(0.3)) problem.store_forward.multiply = draw_multiply<T>(details, spectrum);
    if (complex && details.chance(0.3)) problem.load_inverse.multiply = draw_multiply<T>(details, spectrum);
    if (details.chance(0.3)) problem.store_inverse.window = draw_window<T>(details, samples);
  }
  return made;
}

template <class T>
std::string fft_in_words(const FftCase& made) {
  const fft::Problem& problem = made.problem;
  std::string text =
      fmt::format("{} {} {} batch {}", sizeof(T) == 4 ? "f32" : "f64", problem.kind == Kind::real ? "real" : "complex",
                  fmt::join(problem.shape, "x"), problem.batch);
  const auto strides = [&](const char* name, const fft::Strides& side) {
    if (!side.axes.empty()) text += fmt::format(", {} strides {}/{}", name, fmt::join(side.axes, ","), side.batch);
  };
  strides("input", problem.input);
  strides("output", problem.output);
  if (problem.in_place) text += ", in place";
  const auto box = [&](const char* name, const fft::Box& one) {
    if (!one.whole())
      text += fmt::format(", {} {} from {}", name, fmt::join(one.count, "x"), fmt::join(one.first, ","));
  };
  box("given", problem.given);
  box("wanted", problem.wanted);
  if (problem.load_forward.samples != Samples::same)
    text += problem.load_forward.samples == Samples::int8 ? ", int8" : ", int16";
  const auto factors = [&](const char* name, const auto& side) {
    if (!side.window.empty()) text += fmt::format(", {} window", name);
    if (!side.multiply.empty()) text += fmt::format(", {} multiply", name);
  };
  factors("load forward", problem.load_forward);
  factors("store forward", problem.store_forward);
  factors("load inverse", problem.load_inverse);
  factors("store inverse", problem.store_inverse);
  if (made.oddity != Oddity::none) {
    const char* names[] = {"", "NaN", "infinity", "denormals"};
    text += fmt::format(", {} in line {}", names[static_cast<int>(made.oddity)], made.odd_line);
  }
  if (made.shift > 0) text += fmt::format(", arrays offset by {} elements", made.shift);
  if (problem.threads > 0) text += fmt::format(", {} threads", problem.threads);
  return text;
}

template FftCase draw_fft<float>(Draw&);
template FftCase draw_fft<double>(Draw&);
template std::string fft_in_words<float>(const FftCase&);
template std::string fft_in_words<double>(const FftCase&);

namespace {

// `row` is the length of a packed row in elements, which may exceed the last axis.
FftSide side_of(const fft::Strides& given, const std::vector<std::size_t>& shape, std::size_t row, std::size_t batch) {
  FftSide side{.shape = shape, .strides = std::vector<std::size_t>(shape.size())};
  std::size_t packed = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t stride = given.axes.empty() ? 0 : given.axes[axis];
    side.strides[axis] = stride == 0 ? packed : stride;
    packed *= axis + 1 == shape.size() ? row : shape[axis];
  }
  side.batch = given.batch == 0 ? packed : given.batch;
  side.extent = 1 + (batch - 1) * side.batch;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) side.extent += (shape[axis] - 1) * side.strides[axis];
  if (given.axes.empty() && given.batch == 0) return side;
  std::vector<bool> used(side.extent);
  const std::size_t points = points_of(shape);
  for (std::size_t i = 0; i < batch * points && !side.aliases; ++i) {
    const std::size_t at = side.at(i / points, i % points);
    side.aliases = used[at];
    used[at] = true;
  }
  return side;
}

}  // namespace

std::size_t FftSide::at(std::size_t line, std::size_t index) const {
  std::size_t element = line * batch;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    element += index % shape[axis] * strides[axis];
    index /= shape[axis];
  }
  return element;
}

FftSides sides_of(const fft::Problem& problem) {
  const std::vector<std::size_t> samples = given_shape(problem), spectrum = wanted_shape(problem);
  const bool padded = problem.kind == fft::Kind::real && problem.in_place;
  return {.samples = side_of(problem.input, samples, padded ? 2 * spectrum.back() : samples.back(), problem.batch),
          .spectrum = side_of(problem.output, spectrum, spectrum.back(), problem.batch)};
}

}  // namespace ridge::check
