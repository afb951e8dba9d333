// Route l2_ring: transforms too long for one work-group, in one launch that reads and writes DRAM once. The
// intermediate data stay in a ring buffer in L2. Still longer transforms run one ordinary pass first; their rows then
// use the ring.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/pass/partition_blocks.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/occupancy.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"
#include "fft/device/routes/two_pass_tma/two_pass_tma.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kFactorsTried = 2, kMixedFactorsTried = 3;
constexpr std::size_t kLeastSlots = 3;
// Lead beyond one chunk, in multiples of the tiles in flight, and the extra slots, in the same unit.
constexpr double kLead = 2, kSpecializedLead = 3, kRoom = 0.6;
// Row lengths for the ring after an ordinary pass. Chunks of 16 rows leave several slots per L2 partition (H200, us for
// 16384 and 65536: 2^24 688 and 778, 2^25 742 and 793).
constexpr std::size_t kRows[] = {16384, 65536};
constexpr std::size_t kLongestFirst = 1024;
// The warp-specialized kernel is listed first from the length where it wins (H200, us with and without: 2^16 375 and
// 364, 2^17 377 and 404, 2^18 373 and 411, 2^20 478 and 555).
constexpr std::size_t kShortestSpecialized = std::size_t{1} << 16, kSpecializedFirst = std::size_t{1} << 17;

std::string refusal(const Device& device, const AxisProblem& problem) {
  if (device.info().backend != Backend::cuda)
    return "needs forward progress between work-groups, which only CUDA guarantees";
  if (problem.kind == Kind::real) return "needs complex data, got real: see real_ring";
  if (problem.float16()) return "needs float or double storage, got 16-bit floats";
  const auto differ = [](const Address& at) {
    return std::any_of(at.line.begin(), at.line.end(), [](std::uint64_t step) { return step != 0; });
  };
  if (differ(problem.load_at) || differ(problem.store_at))
    return "needs load and store factors that are shared by all transforms";
  if (are_columns(problem)) {
    if (problem.length < 2048)
      return fmt::format("needs columns of at least 2048 points, got {}: see one_pass", problem.length);
  } else {
    const auto beyond = [](const Address& at) {
      return std::all_of(at.line.begin(), at.line.end(), [&](std::uint64_t step) { return step >= at.point; });
    };
    if (!beyond(problem.in) || !beyond(problem.out))
      return "needs a batch stride of at least the point stride, in input and output";
    if (problem.length < (problem.float64 ? 8192u : 16384u))
      return fmt::format("needs at least {} points, got {}: see one_pass", problem.float64 ? 8192 : 16384,
                         problem.length);
  }
  return {};
}

// Removes the batch dimension of the problem: a chunk has its own numbering.
void drop_last_dimension(PassDesign& pass) {
  pass.counts.pop_back();
  for (Address* at : {&pass.load.at, &pass.store.at, &pass.load.factor_at, &pass.store.factor_at, &pass.load.valid_at,
                      &pass.store.valid_at}) {
    if (!at->line.empty()) at->line.pop_back();
  }
  if (pass.twiddle) pass.twiddle->column.line.pop_back();
}

// The passes of one transform, or of `side` adjacent ones.
std::vector<PassDesign> of_one_chunk(const AxisProblem& problem, const std::vector<std::size_t>& factors,
                                     std::size_t side = 0) {
  AxisProblem one = problem;
  one.counts = {1};
  one.load_at.line.clear();  // shared by all lines
  one.store_at.line.clear();
  one.in.line = {problem.in.point * problem.length};
  one.out.line = {problem.out.point * problem.length};
  if (side > 0) {
    one.counts.insert(one.counts.begin(), side);
    for (Address* at : {&one.in, &one.out}) at->line.insert(at->line.begin(), 1);
  }
  SplitPlaces places;
  std::vector<PassDesign> passes = split_designs(one, {.factors = factors}, places);
  for (PassDesign& pass : passes) drop_last_dimension(pass);
  return passes;
}

