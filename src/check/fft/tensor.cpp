// Checks transforms over any axes and loops with signed strides on both sides: complex, real, real to real, split, in
// place; on devices the real-to-real kinds. The reference embeds every kind in a complex transform of twice the
// precision.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <ridge/fft/device_tensor.hpp>
#include <ridge/fft/tensor.hpp>

#include "check/check.hpp"
#include "check/fft/tensor_reference.hpp"

namespace ridge::check {
namespace {

using fft::Dimension;

constexpr std::size_t kRealKinds = 11;

std::size_t product_of(const std::vector<Dimension>& dimensions) {
  std::size_t product = 1;
  for (const Dimension& d : dimensions) product *= d.length;
  return product;
}

// Lowest and highest element offset that a side's dimensions reach, relative to the first element.
struct Extent {
  std::ptrdiff_t low = 0, high = 0;
};
Extent extent_of(const std::vector<Dimension>& dimensions, bool input) {
  Extent extent;
  for (const Dimension& d : dimensions) {
    const std::ptrdiff_t far = (static_cast<std::ptrdiff_t>(d.length) - 1) * (input ? d.input : d.output);
    (far < 0 ? extent.low : extent.high) += far;
  }
  return extent;
}

// Calls visit(input element, output element) for every tuple of indices, the last dimension fastest.
template <class Visit>
void for_each_place(const std::vector<Dimension>& dimensions, const Visit& visit) {
  for (std::size_t number = 0; number < product_of(dimensions); ++number) {
    std::ptrdiff_t in = 0, out = 0;
    std::size_t rest = number;
    for (std::size_t d = dimensions.size(); d-- > 0; rest /= dimensions[d].length) {
      const auto index = static_cast<std::ptrdiff_t>(rest % dimensions[d].length);
      in += index * dimensions[d].input;
      out += index * dimensions[d].output;
    }
    visit(in, out);
  }
}

// Number of rotations before and after the inner transform of a real-to-real kind, each of which adds rounding errors.
double rotations(RealKind kind) {
  switch (kind) {
    case RealKind::dct2:
    case RealKind::dct3:
    case RealKind::dst2:
    case RealKind::dst3:
      return 2;
    case RealKind::dct4:
    case RealKind::dst4:
      return 4;
    case RealKind::hartley:
      return 1;
    default:
      return 0;
  }
}

// Operations of the reference's transforms per item, and the number of points they cover.
struct Price {
  double operations = 0, points = 1;
  bool convolution = false;
};
Price price_of(const TensorProblem& problem) {
  Price price;
  double elements = 1;
  for (const Dimension& axis : problem.axes) elements *= static_cast<double>(axis.length);
  for (std::size_t i = 0; i < problem.axes.size(); ++i) {
    const std::size_t n = problem.axes[i].length;
    const bool real = problem.kind == TensorKind::real_to_real;
    const std::size_t length = real ? embedding_of(problem.real_kinds[i], n).length : n;
    double factors = 1;
    std::size_t rest = length;
    while (rest > 1) {
      const std::size_t p = smallest_prime_factor(rest);
      factors += static_cast<double>(p);
      price.convolution |= p > 13;
      rest /= p;
    }
    price.operations += factors * elements * static_cast<double>(length) / static_cast<double>(n);
    // Length that the library transforms: the mirrored line for dct1 and dst1, the line itself for the others.
    const bool mirrored = real && (problem.real_kinds[i] == RealKind::dct1 || problem.real_kinds[i] == RealKind::dst1);
    price.points *= static_cast<double>(mirrored ? length : n);
  }
  return price;
}

std::size_t halved(const TensorProblem& problem, bool input, std::size_t axis) {
  const std::size_t n = problem.axes[axis].length;
  const bool spectrum =
      (problem.kind == TensorKind::real_forward && !input) || (problem.kind == TensorKind::real_inverse && input);
  return spectrum && axis + 1 == problem.axes.size() ? n / 2 + 1 : n;
}

// Axes and loops with the strides of one side.
std::vector<Dimension> dimensions_of(const TensorProblem& problem, bool input) {
  std::vector<Dimension> all = problem.loops;
  for (std::size_t axis = 0; axis < problem.axes.size(); ++axis) {
    all.push_back(problem.axes[axis]);
    all.back().length = halved(problem, input, axis);
  }
  return all;
}

// Draws strides: dimensions nested in any order, with gaps, some negative.
void draw_strides(Random& random, TensorProblem& problem, bool input, bool backwards) {
  const std::size_t loops = problem.loops.size(), all = loops + problem.axes.size();
  std::vector<std::size_t> order(all);
  for (std::size_t i = 0; i < all; ++i) order[i] = i;
  if (random.chance(0.6)) {
    for (std::size_t i = all; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  }
  const bool gaps = random.chance(0.4);
  std::ptrdiff_t step = gaps && random.chance(0.5) ? 2 : 1;
  for (std::size_t i = all; i-- > 0;) {
    const std::size_t which = order[i];
    Dimension& d = which < loops ? problem.loops[which] : problem.axes[which - loops];
    const std::size_t length = which < loops ? d.length : halved(problem, input, which - loops);
    (input ? d.input : d.output) = backwards && random.chance(0.3) ? -step : step;
    step *= static_cast<std::ptrdiff_t>(length);
    if (gaps) step += static_cast<std::ptrdiff_t>(random.below(4));
  }
}

struct TensorCase {
  TensorProblem problem{};
  bool odd = false;  // one item holds a NaN
  std::uint64_t data = 0, cuts = 0;
};

TensorCase draw_tensor(Draw& draw, double affordable) {
  Random& random = draw.random;
  TensorCase made;
  TensorProblem& problem = made.problem;
  const bool host = draw.device.is_host();
  problem.kind = host && random.chance(0.6) ? static_cast<TensorKind>(random.below(4)) : TensorKind::real_to_real;
  const std::size_t axes = host ? random.one_of(std::vector<std::size_t>{0, 1, 1, 1, 2, 2, 3, 4})
                                : random.one_of(std::vector<std::size_t>{1, 1, 2, 3});
  const std::size_t loops = random.one_of(std::vector<std::size_t>{0, 1, 1, 2, 3});
  const bool complex = problem.kind == TensorKind::complex_forward || problem.kind == TensorKind::complex_inverse;
  const bool real = problem.kind == TensorKind::real_to_real;
  problem.in_place = (complex || real) && random.chance(0.25);
  const bool other_places = random.chance(0.3), odd = random.chance(0.2);
  problem.split_input = host && !real && problem.kind != TensorKind::real_forward && random.chance(0.2);
  problem.split_output = host && !real && problem.kind != TensorKind::real_inverse && random.chance(0.2);
  if (problem.in_place) problem.split_output = problem.split_input;
  if (random.chance(0.3)) problem.scale = 0.25;
  problem.threads = random.between(0, 3);
  made.data = random.bits();
  made.cuts = random.bits();
  Random details(random.bits());
  for (std::size_t i = 0; i < axes && real; ++i)
    problem.real_kinds.push_back(static_cast<RealKind>(details.below(kRealKinds)));

  std::size_t left = std::min<std::size_t>(draw.points, host ? std::size_t{1} << 15 : std::size_t{1} << 12);
  const std::size_t all = axes + loops;
  for (std::size_t i = 0; i < all; ++i) {
    const bool axis = i < axes;
    const double share = 1.0 / static_cast<double>(all - i);
    const auto most = static_cast<std::size_t>(std::pow(static_cast<double>(left), axis ? 1.5 * share : share));
    std::size_t length = axis ? random.length(std::max<std::size_t>(std::min(most, left), 1)) : random.magnitude(most);
    if (axis && real && problem.real_kinds[i] == RealKind::dct1) length = std::max<std::size_t>(length, 2);
    (axis ? problem.axes : problem.loops).push_back({.length = length});
    left = std::max<std::size_t>(1, left / length);
  }
  const auto items = static_cast<double>(product_of(problem.loops));
  while (price_of(problem).operations * items > affordable) {
    auto& longest = *std::max_element(problem.axes.begin(), problem.axes.end(),
                                      [](const Dimension& a, const Dimension& b) { return a.length < b.length; });
    if (longest.length <= 4) break;
    longest.length = longest.length / 2 + 1;
  }
  made.odd = odd && items > 1 && axes > 0 && !problem.in_place;
  draw_strides(details, problem, true, host);
  draw_strides(details, problem, false, host);
  if (problem.in_place && !other_places) {
    for (auto* dimensions : {&problem.axes, &problem.loops}) {
      for (Dimension& d : *dimensions) d.output = d.input;
    }
  }
  return made;
}

std::string tensor_in_words(const TensorCase& made, bool wide) {
  const TensorProblem& problem = made.problem;
  const char* names[] = {"complex forward", "complex inverse", "real forward", "real inverse", "real to real"};
  std::string text = fmt::format("tensor {} {}", wide ? "f64" : "f32", names[static_cast<int>(problem.kind)]);
  const auto list = [&](const char* name, const std::vector<Dimension>& dimensions) {
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const Dimension& d = dimensions[i];
      text += fmt::format(" {}{}:{},{}", i == 0 ? name : "x ", d.length, d.input, d.output);
      if (name[0] == 'a' && !problem.real_kinds.empty()) text += fmt::format(" {}", to_string(problem.real_kinds[i]));
    }
  };
  list("axes ", problem.axes);
  list("loops ", problem.loops);
  if (problem.in_place) text += ", in place";
  if (problem.split_input) text += ", split input";
  if (problem.split_output) text += ", split output";
  if (problem.scale != 1) text += fmt::format(", scale {}", problem.scale);
  if (made.odd) text += ", an item with NaN";
  return text;
}

// Memory of one side; the first element is placed so that negative strides stay inside.
template <class T>
struct Side {
  std::vector<T> re, im;  // interleaved sides use `re` only
  std::ptrdiff_t low = 0;
  std::size_t each = 1;  // reals per element in `re`
  bool split = false;

