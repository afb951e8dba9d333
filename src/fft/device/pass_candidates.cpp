// Ranks radices, work-items and lines per group of a pass by their expected cost.
#include "fft/device/pass_candidates.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "device/traits.hpp"
#include "fft/device/pass/real_kind.hpp"
#include "fft/device/problem/occupancy.hpp"
#include "fft/device/problem/radices.hpp"

namespace ridge::fft::on_device {
namespace {

// Number of lines per group, each of `threads` work-items, that leaves the fewest work-items of the last warp unused.
// The group has at least `least` and at most `most` work-items.
std::size_t filling_lines(std::size_t threads, std::size_t least, std::size_t most) {
  std::size_t best = std::max<std::size_t>(1, (least + threads - 1) / threads);
  double best_share = 0;
  for (std::size_t lines = best; lines * threads <= std::max(most, threads); ++lines) {
    const double share = static_cast<double>(lines * threads) / static_cast<double>(whole_warps(lines * threads));
    if (share > best_share + 0.02) {
      best_share = share;
      best = lines;
    }
  }
  return best;
}

bool packed_rows(const PassDesign& design, const PassSide& side) {
  return !design.real_to_real() && side.box_count == 0 && side.storage == Storage::same &&
         side.values == Values::complex && side.at.point == 1 && side.at.line.size() == 1 &&
         side.at.line[0] == design.points;
}

// Bytes of contiguous points per access of a line's work-items, and whether they cross sectors.
struct AccessRun {
  std::size_t bytes;
  bool straddles;
};
AccessRun access_run(const PassDesign& design) {
  constexpr std::size_t kSector = 32;
  const std::size_t element = design.float64 ? 16 : 8, bytes = design.threads * element;
  return {bytes, bytes % kSector != 0 || design.points * element % kSector != 0};
}

// True if accesses are so short that the group's lines should move in one run through local memory.
bool moves_in_runs(const PassDesign& design) {
  const AccessRun run = access_run(design);
  return run.bytes < (run.straddles ? 40u : 32u);
}

// Lines whose accesses cross sectors are stored in one run through local memory if the detour is short. Partial sectors
// are cheap to load (the cache serves the rest) and expensive to store. Share of copy speed without and with: 10 points
// .95 and 1.01, 60 .76 and .95, 500 .93 and .95, 1000 .96 and .94.
bool stores_in_runs(const PassDesign& design) {
  constexpr std::size_t kLongest = 640;
  return !design.float64 && design.points <= kLongest && !std::has_single_bit(design.points) &&
         access_run(design).straddles && design.store.valid == 0 && packed_rows(design, design.store);
}

// Instructions per point that short accesses add, as timed on an H200: lines of 32 points take 254 us with 8 work-items
// each, 275 with 4, 350 to 400 in runs; lines of 125 points 640 us with 5, 264 if stored in a run.
double access_price(const PassDesign& design) {
  if (design.load_order == Order::lines || design.store_order == Order::lines) return 0;
  const AccessRun run = access_run(design);
  if (stores_in_runs(design)) return 20 * std::max(0.0, 24 / static_cast<double>(run.bytes) - 1);
  if (moves_in_runs(design)) return 40;
  const double enough = run.straddles ? 128 : 64;
  return 20 * std::max(0.0, enough / static_cast<double>(run.bytes) - 1);
}

// Decides which sides of short lines go through local memory; choices already in the design are kept.
void choose_runs(PassDesign& design) {
  constexpr std::size_t kShortSpectrum = 256;
  const bool in_runs = moves_in_runs(design), out_runs = stores_in_runs(design);
  const bool load_runs = out_runs ? access_run(design).bytes < 24 : in_runs;
  const PassSide& out = design.store;
  if (design.real_to_real()) {
    design.load.staged = real_kind_quads(design, true);
    // Half spectra of short lines are stored through local memory, so that they fill whole sectors.
    constexpr std::size_t kShortValues = 512;
    design.store.staged = real_kind_quads(design, false) &&
                          (design.store.values != Values::half || design.real_to_real()->points <= kShortValues);
    return;
  }
  if (load_runs && packed_rows(design, design.load) && design.samples == Samples::same) design.load.staged = true;
  if (out_runs || (in_runs && packed_rows(design, out) && out.valid == 0)) design.store.staged = true;
  // Half spectra leave lines unaligned: short ones are stored together.
  if (out.values == Values::half && out.valid == 0 && out.storage == Storage::same && out.at.point == 1 &&
      out.at.line.size() == 1 && out.at.line[0] == design.length + 1 && design.length <= kShortSpectrum) {
    design.store.staged = true;
  }
}

// Numbers of lines per group in the order they are worth trying.
std::vector<std::size_t> line_counts(const PassDesign& design, std::size_t forced) {
  if (forced > 0) return {forced};
  std::uint64_t lines = 1;
  for (const std::uint64_t count : design.counts) lines = std::min<std::uint64_t>(lines * count, 1024);
  const std::size_t most = std::bit_ceil(static_cast<std::size_t>(std::max<std::uint64_t>(lines, 1)));
  std::vector<std::size_t> counts;
  if (design.load_order == Order::lines || design.store_order == Order::lines) {
    counts = design.float64 ? std::vector<std::size_t>{8, 16, 4, 2, 1} : std::vector<std::size_t>{16, 8, 32, 4, 2, 1};
    if (design.threads * counts.front() < 64) counts.insert(counts.begin(), (64 + design.threads - 1) / design.threads);
  } else {
    counts = {filling_lines(design.threads, 97, 256), filling_lines(design.threads, 41, 128),
              filling_lines(design.threads, 193, 512)};
    // For these lengths many small groups are faster than few large ones, although their last warps are partial.
    constexpr std::size_t kLongLine = 100;
    if (design.points >= kLongLine && !std::has_single_bit(design.points)) std::swap(counts[0], counts[1]);
    if (design.store.staged && design.points % 2 != 0) {  // runs of whole 16-byte accesses
      for (std::size_t& count : counts) count += count % 2;
    }
  }
  for (std::size_t& count : counts) count = std::min(count, most);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

}  // namespace

PassDesign plain_pass(const AxisProblem& problem) {
  PassDesign pass;
  pass.float64 = problem.float64;
  pass.direction = problem.direction;
  pass.length = pass.points = problem.length;
  pass.counts = problem.counts;
  pass.load.at = problem.in;
  pass.store.at = problem.out;
  pass.load.factor = problem.load.kind();
  pass.store.factor = problem.store.kind();
  pass.load.factor_at = problem.load_at;
  pass.store.factor_at = problem.store_at;
  pass.load.storage = problem.load_storage;
  pass.store.storage = problem.store_storage;
  pass.load.once = problem.samples == Samples::same && problem.load_storage == Storage::same;
  pass.store.once = problem.store_storage == Storage::same;
  pass.samples = problem.samples;
  pass.scale = problem.scale;
  pass.in_place = problem.in_place;
  if (problem.real_kind) pass.kind = RealToReal{.kind = *problem.real_kind, .points = problem.real_points};
  pass.any_offset = problem.any_offset;
  if (problem.folded > 0) pass.kind = FoldedRows{.rows = problem.folded};
  if (problem.boxed) {
    pass.load.box_first = problem.read.first;
    pass.load.box_count = problem.read.count;
    pass.store.box_first = problem.written.first;
    pass.store.box_count = problem.written.count;
  }
  pass.load_order = order_of(problem.in);
  pass.store_order = order_of(problem.out);
  // Unaligned columns share sectors with their neighbours, which are loaded soon after: they are accessed without the
  // streaming hint. H200, columns of 512 planes of 512 x 257: 333 us with the hint, 305 without.
  const auto shared = [&](const Address& at) {
    return order_of(at) == Order::lines && at.point % (problem.float64 ? 2 : 4) != 0;
  };
  if (problem.in_place && shared(problem.in)) pass.load.once = pass.store.once = false;
  return pass;
}

namespace {

// The cheapest plans whose points fit the registers of a group of one line, cheapest first; none, with the reason, if
// there is no such plan.
std::vector<RadixPlan> usable_plans(const Device& device, const PassDesign& plain, std::size_t lines,
                                    std::string& refusal, std::size_t most_held) {
  // Short convolutions with more points per work-item run slower and take NVRTC three times as long.
  constexpr std::size_t kPlans = 8, kLongConvolution = 4096;
  const Limits& limits = device.limits();
  const detail::UnitCapacity unit = detail::unit_capacity(limits);
  RadixLimits wanted;
  wanted.most_threads = std::min(limits.work_group, limits.work_group_sides[0]) / std::max<std::size_t>(lines, 1);
  wanted.most_held = most_held > 0                     ? most_held
                     : plain.float64                   ? 16
                     : !plain.convolution()            ? (plain.length > 8192 ? 40 : 32)
                     : plain.length < kLongConvolution ? 32
                                                       : 64;
  std::vector<RadixPlan> plans;
  if (!limits.private_arrays_in_registers) {  // few points per work-item compile and run faster
    RadixLimits few = wanted;
    few.most_held = 8;
    plans = radix_plans(plain.length, few);
  }
  if (plans.empty()) plans = radix_plans(plain.length, wanted);
  if (plans.empty() && plain.float64 && most_held == 0) {
    wanted.most_held = 32;
    plans = radix_plans(plain.length, wanted);
  }
  if (plans.empty()) {
    refusal = has_butterflies(plain.length)
                  ? fmt::format("{} points do not fit into the registers of one work-group", plain.length)
                  : fmt::format("{} has a prime factor above {}", plain.length, codegen::kLargestPrimeRadix);
    return {};
  }
  PassDesign design = plain;
  for (RadixPlan& plan : plans) {
    design.threads = plan.threads;
    design.radices = plan.radices;
    plan.cost += access_price(design);
    // Memory bounds these lines with any radices: 16 points per item compile in two thirds of the time of 32
    // (1024 points: 149 and 229 ms of NVRTC).
    if (lines == 0 && !plain.convolution() && plain.length <= 4096 && plan.held > 16) plan.cost *= 1.25;
    // A single group per compute unit: nothing loads while it computes. Measured to cost a third.
    if (plan.threads > 128 && 2 * whole_warps(plan.threads) * registers_of(design) > unit.registers) plan.cost *= 1.25;
  }
  std::stable_sort(plans.begin(), plans.end(), [](const RadixPlan& a, const RadixPlan& b) { return a.cost < b.cost; });
  std::vector<RadixPlan> usable;
  for (const RadixPlan& plan : plans) {
    design.radices = plan.radices;
    design.threads = plan.threads;
    const std::string reason = too_many_registers(device, design, std::max<std::size_t>(lines, 1));
    if (refusal.empty()) refusal = reason;
    if (reason.empty()) usable.push_back(plan);
    if (usable.size() == kPlans) break;
  }
  return usable;
}

}  // namespace

std::vector<PassDesign> fitted(const Device& device, const PassDesign& plain, std::size_t lines, std::size_t most,
                               std::string& refusal, std::size_t most_held) {
  const Limits& limits = device.limits();
  // Less local memory than a group could use.
  const bool tight = lines == 0 && limits.local_memory < detail::unit_capacity(limits).local_memory / 2;
  std::string first_refusal;
  const std::vector<RadixPlan> plans = usable_plans(device, plain, lines, first_refusal, most_held);
  std::vector<PassDesign> designs;
  // Order of trials: the cheapest plans with their preferred number of lines first; other numbers of lines of a plan
  // are tried between later plans.
  struct Attempt {
    std::size_t plan, option;
  };
  std::vector<Attempt> attempts;
  for (std::size_t option = 0; option < 3; ++option) {
    for (std::size_t plan = 0; plan < plans.size(); ++plan) attempts.push_back({plan, option});
  }
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const Attempt& a, const Attempt& b) { return a.plan + 2 * a.option < b.plan + 2 * b.option; });
  // The designs of a plan that fit, in the order of its numbers of lines, as far as they were asked for.
  struct Fits {
    PassDesign design;
    std::vector<std::size_t> counts;
    std::size_t next = 0;  // of the counts
    std::vector<PassDesign> found{};
  };
  std::vector<Fits> fits(plans.size());
  for (const auto& [plan, option] : attempts) {
    if (designs.size() == most) break;
    Fits& own = fits[plan];
    PassDesign& design = own.design;
    if (own.counts.empty()) {
      design = plain;
      design.radices = plans[plan].radices;
      design.threads = plans[plan].threads;
      if (design.radices.size() == 1 && design.load_order != design.store_order) {
        design.load_order = design.store_order = Order::lines;
      }
      choose_runs(design);
      own.counts = line_counts(design, lines);
    }
    while (own.found.size() <= option && own.next < own.counts.size()) {
      const std::size_t count = own.counts[own.next++];
      std::string reason = fit(device, design, count);
      if (!reason.empty() && design.real_to_real() && (design.load.staged || design.store.staged)) {
        design.load.staged = design.store.staged =
            false;  // exchanged in parts, which leaves no local memory for whole lines
        reason = fit(device, design, count);
      }
      if (tight && design.load_order == Order::points && design.store_order == Order::points) {
        for (std::size_t fewer = count - 1; fewer > 1 && !reason.empty(); --fewer) reason = fit(device, design, fewer);
      }
      if (first_refusal.empty()) first_refusal = reason;
      if (reason.empty()) own.found.push_back(design);
    }
    if (option < own.found.size()) designs.push_back(own.found[option]);
  }
  if (designs.empty()) refusal = first_refusal;
  return designs;
}

}  // namespace ridge::fft::on_device
