// Route one_pass: the whole line in registers and local memory of one work-group; the data move once.
#include <algorithm>
#include <bit>
#include <utility>

#include "fft/device/pass/real_kind.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass/text/codegen.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/occupancy.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kMostOnePass = 10;
constexpr std::size_t kFewGroups = 3;  // groups per compute unit; with so few, a design with one more is tried

// Real lines: even lengths as pairs of samples, odd lengths and boxes, which may split pairs, with zero imaginary
// parts.
void real_sides(const AxisProblem& problem, PassDesign& pass) {
  const bool forward = problem.direction == Direction::forward, even = problem.length % 2 == 0 && !problem.boxed;
  if (even) {
    pass.length = pass.points = problem.length / 2;
    PassSide& samples = forward ? pass.load : pass.store;
    PassSide& spectrum = forward ? pass.store : pass.load;
    samples.values = Values::pairs;
    samples.pair = samples.at.point;
    samples.factor_pair = samples.factor_at.point;
    spectrum.values = Values::half;
    spectrum.valid = problem.kept;
  } else if (forward) {
    pass.load.values = Values::reals;
    if (!problem.boxed) pass.store.valid = problem.length / 2 + 1;
  } else {
    pass.load.values = Values::hermitian;
    pass.store.values = Values::reals;
  }
  if (!forward) pass.load.once = false;  // each value is read for two points
  if (pass.real_to_real()) pass.load.pair = pass.store.pair = 0;
}

// Prefetching for lines that fill a compute unit: no other group could load while one computes.
bool ahead_serves(const Device& device, const AxisProblem& problem, const PassDesign& design) {
  const auto even = [](std::uint64_t step) { return step % 2 == 0; };
  const bool aligned = problem.float64 || (design.points % 2 == 0 &&
                                           std::all_of(design.load.at.line.begin(), design.load.at.line.end(), even));
  return !design.real_to_real() && !design.folded() && !problem.boxed && !problem.float16() && design.resident == 1 &&
         design.lines == 1 && device.limits().tensor_maps && design.load.values == Values::complex &&
         design.load.at.point == 1 && design.load.factor == FactorKind::none && problem.samples == Samples::same &&
         design.store.values == Values::complex && !design.load.staged && !design.store.staged && aligned;
}

// True if the work-items of a line are lanes of one sub-group and its points form a square.
bool shuffles_serve(const Device& device, const PassDesign& design) {
  const std::size_t lanes = device.limits().sub_group;
  return lanes > 0 && design.radices.size() == 2 && design.radices[0] == design.radices[1] &&
         design.threads == design.radices[0] && std::has_single_bit(design.threads) && lanes % design.threads == 0 &&
         design.items() % lanes == 0 && design.load_order == Order::points && design.store_order == Order::points &&
         design.store.values != Values::half && !design.load.staged && !design.store.staged;
}

// Short contiguous real lines, two as one complex line.
bool paired_lines_fit(const AxisProblem& problem) {
  const std::uint64_t samples = problem.length, values = problem.length / 2 + 1;
  const bool forward = problem.direction == Direction::forward;
  return problem.kind == Kind::real && !problem.float64 && !problem.float16() && !problem.real_kind &&
         problem.kept == 0 && !problem.boxed && !problem.any_offset && problem.samples == Samples::same &&
         problem.load.kind() == FactorKind::none && problem.store.kind() == FactorKind::none &&
         problem.counts.size() == 1 && problem.counts[0] % 2 == 0 && problem.in.point == 1 && problem.out.point == 1 &&
         problem.in.line[0] == (forward ? samples : values) && problem.out.line[0] == (forward ? values : samples);
}

void list_paired_lines(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  constexpr std::size_t kItems = 64;
  constexpr std::pair<std::size_t, std::size_t> kPairedRadices[] = {
      {4, 4}, {4, 8}, {8, 8}};  // longer lines gain nothing
  const auto radices = std::ranges::find_if(
      kPairedRadices, [&](const auto& factors) { return factors.first * factors.second == problem.length; });
  if (radices == std::end(kPairedRadices) || !paired_lines_fit(problem)) return;
  const bool forward = problem.direction == Direction::forward;
  PassDesign design = plain_pass(problem);
  design.kind = PairedLines{};
  design.counts = {problem.counts[0] / 2};
  design.load.at.line[0] *= 2;
  design.store.at.line[0] *= 2;
  design.load.values = forward ? Values::reals : Values::complex;
  design.store.values = forward ? Values::complex : Values::reals;
  design.radices = {radices->first, radices->second};
  design.threads = radices->first;
  if (!fit(device, design, kItems / design.threads).empty() || !paired_lines_serve(design, device.limits().sub_group))
    return;
  const auto add = [&](double efficiency) {
    Route route = one_step(problem, pass_step(design), design.load.at.line.back(), design.store.at.line.back());
    route.outer = design.counts[0];
    route.candidate = described(problem, "one_pass", route.steps, efficiency);
    route.candidate.parameters.emplace_back("real", "paired_lines");
    route.candidate.parameters.emplace_back("groups", std::to_string(design.resident));
    routes.push_back(std::move(route));
  };
  const std::size_t resident = design.resident;
  design.resident = 2 * resident;  // allows fewer registers
  add(0.96);
  design.resident = resident;
  add(0.95);
}

