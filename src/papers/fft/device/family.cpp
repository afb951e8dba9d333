// The papers' variants as routes of the planner: burtsev/A .. burtsev/F and bergach/in_register, bergach/simt. They are
// listed only if requested by name, so that other plans do not spend time on them.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/route.hpp"
#include "papers/fft/device/compiled_stages.hpp"
#include "papers/fft/device/stage_plan.hpp"
#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {
namespace {

using on_device::AxisProblem;
using on_device::FactorKind;
using on_device::Route;

constexpr std::uint64_t kMostPoints = std::uint64_t{1} << kMostStages;  // per launch: 32-bit indices
constexpr std::size_t kMostConstantRoots = 4096;                        // literals in a kernel's text

// Expected fraction of the memory roof; far below the library's own routes.
constexpr double kEfficiency = 0.3;

std::string beyond_the_papers(const AxisProblem& problem) {
  if (!std::has_single_bit(problem.length)) return fmt::format("needs a power of two, got {}", problem.length);
  if (problem.length > kMostPoints)
    return fmt::format("needs at most 2^{} points, got {}", kMostStages, problem.length);
  if (problem.float64) return "needs float arithmetic, got double";
  if (problem.kind != Kind::complex) return "needs complex data, got real";
  if (problem.in_place) return "needs separate input and output arrays, got an in-place problem";
  if (problem.samples != Samples::same) return "needs float samples, got integers";
  if (problem.load.kind() != FactorKind::none || problem.store.kind() != FactorKind::none) {
    return "needs a problem without load and store factors";
  }
  const auto packed = [&](const on_device::Address& at) {
    return at.point == 1 && problem.counts.size() == 1 && at.line.size() == 1 &&
           (at.line[0] == problem.length || problem.counts[0] == 1);
  };
  if (!packed(problem.in) || !packed(problem.out)) return "needs contiguous lines with a batch stride of one line";
  return {};
}

bool matches(const std::string& wanted, const std::string& family, const std::string& variant) {
  const std::string name = family + "/" + variant;
  return wanted == family || wanted == name || name.starts_with(wanted + "/") || wanted.starts_with(name);
}

Route plain_route(const AxisProblem& problem) {
  Route route;
  route.outer = problem.counts.back();
  route.at_once = std::max<std::uint64_t>(1, kMostPoints / std::max<std::size_t>(problem.length, 1));
  return route;
}

std::vector<KernelSource> kernels_of(const StagePlan& plan) { return stage_texts(plan); }
std::vector<KernelSource> kernels_of(const UnitDesign& design) { return {unit_text(design)}; }

template <class Design, class Compiled>
class PaperStep final : public on_device::StepDesign {
 public:
  explicit PaperStep(Design design) : design_(std::move(design)) {}
  std::vector<KernelSource> kernels() const override { return kernels_of(design_); }
  std::unique_ptr<const on_device::CompiledStep> compile(const Device& device,
                                                         const on_device::Step& /*step*/) const override {
    return std::make_unique<Compiled>(device, design_);
  }

