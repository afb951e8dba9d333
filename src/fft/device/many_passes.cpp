// Lines too long for one work-group: N = N1 * N2 (* N3), columns first, a twiddle between, the output's order made by
// the last pass's strided store. Where many lines are done, a few at a time keep what lies between in the cache that
// all compute units share.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "fft/device/radices.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kMostPasses = 4, kFactorsTried = 2;

struct Digit {
  std::uint64_t count;
  std::uint64_t load = 0, store = 0, column = 0, load_factor = 0, store_factor = 0, load_number = 0, store_number = 0;
};

void divide(std::size_t rest, std::size_t passes, std::size_t most, std::vector<std::size_t>& head,
            std::vector<std::vector<std::size_t>>& found) {
  if (passes == 1) {
    if (rest > most || rest == 1) return;
    head.push_back(rest);
    found.push_back(head);
    head.pop_back();
    return;
  }
  const double even = std::pow(static_cast<double>(rest), 1.0 / static_cast<double>(passes));
  for (std::size_t factor = 2; factor <= most && factor <= rest; ++factor) {
    if (rest % factor != 0) continue;
    // Far from even is never best.
    if (static_cast<double>(factor) < even / 8 || static_cast<double>(factor) > even * 8) continue;
    head.push_back(factor);
    divide(rest / factor, passes - 1, most, head, found);
    head.pop_back();
  }
}

// The largest over the smallest, and a little for factors that are not made of twos.
double unevenness(const std::vector<std::size_t>& factors) {
  double largest = 0, smallest = 1e30, score = 0;
  for (const std::size_t factor : factors) {
    largest = std::max(largest, static_cast<double>(factor));
    smallest = std::min(smallest, static_cast<double>(factor));
    if (factor % 16 != 0) score += 0.5;
    const auto plans = radix_plans(factor, {});
    score += plans.empty() ? 1000 : plans.front().cost / 20;
  }
  // The last pass likes to be the longer one: it reads whole lines.
  if (factors.back() < factors.front()) score += 0.3;
  return largest / smallest + score;
}

}  // namespace