  Side(const std::vector<Dimension>& dimensions, bool input, bool complex, bool splits, bool wanted) : split(splits) {
    const Extent reach = extent_of(dimensions, input);
    low = reach.low;
    each = complex && !splits ? 2 : 1;
    const auto elements = static_cast<std::size_t>(reach.high - reach.low + 1);
    if (!wanted) return;
    re.assign(elements * each, std::numeric_limits<T>::quiet_NaN());
    if (splits) im.assign(elements, std::numeric_limits<T>::quiet_NaN());
  }
  T* start() { return re.data() + static_cast<std::size_t>(-low) * each; }
  T* imaginary() { return split ? im.data() + static_cast<std::size_t>(-low) : nullptr; }
  std::complex<T> get(std::ptrdiff_t at) {
    const auto i = static_cast<std::size_t>(at - low);
    return {re[i * each], split ? im[i] : each == 2 ? re[i * each + 1] : T(0)};
  }
  void put(std::ptrdiff_t at, std::complex<T> value) {
    const auto i = static_cast<std::size_t>(at - low);
    re[i * each] = value.real();
    if (split) im[i] = value.imag();
    if (!split && each == 2) re[i * each + 1] = value.imag();
  }
};

template <class T>
class TensorCheck {
 public:
  using Real = Wide<T>;
  using Value = WidePoint<Real>;

