// Adjoints of linear plans by the dot-product test: transforms of every kind, convolutions, transposes, filter banks,
// correlators, image operators.
#include "check/adjoint.hpp"

#include <algorithm>
#include <numeric>

#include <ridge/fft.hpp>
#include <ridge/fft/device_tensor.hpp>
#include <ridge/fft/tensor.hpp>
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/transpose.hpp>

#include "check/fft/case.hpp"

namespace ridge::check {
namespace {

// One line per workload.
const std::vector<Workload>& adjoint_checks() {
  static const std::vector<Workload> all{
      {"fft", adjoint_fft},
      {"tensor", adjoint_tensor},
      {"convolution", adjoint_convolution},
      {"transpose", adjoint_transpose},
      {"filterbank", adjoint_filterbank},
      {"correlator", adjoint_correlator},
      {"image", adjoint_image},
      {"stencil", adjoint_stencil},
  };
  return all;
}

// Host and device plans: both directions, any strides, factors and scales.
template <class T>
Outcome check_fft_adjoint(Draw& draw) {
  using Complex = std::complex<T>;
  FftCase made = draw_fft<T>(draw);
  fft::Problem& problem = made.problem;
  problem.in_place = false;
  problem.load_forward.samples = Samples::same;
  problem.storage = fft::Storage::same;
  draw.problem = "adjoint of " + fft_in_words<T>(made);
  const planner::Options options{.effort = Effort::quick};
  const fft::Plan<T> plan(draw.device, problem, options);
  const fft::Plan<T> adjoint = plan.adjoint(options);
  const auto both = [&]<class Sample>(Sample) {
    const auto x = uniform_values<Sample>(plan.input_size(), made.data);
    const auto y = uniform_values<Complex>(plan.output_size(), made.data + 1);
    std::vector<Sample> back(x.size());
    std::vector<Complex> image(y.size());
    std::string wrong;
    if (problem.directions != fft::Directions::inverse) {
      plan.forward(std::span<const Sample>(x), std::span(image));
      adjoint.inverse(std::span<const Complex>(y), std::span(back));
      wrong = adjoint_error(draw, x, image, y, back);
      if (!wrong.empty()) return "forward: " + wrong;
    }
    if (problem.directions != fft::Directions::forward) {
      std::fill(back.begin(), back.end(), Sample());
      std::fill(image.begin(), image.end(), Complex());
      plan.inverse(std::span<const Complex>(y), std::span(back));
      adjoint.forward(std::span<const Sample>(x), std::span(image));
      wrong = adjoint_error(draw, y, back, x, image);
      if (!wrong.empty()) return "inverse: " + wrong;
    }
    return wrong;
  };
  return {.wrong = problem.kind == fft::Kind::real ? both(T()) : both(Complex())};
}

// Random factors along the axes of one side, for some problems.
std::vector<std::vector<double>> draw_factors(Random& random, const fft::TensorProblem& problem, bool input) {
  std::vector<std::vector<double>> factors(problem.axes.size());
  const auto halved = input ? fft::TensorKind::real_inverse : fft::TensorKind::real_forward;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (random.chance(0.5)) continue;
    const std::size_t n = problem.axes[i].length;
    factors[i].resize(problem.kind == halved && i + 1 == factors.size() ? n / 2 + 1 : n);
    for (double& factor : factors[i]) factor = 2 * random.uniform() - 1;
  }
  return factors;
}

// Packed strides of one side, axes in random order.
std::size_t place(Random& random, fft::TensorProblem& problem, bool input) {
  const auto halved = input ? fft::TensorKind::real_inverse : fft::TensorKind::real_forward;
  std::vector<std::size_t> order(problem.axes.size() + problem.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::size_t stride = 1;
  for (const std::size_t which : order) {
    const bool axis = which < problem.axes.size();
    fft::Dimension& d = axis ? problem.axes[which] : problem.loops[which - problem.axes.size()];
    (input ? d.input : d.output) = static_cast<std::ptrdiff_t>(stride);
    stride *= axis && which + 1 == problem.axes.size() && problem.kind == halved ? d.length / 2 + 1 : d.length;
  }
  return stride;
}

template <class T>
Outcome check_tensor_adjoint(Draw& draw) {
  using Complex = std::complex<T>;
  Random& random = draw.random;
  fft::TensorProblem problem{.kind = static_cast<fft::TensorKind>(random.below(5)),
                             .scale = random.chance(0.5) ? 1.0 : random.uniform() + 0.1,
                             .threads = random.between(1, 2)};
  const std::size_t axes = random.between(1, 3), most = std::max<std::size_t>(2, draw.points / 4);
  for (std::size_t i = 0, rest = most; i < axes; ++i) {
    const std::size_t n = std::max<std::size_t>(2, random.length(rest));
    problem.axes.push_back({.length = random.chance(0.1) ? 2 : n});
    problem.real_kinds.push_back(static_cast<fft::RealKind>(random.below(11)));
    rest = std::max<std::size_t>(1, rest / n);
  }
  if (problem.kind != fft::TensorKind::real_to_real) problem.real_kinds.clear();
  if (random.chance(0.5)) problem.loops.push_back({.length = random.between(1, 3)});
  if (random.chance(0.3)) problem.load = draw_factors(random, problem, true);
  if (random.chance(0.3)) problem.store = draw_factors(random, problem, false);
  const std::size_t in_size = place(random, problem, true), out_size = place(random, problem, false);
  const std::uint64_t data = random.bits();
  draw.problem = fmt::format("adjoint of a {} tensor of kind {}, axes", sizeof(T) == 4 ? "float" : "double",
                             static_cast<int>(problem.kind));
  for (const fft::Dimension& axis : problem.axes) draw.problem += fmt::format(" {}", axis.length);
  for (const fft::RealKind kind : problem.real_kinds) draw.problem += fmt::format(" {}", to_string(kind));
  const planner::Options options{.effort = Effort::quick};
  const fft::TensorPlan<T> plan(host(), problem, options);
  const fft::TensorPlan<T> adjoint = plan.adjoint(options);
  const auto check = [&]<class In, class Out>(In, Out) {
    const auto x = uniform_values<In>(in_size, data);
    const auto g = uniform_values<Out>(out_size, data + 1);
    std::vector<Out> image(out_size);
    std::vector<In> back(in_size);
    plan.run(x.data(), image.data());
    adjoint.run(g.data(), back.data());
    return adjoint_error(draw, x, image, g, back);
  };
  switch (problem.kind) {
    case fft::TensorKind::real_forward:
      return {.wrong = check(T(), Complex())};
    case fft::TensorKind::real_inverse:
      return {.wrong = check(Complex(), T())};
    case fft::TensorKind::real_to_real:
      return {.wrong = check(T(), T())};
    default:
      return {.wrong = check(Complex(), Complex())};
  }
}

// Cosine, sine and Hartley transforms of packed arrays on a device.
template <class T>
Outcome check_device_tensor_adjoint(Draw& draw) {
  Random& random = draw.random;
  fft::TensorProblem problem{.kind = fft::TensorKind::real_to_real, .scale = random.uniform() + 0.1};
  draw.problem = fmt::format("adjoint of a {} tensor on a device, axes", sizeof(T) == 4 ? "float" : "double");
  const std::size_t axes = random.between(1, 2);
  for (std::size_t i = 0, rest = std::max<std::size_t>(2, draw.points / 4); i < axes; ++i) {
    problem.axes.push_back({.length = std::max<std::size_t>(2, random.length(rest))});
    problem.real_kinds.push_back(
        static_cast<fft::RealKind>(random.between(static_cast<std::size_t>(fft::RealKind::hartley), 10)));
    rest = std::max<std::size_t>(1, rest / problem.axes.back().length);
    draw.problem += fmt::format(" {} {}", problem.axes.back().length, to_string(problem.real_kinds.back()));
  }
  if (random.chance(0.5)) problem.loops.push_back({.length = random.between(1, 3)});
  const std::size_t size = place(random, problem, true);
  for (auto* const dimensions : {&problem.axes, &problem.loops}) {
    for (fft::Dimension& d : *dimensions) d.output = d.input;
  }
  const std::uint64_t data = random.bits();
  const planner::Options options{.effort = Effort::quick};
  const fft::DeviceTensorPlan<T> plan(draw.device, problem, options);
  const fft::DeviceTensorPlan<T> adjoint(draw.device, fft::adjoint(problem), options);
  const auto x = uniform_values<T>(size, data), g = uniform_values<T>(size, data + 1);
  std::vector<T> image(size), back(size);
  plan.run(x, image);
  adjoint.run(g, back);
  return {.wrong = adjoint_error(draw, x, image, g, back)};
}

template <class Element>
Outcome check_convolution_adjoint(Draw& draw) {
  Random& random = draw.random;
  const std::size_t filter = random.magnitude(std::max<std::size_t>(1, draw.points / 16));
  const std::size_t signal = random.magnitude(std::max<std::size_t>(1, draw.points / 4));
  const std::uint64_t data = random.bits();
  draw.problem =
      fmt::format("adjoint of a convolution of {} values of {} bytes with {}", signal, sizeof(Element), filter);
  const auto h = uniform_values<Element>(filter, data), x = uniform_values<Element>(signal, data + 1),
             g = uniform_values<Element>(signal + filter - 1, data + 2);
  const fft::Convolution<Element> plan(host(), h);
  std::vector<Element> image(g.size()), back(x.size()), again(g.size());
  plan.run(x, image);
  plan.adjoint().run(g, back);
  plan.adjoint().adjoint().run(x, again);
  if (again != image) return {.wrong = "the adjoint of the adjoint is not the convolution"};
  return {.wrong = adjoint_error(draw, x, image, g, back)};
}

}  // namespace

Outcome adjoint_fft(Draw& draw) {
  return draw.random.chance(0.6) && draw.device.limits().float64 ? check_fft_adjoint<double>(draw)
                                                                 : check_fft_adjoint<float>(draw);
}

Outcome adjoint_tensor(Draw& draw) {
  if (!draw.device.is_host()) {
    return draw.random.chance(0.3) && draw.device.limits().float64 ? check_device_tensor_adjoint<double>(draw)
                                                                   : check_device_tensor_adjoint<float>(draw);
  }
  return draw.random.chance(0.7) ? check_tensor_adjoint<double>(draw) : check_tensor_adjoint<float>(draw);
}

Outcome adjoint_convolution(Draw& draw) {
  switch (draw.random.below(4)) {
    case 0:
      return check_convolution_adjoint<float>(draw);
    case 1:
      return check_convolution_adjoint<std::complex<float>>(draw);
    case 2:
      return check_convolution_adjoint<double>(draw);
    default:
      return check_convolution_adjoint<std::complex<double>>(draw);
  }
}

Outcome adjoint_transpose(Draw& draw) {
  Random& random = draw.random;
  transpose::Problem problem{.rows = random.magnitude(std::max<std::size_t>(1, draw.points / 32)),
                             .columns = random.between(1, 16),
                             .batch = random.between(1, 2)};
  if (random.chance(0.3)) problem.input.row = problem.columns + random.below(5);
  if (random.chance(0.3)) problem.output.row = problem.rows + random.below(5);
  if (random.chance(0.5)) std::swap(problem.rows, problem.columns), std::swap(problem.input, problem.output);
  const std::uint64_t data = random.bits();
  draw.problem = fmt::format("adjoint of a transpose of {} {}x{}, rows at {} and {}", problem.batch, problem.rows,
                             problem.columns, problem.input.row, problem.output.row);
  const std::size_t in = problem.batch * problem.rows * std::max(problem.input.row, problem.columns);
  const std::size_t out = problem.batch * problem.columns * std::max(problem.output.row, problem.rows);
  const auto x = uniform_values<double>(in, data), g = uniform_values<double>(out, data + 1);
  std::vector<double> image(out), back(in);
  const transpose::Plan<double> plan(draw.device, problem, {.effort = Effort::quick});
  plan.run(x, image);
  plan.adjoint({.effort = Effort::quick}).run(g, back);
  return {.wrong = adjoint_error(draw, x, image, g, back)};
}

// The samples' adjoint and the weights' gradient, which is the adjoint of the map from weights to spectra.
Outcome adjoint_filterbank(Draw& draw) {
  using Complex = std::complex<float>;
  Random& random = draw.random;
  filterbank::Problem problem{.channels = 2 * random.between(1, 24),
                              .taps = random.between(1, 6),
                              .stations = random.between(1, 3),
                              .polarizations = random.between(1, 2),
                              .samples = Samples::float32,
                              .centred = random.chance(0.3),
                              .order = random.chance(0.3) ? filterbank::Order::channel : filterbank::Order::time,
                              .output_times = 2};
  if (random.chance(0.4)) problem.oversampling = {2, 1};
  problem.weights = uniform_values<double>(problem.channels * problem.taps, random.bits());
  if (random.chance(0.3)) problem.bandpass = uniform_values<Complex>(problem.channels, random.bits());
  const std::size_t rows = 4 * random.between(1, 6);
  const std::uint64_t data = random.bits();
  draw.problem = fmt::format("adjoint of a filter bank of {} channels, {} taps, {} stations, {} polarizations, {} rows",
                             problem.channels, problem.taps, problem.stations, problem.polarizations, rows);
  const filterbank::Plan plan(draw.device, problem, {.effort = Effort::quick});
  const std::size_t lines = problem.stations * problem.polarizations, samples = rows * problem.channels * lines;
  const auto x = uniform_values<Complex>(samples, data);
  const std::size_t times = rows * problem.channels / plan.hop();
  std::vector<Complex> image(times * plan.spectrum_size());
  if (plan.run(std::as_bytes(std::span(x)), image) != times)
    return {.wrong = "another number of spectra than expected"};
  const auto g = uniform_values<Complex>(image.size(), data + 1);
  std::vector<Complex> back(samples);
  const filterbank::Adjoint adjoint = plan.adjoint();
  adjoint.samples(g, back);
  std::string wrong = adjoint_error(draw, x, image, g, back);
  if (!wrong.empty()) return {.wrong = "samples: " + wrong};
  std::vector<float> gradient, weights(problem.weights.begin(), problem.weights.end());
  for (const double value : adjoint.weights(x, g)) gradient.push_back(static_cast<float>(value));
  std::vector<float> flat(numbers_of(image).begin(), numbers_of(image).end());
  const std::vector<float> flat_g(numbers_of(g).begin(), numbers_of(g).end());
  wrong = adjoint_error(draw, weights, flat, flat_g, gradient);
  return {.wrong = wrong.empty() ? "" : "weights: " + wrong};
}

// The correlator is quadratic: (V(x + d) - V(x - d)) / 2 is its derivative at x along d, which is linear in d.
Outcome adjoint_correlator(Draw& draw) {
  using Complex = std::complex<float>;
  Random& random = draw.random;
  filterbank::Correlation correlation{.times = 2 * random.between(1, 8)};
  filterbank::Problem problem{.channels = 2 * random.between(1, 12),
                              .taps = 1,
                              .stations = random.between(1, 6),
                              .polarizations = random.between(1, 2),
                              .samples = Samples::float32,
                              .order = random.chance(0.5) ? filterbank::Order::channel : filterbank::Order::time,
                              .output_times = 2,
                              .threads = random.between(1, 2)};
  if (random.chance(0.5)) correlation.channels = 2;
  const std::size_t integrations = random.between(1, 3);
  const std::uint64_t data = random.bits();
  draw.problem =
      fmt::format("gradient of a correlator of {} stations, {} polarizations, {} channels by {}, {} times",
                  problem.stations, problem.polarizations, problem.channels, correlation.channels, correlation.times);
  const std::size_t size =
      integrations * correlation.times * problem.channels * problem.stations * problem.polarizations;
  const auto x = uniform_values<Complex>(size, data), d = uniform_values<Complex>(size, data + 1);
  const auto visibilities = [&](float sign) {
    filterbank::Correlator correlator = draw.device.is_host()
                                            ? filterbank::Correlator(problem, correlation)
                                            : filterbank::Correlator(draw.device, problem, correlation);
    std::vector<Complex> spectra(size), out(integrations * correlator.size());
    for (std::size_t i = 0; i < size; ++i) spectra[i] = x[i] + sign * d[i];
    correlator.push(spectra, out);
    return out;
  };
  std::vector<Complex> slope = visibilities(1);
  const std::vector<Complex> below = visibilities(-1);
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = (slope[i] - below[i]) / 2.0f;
  const auto g = uniform_values<Complex>(slope.size(), data + 2);
  std::vector<Complex> back(size);
  filterbank::CorrelatorAdjoint(problem, correlation).run(x, g, back);
  return {.wrong = adjoint_error(draw, d, slope, g, back)};
}

Outcome adjoint_image(Draw& draw) {
  Random& random = draw.random;
  const std::vector<std::string> chains{
      "gauss 1.5", "box 3 5",   "resize 0.5 bilinear", "resize 1.7 bicubic",          "resize 0.4 area",
      "pyramid 2", "transpose", "gauss 1 | gray",      "gauss 2 | resize 0.5 | gray", "transpose | box 3"};
  const std::string text = random.one_of(chains);
  image::OperatorProblem problem{
      .input = image::Shape{.rows = random.between(4, 40),
                            .columns = random.between(4, 40),
                            .channels = 3,
                            .depth = image::Depth::f32},
      .chain = image::parse_chain(text),
      .border = random.one_of(std::vector{image::Border::reflect_101, image::Border::reflect, image::Border::replicate,
                                          image::Border::constant, image::Border::wrap})};
  if (random.chance(0.2)) {
    problem.chain = {image::Convolve{3, 5, uniform_values<float>(15, random.bits())}};
  } else if (random.chance(0.2)) {
    problem.input.channels = 1;
    problem.chain = {image::Gradient{random.one_of(
        std::vector{image::GradientKind::sobel, image::GradientKind::scharr, image::GradientKind::central})}};
  }
  draw.problem = fmt::format("adjoint of {} of {}, border {}", image::to_string(problem.chain.front()),
                             problem.input.text(), to_string(*problem.border));
  const image::OperatorPlan plan(draw.device, problem, {.effort = Effort::quick});
  const image::Shape in = problem.input, out = output_shape(problem);
  const std::uint64_t data = random.bits();
  const auto x = uniform_values<float>(in.rows * in.columns * in.channels, data);
  const auto g = uniform_values<float>(out.rows * out.columns * out.channels, data + 1);
  std::vector<float> image(g.size()), back(x.size());
  image::Image to = image::Image::view(image.data(), out), from = image::Image::view(back.data(), in);
  plan.run(image::Image::view(x.data(), in), to);
  plan.adjoint().run(image::Image::view(g.data(), out), from);
  return {.wrong = adjoint_error(draw, x, image, g, back)};
}

Outcome check_adjoint(Draw& draw) { return draw.random.one_of(adjoint_checks()).check(draw); }

}  // namespace ridge::check
