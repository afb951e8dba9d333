// Route real_ring: long real transforms through an L2-resident ring. Forward: columns of sample pairs into the ring,
// rows with their mirrors out of it, which store the half spectrum. Inverse: a separate pass packs the spectrum first.
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"
#include "fft/device/routes/two_pass_tma/two_pass_tma.hpp"
#include "fft/device/spectrum.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kShortestRing = std::size_t{1} << 16, kRingFactorsTried = 2;
// Shortest length for the warp-specialized kernel (H200, us for 2^26 reals, with and without: 2^18 260 and 237, 2^19
// 236 and 262, 2^20 289 and 303).
constexpr std::size_t kSpecializedReal = std::size_t{1} << 19;
constexpr std::size_t kLongestPlainBack = std::size_t{1}
                                          << 17;  // inverse, with and without: 2^17 334 and 324, 2^18 334 and 364

std::string real_ring_refusal(const Device& device, const AxisProblem& problem) {
  if (device.info().backend != Backend::cuda)
    return "needs forward progress between work-groups, which only CUDA guarantees";
  if (problem.kind != Kind::real) return "needs real data, got complex: see l2_ring";
  if (problem.float16() || problem.samples != Samples::same || problem.load.kind() != FactorKind::none ||
      problem.store.kind() != FactorKind::none) {
    return "needs float or double samples without load or store factors";
  }
  if (problem.length < kShortestRing || !std::has_single_bit(problem.length))
    return fmt::format("needs a power of two of at least 2^16, got {}", problem.length);
  const bool forward = problem.direction == Direction::forward;
  const Address &samples = forward ? problem.in : problem.out, &spectrum = forward ? problem.out : problem.in;
  if (problem.counts.size() != 1 || problem.in.point != 1 || problem.out.point != 1 || problem.in_place ||
      samples.line[0] % 2 != 0 || samples.line[0] < problem.length || spectrum.line[0] <= problem.length / 2) {
    return "needs contiguous out-of-place transforms, with an even sample stride";
  }
  return {};
}

// Both passes of the complex transform of sample pairs; for the inverse, of the packed spectrum.
std::vector<PassDesign> passes_of_pairs(const AxisProblem& problem, const std::vector<std::size_t>& factors) {
  const bool forward = problem.direction == Direction::forward;
  AxisProblem one = problem;
  one.kind = Kind::complex;
  one.length = problem.length / 2;
  one.counts = {1};
  one.in.line = {forward ? problem.length : one.length};
  one.out.line = {forward ? one.length : problem.length};
  Split split{.factors = factors};
  (forward ? split.load : split.store) = Values::pairs;
  SplitPlaces places;
  std::vector<PassDesign> passes = split_designs(one, split, places);
  for (PassDesign& pass : passes) {  // removes the batch dimension
    pass.counts.pop_back();
    for (Address* at : {&pass.load.at, &pass.store.at, &pass.load.factor_at, &pass.store.factor_at, &pass.load.valid_at,
                        &pass.store.valid_at}) {
      if (!at->line.empty()) at->line.pop_back();
    }
    if (pass.twiddle) pass.twiddle->column.line.pop_back();
  }
  return passes;
}

RingDesign real_ring(const AxisProblem& problem, const std::vector<std::size_t>& factors) {
  std::vector<PassDesign> passes = passes_of_pairs(problem, factors);
  PassDesign& rows = passes[1];
  rows.kind = MirroredRows{.rows = factors[0], .self_mirrored = true};
  rows.counts.front() = factors[0] / 2;
  rows.twiddle = Twiddle{.order = problem.length, .columns = ~std::uint64_t{0}, .column = {}};
  return {.first = passes[0],
          .second = passes[1],
          .first_lines = factors[1],
          .second_lines = factors[0] / 2,
          .counts = problem.counts,
          .load = problem.in.line,
          .store = problem.out.line,
          .slot = problem.length / 2};
}

// Prefers columns of 512 points and rows of at most 256. A work-item holds the points of a row and of its mirror, and
// shorter rows store more adjacent values, which are not aligned to sectors.
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

// Warp-specialized design: column tiles by tensor map, rows and mirrors by bulk copies.
bool specialize_real(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                     RingDesign& ring) {
  if (problem.length < kSpecializedReal || !device.limits().tensor_maps || problem.in.line[0] % 4 != 0) return false;
  ring = real_ring(problem, factors);
  const TileShape tile = problem.float64 ? kProducerTileDouble : kProducerTile;
  const TileShape half{tile.points / 2, tile.items, tile.resident};  // half of the tile are rows, half their mirrors
  if (!shape_tile(device, ring.first, tile).empty() || !shape_tile(device, ring.second, half).empty()) return false;
  ring.second.load.mapped = false;
  ring.warp_specialized = true;
  return true;
}

// The ring of the inverse, after the spectrum has been packed to that of the sample pairs.
RingDesign ring_back(const AxisProblem& problem, const std::vector<std::size_t>& factors) {
  const std::vector<PassDesign> passes = passes_of_pairs(problem, factors);
  return {.first = passes[0],
          .second = passes[1],
          .first_lines = factors[1],
          .second_lines = factors[0],
          .counts = problem.counts,
          .load = {problem.length / 2},
          .store = problem.out.line,
          .slot = problem.length / 2};
}