  explicit TensorCheck(const TensorCase& made)
      : made_(made),
        problem_(made.problem),
        in_(dimensions_of(problem_, true), true, problem_.kind != TensorKind::real_forward && !is_real(),
            problem_.split_input, true),
        out_(dimensions_of(problem_, false), false, problem_.kind != TensorKind::real_inverse && !is_real(),
             problem_.split_output, !problem_.in_place) {
    if (!problem_.in_place) return;
    // One array large enough for both sides.
    const Extent there = extent_of(dimensions_of(problem_, false), false);
    const Extent here = extent_of(dimensions_of(problem_, true), true);
    in_.low = std::min(here.low, there.low);
    const auto elements = static_cast<std::size_t>(std::max(here.high, there.high) - in_.low + 1);
    in_.re.assign(elements * in_.each, std::numeric_limits<T>::quiet_NaN());
    if (in_.split) in_.im.assign(elements, std::numeric_limits<T>::quiet_NaN());
  }

  std::string check(Draw& draw) {
    draw_input();
    const Side<T> before = in_;
    Side<T>& answer = problem_.in_place ? in_ : out_;
    run(draw, answer);
    draw.answered(std::as_writable_bytes(std::span(answer.re)), std::as_writable_bytes(std::span(in_.re)));
    if (!problem_.in_place && !same_bytes(before)) return "the input was changed";
    return compare(answer);
  }