void list_one_pass(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  PassDesign plain = plain_pass(problem);
  if (problem.kind == Kind::real) real_sides(problem, plain);
  if (plain.real_to_real()) plain.load.once = false;  // other work-items load the samples between
  std::string refusal;
  std::vector<PassDesign> designs = fitted(device, plain, 0, kMostOnePass, refusal);
  if (designs.empty()) {
    routes.push_back(refused("one_pass", refusal));
    return;
  }
  list_paired_lines(device, problem, routes);
  double efficiency = 0.92;
  const auto add = [&](PassDesign design, const char* note, bool packed = false, const char* moved = "") {
    const bool lanes = fold_lanes_serve(design, device.limits().sub_group);
    if (auto* const rows = std::get_if<FoldedRows>(&design.kind)) rows->lanes = lanes;
    Route route = one_step(problem, pass_step(design), design.load.at.line.back(), design.store.at.line.back());
    // Columns that do not fill a 64-byte access waste the rest of it.
    const double run = static_cast<double>(design.lines) * (problem.float64 ? 16 : 8);
    const bool are_columns = design.load_order == Order::lines || design.store_order == Order::lines;
    double used = are_columns ? std::min(1.0, run / 64) : 1;
    if (design.resident == 1 && !design.ahead) used *= 0.87;  // nothing loads while the group computes
    route.candidate = described(problem, "one_pass", route.steps, efficiency * used);
    if (design.ahead) route.candidate.parameters.emplace_back("ahead", "line");
    if (design.shuffles) route.candidate.parameters.emplace_back("exchange", "shuffles");
    if (*note != '\0') route.candidate.parameters.emplace_back("twiddles", note);
    if (packed) route.candidate.parameters.emplace_back("groups", std::to_string(design.resident));
    if (*moved != '\0') route.candidate.parameters.emplace_back("moved", moved);
    efficiency *= 0.985;
    routes.push_back(std::move(route));
  };
  // With few registers beyond the points, powers of two were slower (share of copy speed: 8192 .94 and .87), other
  // lengths faster (6561 .83 and .89, 10000 .67 and .86).
  const bool power = std::has_single_bit(problem.length);
  std::vector<PassDesign> later;
  for (const PassDesign& design : designs) {
    PassDesign ahead = design;
    ahead.ahead = true;
    if (ahead_serves(device, problem, design) && fit(device, ahead, 1).empty()) {
      add(ahead, "");
      ahead.few_twiddles = false;
      if (power && &design == &designs.front()) add(ahead, "all");
    }
    PassDesign packed = design;
    if (design.resident <= kFewGroups) packed.resident = most_resident(device, design);
    const bool more = packed.resident > design.resident;
    if (more && !power) add(packed, "", true);
    if (!more || power || design.resident > 1) add(design, "");  // one group per compute unit is slower than two
    if (more && power) later.push_back(packed);
  }
  for (const PassDesign& design : later) add(design, "", true);
  if (problem.real_kind) {
    // Other methods to move samples and values, with the best design.
    const PassDesign& first = designs.front();
    for (const bool load : {false, true}) {
      for (const bool store : {false, true}) {
        if (load == first.load.staged && store == first.store.staged) continue;
        if ((load && !real_kind_quads(first, true)) || (store && !real_kind_quads(first, false))) continue;
        PassDesign other = first;
        other.load.staged = load;
        other.store.staged = store;
        if (fit(device, other, other.lines).empty()) {
          add(other, "", false, load && store ? "staged" : load ? "staged,direct" : store ? "direct,staged" : "direct");
        }
      }
    }
  }
  if (designs.front().radices.size() < 2) return;
  PassDesign all = designs.front();
  all.few_twiddles = false;
  add(all, "all");
  for (PassDesign shuffled : designs) {
    if (!shuffles_serve(device, shuffled)) continue;
    shuffled.shuffles = true;
    if (fit(device, shuffled, shuffled.lines).empty()) add(shuffled, "");
    break;
  }
}

}  // namespace

extern const RouteFamily kOnePass{
    .variants = {"one_pass"}, .list = list_one_pass, .keeps_part = true, .folds = true, .boxes = true};

}  // namespace ridge::fft::on_device
