// Route cluster: transforms too long for one work-group in a single pass over memory. A cluster of groups holds the
// transform, and the groups write into each other's local memory between its columns and its rows (CUDA, Hopper and
// later).
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/traits.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/route.hpp"
#include "fft/device/routes/cluster/cluster.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kMostCandidates = 21, kLeastRun = 8, kEachSize = 3;
constexpr std::size_t kMostHeld = 16;  // points per work-item; half as many in double

std::string refusal(const Device& device, const AxisProblem& problem) {
  if (!device.limits().clusters) return "clusters of work-groups need CUDA on Hopper or later";
  if (problem.float16()) return "needs float or double storage, got 16-bit floats";
  if (problem.kind == Kind::real) {
    const auto even = [](std::uint64_t step) { return step % 2 == 0; };
    if (problem.direction == Direction::inverse)
      return "needs a forward transform of real data, got inverse: see real_ring";
    if (problem.store.kind() != FactorKind::none) return "needs a real transform without store factors";
    if (problem.length % 2 != 0 || problem.in.point != 1 || !std::ranges::all_of(problem.in.line, even)) {
      return "needs contiguous real samples of even length with even batch strides";
    }
  }
  if (are_columns(problem)) {
    if (problem.kind == Kind::real) return "needs contiguous real lines, got columns";
    return problem.length < (problem.float64 ? 1024u : 2048u)
               ? "columns this short fit one work-group: see one_pass and two_pass_tma"
               : "";
  }
  if (order_of(problem.in) == Order::lines || order_of(problem.out) == Order::lines) {
    return "needs batch strides of at least the point stride, or adjacent columns";
  }
  const std::size_t points = problem.length / (problem.kind == Kind::real ? 2 : 1);
  const std::size_t most = (problem.float64 ? 4096u : 8192u) / (is_small(device, problem) ? 2 : 1);
  if (points <= most) return fmt::format("needs more than {} points, got {}: see one_pass", most, points);
  return {};
}

// Expected fraction of copy speed, measured on an H200. Larger clusters exchange over longer distances; small parts
// leave room for other groups.
double expected(std::size_t groups, std::size_t kib) {
  if (groups == 8 && kib == 32) return 0.7;
  return groups <= 2 ? 0.7 : groups <= 4 ? 0.6 : groups <= 8 ? 0.55 : 0.42;
}

// The passes of `side` columns of an array held by a cluster. Batch dimensions of a line: column within the set, column
// or row of its points, set of columns, batch dimensions of the array.
std::vector<PassDesign> passes_of_columns(const AxisProblem& problem, const std::vector<std::size_t>& factors,
                                          std::size_t side) {
  const auto first = [](const Address& at) { return at.line.empty() ? 0 : at.line.front(); };
  AxisProblem set = problem;
  set.counts = {side, 1};
  for (Address* at : {&set.in, &set.out}) at->line = {1, at->point * problem.length};
  for (Address* at : {&set.load_at, &set.store_at}) at->line = {first(*at), 0};
  SplitPlaces places;
  std::vector<PassDesign> passes = split_designs(set, {.factors = factors}, places);
  const std::uint64_t sets = (problem.counts.front() + side - 1) / side;
  for (PassDesign& pass : passes) {
    pass.counts.back() = sets;
    pass.counts.insert(pass.counts.end(), problem.counts.begin() + 1, problem.counts.end());
    const auto append = [&](Address& at, const Address& of) {
      at.line.back() = side * first(of);
      for (std::size_t dimension = 1; dimension < problem.counts.size(); ++dimension) {
        at.line.push_back(of.line.empty() ? 0 : of.line[dimension]);
      }
    };
    append(pass.load.at, problem.in);
    append(pass.store.at, problem.out);
    append(pass.load.factor_at, problem.load_at);
    append(pass.store.factor_at, problem.store_at);
    if (pass.twiddle) pass.twiddle->column.line.resize(pass.counts.size(), 0);
    if (sets * side != problem.counts.front()) pass.across = problem.counts.front();
  }
  return passes;
}

double expected_of_columns(std::size_t groups) { return groups <= 8 ? 0.66 : 0.55; }