 private:
  bool is_real() const { return problem_.kind == TensorKind::real_to_real; }

  bool same_bytes(const Side<T>& before) const {
    return std::memcmp(before.re.data(), in_.re.data(), before.re.size() * sizeof(T)) == 0 &&
           (before.im.empty() || std::memcmp(before.im.data(), in_.im.data(), before.im.size() * sizeof(T)) == 0);
  }

  // Positions of an item's elements on a side, last axis fastest.
  template <class Visit>
  void each_element(std::ptrdiff_t start, bool input, const Visit& visit) const {
    std::vector<Dimension> axes = problem_.axes;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis].length = halved(problem_, input, axis);
    std::size_t index = 0;
    for_each_place(axes, [&](std::ptrdiff_t in, std::ptrdiff_t out) { visit(index++, start + (input ? in : out)); });
  }
  std::size_t elements() const { return product_of(problem_.axes); }

  // Random values; a half spectrum is that of real samples.
  void draw_input() {
    Random random(made_.data);
    const std::size_t items = product_of(problem_.loops);
    odd_item_ = items > 0 ? random.below(items) : 0;
    std::size_t item = 0;
    const auto value = [&] { return static_cast<T>(random.uniform() - 0.5); };
    for_each_place(problem_.loops, [&](std::ptrdiff_t in, std::ptrdiff_t) {
      std::vector<Value> spectrum;
      if (problem_.kind == TensorKind::real_inverse) {
        spectrum.resize(elements());
        for (Value& point : spectrum) point = {Real(static_cast<double>(value())), Real(0.0)};
        TensorProblem there = problem_;
        there.kind = TensorKind::complex_forward;
        reference_.run(there, spectrum);
      }
      const std::size_t whole = problem_.axes.empty() ? 1 : problem_.axes.back().length,
                        half = problem_.axes.empty() ? 1 : halved(problem_, true, problem_.axes.size() - 1);
      each_element(in, true, [&](std::size_t index, std::ptrdiff_t at) {
        if (spectrum.empty()) {
          const T re = value();
          in_.put(at, {re, value()});
        } else {
          const Value& point = spectrum[index / half * whole + index % half];
          in_.put(at, {static_cast<T>(static_cast<double>(point.re)), static_cast<T>(static_cast<double>(point.im))});
        }
      });
      if (made_.odd && item == odd_item_) in_.put(in, {std::numeric_limits<T>::quiet_NaN(), T(0)});
      // The complete input of the item in the reference's order.
      std::vector<Value> values(elements());
      each_element(in, true, [&](std::size_t index, std::ptrdiff_t at) {
        const std::complex<T> stored = in_.get(at);
        values[index / half * whole + index % half] = {Real(static_cast<double>(stored.real())),
                                                       Real(static_cast<double>(stored.imag()))};
      });
      if (problem_.kind == TensorKind::real_inverse) complete(values);
      inputs_.push_back(std::move(values));
      ++item;
    });
  }

  // Completes the half of a spectrum that is not stored; values that are their own mirror become real.
  void complete(std::vector<Value>& values) const {
    if (problem_.axes.empty()) return;
    const std::size_t n = problem_.axes.back().length;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = i % n;
      std::size_t partner = (n - k) % n, place = n, rest = i / n;
      for (std::size_t axis = problem_.axes.size() - 1; axis-- > 0;) {
        const std::size_t m = problem_.axes[axis].length;
        partner += (m - rest % m) % m * place;
        place *= m;
        rest /= m;
      }
      if (2 * k > n) values[i] = {values[partner].re, -values[partner].im};
      if (partner == i) values[i].im = Real(0.0);
    }
  }

