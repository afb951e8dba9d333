#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "device/traits.hpp"
#include "fft/device/butterfly.hpp"
#include "fft/device/exchange.hpp"
#include "fft/device/kernel_text.hpp"
#include "fft/device/radices.hpp"
#include "fft/device/route.hpp"
#include "fft/historical/papers/list_papers.hpp"
#include "fft/historical/papers/stage_codegen.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kWarp = 32;

using RouteLister = void (*)(const Device&, const AxisProblem&, std::vector<Route>&);
struct Family {
  RouteLister list;
  std::string_view ending;  // of its variants' names
};
constexpr std::array<Family, 7> kFamilies{{{list_one_pass, "one_pass"},
                                           {list_clusters, "cluster"},
                                           {list_rings, "ring"},
                                           {list_tiles_ahead, "tiles_ahead"},
                                           {list_real_passes, "real_two_pass"},
                                           {list_many_passes, "_pass"},
                                           {list_primes, ""}}};

bool continues(const Address& at, const std::vector<std::uint64_t>& counts, std::size_t digit) {
  return at.line.empty() || at.line[digit + 1] == at.line[digit] * counts[digit];
}

// Registers a work-item needs for its points, twiddles and addresses, as ptxas was seen to use them.
std::size_t registers(const PassDesign& design) {
  const std::size_t held = longest_held(design), waiting = held - held / design.parts;
  const std::size_t numbers = (2 * held + waiting) * (design.float64 ? 2 : 1);
  const bool more = design.load.factor != FactorKind::none || design.method != PrimeMethod::none;
  const std::size_t wanted = numbers + (design.float64 ? 44 : 30) + (more ? 8 : 0);
  return std::min<std::size_t>((wanted + 7) / 8 * 8, 255);
}

std::size_t whole_warps(std::size_t items) { return (items + kWarp - 1) / kWarp * kWarp; }

// Exchanges in so many turns: each is written by whole butterflies and read by whole shares of them.
bool parts_serve(const PassDesign& design) {
  const std::size_t part = design.length / design.parts;
  if (design.lines > 1 || design.length % design.parts != 0 || design.method != PrimeMethod::none) return false;
  const std::vector<StageDesign> stages = stages_of(design);
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const ExchangeLayout layout =
        exchange_layout(design, stages[i], stages[i + 1], design.float64 ? sizeof(double) : sizeof(float));
    if (part % (stages[i].before * stages[i].radix) != 0 || stages[i + 1].radix % design.parts != 0) return false;
    if (layout.period > 0 && part % layout.period != 0) return false;
  }
  return true;
}

// Registers a work-group may take; 0 where that is nobody's concern.
std::size_t register_limit(const Device& device) {
  return device.limits().registers > 0 ? device.limits().registers : device.limits().unit_registers;
}

// Lines of T work-items each that fill whole warps, from `least` work-items on.
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
  return side.values == Values::complex && side.at.point == 1 && side.at.line.size() == 1 &&
         side.at.line[0] == design.points;
}

// Bytes of neighbouring points that one access of a line's work-items takes, and whether they straddle sectors.
struct AccessRun {
  std::size_t bytes;
  bool straddles;
};
AccessRun access_run(const PassDesign& design) {
  constexpr std::size_t kSector = 32;
  const std::size_t element = design.float64 ? 16 : 8, bytes = design.threads * element;
  return {bytes, bytes % kSector != 0 || design.points * element % kSector != 0};
}

// So few points an access that a group's lines are better moved in one run through local memory.
bool moves_in_runs(const PassDesign& design) {
  const AccessRun run = access_run(design);
  return run.bytes < (run.straddles ? 40u : 32u);
}

// Lines whose accesses straddle sectors are stored in one run through local memory, so long as the detour is short:
// what is loaded in parts of sectors comes from the cache, what is stored so costs (10 points .95 of a copy and 1.01
// so, 60 .76 and .95, 500 .93 and .95, 1000 .96 and .94).
bool stores_in_runs(const PassDesign& design) {
  constexpr std::size_t kLongest = 640;
  return !design.float64 && design.points <= kLongest && !std::has_single_bit(design.points) &&
         access_run(design).straddles && design.store.valid == 0 && packed_rows(design, design.store);
}