std::vector<std::vector<std::size_t>> pass_factors(std::size_t length, std::size_t passes, std::size_t most_a_pass) {
  std::vector<std::vector<std::size_t>> found;
  if (!has_butterflies(length)) return found;
  std::vector<std::size_t> head;
  divide(length, passes, most_a_pass, head, found);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < found.size(); ++i) order.emplace_back(unevenness(found[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<std::vector<std::size_t>> sorted;
  for (const auto& [score, i] : order) sorted.push_back(found[i]);
  return sorted;
}

std::vector<PassDesign> split_designs(const AxisProblem& problem, const Split& split, SplitPlaces& places) {
  const std::vector<std::size_t>& factors = split.factors;
  const std::size_t passes = factors.size(), length = problem.length;
  // What lies between keeps the digits with shorter steps than the points inside, the others outside.
  std::uint64_t inner = 1;
  std::vector<std::uint64_t> scratch(problem.counts.size());
  std::uint64_t packed = 1;
  for (const bool inside : {true, false}) {
    for (std::size_t digit = 0; digit < problem.counts.size(); ++digit) {
      if ((problem.in.line[digit] < problem.in.point) != inside) continue;
      scratch[digit] = packed;
      packed *= problem.counts[digit];
    }
    if (inside) {
      inner = packed;
      packed *= length;
    }
  }
  const bool apart = scratch.back() == packed / problem.counts.back();  // the last digit's values lie apart
  places = {.between = packed / problem.counts.back(), .apart = apart, .step = scratch.back()};
  const bool pairs_in = split.load == Values::pairs, pairs_out = split.store == Values::pairs;
  const auto of = [](const Address& at, std::size_t digit) { return at.line.empty() ? 0 : at.line[digit]; };

  std::vector<PassDesign> designs;
  std::uint64_t before = 1, rest = length;
  std::vector<std::size_t> prefixes, suffixes;  // of each factor: product of those before, of those after
  for (const std::size_t factor : factors) {
    rest /= factor;
    prefixes.push_back(before);
    suffixes.push_back(rest);
    before *= factor;
  }
  for (std::size_t i = 0; i < passes; ++i) {
    const bool first = i == 0, last = i + 1 == passes;
    PassDesign pass = plain_pass(problem);
    pass.length = pass.points = factors[i];
    pass.in_place = !first && !last;
    pass.scale = last ? problem.scale : 1;
    if (!first) pass.samples = Samples::same;
    if (!first) pass.load.factor = FactorKind::none;
    if (!last) pass.store.factor = FactorKind::none;
    pass.load.values = first ? split.load : Values::complex;
    pass.store.values = last ? split.store : Values::complex;
    pass.load.once = first && problem.samples == Samples::same;
    pass.store.once = last;
    pass.load.valid = first ? split.load_valid : 0;
    pass.store.valid = last ? split.store_valid : 0;
    pass.load.pair = problem.in.point;
    pass.store.pair = problem.out.point;
    pass.load.factor_pair = problem.load_at.point;
    pass.store.factor_pair = problem.store_at.point;

    const std::uint64_t after = suffixes[i], prefix = prefixes[i];
    pass.load.at.point = first ? problem.in.point * after : inner * after;
    pass.load.factor_at.point = problem.load_at.point * after;
    pass.load.valid_at.point = after;
    pass.store.at.point = last ? problem.out.point * prefix : inner * after;
    pass.store.factor_at.point = problem.store_at.point * prefix;
    pass.store.valid_at.point = prefix;

    std::vector<Digit> digits;
    if (!last) {
      digits.push_back({.count = after,
                        .load = first ? problem.in.point * (pairs_in ? 2 : 1) : inner,
                        .store = inner,
                        .column = 1,
                        .load_factor = problem.load_at.point * (pairs_in ? 2 : 1),
                        .load_number = 1});
    }
    for (std::size_t j = 0; j < i; ++j) {
      digits.push_back({.count = factors[j],
                        .load = inner * suffixes[j],
                        .store = last ? problem.out.point * prefixes[j] * (pairs_out ? 2 : 1) : inner * suffixes[j],
                        .store_factor = problem.store_at.point * prefixes[j] * (pairs_out ? 2 : 1),
                        .store_number = prefixes[j]});
    }
    for (std::size_t digit = 0; digit < problem.counts.size(); ++digit) {
      digits.push_back({.count = problem.counts[digit],
                        .load = first ? problem.in.line[digit] : scratch[digit],
                        .store = last ? problem.out.line[digit] : scratch[digit],
                        .load_factor = of(problem.load_at, digit),
                        .store_factor = of(problem.store_at, digit)});
    }
    // Neighbouring work-items take the digit with the shortest steps; the last one stays where launches can begin at
    // it.
    std::stable_sort(digits.begin(), digits.end() - (apart ? 1 : 0),
                     [&](const Digit& a, const Digit& b) { return last ? a.store < b.store : a.load < b.load; });
    pass.counts.clear();
    for (Address* at : {&pass.load.at, &pass.store.at, &pass.load.factor_at, &pass.store.factor_at, &pass.load.valid_at,
                        &pass.store.valid_at}) {
      at->line.clear();
    }
    if (!last) pass.twiddle = Twiddle{.order = factors[i] * after, .columns = after, .column = {}};
    for (const Digit& digit : digits) {
      pass.counts.push_back(digit.count);
      pass.load.at.line.push_back(digit.load);
      pass.store.at.line.push_back(digit.store);
      pass.load.factor_at.line.push_back(digit.load_factor);
      pass.store.factor_at.line.push_back(digit.store_factor);
      pass.load.valid_at.line.push_back(digit.load_number);
      pass.store.valid_at.line.push_back(digit.store_number);
      if (!last) pass.twiddle->column.line.push_back(digit.column);
    }
    pass.load_order = order_of(pass.load.at);
    pass.store_order = order_of(pass.store.at);
    designs.push_back(std::move(pass));
  }
  return designs;
}

namespace {

// A tile that fills a compute unit leaves nobody to load while it is transformed.
PassDesign with_tiles_ahead(const Device& device, const PassDesign& design) {
  const PassSide& load = design.load;
  if (device.info().backend != Backend::cuda || design.resident > 1 || design.samples != Samples::same ||
      design.method != PrimeMethod::none || load.values != Values::complex || load.factor != FactorKind::none ||
      load.valid > 0 || load.staged || design.store.staged) {
    return design;
  }
  PassDesign ahead = design;
  ahead.tiles_ahead = true;
  return fit(device, ahead, design.lines).empty() ? ahead : design;
}

}  // namespace

SplitResult split_passes(const Device& device, const AxisProblem& problem, const Split& split,
                         std::vector<Step>& steps) {
  SplitPlaces places;
  const std::vector<PassDesign> plain = split_designs(problem, split, places);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool first = i == 0, last = i + 1 == plain.size();
    std::string refusal;
    std::size_t width = split.width;
    while (width > 1 && width / 2 >= static_cast<std::size_t>(plain[i].counts.front())) width /= 2;
    const std::vector<PassDesign> designs = fitted(device, plain[i], width, 1, refusal, split.most_held);
    if (designs.empty()) return {.refusal = refusal};
    steps.push_back({.design = split.ahead ? with_tiles_ahead(device, designs.front()) : designs.front(),
                     .from = first ? split.from : split.between,
                     .to = last ? split.to : split.between,
                     .lines = inner_lines(problem) * (problem.length / split.factors[i]),
                     .from_stride = first ? problem.in.line.back() : places.step,
                     .to_stride = last ? problem.out.line.back() : places.step,
                     .load = first ? problem.load : FactorTable{},
                     .store = last ? problem.store : FactorTable{}});
  }
  return {.between = places.between, .apart = places.apart};
}

namespace {

struct Attempt {
  std::vector<Step> steps;
  SplitResult split;
  std::uint64_t work = 0;
};

// The steps of a whole problem, real ones with what comes before or after the complex passes.
struct Shape {
  std::size_t width, most_held;
  bool ahead = false;
};
// Best first, as measured on an H200.
constexpr Shape kShapes[] = {{16, 0, true}, {16, 0}, {16, 16}, {8, 0, true}, {8, 0}, {8, 16}, {4, 0, true}, {4, 0}};

Attempt attempt(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                const Shape& shape) {
  Attempt result;
  Split split{.factors = factors, .width = shape.width, .most_held = shape.most_held, .ahead = shape.ahead};
  const bool real = problem.kind == Kind::real, even = problem.length % 2 == 0;
  const bool forward = problem.direction == Direction::forward;
  AxisProblem inner = problem;
  inner.kind = Kind::complex;
  if (real) {
    const std::size_t n = even ? problem.length / 2 : problem.length;
    inner.length = n;
    SpectrumDesign spectrum{.float64 = problem.float64, .length = n, .counts = problem.counts};
    const Step around{.design = {}, .lines = inner_lines(problem)};
    if (forward && even) {
      split.load = Values::pairs;
      split.to = Place::work;
      inner.out = packed_lines(problem, n);
      inner.store = {};
      inner.scale = 1;
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
      spectrum.change = even ? SpectrumChange::pack : SpectrumChange::mirror;
      spectrum.in = problem.in;
      spectrum.out = inner.in;
      spectrum.factor = problem.load.kind();
      spectrum.factor_at = problem.load_at;
      Step step = around;
      step.design = spectrum;
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
      step.design = spectrum;
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

// Lines at once, so that what lies between passes stays in the shared cache; 0: all.
std::vector<std::uint64_t> portions(const AxisProblem& problem, std::uint64_t between, bool apart) {
  const double element = problem.float64 ? 16 : 8;
  const double each = static_cast<double>(between) * element;
  // A launch's ramp and tail cost more than the cache saves wherever memory is fast: all at once comes first.
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

}  // namespace

void list_many_passes(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  const bool pairs = problem.kind == Kind::real && problem.length % 2 == 0;
  const std::size_t length = pairs ? problem.length / 2 : problem.length;
  if (!has_butterflies(length)) {
    routes.push_back({.candidate = {.variant = "two_pass",
                                    .refusal = fmt::format("{} has a prime factor that no butterfly has", length)},
                      .steps = {}});
    return;
  }
  constexpr std::size_t kShortest = 1024;  // below this one pass serves
  if (length < kShortest) {
    routes.push_back(
        {.candidate = {.variant = "two_pass", .refusal = "lines this short are done in one pass"}, .steps = {}});
    return;
  }
  const char* const names[] = {"", "", "two_pass", "three_pass", "four_pass"};
  double efficiency = 0.9;
  bool any = false;
  std::string refusal = "no factors that fit";
  struct Made {
    Attempt attempt;
    std::string factors;
  };
  for (std::size_t passes = 2; passes <= kMostPasses && !any; ++passes) {
    std::vector<Made> made;
    std::size_t tried = 0;
    for (const auto& factors : pass_factors(length, passes, 8192)) {
      if (tried == kFactorsTried) break;
      const std::size_t before = made.size();
      bool wide = false;
      for (const Shape& shape : kShapes) {
        // Narrow tiles waste half of each access to memory: only where nothing else fits.
        if (shape.width < 8 && wide) break;
        Attempt one = attempt(device, problem, factors, shape);
        if (one.split.refusal.empty()) {
          made.push_back({std::move(one), fmt::format("{}", fmt::join(factors, "x"))});
          wide = wide || shape.width >= 8;
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
        Route route;
        route.steps = one.attempt.steps;
        route.outer = problem.counts.back();
        route.at_once = all[option];
        route.scratch = one.attempt.split.between;
        route.work = one.attempt.work;
        route.candidate = described(problem, names[passes], route.steps, efficiency);
        route.candidate.parameters.insert(route.candidate.parameters.begin(), {"factors", one.factors});
        if (route.at_once != 0) {
          route.candidate.parameters.emplace_back("at_once", std::to_string(route.at_once));
          route.candidate.cost.launches *=
              std::ceil(static_cast<double>(route.outer) / static_cast<double>(route.at_once));
        }
        routes.push_back(std::move(route));
        efficiency *= 0.98;
      }
    }
  }
  if (!any) routes.push_back({.candidate = {.variant = "two_pass", .refusal = refusal}, .steps = {}});
}

}  // namespace ridge::fft::on_device