planner::Candidate described_ring(const AxisProblem& problem, const std::vector<std::size_t>& factors,
                                  const RingDesign& ring, double trips, double efficiency) {
  auto parameters = ring_parameters(ring);
  parameters.insert(parameters.begin(), {"factors", fmt::format("{}", fmt::join(factors, "x"))});
  return {.variant = "l2_ring",
          .parameters = std::move(parameters),
          .cost = {.flops = usual_flops(problem),
                   .bytes = problem_bytes(problem) * trips,
                   .launches = trips,
                   .efficiency = efficiency,
                   .float64 = problem.float64}};
}

class Lister {
 public:
  Lister(const Device& device, const AxisProblem& problem, std::vector<Route>& routes)
      : device_(device), problem_(problem), routes_(routes) {}

  void two_factors() {
    std::size_t tried = 0;
    if (!std::has_single_bit(problem_.length)) {
      for (const auto& factors : pass_factors(problem_.length, 2, 2048)) {
        if (tried++ == kMixedFactorsTried) break;
        pairs_of(factors, tried == 1 ? 3 : 2);
      }
      return;
    }
    const auto all = pass_factors(problem_.length, 2, 2048);
    if (problem_.length >= kSpecializedFirst) list_warp_specialized(all);
    for (const auto& factors : all) {
      if (tried == kFactorsTried) break;
      const std::size_t before = found_;
      for (const GroupShape& shape : shapes(factors, tried)) one_line(factors, shape);
      if (found_ > before) ++tried;
    }
    if (problem_.length < kSpecializedFirst) list_warp_specialized(all);
  }

