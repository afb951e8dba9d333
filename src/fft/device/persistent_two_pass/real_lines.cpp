// Long real lines through a ring: columns of pairs of samples into it, rows with their mirrors out of it, which store
// the spectrum of the samples. Row 0 mirrors itself otherwise; it is left in the output and takes two small passes
// there.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/factorization.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/persistent_two_pass/persistent_two_pass.hpp"
#include "fft/device/radices.hpp"
#include "fft/device/spectrum.hpp"
#include "fft/device/split.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kShortestRing = std::size_t{1} << 16, kRingFactorsTried = 2, kRowItems = 16;

std::string real_ring_refusal(const Device& device, const AxisProblem& problem) {
  if (device.info().backend != Backend::cuda) return "needs groups that wait for each other, which CUDA allows";
  if (problem.kind != Kind::real || problem.direction == Direction::inverse) return "takes real lines, forward";
  if (problem.halves() || problem.samples != Samples::same || problem.load.kind() != FactorKind::none ||
      problem.store.kind() != FactorKind::none) {
    return "takes no factors, integers or halves";
  }
  if (problem.length < kShortestRing || !std::has_single_bit(problem.length)) return "takes powers of two from 2^16 on";
  if (problem.counts.size() != 1 || problem.in.point != 1 || problem.out.point != 1 || problem.in_place ||
      problem.in.line[0] % 2 != 0 || problem.in.line[0] < problem.length || problem.out.line[0] <= problem.length / 2) {
    return "takes lines one after the other, out of place";
  }
  return {};
}

// Both passes of one line.
PersistentDesign real_ring(const AxisProblem& problem, const std::vector<std::size_t>& factors) {
  AxisProblem one = problem;
  one.kind = Kind::complex;
  one.length = problem.length / 2;
  one.counts = {1};
  one.in.line = {problem.length};
  one.out.line = {one.length};
  SplitPlaces places;
  std::vector<PassDesign> passes = split_designs(one, {.factors = factors, .load = Values::pairs}, places);
  for (PassDesign& pass : passes) {  // without the digit of the line
    pass.counts.pop_back();
    for (Address* at : {&pass.load.at, &pass.store.at, &pass.load.factor_at, &pass.store.factor_at, &pass.load.valid_at,
                        &pass.store.valid_at}) {
      if (!at->line.empty()) at->line.pop_back();
    }
    if (pass.twiddle) pass.twiddle->column.line.pop_back();
  }
  PassDesign& rows = passes[1];
  rows.mirrored = factors[0];
  rows.counts.front() = factors[0] / 2;
  rows.twiddle = Twiddle{.order = problem.length, .columns = ~std::uint64_t{0}, .column = {}};
  return {.first = passes[0],
          .second = passes[1],
          .first_lines = factors[1],
          .second_lines = factors[0] / 2,
          .counts = problem.counts,
          .load = problem.in.line,
          .store = problem.out.line,
          .slot = one.length};
}

// The row that is left in the output, and its values from those of pairs.
bool add_first_row(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                   Route& route) {
  AxisProblem row;
  row.float64 = problem.float64;
  row.length = factors[1];
  row.counts = problem.counts;
  row.in = row.out = {.point = factors[0], .line = problem.out.line};
  row.in_place = true;
  std::string why;
  const std::vector<PassDesign> designs = fitted(device, plain_pass(row), 0, 1, why, kRowItems);
  if (designs.empty()) return false;
  const SpectrumDesign values{.change = SpectrumChange::unpack,
                              .float64 = problem.float64,
                              .length = factors[1],
                              .counts = problem.counts,
                              .in = row.in,
                              .out = row.out,
                              .scale = problem.scale};
  for (const auto& design : {pass_step(designs.front()), spectrum_step(values)}) {
    route.steps.push_back({.design = design,
                           .from = Place::output,
                           .to = Place::output,
                           .lines = 1,
                           .from_stride = problem.out.line.back(),
                           .to_stride = problem.out.line.back()});
  }
  return true;
}

void list_real_ring(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  std::string why = real_ring_refusal(device, problem);
  std::size_t tried = 0, found = 0;
  const auto all = why.empty() ? pass_factors(problem.length / 2, 2, 2048) : std::vector<std::vector<std::size_t>>();
  for (const auto& factors : all) {
    if (tried == kRingFactorsTried) break;
    const std::size_t before = found;
    for (const std::size_t items : {256, 512}) {
      for (const std::size_t held : {32, 16}) {
        PersistentDesign ring = real_ring(problem, factors);
        if (!shaped(device, ring.first, {items, held}, why) || !shaped(device, ring.second, {items, 16}, why)) continue;
        if (!sized(device, ring, problem.lines(), kGoodRing)) {
          why = "the ring would not fit into the shared cache";
          continue;
        }
        Route route;
        route.outer = problem.counts.back();
        route.steps.push_back({.design = persistent_step(ring),
                               .from = Place::input,
                               .to = Place::output,
                               .lines = 1,
                               .from_stride = problem.in.line.back(),
                               .to_stride = problem.out.line.back()});
        if (!add_first_row(device, problem, factors, route)) continue;
        auto parameters = persistent_parameters(ring);
        parameters.insert(parameters.begin(), {"factors", fmt::format("{}", fmt::join(factors, "x"))});
        route.candidate = {.variant = "real_ring",
                           .parameters = std::move(parameters),
                           .cost = {.flops = usual_flops(problem),
                                    .bytes = problem_bytes(problem),
                                    .launches = 3,
                                    .efficiency = 0.46 * (1 - 0.02 * static_cast<double>(found)),
                                    .float64 = problem.float64}};
        const std::string name = route.candidate.name();
        const auto same = [&](const Route& other) { return other.candidate.name() == name; };
        if (std::none_of(routes.begin(), routes.end(), same)) routes.push_back(std::move(route));
        ++found;
      }
    }
    if (found > before) ++tried;
  }
  if (found == 0) routes.push_back(refused("real_ring", why.empty() ? "no factors that fit" : why));
}

}  // namespace

extern const RouteFamily kRealRing{.variants = {"real_ring"}, .list = list_real_ring};

}  // namespace ridge::fft::on_device