// What short accesses add to a plan's instructions a point, as timed on an H200: lines of 32 points take 254 us with 8
// work-items each, 275 with 4, 350 to 400 in runs; of 125 points 640 us with 5, 264 where they are stored in a run.
double access_price(const PassDesign& design) {
  if (design.load_order == Order::lines || design.store_order == Order::lines) return 0;
  const AccessRun run = access_run(design);
  if (stores_in_runs(design)) return 20 * std::max(0.0, 24 / static_cast<double>(run.bytes) - 1);
  if (moves_in_runs(design)) return 40;
  const double enough = run.straddles ? 128 : 64;
  return 20 * std::max(0.0, enough / static_cast<double>(run.bytes) - 1);
}

// Which sides of short lines go through local memory; what the plain design says stays.
void choose_runs(PassDesign& design) {
  constexpr std::size_t kShortSpectrum = 256;
  const bool in_runs = moves_in_runs(design), out_runs = stores_in_runs(design);
  const bool load_runs = out_runs ? access_run(design).bytes < 24 : in_runs;
  const PassSide& out = design.store;
  if (load_runs && packed_rows(design, design.load) && design.samples == Samples::same) design.load.staged = true;
  if (out_runs || (in_runs && packed_rows(design, out) && out.valid == 0)) design.store.staged = true;
  // Half a spectrum leaves no line aligned: short ones go out together.
  if (out.values == Values::half && out.at.point == 1 && out.at.line.size() == 1 &&
      out.at.line[0] == design.length + 1 && design.length <= kShortSpectrum) {
    design.store.staged = true;
  }
}

// How many lines a group takes, in the order they are worth trying.
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
    // Many small groups, though their last warps are not full, beat few large ones there.
    constexpr std::size_t kLongLine = 100;
    if (design.points >= kLongLine && !std::has_single_bit(design.points)) std::swap(counts[0], counts[1]);
    if (design.store.staged && design.points % 2 != 0) {  // runs of whole 16 bytes
      for (std::size_t& count : counts) count += count % 2;
    }
  }
  for (std::size_t& count : counts) count = std::min(count, most);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

}  // namespace

std::size_t longest_held(const PassDesign& design) {
  std::size_t most = 1;
  for (const StageDesign& stage : stages_of(design)) most = std::max(most, stage.radix * stage.rounds);
  return design.mirrored > 0 ? 2 * most : most;
}

std::string too_many_registers(const Device& device, const PassDesign& design, std::size_t lines) {
  const std::size_t items = design.threads * lines, each = registers(design), all = register_limit(device);
  if (all == 0 || whole_warps(items) * each <= all) return {};
  return fmt::format("needs about {} registers for each of {} work-items, a group may have {}", each, items, all);
}

std::uint64_t AxisProblem::lines() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t inner_lines(const AxisProblem& problem) { return problem.lines() / problem.counts.back(); }

void normalize(AxisProblem& problem) {
  std::vector<std::size_t> order(problem.counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t digit) { return problem.counts[digit] == 1; });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.in.line[a] + problem.out.line[a] < problem.in.line[b] + problem.out.line[b];
  });
  if (order.empty()) order.push_back(0);
  const auto pick = [&](std::vector<std::uint64_t>& values) {
    if (values.empty()) return;
    std::vector<std::uint64_t> picked;
    for (const std::size_t digit : order) picked.push_back(values[digit]);
    values = std::move(picked);
  };
  const std::array<Address*, 4> addresses{&problem.in, &problem.out, &problem.load_at, &problem.store_at};
  pick(problem.counts);
  for (Address* at : addresses) pick(at->line);
  for (std::size_t digit = 0; digit + 1 < problem.counts.size();) {
    const bool all = std::all_of(addresses.begin(), addresses.end(),
                                 [&](const Address* at) { return continues(*at, problem.counts, digit); });
    if (!all) {
      ++digit;
      continue;
    }
    problem.counts[digit] *= problem.counts[digit + 1];
    problem.counts.erase(problem.counts.begin() + static_cast<std::ptrdiff_t>(digit) + 1);
    for (Address* at : addresses) {
      if (!at->line.empty()) at->line.erase(at->line.begin() + static_cast<std::ptrdiff_t>(digit) + 1);
    }
  }
}