bool specialize_inverse(const Device& device, const AxisProblem& problem, const std::vector<std::size_t>& factors,
                        RingDesign& ring) {
  if (!device.limits().tensor_maps) return false;
  ring = ring_back(problem, factors);
  const TileShape tile = problem.float64 ? kProducerTileDouble : kProducerTile;
  if (!between_in_tiles(ring.first, ring.second, tile)) return false;
  for (PassDesign* pass : {&ring.first, &ring.second}) {
    if (!shape_tile(device, *pass, tile).empty()) return false;
    if (pass->radices == std::vector<std::size_t>{16, 16}) pass->radices = {32, 8};  // two rounds of 16 spill
  }
  ring.warp_specialized = true;
  return true;
}

class RealLister {
 public:
  RealLister(const Device& device, const AxisProblem& problem, std::vector<Route>& routes)
      : device_(device), problem_(problem), routes_(routes), why_(real_ring_refusal(device, problem)) {}

  void list() {
    const bool forward = problem_.direction == Direction::forward;
    if (why_.empty()) forward ? list_forward() : list_back();
    if (found_ == 0)
      routes_.push_back(
          refused("real_ring", why_.empty() ? "needs a length with two factors of at most 2048 points" : why_));
  }

 private:
  void list_forward() {
    std::size_t tried = 0;
    for (const auto& factors : best_factors(problem_.length / 2)) {
      if (tried == kRingFactorsTried) break;
      const std::size_t before = found_;
      RingDesign ring;
      if (specialize_real(device_, problem_, factors, ring)) add(ring, factors);
      for (const std::size_t items : {256, 512}) {
        ring = real_ring(problem_, factors);
        const bool fits =
            shaped(device_, ring.first, {items, 32}, why_) && shaped(device_, ring.second, {items, 16}, why_);
        if (fits) add(ring, factors);
      }
      if (found_ > before) ++tried;
    }
  }

  void list_back() {
    for (const auto& factors : pass_factors(problem_.length / 2, 2, 2048)) {
      if (found_ > 0) break;
      RingDesign ring = ring_back(problem_, factors);
      const GroupShape shape = kGroupShapes[0];
      const bool fits = shaped(device_, ring.first, shape, why_) && shaped(device_, ring.second, shape, why_);
      const bool specialized_first = problem_.length > kLongestPlainBack;
      if (fits && !specialized_first) add(ring, factors);
      RingDesign specialized;
      if (specialize_inverse(device_, problem_, factors, specialized)) add(specialized, factors);
      if (fits && specialized_first) add(ring, factors);
    }
  }

  void add(RingDesign ring, const std::vector<std::size_t>& factors) {
    for (const std::size_t l2_partitions : {2, 1}) {
      ring.l2_partitions = l2_partitions;
      if (l2_partitions > 1 && problem_.lines() < kLeastPartitioned) continue;
      if (!sized(device_, ring, problem_.lines(), kGoodRing)) {
        why_ = fmt::format("needs three slots of {} points in {:.0f} MB of L2", ring.slot, kGoodRing / 1e6);
        continue;
      }
      // The producer would fetch rows and mirrors one by one from local blocks: 242 us instead of 237 for 2^19.
      set_partition_local(ring, l2_partitions > 1 && !(ring.warp_specialized && ring.second.mirrored()));
      add_sized(ring, factors);
    }
  }

  void add_sized(const RingDesign& ring, const std::vector<std::size_t>& factors) {
    const bool forward = problem_.direction == Direction::forward;
    Route route;
    route.outer = problem_.counts.back();
    if (!forward) {
      const std::uint64_t pairs = problem_.length / 2;
      const SpectrumDesign packs{.change = SpectrumChange::pack,
                                 .float64 = problem_.float64,
                                 .length = problem_.length / 2,
                                 .counts = problem_.counts,
                                 .in = problem_.in,
                                 .out = {.point = 1, .line = {pairs}}};
      route.work = pairs;
      route.steps.push_back({.design = spectrum_step(packs),
                             .from = Place::input,
                             .to = Place::work,
                             .lines = 1,
                             .from_stride = problem_.in.line.back(),
                             .to_stride = pairs});
    }
    route.steps.push_back({.design = ring_step(ring),
                           .from = forward ? Place::input : Place::work,
                           .to = Place::output,
                           .lines = 1,
                           .from_stride = forward ? problem_.in.line.back() : problem_.length / 2,
                           .to_stride = problem_.out.line.back()});
    auto parameters = ring_parameters(ring);
    parameters.insert(parameters.begin(), {"factors", fmt::format("{}", fmt::join(factors, "x"))});
    // Expected share of copy speed, measured on an H200; the inverse moves the data twice.
    const double expected = forward ? 0.53 : 0.38;
    route.candidate = {.variant = "real_ring",
                       .parameters = std::move(parameters),
                       .cost = {.flops = usual_flops(problem_),
                                .bytes = problem_bytes(problem_),
                                .launches = forward ? 1.0 : 2.0,
                                .efficiency = expected * (1 - 0.02 * static_cast<double>(found_)),
                                .float64 = problem_.float64}};
    const std::string name = route.candidate.name();
    const auto same = [&](const Route& other) { return other.candidate.name() == name; };
    if (std::none_of(routes_.begin(), routes_.end(), same)) routes_.push_back(std::move(route));
    ++found_;
  }

  const Device& device_;
  const AxisProblem& problem_;
  std::vector<Route>& routes_;
  std::string why_;
  std::size_t found_ = 0;
};

void list_real_ring(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  RealLister(device, problem, routes).list();
}

}  // namespace

extern const RouteFamily kRealRing{.variants = {"real_ring"}, .list = list_real_ring};

}  // namespace ridge::fft::on_device
