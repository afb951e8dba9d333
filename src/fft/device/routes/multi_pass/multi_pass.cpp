// Route multi_pass: lines too long for one work-group, N = N1 * N2 (* N3), columns first, a twiddle between passes, and
// the output order produced by the strided store of the last pass. Batches are processed a few lines at a time to keep
// intermediate data in L2.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/route.hpp"
#include "fft/device/spectrum.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kMostPasses = 4, kFactorsTried = 2;

struct Attempt {
  std::vector<Step> steps;
  SplitResult split;
  std::uint64_t work = 0;
};

// Parameters of an attempt: adjacent lines per work-group, and most points per work-item (0: no limit).
struct Shape {
  std::size_t width, most_held;
};
// Best first, measured on an H200.
constexpr Shape kShapes[] = {{16, 0}, {16, 16}, {8, 0}, {8, 16}, {4, 0}};
// For few lines: small groups, so that every compute unit has one. The data are in L2, which serves narrow accesses.
constexpr Shape kFewShapes[] = {{8, 0}, {8, 16}, {4, 8}, {8, 8}, {4, 0}, {16, 0}, {4, 16}, {16, 16}, {2, 8}, {2, 16}};

Attempt attempt(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                const Shape& shape) {
  Attempt result;
  Split split{.factors = factors, .width = shape.width, .most_held = shape.most_held};
  const bool real = problem.kind == Kind::real, even = problem.length % 2 == 0;
  const bool forward = problem.direction == Direction::forward;
  AxisProblem inner = problem;
  inner.kind = Kind::complex;
  if (real) {
    const std::size_t n = even ? problem.length / 2 : problem.length;
    inner.length = n;
    SpectrumDesign spectrum{.float64 = problem.float64, .length = n, .counts = problem.counts};
    const Step around{.lines = inner_lines(problem)};
    if (forward && even) {
      split.load = Values::pairs;
      split.to = Place::work;
      inner.out = packed_lines(problem, n);
      inner.store = {};
      inner.store_storage = Storage::same;
      inner.scale = 1;
      spectrum.storage = problem.store_storage;
      spectrum.change = SpectrumChange::unpack;
      spectrum.in = inner.out;
      spectrum.out = problem.out;
      spectrum.factor = problem.store.kind();
      spectrum.factor_at = problem.store_at;
      spectrum.scale = problem.scale;
    } else if (forward) {
      split.load = Values::reals;
      split.store_valid = problem.length / 2 + 1;
    } else {
      split.from = Place::work;
      split.store = even ? Values::pairs : Values::reals;
      inner.in = packed_lines(problem, n);
      inner.load = {};
      inner.load_storage = Storage::same;
      spectrum.storage = problem.load_storage;
      spectrum.change = even ? SpectrumChange::pack : SpectrumChange::mirror;
      spectrum.in = problem.in;
      spectrum.out = inner.in;
      spectrum.factor = problem.load.kind();
      spectrum.factor_at = problem.load_at;
      Step step = around;
      step.design = spectrum_step(spectrum);
      step.from = Place::input;
      step.to = Place::work;
      step.from_stride = problem.in.line.back();
      step.to_stride = inner.in.line.back();
      step.load = problem.load;
      result.steps.push_back(step);
      result.work = n * inner_lines(problem);
    }
    result.split = split_passes(device, inner, split, result.steps);
    if (forward && even) {
      Step step = around;
      step.design = spectrum_step(spectrum);
      step.from = Place::work;
      step.to = Place::output;
      step.from_stride = inner.out.line.back();
      step.to_stride = problem.out.line.back();
      step.load = problem.store;
      result.steps.push_back(step);
      result.work = n * inner_lines(problem);
    }
  } else {
    result.split = split_passes(device, inner, split, result.steps);
  }
  return result;
}

// Lines per launch that keep the intermediate data in L2; 0: all.
std::vector<std::uint64_t> portions(const AxisProblem& problem, std::uint64_t between, bool apart) {
  const double element = problem.float64 ? 16 : 8;
  const double each = static_cast<double>(between) * element;
  // With fast memory the start and end of a launch cost more than L2 saves, so all lines at once is listed first.
  std::vector<std::uint64_t> found{0};
  if (apart) {
    for (const double bytes : {24e6, 40e6}) {
      const double fit = std::floor(bytes / each);
      const auto lines = static_cast<std::uint64_t>(fit);
      const bool known = std::find(found.begin(), found.end(), lines) != found.end();
      if (fit >= 1 && fit * 2 <= static_cast<double>(problem.counts.back()) && !known) found.push_back(lines);
    }
  }
  return found;
}

constexpr const char* kNames[] = {"", "", "two_pass", "three_pass", "four_pass"};  // by number of passes
constexpr std::size_t kLongestPass = 8192;

struct Made {
  Attempt attempt;
  std::string factors;
  std::size_t width;
};

Made made_of(Attempt attempt, const std::vector<std::size_t>& factors, const Shape& shape) {
  return {std::move(attempt), fmt::format("{}", fmt::join(factors, "x")), shape.width};
}

std::size_t complex_length(const AxisProblem& problem) {
  return problem.kind == Kind::real && problem.length % 2 == 0 ? problem.length / 2 : problem.length;
}

