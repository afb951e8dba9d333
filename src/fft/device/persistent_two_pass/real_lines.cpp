// Long real lines through a ring: columns of pairs of samples into it, rows with their mirrors out of it, which store
// the spectrum of the samples.
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/factorization.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/persistent_two_pass/persistent_two_pass.hpp"
#include "fft/device/radices.hpp"
#include "fft/device/split.hpp"
#include "fft/device/two_pass_tma.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kShortestRing = std::size_t{1} << 16, kRingFactorsTried = 2;

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
  rows.own_mirrors = true;
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

// Columns of 512 points, rows of at most 256: a work-item holds a row's points and its mirror's, and the shorter the
// rows, the more of them are stored side by side, which begin anywhere in a sector.
using Factors = std::vector<std::vector<std::size_t>>;
Factors best_factors(std::size_t points) {
  constexpr double kColumn = 9, kLongestRow = 8;  // powers of two
  const double row = std::min(std::log2(static_cast<double>(points)) - kColumn, kLongestRow);
  const auto off = [&](const std::vector<std::size_t>& factors) {
    return std::abs(std::log2(static_cast<double>(factors[1])) - row);
  };
  Factors all = pass_factors(points, 2, 2048);
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return off(a) < off(b); });
  return all;
}

// Tiles of columns by a map, rows and mirrors by copies of their own.
bool conducted_real(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                    PersistentDesign& ring) {
  if (!device.limits().tensor_maps || problem.in.line[0] % 4 != 0) return false;
  ring = real_ring(problem, factors);
  const TileShape tile = problem.float64 ? kConductedDoubles : kConductedTile;
  const TileShape half{tile.points / 2, tile.items, tile.resident};  // of rows; as many mirrors
  if (!shape_tile(device, ring.first, tile).empty() || !shape_tile(device, ring.second, half).empty()) return false;
  ring.second.load.mapped = false;
  ring.conducted = true;
  return true;
}

void list_real_ring(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  std::string why = real_ring_refusal(device, problem);
  std::size_t tried = 0, found = 0;
  const auto add = [&](PersistentDesign ring, const std::vector<std::size_t>& factors) {
    for (const std::size_t halves : {2, 1}) {
      ring.halves = halves;
      if (halves > 1 && problem.lines() < kLeastShared) continue;
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
      auto parameters = persistent_parameters(ring);
      parameters.insert(parameters.begin(), {"factors", fmt::format("{}", fmt::join(factors, "x"))});
      route.candidate = {.variant = "real_ring",
                         .parameters = std::move(parameters),
                         .cost = {.flops = usual_flops(problem),
                                  .bytes = problem_bytes(problem),
                                  .launches = 1,
                                  .efficiency = 0.53 * (1 - 0.02 * static_cast<double>(found)),
                                  .float64 = problem.float64}};
      const std::string name = route.candidate.name();
      const auto same = [&](const Route& other) { return other.candidate.name() == name; };
      if (std::none_of(routes.begin(), routes.end(), same)) routes.push_back(std::move(route));
      ++found;
    }
  };
  for (const auto& factors : why.empty() ? best_factors(problem.length / 2) : Factors()) {
    if (tried == kRingFactorsTried) break;
    const std::size_t before = found;
    PersistentDesign ring;
    for (const std::size_t items : {256, 512}) {
      ring = real_ring(problem, factors);
      if (!shaped(device, ring.first, {items, 32}, why) || !shaped(device, ring.second, {items, 16}, why)) continue;
      add(ring, factors);
    }
    if (conducted_real(device, problem, factors, ring)) add(ring, factors);
    if (found > before) ++tried;
  }
  if (found == 0) routes.push_back(refused("real_ring", why.empty() ? "no factors that fit" : why));
}

}  // namespace

extern const RouteFamily kRealRing{.variants = {"real_ring"}, .list = list_real_ring};

}  // namespace ridge::fft::on_device