  void three_factors() {
    if (problem_.counts.size() > 1) {
      why_ = fmt::format("needs a single batch dimension, got {}", problem_.counts.size());
      return;
    }
    const auto all = pass_factors(problem_.length, 3, kLongestFirst);
    std::size_t last_first = 0;
    for (const std::size_t row : kRows) {
      const auto off = [&](const std::vector<std::size_t>& factors) {
        return std::abs(std::log2(static_cast<double>(factors[1] * factors[2]) / static_cast<double>(row)));
      };
      const auto nearest =
          std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return off(a) < off(b); });
      if (nearest == all.end() || std::exchange(last_first, nearest->front()) == nearest->front()) continue;
      if (nearest->front() % rows_side() != 0) {
        why_ = fmt::format("needs a multiple of {} rows, got {}", rows_side(), nearest->front());
        continue;
      }
      const std::size_t before = found_;
      for (const GroupShape& shape : shapes(*nearest, 0)) rows_of(*nearest, shape, true);
      for (const GroupShape& shape : shapes(*nearest, found_ > before ? 1 : 0)) rows_of(*nearest, shape, false);
    }
  }

  // Columns of an array, in groups that fill a 128-byte access.
  void columns() {
    const std::size_t side = problem_.float64 ? 8 : 16;
    if (problem_.counts.front() % side != 0) {
      why_ = fmt::format("needs a multiple of {} columns, got {}", side, problem_.counts.front());
      return;
    }
    std::size_t tried = 0;
    for (const auto& factors : pass_factors(problem_.length, 2, 2048)) {
      if (tried == kFactorsTried) break;
      const std::size_t before = found_;
      for (const GroupShape& shape : shapes(factors, tried)) columns_of(factors, shape, side);
      if (found_ > before) ++tried;
    }
  }

  std::size_t found() const { return found_; }
  const std::string& why() const { return why_; }

 private:
  // All group shapes for the best factors, only the best one for the others.
  static std::vector<GroupShape> shapes(const std::vector<std::size_t>& factors, std::size_t tried) {
    std::vector<GroupShape> fit;
    for (const GroupShape& shape : kGroupShapes) {
      if (shape.long_only && factors.back() < 1024) continue;
      if (tried == 0 || fit.empty()) fit.push_back(shape);
    }
    return fit;
  }

  RingDesign ring_of_lines(const std::vector<std::size_t>& factors) const {
    std::vector<PassDesign> passes = of_one_chunk(problem_, factors);
    return {.first = passes[0],
            .second = passes[1],
            .first_lines = factors[1],
            .second_lines = factors[0],
            .counts = problem_.counts,
            .load = problem_.in.line,
            .store = problem_.out.line,
            .slot = problem_.length};
  }

  void add_lines(RingDesign& ring, const std::vector<std::size_t>& factors) {
    Route route;
    route.outer = problem_.counts.back();
    add(route, ring, factors, problem_.lines(), Place::input, inner_lines(problem_), 1);
  }

  void one_line(const std::vector<std::size_t>& factors, const GroupShape& shape) {
    RingDesign ring = ring_of_lines(factors);
    if (!shaped(device_, ring.first, shape, why_) || !shaped(device_, ring.second, shape, why_)) return;
    add_lines(ring, factors);
  }

  // Factors with the longer first pass come first (H200, us: 2^19 399 and 414).
  void list_warp_specialized(std::vector<std::vector<std::size_t>> all) {
    if (problem_.length < kShortestSpecialized || problem_.counts.size() > 1) return;
    if (!tiles_refusal(device_, problem_).empty()) return;
    all.resize(std::min(all.size(), kFactorsTried));
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.front() > b.front(); });
    for (const auto& factors : all)
      add_warp_specialized(factors, problem_.float64 ? kProducerTileDouble : kProducerTile);
  }

  // The ring stores second-pass tiles contiguously, so that each is fetched in one copy.
  void add_warp_specialized(const std::vector<std::size_t>& factors, const TileShape& shape) {
    RingDesign ring = ring_of_lines(factors);
    if (!between_in_tiles(ring.first, ring.second, shape)) return;
    for (PassDesign* pass : {&ring.first, &ring.second}) {
      why_ = shape_tile(device_, *pass, shape);
      if (!why_.empty()) return;
      if (pass->radices == std::vector<std::size_t>{16, 16}) pass->radices = {32, 8};  // two rounds of 16 spill
    }
    ring.warp_specialized = true;
    add_lines(ring, factors);
  }

  // Lengths that are not powers of two: group sizes that both passes can share.
  void pairs_of(const std::vector<std::size_t>& factors, std::size_t most) {
    const RingDesign plain = ring_of_lines(factors);
    for (const GroupPair& pair : group_pairs(plain.first, plain.second, most)) {
      RingDesign ring = plain;
      ring.first.radices = pair.first;
      ring.second.radices = pair.second;
      ring.first.threads = pair.first_threads;
      ring.second.threads = pair.second_threads;
      const auto fits = [&](PassDesign& pass) {
        why_ = fit(device_, pass, pair.items / pass.threads);
        return why_.empty() && !pass.split;
      };
      if (fits(ring.first) && fits(ring.second)) add_lines(ring, factors);
    }
  }

  void columns_of(const std::vector<std::size_t>& factors, const GroupShape& shape, std::size_t side) {
    std::vector<PassDesign> passes = of_one_chunk(problem_, factors, side);
    RingDesign ring{.first = passes[0],
                    .second = passes[1],
                    .first_lines = factors[1] * side,
                    .second_lines = factors[0] * side,
                    .counts = problem_.counts,
                    .load = problem_.in.line,
                    .store = problem_.out.line,
                    .slot = problem_.length * side};
    if (!shaped(device_, ring.first, shape, why_) || !shaped(device_, ring.second, shape, why_)) return;
    if (ring.first.lines % side != 0 || ring.second.lines % side != 0) {
      why_ = fmt::format("needs tiles of a multiple of {} columns, got {} and {}", side, ring.first.lines,
                         ring.second.lines);
      return;
    }
    ring.counts.front() /= side;
    ring.load.front() *= side;
    ring.store.front() *= side;
    Route route;
    route.outer = problem_.counts.back();
    if (problem_.counts.size() == 1) route.outer = 1;
    const std::uint64_t chunks = problem_.lines() / side;
    add(route, ring, factors, chunks, Place::input, chunks / route.outer, 1);
  }

  // The ordinary pass before the ring, with tiles prefetched by TMA or not. It stores chunk by chunk, with the same
  // point of several rows adjacent: a tile of 16 columns stores runs of 2 KB.
  bool columns_first(const std::vector<std::size_t>& factors, bool ahead, PassDesign& columns) {
    const std::size_t side = rows_side();
    SplitPlaces places;
    columns = split_designs(problem_, {.factors = factors}, places).front();
    columns.store.at.point = 1;
    columns.store.at.line.front() = side;
    columns.store.block = side;
    columns.store.block_step = problem_.length / factors[0] * side;
    columns.store_order = Order::points;
    if (ahead) {
      why_ = tiles_refusal(device_, problem_);
      if (why_.empty()) why_ = shape_tile(device_, columns, kColumnTile);
      return why_.empty();
    }
    // Above 512 points, a tile of 16 columns would occupy a whole compute unit.
    const std::vector<PassDesign> fits = fitted(device_, columns, factors[0] > 512 ? 8 : 16, 1, why_);
    if (fits.empty()) return false;
    columns = fits.front();
    return true;
  }

  std::size_t rows_side() const { return problem_.float64 ? 8 : 16; }

  // Interleaves several rows, so that the last pass stores 128-byte accesses: the same point of all rows is adjacent.
  RingDesign ring_of_rows(const std::vector<std::size_t>& factors) const {
    const std::size_t side = rows_side();
    std::vector<PassDesign> passes = of_one_chunk(problem_, factors);
    RingDesign ring{.first = passes[1], .second = passes[2]};
    ring.first.counts = {side, factors[2]};
    ring.second.counts = {side, factors[1]};
    std::swap(ring.first.twiddle->column.line[0], ring.first.twiddle->column.line[1]);
    ring.first.load.at = {.point = factors[2] * side, .line = {1, side}};
    ring.first.store.at = {.point = factors[2] * side, .line = {1, side}};
    ring.second.load.at = {.point = side, .line = {1, factors[2] * side}};
    ring.first.load_order = ring.first.store_order = ring.second.load_order = Order::lines;
    ring.first.load.once = true;  // streaming loads, so that they do not evict the ring from L2
    const std::uint64_t row = problem_.length / factors[0];
    ring.first_lines = side * factors[2];
    ring.second_lines = side * factors[1];
    ring.counts = {factors[0] / side, problem_.counts.back()};
    ring.load = {side * row, problem_.length};
    ring.store = {side * problem_.out.point, problem_.out.line.back()};
    ring.store_factors = {side * problem_.store_at.point, 0};
    ring.slot = side * row;
    return ring;
  }

  void rows_of(const std::vector<std::size_t>& factors, const GroupShape& shape, bool ahead) {
    RingDesign ring = ring_of_rows(factors);
    if (!shaped(device_, ring.first, shape, why_) || !shaped(device_, ring.second, shape, why_)) return;
    PassDesign columns;
    if (!columns_first(factors, ahead, columns)) return;
    Route route;
    route.outer = problem_.counts.back();
    route.scratch = problem_.length;
    route.steps.push_back({.design = pass_step(columns),
                           .from = Place::input,
                           .to = Place::scratch,
                           .lines = problem_.length / factors[0],
                           .from_stride = problem_.in.line.back(),
                           .to_stride = problem_.length,
                           .load = problem_.load});
    const std::uint64_t chunks = factors[0] / rows_side();
    add(route, ring, factors, chunks * problem_.lines(), Place::scratch, chunks, 2);
  }

  void add(const Route& route, RingDesign& ring, const std::vector<std::size_t>& factors, std::uint64_t chunks,
           Place from, std::uint64_t chunks_each, double trips) {
    // On Hopper the ring is divided among the L2 partitions, in partition-local blocks if possible. H200, us, with
    // local blocks, divided, undivided: 2^16 364, 390, 427; 2^17 377, 396; 2^18 373, 400, 450; 2^19 399, 412, 450.
    bool shared = false;
    if (chunks >= kLeastPartitioned && device_.limits().tensor_maps) {
      ring.l2_partitions = 2;
      shared = sized(device_, ring, chunks, kGoodRing);
      if (shared) {
        set_partition_local(ring, true);
        add_sized(route, ring, factors, from, chunks_each, trips);
        set_partition_local(ring, false);
      }
      ring.l2_partitions = 1;
    }
    std::size_t last = 0;
    for (const double bytes : {kGoodRing, kMostRing}) {
      if ((shared || ring.warp_specialized) && last > 0) break;  // a larger ring gains nothing here
      if (!sized(device_, ring, chunks, bytes)) {
        why_ = fmt::format("needs {} slots of the ring in {:.0f} MB of L2", kLeastSlots, bytes / 1e6);
      } else if (std::exchange(last, ring.slots) != ring.slots) {
        // Tiles in the reader's partition first (H200, us: 2^20 446 and 472).
        if (!shared && ring.warp_specialized && chunks > ring.slots && set_partition_local(ring, true))
          add_sized(route, ring, factors, from, chunks_each, trips);
        set_partition_local(ring, false);
        add_sized(route, ring, factors, from, chunks_each, trips);
      }
    }
  }

  void add_sized(Route route, const RingDesign& ring, const std::vector<std::size_t>& factors, Place from,
                 std::uint64_t chunks_each, double trips) {
    route.steps.push_back({.design = ring_step(ring),
                           .from = from,
                           .to = Place::output,
                           .lines = chunks_each,
                           .from_stride = from == Place::input ? problem_.in.line.back() : problem_.length,
                           .to_stride = problem_.out.line.back(),
                           .load = from == Place::input ? problem_.load : FactorTable{},
                           .store = problem_.store});
    route.candidate =
        described_ring(problem_, factors, ring, trips, expected(trips) * (1 - 0.02 * static_cast<double>(found_)));
    const PassDesign* columns = pass_of(route.steps.front());
    if (columns != nullptr && columns->ahead) route.candidate.parameters.emplace_back("tiles", "in");
    routes_.push_back(std::move(route));
    ++found_;
  }

  // Expected share of copy speed, measured on an H200. Partial warps and rings with few chunks lose.
  double expected(double trips) const {
    // In a study faster than two passes of 4096 points (us: 2^23 676 and 692, 2^24 688 and 770), slower than two of
    // 2048 (2^22 704 and 640). Not timed through the library yet, so quick plans prefer two passes and measured plans
    // try both.
    constexpr std::size_t kRowsFirst = std::size_t{1} << 23;
    if (trips > 1 && !problem_.float64 && std::has_single_bit(problem_.length) && problem_.length >= kRowsFirst) {
      return 0.89;
    }
    if (std::has_single_bit(problem_.length)) return 0.6;
    return problem_.length <= 200000 ? 0.53 : problem_.length <= 500000 ? 0.42 : 0.36;
  }

  const Device& device_;
  const AxisProblem& problem_;
  std::vector<Route>& routes_;
  std::size_t found_ = 0;
  std::string why_ = "needs a length with two factors of at most 2048 points";
};

}  // namespace