// at_once: lines per launch, 0 for all.
Route route_of(const AxisProblem& problem, const char* name, const Made& made, std::uint64_t at_once, bool few,
               double efficiency) {
  Route route;
  route.steps = made.attempt.steps;
  route.outer = problem.counts.back();
  route.at_once = at_once;
  route.scratch = made.attempt.split.between;
  route.work = made.attempt.work;
  route.together = !made.attempt.split.apart;
  const double narrow = !few || made.width >= 8 ? 1 : made.width == 4 ? 0.9 : 0.7;
  route.candidate = described(problem, name, route.steps, efficiency * narrow);
  route.candidate.parameters.insert(route.candidate.parameters.begin(), {"factors", made.factors});
  if (at_once != 0) {
    route.candidate.parameters.emplace_back("at_once", std::to_string(at_once));
    route.candidate.cost.launches *= std::ceil(static_cast<double>(route.outer) / static_cast<double>(at_once));
  }
  return route;
}

void list_multi_pass(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  const std::size_t length = complex_length(problem);
  if (!has_butterflies(length)) {
    routes.push_back(
        refused("two_pass",
                fmt::format("needs prime factors with a butterfly, got length {}: see rader and bluestein", length)));
    return;
  }
  constexpr std::size_t kShortest = 1024;  // shorter lengths fit one pass
  if (length < kShortest) {
    routes.push_back(
        refused("two_pass", fmt::format("needs at least {} points, got {}: see one_pass", kShortest, length)));
    return;
  }
  if (problem.boxed && problem.kind == Kind::real) {
    routes.push_back(refused("two_pass", "needs complex lines for boxes, got real ones: they are padded by copies"));
    return;
  }
  double efficiency = 0.9;
  bool any = false;
  std::string refusal = problem.boxed
                            ? "needs boxes that begin at 0 or divide evenly"
                            : fmt::format("no factors of {} points have passes that fit the device", problem.length);
  const bool few = is_small(device, problem);
  const std::span<const Shape> shapes = few ? std::span<const Shape>(kFewShapes) : std::span<const Shape>(kShapes);
  for (std::size_t passes = 2; passes <= kMostPasses && !any; ++passes) {
    std::vector<Made> made;
    std::size_t tried = 0;
    for (const auto& factors : pass_factors(length, passes, kLongestPass)) {
      if (tried == kFactorsTried) break;
      if (!split_serves_boxes(problem, factors)) continue;
      const std::size_t before = made.size();
      for (const Shape& shape : shapes) {
        // Narrow tiles waste half of each memory access: used only for few lines or if nothing else fits.
        if (shape.width < 8 && made.size() > before && !few) break;
        Attempt one = attempt(device, problem, factors, shape);
        if (one.split.refusal.empty()) {
          made.push_back(made_of(std::move(one), factors, shape));
        } else {
          refusal = one.split.refusal;
        }
      }
      if (made.size() > before) ++tried;
    }
    any = !made.empty();
    for (std::size_t option = 0; option < 4; ++option) {
      for (const Made& one : made) {
        const auto all = portions(problem, one.attempt.split.between, one.attempt.split.apart);
        if (option >= all.size()) continue;
        routes.push_back(route_of(problem, kNames[passes], one, all[option], few, efficiency));
        efficiency *= few ? 0.99 : 0.98;
      }
    }
  }
  if (!any) routes.push_back(refused("two_pass", refusal));
}

// Makes only attempts with the factors of the name, until one has the whole name.
void find_multi_pass(const Device& device, const AxisProblem& problem, const std::string& name,
                     std::vector<Route>& routes) {
  constexpr std::string_view kFactors = "(factors=";
  const std::size_t at = name.find(kFactors), length = complex_length(problem);
  if (at == std::string::npos || !has_butterflies(length)) return list_multi_pass(device, problem, routes);
  const std::size_t begin = at + kFactors.size();
  const std::string variant = name.substr(0, at), wanted = name.substr(begin, name.find_first_of(",)", begin) - begin);
  const bool few = is_small(device, problem);
  const std::span<const Shape> shapes = few ? std::span<const Shape>(kFewShapes) : std::span<const Shape>(kShapes);
  for (std::size_t passes = 2; passes <= kMostPasses; ++passes) {
    if (variant != kNames[passes]) continue;
    for (const auto& factors : pass_factors(length, passes, kLongestPass)) {
      if (fmt::format("{}", fmt::join(factors, "x")) != wanted || !split_serves_boxes(problem, factors)) continue;
      for (const Shape& shape : shapes) {
        Attempt one = attempt(device, problem, factors, shape);
        if (!one.split.refusal.empty()) continue;
        const Made made = made_of(std::move(one), factors, shape);
        for (const std::uint64_t at_once : portions(problem, made.attempt.split.between, made.attempt.split.apart)) {
          Route route = route_of(problem, kNames[passes], made, at_once, few, 0.9);
          if (route.candidate.name() != name) continue;
          routes.push_back(std::move(route));
          return;
        }
      }
    }
  }
}

}  // namespace

extern const RouteFamily kMultiPass{.variants = {"two_pass", "three_pass", "four_pass"},
                                    .list = list_multi_pass,
                                    .find = find_multi_pass,
                                    .boxes = true};

}  // namespace ridge::fft::on_device