KernelSource kernel_of(const Step& step) {
  if (const auto* pass = std::get_if<PassDesign>(&step.design)) return pass_text(*pass).source;
  if (const auto* cluster = std::get_if<ClusterDesign>(&step.design)) return cluster_text(*cluster).source;
  if (const auto* unit = std::get_if<papers::UnitDesign>(&step.design)) return papers::unit_text(*unit);
  if (const auto* ring = std::get_if<RingDesign>(&step.design)) return ring_text(*ring).source;
  return spectrum_text(std::get<SpectrumDesign>(step.design));
}

std::vector<KernelSource> kernels_of(const Step& step) {
  if (const auto* stages = std::get_if<papers::StagePlan>(&step.design)) return papers::stage_texts(*stages);
  return {kernel_of(step)};
}

double problem_bytes(const AxisProblem& problem) {
  const double element = problem.float64 ? 16 : 8, lines = static_cast<double>(problem.lines());
  const double points = static_cast<double>(problem.length);
  return lines * points * element * (problem.kind == Kind::real ? 1 : 2);
}

double usual_flops(const AxisProblem& problem) {
  const double points = static_cast<double>(problem.length);
  return (problem.kind == Kind::real ? 2.5 : 5) * points * std::log2(std::max(points, 2.0)) *
         static_cast<double>(problem.lines());
}

Order order_of(const Address& at) {
  return at.line.empty() || at.point <= at.line.front() ? Order::points : Order::lines;
}

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
  pass.load.once = problem.samples == Samples::same;
  pass.store.once = true;
  pass.samples = problem.samples;
  pass.scale = problem.scale;
  pass.in_place = problem.in_place;
  pass.load_order = order_of(problem.in);
  pass.store_order = order_of(problem.out);
  return pass;
}

std::string radices_text(const PassDesign& design) { return fmt::format("{}", fmt::join(design.radices, "*")); }