std::vector<std::pair<std::string, std::string>> ring_parameters(const RingDesign& ring) {
  std::vector<std::pair<std::string, std::string>> parameters{
      {"radices", radices_text(ring.first) + "," + radices_text(ring.second)},
      {"items", std::to_string(ring.first.items())},
      {"lines", fmt::format("{},{}", ring.first.lines, ring.second.lines)},
      {"slots", std::to_string(ring.slots)},
      {"lead", std::to_string(ring.lead)}};
  if (!ring.first.few_twiddles) parameters.emplace_back("twiddles", "all");
  if (ring.warp_specialized) parameters.emplace_back("tiles", "tma");
  if (ring.l2_partitions > 1) parameters.emplace_back("l2_partitions", std::to_string(ring.l2_partitions));
  if (ring.partition_local) parameters.emplace_back("blocks", "partition_local");
  return parameters;
}

bool shaped(const Device& device, PassDesign& pass, const GroupShape& shape, std::string& why) {
  const std::size_t least_lines = pass.float64 ? 4 : 8;
  const std::size_t held = pass.float64 ? shape.most_held / 2 : shape.most_held;
  pass.few_twiddles = !shape.all_twiddles;
  for (const RadixPlan& plan :
       radix_plans(pass.length, {.most_threads = shape.items / least_lines, .most_held = held})) {
    if (shape.items % plan.threads != 0) continue;
    pass.radices = plan.radices;
    pass.threads = plan.threads;
    why = fit(device, pass, shape.items / plan.threads);
    return why.empty() && !pass.split;
  }
  why = fmt::format("no radices divide {} points among groups of {} work-items", pass.length, shape.items);
  return false;
}