// Chooses the cheapest radices with equal numbers of work-items in both phases.
bool shared_plans(ClusterDesign& design, std::size_t most_items) {
  PassDesign &columns = design.columns, &rows = design.rows;
  const RadixLimits limits{.most_threads = most_items, .most_held = columns.float64 ? kMostHeld / 2 : kMostHeld};
  double best = 1e30;
  const std::vector<RadixPlan> of_columns = radix_plans(columns.length, limits),
                               of_rows = radix_plans(rows.length, limits);
  for (const RadixPlan& a : of_columns) {
    for (const RadixPlan& b : of_rows) {
      if (a.threads * columns.lines != b.threads * rows.lines || a.threads * columns.lines > most_items) continue;
      if (a.cost + b.cost >= best) continue;
      best = a.cost + b.cost;
      columns.radices = a.radices;
      columns.threads = a.threads;
      rows.radices = b.radices;
      rows.threads = b.threads;
    }
  }
  return best < 1e30;
}

// Location of a group's own exchanges. split: one component at a time, beside the received rows. reuse: in the memory
// that receives rows. counted: as reuse, and a group counts received bytes instead of waiting for all groups.
enum class Exchange { split, reuse, counted };

// Size and exchange method of a group's part.
struct ClusterShape {
  std::size_t kib;  // KiB of points per group
  Exchange exchange;
};
// 64 KiB of points per group allow two groups per compute unit.
constexpr ClusterShape kClusterShapes[] = {{32, Exchange::counted}, {32, Exchange::reuse}, {32, Exchange::split},
                                           {64, Exchange::split},   {64, Exchange::reuse}, {128, Exchange::split},
                                           {128, Exchange::reuse}};
// Few lines: more groups share a line.
constexpr ClusterShape kSmallClusterShapes[] = {{16, Exchange::counted}, {16, Exchange::reuse}, {8, Exchange::counted}};
// Columns of an array. H200, 4096 points: 381 and 382 us, in place 388 and 390; counted takes 475 us.
constexpr ClusterShape kColumnShapes[] = {{32, Exchange::reuse}, {64, Exchange::reuse}};
class ClusterLister {
 public:
  ClusterLister(const Device& device, const AxisProblem& problem, std::vector<Route>& routes)
      : device_(device), problem_(problem), real_(problem.kind == Kind::real), points_(problem), routes_(routes) {
    points_.kind = Kind::complex;
    if (real_) points_.length /= 2;
  }

  void list() {
    factors_ = pass_factors(points_.length, 2, 4096);
    if (are_columns(problem_)) {
      for (const std::size_t bytes : {64, 128}) list_of(bytes / (problem_.float64 ? 16 : 8), kColumnShapes, 1);
    } else {
      if (is_small(device_, problem_)) list_of(1, kSmallClusterShapes, 2);
      list_of(1, kClusterShapes, kEachSize);
    }
    if (found_ == 0) routes_.push_back(refused("cluster", why_));
  }

