// Derives the passes of a split: sides, strides, twiddles and batch dimensions.
#include "fft/device/problem/split.hpp"

#include <algorithm>
#include <utility>

#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"

namespace ridge::fft::on_device {
namespace {

// A batch dimension of a pass: its count, and the strides of its index in the arrays, in the column of the twiddle, in
// the factor tables, and in the index of the first point (PassSide::valid_at).
struct BatchDimension {
  std::uint64_t count;
  std::uint64_t load = 0, store = 0, column = 0, load_factor = 0, store_factor = 0, load_number = 0, store_number = 0;
};

bool divides(std::size_t step, const AxisRange& range) { return range.first % step == 0 && range.count % step == 0; }

// Limits a side to a box of the line, whose points are `step` apart in a line of the pass.
void set_box(PassSide& side, const AxisRange& range, std::size_t length, std::size_t step) {
  side.box_first = side.box_count = 0;
  if (range.count == length && range.first == 0) return;
  if (divides(step, range)) {
    side.box_first = range.first / step;
    side.box_count = range.count / step;
  } else {
    side.valid = range.count;
  }
}

// Pass i of the split without addresses: the first one loads as the problem says, the last one stores as it says.
PassDesign one_of_passes(const AxisProblem& problem, const Split& split, std::size_t i) {
  const bool first = i == 0, last = i + 1 == split.factors.size();
  PassDesign pass = plain_pass(problem);
  pass.length = pass.points = split.factors[i];
  pass.in_place = !first && !last;
  pass.scale = last ? problem.scale : 1;
  if (!first) pass.samples = Samples::same;
  if (!first) pass.load.factor = FactorKind::none;
  if (!last) pass.store.factor = FactorKind::none;
  pass.load.values = first ? split.load : Values::complex;
  pass.store.values = last ? split.store : Values::complex;
  if (!first) pass.load.storage = Storage::same;
  if (!last) pass.store.storage = Storage::same;
  pass.load.once = first && problem.samples == Samples::same && problem.load_storage == Storage::same;
  pass.store.once = last && problem.store_storage == Storage::same;
  pass.load.valid = first ? split.load_valid : 0;
  pass.store.valid = last ? split.store_valid : 0;
  pass.load.pair = problem.in.point;
  pass.store.pair = problem.out.point;
  pass.load.factor_pair = problem.load_at.point;
  pass.store.factor_pair = problem.store_at.point;
  if (problem.boxed) {
    const AxisRange all{.first = 0, .count = problem.length};
    set_box(pass.load, first ? problem.read : all, problem.length, problem.length / split.factors.front());
    set_box(pass.store, last ? problem.written : all, problem.length, problem.length / split.factors.back());
  }
  return pass;
}

void set_batch(PassDesign& pass, const std::vector<BatchDimension>& dimensions) {
  pass.counts.clear();
  for (Address* at : {&pass.load.at, &pass.store.at, &pass.load.factor_at, &pass.store.factor_at, &pass.load.valid_at,
                      &pass.store.valid_at}) {
    at->line.clear();
  }
  for (const BatchDimension& dimension : dimensions) {
    pass.counts.push_back(dimension.count);
    pass.load.at.line.push_back(dimension.load);
    pass.store.at.line.push_back(dimension.store);
    pass.load.factor_at.line.push_back(dimension.load_factor);
    pass.store.factor_at.line.push_back(dimension.store_factor);
    pass.load.valid_at.line.push_back(dimension.load_number);
    pass.store.valid_at.line.push_back(dimension.store_number);
    if (pass.twiddle) pass.twiddle->column.line.push_back(dimension.column);
  }
  pass.load_order = order_of(pass.load.at);
  pass.store_order = order_of(pass.store.at);
}

}  // namespace

bool split_serves_boxes(const AxisProblem& problem, const std::vector<std::size_t>& factors) {
  const auto serves = [&](const AxisRange& range, std::size_t factor) {
    return range.first == 0 || divides(problem.length / factor, range);
  };
  return !problem.boxed || (serves(problem.read, factors.front()) && serves(problem.written, factors.back()));
}

std::vector<PassDesign> split_designs(const AxisProblem& problem, const Split& split, SplitPlaces& places) {
  const std::vector<std::size_t>& factors = split.factors;
  const std::size_t passes = factors.size(), length = problem.length;
  // Intermediate data keep batch dimensions with shorter strides than the points innermost, the others outermost.
  std::uint64_t inner = 1;
  std::vector<std::uint64_t> scratch(problem.counts.size());
  std::uint64_t packed = 1;
  for (const bool inside : {true, false}) {
    for (std::size_t dimension = 0; dimension < problem.counts.size(); ++dimension) {
      if ((problem.in.line[dimension] < problem.in.point) != inside) continue;
      scratch[dimension] = packed;
      packed *= problem.counts[dimension];
    }
    if (inside) {
      inner = packed;
      packed *= length;
    }
  }
  const bool apart =
      scratch.back() == packed / problem.counts.back();  // values of the last batch dimension are stored separately
  places = {.between = packed / problem.counts.back(), .apart = apart, .step = scratch.back()};
  const bool pairs_in = split.load == Values::pairs, pairs_out = split.store == Values::pairs;
  const auto of = [](const Address& at, std::size_t dimension) { return at.line.empty() ? 0 : at.line[dimension]; };

  std::vector<PassDesign> designs;
  std::uint64_t before = 1, rest = length;
  std::vector<std::size_t> prefixes, suffixes;  // per factor: product of the factors before and after it
  for (const std::size_t factor : factors) {
    rest /= factor;
    prefixes.push_back(before);
    suffixes.push_back(rest);
    before *= factor;
  }
  for (std::size_t i = 0; i < passes; ++i) {
    const bool first = i == 0, last = i + 1 == passes;
    PassDesign pass = one_of_passes(problem, split, i);
    const std::uint64_t after = suffixes[i], prefix = prefixes[i];
    pass.load.at.point = first ? problem.in.point * after : inner * after;
    pass.load.factor_at.point = problem.load_at.point * after;
    pass.load.valid_at.point = after;
    pass.store.at.point = last ? problem.out.point * prefix : inner * after;
    pass.store.factor_at.point = problem.store_at.point * prefix;
    pass.store.valid_at.point = prefix;

    std::vector<BatchDimension> dimensions;
    if (!last) {
      dimensions.push_back({.count = after,
                            .load = first ? problem.in.point * (pairs_in ? 2 : 1) : inner,
                            .store = inner,
                            .column = 1,
                            .load_factor = problem.load_at.point * (pairs_in ? 2 : 1),
                            .load_number = 1});
    }
    for (std::size_t j = 0; j < i; ++j) {
      dimensions.push_back({.count = factors[j],
                            .load = inner * suffixes[j],
                            .store = last ? problem.out.point * prefixes[j] * (pairs_out ? 2 : 1) : inner * suffixes[j],
                            .store_factor = problem.store_at.point * prefixes[j] * (pairs_out ? 2 : 1),
                            .store_number = prefixes[j]});
    }
    for (std::size_t dimension = 0; dimension < problem.counts.size(); ++dimension) {
      dimensions.push_back({.count = problem.counts[dimension],
                            .load = first ? problem.in.line[dimension] : scratch[dimension],
                            .store = last ? problem.out.line[dimension] : scratch[dimension],
                            .load_factor = of(problem.load_at, dimension),
                            .store_factor = of(problem.store_at, dimension)});
    }
    // Neighbouring work-items run along the batch dimension with the shortest stride; the last dimension stays last, so
    // that launches can start anywhere in it.
    std::stable_sort(
        dimensions.begin(), dimensions.end() - (apart ? 1 : 0),
        [&](const BatchDimension& a, const BatchDimension& b) { return last ? a.store < b.store : a.load < b.load; });
    if (!last) pass.twiddle = Twiddle{.order = factors[i] * after, .columns = after, .column = {}};
    set_batch(pass, dimensions);
    designs.push_back(std::move(pass));
  }
  return designs;
}

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
    steps.push_back({.design = pass_step(designs.front()),
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

}  // namespace ridge::fft::on_device