bool set_partition_local(RingDesign& ring, bool partition_local) {
  ring.partition_local = ring.first.store.partition_local = partition_local;
  ring.second.load.partition_local = partition_local && !ring.warp_specialized;
  ring.first.store.interleaved_partitions = partition_local && ring.l2_partitions == 1;
  if (!partition_local) return false;
  constexpr std::uint64_t kLeastRegion = std::uint64_t{1} << 19;
  const std::uint64_t region = ring.slot_step() * (ring.first.float64 ? 16 : 8);
  const bool serves =
      std::has_single_bit(region) && region >= kLeastRegion && partition_local_serves(ring.first, true) &&
      (ring.warp_specialized ? ring.second_tiles() % 2 == 0 : partition_local_serves(ring.second, false));
  return serves || set_partition_local(ring, false);
}

bool sized(const Device& device, RingDesign& ring, std::uint64_t chunks, double most_bytes) {
  const std::size_t resident = std::min(ring.first.resident, ring.second.resident);
  ring.groups = device.limits().compute_units * resident;
  const double first = static_cast<double>(ring.first_tiles()), second = static_cast<double>(ring.second_tiles());
  const double l2_partitions = static_cast<double>(ring.l2_partitions);
  const double under_way = static_cast<double>(ring.groups) / l2_partitions * first / (first + second);
  const double wanted = first + under_way * (ring.warp_specialized ? kSpecializedLead : kLead);
  const double slots = std::max(std::ceil((wanted + under_way * kRoom) / first), std::ceil(wanted / first) + 1);
  const double fit =
      std::floor(most_bytes / l2_partitions / (static_cast<double>(ring.slot) * (ring.first.float64 ? 16 : 8)));
  ring.slots = static_cast<std::size_t>(std::min({slots, fit, static_cast<double>(chunks)}));
  if (ring.slots < std::min<std::uint64_t>(chunks, kLeastSlots)) return false;
  ring.lead = static_cast<std::size_t>(wanted);
  if (ring.slots < chunks || ring.l2_partitions > 1) {
    const double room = static_cast<double>(ring.slots) * first - under_way * kRoom;
    const double most = static_cast<double>(ring.slots - 1) * first;
    ring.lead = static_cast<std::size_t>(std::min(wanted, std::max(std::min(room, most), first)));
  }
  return true;
}

namespace {

void list_l2_ring(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  std::string why = refusal(device, problem);
  if (why.empty() && !has_butterflies(problem.length)) {
    why = fmt::format("needs prime factors with a butterfly, got length {}: see rader and bluestein", problem.length);
  }
  if (why.empty()) {
    Lister lister(device, problem, routes);
    if (are_columns(problem)) {
      lister.columns();
    } else {
      lister.two_factors();
      if (lister.found() == 0) lister.three_factors();
    }
    if (lister.found() > 0) return;
    why = lister.why();
  }
  routes.push_back(refused("l2_ring", why));
}

}  // namespace

extern const RouteFamily kL2Ring{.variants = {"l2_ring"}, .list = list_l2_ring};

}  // namespace ridge::fft::on_device