 private:
  // Lists designs with `side` adjacent lines.
  void list_of(std::size_t side, std::span<const ClusterShape> shapes, std::size_t each_size) {
    side_ = side;
    for (const ClusterShape& shape : shapes) {
      std::size_t of_this_shape = 0;
      for (const std::size_t groups : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}) {
        if (!real_ && !std::has_single_bit(groups)) continue;  // complex lines of other lengths are faster by l2_ring
        const std::size_t element = problem_.float64 ? 16 : 8, bytes = side * points_.length / groups * element;
        if (points_.length % groups != 0 || bytes > shape.kib * 1024 || bytes * 2 <= shape.kib * 1024) continue;
        if (of_this_shape == each_size || found_ == kMostCandidates) break;
        for (const ClusterDesign& design : designs(shape, groups)) {
          if (of_this_shape == each_size || found_ == kMostCandidates) break;
          if (add(shape, design)) ++of_this_shape;
        }
      }
    }
  }

  // Designs for a cluster size, best expected first; among equal ones the most even factors.
  std::vector<ClusterDesign> designs(const ClusterShape& shape, std::size_t groups) const {
    std::vector<ClusterDesign> found;
    for (const auto& factors : factors_) {
      if (factors[0] % groups != 0 || factors[1] % groups != 0) continue;
      if (real_ && factors[0] % (2 * groups) != 0) continue;  // whole pairs of a row and its mirror
      SplitPlaces places;
      const auto plain =
          side_ > 1
              ? passes_of_columns(points_, factors, side_)
              : split_designs(points_, {.factors = factors, .load = real_ ? Values::pairs : Values::complex}, places);
      ClusterDesign design{.columns = plain[0], .rows = plain[1], .groups = groups, .side = side_, .real = real_};
      PassDesign &columns = design.columns, &rows = design.rows;
      columns.lines = side_ * factors[1] / groups;
      rows.lines = side_ * factors[0] / groups;
      if (columns.lines < kLeastRun || rows.lines < kLeastRun) continue;
      columns.load_order = columns.store_order = rows.load_order = rows.store_order = Order::lines;
      if (real_) rows.twiddle = Twiddle{.order = problem_.length, .columns = ~std::uint64_t{0}, .column = {}};
      const std::size_t items = std::min<std::size_t>(device_.limits().work_group, 1024);
      if (!shared_plans(design, items)) continue;
      columns.split = rows.split = shape.exchange == Exchange::split;
      design.reuse_buffer = shape.exchange != Exchange::split;
      design.counted = shape.exchange == Exchange::counted;
      if (design.reuse_buffer) columns.load.once = false;  // H200, 2^15: 377 us instead of 384
      found.push_back(std::move(design));
    }
    // Prefers columns no longer than the rows: 2 to 4 % faster for complex lines of 2^15 and 2^17 on an H200 (3 %
    // slower for real ones of 2^16). Then the fewest exchanges.
    const auto rank = [](const ClusterDesign& design) {
      const PassDesign &columns = design.columns, &rows = design.rows;
      return std::pair(columns.length > rows.length, columns.radices.size() + rows.radices.size());
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const ClusterDesign& a, const ClusterDesign& b) { return rank(a) < rank(b); });
    return found;
  }

  bool add(const ClusterShape& shape, ClusterDesign design) {
    PassDesign &columns = design.columns, &rows = design.rows;
    const Limits& limits = device_.limits();
    if (real_ && rows.radices.size() < 2)
      return false;  // the exchange between two stages frees the memory that the columns filled
    const std::size_t local = local_bytes_of(design);
    if (local > limits.local_memory) {
      why_ = fmt::format("needs {} of local memory, the device has {}", base::human_bytes(static_cast<double>(local)),
                         base::human_bytes(static_cast<double>(limits.local_memory)));
      return false;
    }
    const std::size_t registers = columns.items() * 64;
    const detail::UnitCapacity unit = detail::unit_capacity(limits);
    const std::size_t wanted = unit.registers / registers, room = unit.local_memory / (local + 1024);
    columns.resident = std::max<std::size_t>(std::min({wanted, room, std::size_t{8}}), 1);
    Route route = one_step(problem_, cluster_step(design), problem_.in.line.back(), problem_.out.line.back());
    if (side_ > 1) {  // the unit of the batch is a set of columns
      const std::uint64_t sets = columns.counts[2];
      if (problem_.counts.size() == 1) route.outer = 1;
      route.steps.front().lines =
          problem_.counts.size() == 1 ? sets : inner_lines(problem_) / problem_.counts[0] * sets;
    }
    route.candidate = {
        .variant = "cluster",
        .parameters = {{"groups", std::to_string(design.groups)},
                       {"factors", fmt::format("{}x{}", columns.length, rows.length)},
                       {"radices", radices_text(columns) + "," + radices_text(rows)},
                       {"items", std::to_string(columns.items())},
                       {"exchange", design.counted        ? "counted"
                                    : design.reuse_buffer ? "reuse"
                                                          : "split"}},
        .cost = {.flops = usual_flops(problem_),
                 .bytes = problem_bytes(problem_),
                 .launches = 1,
                 .efficiency = (std::has_single_bit(points_.length) ? 1.0 : 0.6) *
                               (real_ && design.groups == 8 ? 0.74 : 1.0) *  // H200, 2^16: 0.52 of copy speed
                               (side_ > 1 ? expected_of_columns(design.groups) : expected(design.groups, shape.kib)) *
                               (1 - 0.02 * static_cast<double>(found_)),
                 .float64 = problem_.float64}};
    if (side_ > 1)
      route.candidate.parameters.insert(route.candidate.parameters.begin(), {"side", std::to_string(side_)});
    routes_.push_back(std::move(route));
    ++found_;
    return true;
  }

  const Device& device_;
  const AxisProblem& problem_;
  const bool real_;
  AxisProblem points_;  // real lines as lines of pairs
  std::vector<std::vector<std::size_t>> factors_;
  std::vector<Route>& routes_;
  std::size_t found_ = 0, side_ = 1;
  std::string why_ = "needs two factors that are multiples of a cluster size of 2 to 16 groups";
};

void list_clusters(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  if (const std::string reason = refusal(device, problem); !reason.empty()) {
    routes.push_back(refused("cluster", reason));
    return;
  }
  ClusterLister(device, problem, routes).list();
}

}  // namespace

extern const RouteFamily kCluster{.variants = {"cluster"}, .list = list_clusters};

}  // namespace ridge::fft::on_device