  void run(Draw& draw, Side<T>& answer) {
    const planner::Options quick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
    if (!draw.device.is_host()) {
      const fft::DeviceTensorPlan<T> plan(draw.device, problem_, quick);
      draw.problem += ", " + chosen_by(plan.decisions());
      plan.run(std::as_const(in_.re), answer.re);
      return;
    }
    const fft::TensorPlan<T> plan(draw.device, problem_, quick);
    draw.problem += ", " + chosen_by(plan.decisions());
    plan.run(in_.start(), in_.imaginary(), answer.start(), answer.imaginary());
  }

  double gate() const {
    const Price price = price_of(problem_);
    double factors = 0;
    for (const RealKind kind : problem_.real_kinds) factors += rotations(kind);
    const double epsilon = std::numeric_limits<T>::epsilon();
    return epsilon * ((price.convolution ? 1.2 : 0.6) * std::sqrt(std::max(1.0, std::log2(price.points))) +
                      0.6 * std::sqrt(factors));
  }

  std::string compare(Side<T>& answer) {
    std::vector<bool> used(answer.re.size());
    double all_difference = 0, all_norm = 0;
    std::size_t item = 0, values = 0;
    std::string wrong;
    for_each_place(problem_.loops, [&](std::ptrdiff_t, std::ptrdiff_t out) {
      std::vector<Value> expected = std::move(inputs_[item]);
      const bool spoilt = made_.odd && item == odd_item_;
      if (!spoilt) reference_.run(problem_, expected);
      const std::size_t whole = problem_.axes.empty() ? 1 : problem_.axes.back().length,
                        half = problem_.axes.empty() ? 1 : halved(problem_, false, problem_.axes.size() - 1);
      double difference = 0, norm = 0;
      each_element(out, false, [&](std::size_t index, std::ptrdiff_t at) {
        const auto place = static_cast<std::size_t>(at - answer.low) * answer.each;
        for (std::size_t part = 0; part < answer.each; ++part) used[place + part] = true;
        if (spoilt) return;
        const Value& point = expected[index / half * whole + index % half];
        const std::complex<double> right(
            static_cast<double>(point.re) * problem_.scale,
            answer.split || answer.each == 2 ? static_cast<double>(point.im) * problem_.scale : 0.0);
        difference += std::norm(std::complex<double>(answer.get(at)) - right);
        norm += std::norm(right);
        ++values;
      });
      const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
      if (!spoilt && wrong.empty() && !(error <= 2.5 * gate()))
        wrong = fmt::format("item {}: relative error {:.2e}, the gate is {:.2e}", item, error, gate());
      all_difference += difference;
      all_norm += norm;
      ++item;
    });
    if (!wrong.empty()) return wrong;
    const double error = all_norm > 0 ? std::sqrt(all_difference / all_norm) : 0;
    if (values >= 16 && !(error <= gate()))
      return fmt::format("relative error {:.2e}, the gate is {:.2e}", error, gate());
    if (problem_.in_place) return {};
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i] && !std::isnan(answer.re[i]))
        return fmt::format("element {} was written, which is not part of the output", i);
    }
    return {};
  }

  const TensorCase& made_;
  const TensorProblem& problem_;
  Side<T> in_, out_;
  std::vector<std::vector<Value>> inputs_;
  std::size_t odd_item_ = 0;
  TensorReference<T> reference_;
};

template <class T>
Outcome check_reals(Draw& draw) {
  const TensorCase made = draw_tensor(draw, sizeof(T) == 4 ? 1e7 : 2e6);
  draw.problem = tensor_in_words(made, sizeof(T) == 8);
  return {.wrong = TensorCheck<T>(made).check(draw)};
}

}  // namespace

Outcome check_tensor(Draw& draw) {
  const bool wide = draw.random.chance(0.4) && draw.device.limits().float64;
  return wide ? check_reals<double>(draw) : check_reals<float>(draw);
}

}  // namespace ridge::check