 private:
  Design design_;
};

template <class Compiled, class Design>
void set_step(Route& route, const AxisProblem& problem, Design design) {
  design.direction = problem.direction;
  design.scale = problem.scale;
  on_device::Step step;
  step.from_stride = step.to_stride = problem.length;
  step.design = std::make_shared<const PaperStep<Design, Compiled>>(std::move(design));
  route.steps.push_back(std::move(step));
}

planner::Cost cost_of(const AxisProblem& problem, double trips, double launches) {
  return {.flops = on_device::usual_flops(problem),
          .bytes = trips * on_device::problem_bytes(problem),
          .launches = launches,
          .efficiency = kEfficiency};
}

void list_burtsev(const Device& device, const AxisProblem& problem, const std::string& wanted,
                  const std::string& reason, std::vector<Route>& routes) {
  const int log_n = reason.empty() ? std::countr_zero(problem.length) : 0;
  for (const Variant& variant : variants()) {
    if (!matches(wanted, kFamily, variant.name) || wanted.starts_with("burtsev/F/sizes")) continue;
    for (const Reversal reversal : {Reversal::table, Reversal::computed, Reversal::tiled}) {
      Route route = plain_route(problem);
      StagePlan plan = plan_stages(variant, log_n, group_limits(device.limits()), reversal);
      route.candidate.variant = fmt::format("{}/{}", kFamily, variant.name);
      route.candidate.parameters = {{"reversal", to_string(reversal)}};
      route.candidate.refusal = reason.empty() ? plan.refusal : reason;
      const double runs = static_cast<double>(plan.runs.size());
      // Adds one read of the table. B and C access global memory at every stage.
      double trips = 1 + runs + (reversal == Reversal::table ? 0.25 : 0);
      for (const StageRun& run : plan.runs) {
        if (run.work == Work::group_global) trips += run.stages() - 1;
      }
      route.candidate.cost = cost_of(problem, trips, 1 + runs);
      if (route.candidate.refusal.empty()) set_step<CompiledStages>(route, problem, std::move(plan));
      routes.push_back(std::move(route));
    }
  }
}

// F with the paper's parameters NA, NB and NC. Listed only if "burtsev/F/sizes" is requested: there are many.
void list_sizes(const Device& device, const AxisProblem& problem, const std::string& wanted, const std::string& reason,
                std::vector<Route>& routes) {
  const std::string name = fmt::format("{}/F/sizes", kFamily);
  if (!wanted.starts_with(name)) return;
  const GroupLimits limits = group_limits(device.limits());
  std::vector<std::size_t> blocks{2 * limits.items()};
  for (const std::size_t block : {256, 64}) {
    if (block < blocks.front()) blocks.push_back(block);
  }
  for (const std::size_t na : {4, 8, 16, 32}) {
    for (const std::size_t nb : blocks) {
      for (const std::size_t nc : blocks) {
        Route route = plain_route(problem);
        StagePlan plan =
            plan_f_sizes(reason.empty() ? std::countr_zero(problem.length) : 0, {.na = na, .nb = nb, .nc = nc}, limits);
        plan.variant = "F/sizes";
        plan.reversal = Reversal::computed;
        plan.plain_items = std::min<std::size_t>(256, limits.items());
        route.candidate.variant = name;
        route.candidate.parameters = {
            {"na", fmt::to_string(na)}, {"nb", fmt::to_string(nb)}, {"nc", fmt::to_string(nc)}};
        route.candidate.refusal = reason.empty() ? plan.refusal : reason;
        const double runs = static_cast<double>(plan.runs.size());
        route.candidate.cost = cost_of(problem, 1 + runs, 1 + runs);
        if (route.candidate.refusal.empty()) set_step<CompiledStages>(route, problem, std::move(plan));
        routes.push_back(std::move(route));
      }
    }
  }
}

void list_units(const Device& device, const AxisProblem& problem, const std::string& wanted, const std::string& reason,
                std::vector<Route>& routes) {
  const std::size_t length = reason.empty() ? problem.length : 1;
  const auto add = [&](std::size_t p, UnitTwiddles twiddles) {
    UnitDesign design = p == 1 ? plan_vector_unit(length, device) : plan_unit(length, p, device.limits());
    design.twiddles = twiddles;
    const std::string name = design.variant();
    if (!matches(wanted, kUnitFamily, name)) return;
    Route route = plain_route(problem);
    route.candidate.variant = fmt::format("{}/{}", kUnitFamily, name);
    if (p > 0 && !design.vectors)
      route.candidate.parameters = {{"p", fmt::format("{}", p)}, {"twiddles", to_string(twiddles)}};
    route.candidate.refusal = reason.empty() ? design.refusal : reason;
    if (route.candidate.refusal.empty() && twiddles == UnitTwiddles::constant && length > kMostConstantRoots) {
      route.candidate.refusal =
          fmt::format("needs at most {} roots as constants of a kernel, got {}", kMostConstantRoots, length);
    }
    route.candidate.cost = cost_of(problem, 1, 1);
    if (route.candidate.refusal.empty()) set_step<CompiledUnit>(route, problem, std::move(design));
    routes.push_back(std::move(route));
  };
  add(0, UnitTwiddles::table);
  add(1, UnitTwiddles::table);
  for (const std::size_t p : {8, 16, 4, 2}) add(p, UnitTwiddles::table);
  for (const std::size_t p : {8, 16, 4, 2}) add(p, UnitTwiddles::constant);
  for (const std::size_t p : {8, 16, 4, 2}) add(p, UnitTwiddles::quarter);
}

void list_papers(const Device& device, const AxisProblem& problem, const std::string& wanted,
                 std::vector<Route>& routes) {
  const std::string reason = beyond_the_papers(problem);
  const std::size_t before = routes.size();
  list_burtsev(device, problem, wanted, reason, routes);
  list_sizes(device, problem, wanted, reason, routes);
  list_units(device, problem, wanted, reason, routes);
  if (routes.size() > before) return;
  // Unknown name: lists the whole family, so that the error can name its variants.
  const std::string family = wanted.substr(0, wanted.find('/'));
  if (family == kFamily) list_burtsev(device, problem, family, reason, routes);
  if (family == kUnitFamily) list_units(device, problem, family, reason, routes);
}

}  // namespace
}  // namespace ridge::fft::papers

namespace ridge::fft::on_device {

extern const RouteFamily kPapers{.variants = {"burtsev/", "bergach/"}, .list_named = papers::list_papers};

}  // namespace ridge::fft::on_device