std::string fit(const Device& device, PassDesign& design, std::size_t lines) {
  const Limits& limits = device.limits();
  design.lines = lines;
  const std::size_t items = design.items(), most = std::min(limits.work_group, limits.work_group_sides[0]);
  if (items > most) return fmt::format("needs work-groups of {}, the device allows {}", items, most);
  if (std::string reason = too_many_registers(device, design, lines); !reason.empty()) return reason;
  design.split = false;
  design.parts = 1;
  std::size_t local = local_bytes_of(design);
  if (local > limits.local_memory && !design.load.staged && !design.store.staged &&
      design.store.values != Values::half) {
    design.split = true;
    local = local_bytes_of(design);
    for (std::size_t parts = 2; parts <= 4 && local > limits.local_memory && !design.ahead; parts *= 2) {
      design.parts = parts;
      if (parts_serve(design) && too_many_registers(device, design, lines).empty()) local = local_bytes_of(design);
    }
    if (local > limits.local_memory) design.parts = 1;
  }
  if (local > limits.local_memory) {
    return fmt::format("needs {} of local memory, the device has {}", base::human_bytes(static_cast<double>(local)),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  const std::size_t whole = whole_warps(items);
  const detail::UnitCapacity unit = detail::unit_capacity(limits);
  std::size_t resident = unit.registers / (whole * registers(design));
  resident = std::min({resident, unit.items / whole, unit.local_memory / (local + 1024), std::size_t{16}});
  design.resident = std::max<std::size_t>(resident, 1);
  return {};
}

std::size_t most_resident(const Device& device, const PassDesign& design) {
  constexpr std::size_t kBeside = 14;  // registers beside the points, at the least
  if (register_limit(device) == 0 || design.float64 || design.method != PrimeMethod::none) return design.resident;
  const std::size_t whole = whole_warps(design.items()), local = local_bytes_of(design);
  const detail::UnitCapacity unit = detail::unit_capacity(device.limits());
  std::size_t most = design.resident;
  while ((most + 1) * whole <= unit.items && (most + 1) * (local + 1024) <= unit.local_memory &&
         unit.registers / (whole * (most + 1)) / 8 * 8 >= 2 * longest_held(design) + kBeside && most < 16) {
    ++most;
  }
  return most;
}

std::vector<PassDesign> fitted(const Device& device, const PassDesign& plain, std::size_t lines, std::size_t most,
                               std::string& refusal, std::size_t most_held) {
  // Short convolutions with more points a work-item run slower and take NVRTC three times as long.
  constexpr std::size_t kPlans = 8, kLongConvolution = 4096;
  const Limits& limits = device.limits();
  const detail::UnitCapacity unit = detail::unit_capacity(limits);
  const bool tight = lines == 0 && limits.local_memory < unit.local_memory / 2;  // less than a group could use
  RadixLimits wanted;
  wanted.most_threads = std::min(limits.work_group, limits.work_group_sides[0]) / std::max<std::size_t>(lines, 1);
  wanted.most_held = most_held > 0                       ? most_held
                     : plain.float64                     ? 16
                     : plain.method == PrimeMethod::none ? (plain.length > 8192 ? 40 : 32)
                     : plain.length < kLongConvolution   ? 32
                                                         : 64;
  std::vector<RadixPlan> plans;
  if (!limits.private_arrays_in_registers) {  // few points a work-item compile and run faster
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
                  : fmt::format("{} has a prime factor above {}", plain.length, kLargestPrimeRadix);
    return {};
  }
  for (RadixPlan& plan : plans) {
    PassDesign design = plain;
    design.threads = plan.threads;
    design.radices = plan.radices;
    plan.cost += access_price(design);
    // A group alone on its compute unit: nobody loads while it computes. Seen to cost a third.
    if (plan.threads > 128 && 2 * whole_warps(plan.threads) * registers(design) > unit.registers) plan.cost *= 1.25;
  }
  std::stable_sort(plans.begin(), plans.end(), [](const RadixPlan& a, const RadixPlan& b) { return a.cost < b.cost; });
  // Those whose points fit into the registers of a group of one line, the cheapest few.
  std::vector<RadixPlan> usable;
  std::string first_refusal;
  for (const RadixPlan& plan : plans) {
    PassDesign design = plain;
    design.radices = plan.radices;
    design.threads = plan.threads;
    const std::string reason = too_many_registers(device, design, std::max<std::size_t>(lines, 1));
    if (first_refusal.empty()) first_refusal = reason;
    if (reason.empty()) usable.push_back(plan);
    if (usable.size() == kPlans) break;
  }
  plans = std::move(usable);
  std::vector<PassDesign> designs;
  // The first plans with their first count of lines, then with others too, while the later plans come in.
  struct Turn {
    std::size_t plan, option;
  };
  std::vector<Turn> turns;
  for (std::size_t option = 0; option < 3; ++option) {
    for (std::size_t plan = 0; plan < plans.size(); ++plan) turns.push_back({plan, option});
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [](const Turn& a, const Turn& b) { return a.plan + 2 * a.option < b.plan + 2 * b.option; });
  for (const auto& [plan, option] : turns) {
    if (designs.size() == most) break;
    PassDesign design = plain;
    design.radices = plans[plan].radices;
    design.threads = plans[plan].threads;
    if (design.radices.size() == 1 && design.load_order != design.store_order) {
      design.load_order = design.store_order = Order::lines;
    }
    choose_runs(design);
    std::size_t tried = 0;
    for (const std::size_t count : line_counts(design, lines)) {
      std::string reason = fit(device, design, count);
      if (tight && design.load_order == Order::points && design.store_order == Order::points) {
        for (std::size_t fewer = count - 1; fewer > 1 && !reason.empty(); --fewer) reason = fit(device, design, fewer);
      }
      if (first_refusal.empty()) first_refusal = reason;
      if (!reason.empty()) continue;
      if (tried++ != option) continue;
      designs.push_back(design);
      break;
    }
  }
  if (designs.empty()) refusal = first_refusal;
  return designs;
}

Address packed_lines(const AxisProblem& problem, std::size_t points) {
  Address at{.point = 1, .line = {}};
  std::uint64_t step = points;
  for (const std::uint64_t count : problem.counts) {
    at.line.push_back(step);
    step *= count;
  }
  return at;
}

planner::Candidate described(const AxisProblem& problem, const std::string& variant, const std::vector<Step>& steps,
                             double efficiency) {
  planner::Candidate candidate{.variant = variant};
  std::string radices, items, lines;
  double moved = 0, operations = 0;
  const double element = problem.float64 ? 16 : 8;
  for (const Step& step : steps) {
    double all = static_cast<double>(step.lines) * static_cast<double>(problem.counts.back());
    if (const auto* spectrum = std::get_if<SpectrumDesign>(&step.design)) {
      moved += 2 * all * element * static_cast<double>(spectrum->length);
      continue;
    }
    const PassDesign* pass = std::get_if<PassDesign>(&step.design);
    if (pass == nullptr) continue;
    if (pass->mirrored > 0) all *= 2;
    const char* comma = radices.empty() ? "" : ",";
    radices += comma + radices_text(*pass);
    items += fmt::format("{}{}", comma, pass->threads);
    const std::string parts = pass->parts > 1 ? fmt::format("{}", pass->parts) : "";
    lines += fmt::format("{}{}{}{}{}", comma, pass->lines, pass->split ? "s" : "", parts, pass->load.staged ? "r" : "");
    const bool real_in = pass->load.values == Values::reals, real_out = pass->store.values == Values::reals;
    moved += all * element * static_cast<double>(pass->points) * ((real_in ? 0.5 : 1) + (real_out ? 0.5 : 1));
    for (const StageDesign& stage : stages_of(*pass)) {
      operations +=
          all * static_cast<double>(stage.butterflies) *
          (2 * butterfly_operations(stage.radix) + (stage.before > 1 ? 6.0 * static_cast<double>(stage.radix) : 0));
    }
  }
  candidate.parameters = {{"radices", radices}, {"items", items}, {"lines", lines}};
  candidate.cost = {.flops = operations,
                    .bytes = moved,
                    .launches = static_cast<double>(steps.size()),
                    .efficiency = std::clamp(efficiency, 0.01, 1.0),
                    .float64 = problem.float64};
  return candidate;
}

std::vector<Route> list_routes(const Device& device, const AxisProblem& problem, const std::string& wanted) {
  std::vector<Route> routes;
  if (papers::is_from_the_papers(wanted)) {
    papers::list_papers(device, problem, wanted, routes);
    return routes;
  }
  for (const Family& family : kFamilies) family.list(device, problem, routes);
  // Two ways to the same kernel are one.
  std::vector<Route> distinct;
  for (Route& route : routes) {
    const std::string name = route.candidate.name();
    const bool seen = std::any_of(distinct.begin(), distinct.end(),
                                  [&](const Route& other) { return other.candidate.name() == name; });
    if (!seen) distinct.push_back(std::move(route));
  }
  return distinct;
}

std::optional<Route> route_named(const Device& device, const AxisProblem& problem, const std::string& name) {
  std::vector<Route> routes;
  const std::string variant = name.substr(0, name.find('('));
  if (papers::is_from_the_papers(variant)) {
    papers::list_papers(device, problem, name, routes);
  } else {
    const auto family =
        std::ranges::find_if(kFamilies, [&](const Family& one) { return variant.ends_with(one.ending); });
    family->list(device, problem, routes);
  }
  for (Route& route : routes) {
    if (route.candidate.refusal.empty() && route.candidate.name() == name) return std::move(route);
  }
  return std::nullopt;
}

}  // namespace ridge::fft::on_device
