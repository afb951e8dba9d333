// Public plan of the transpose: resolves the problem, lists and chooses a variant, checks arguments and runs it.
#include <fmt/format.h>

#include "plan/arguments.hpp"
#include "plan/improve.hpp"
#include "transpose/device/panel_transpose.hpp"
#include "transpose/trials.hpp"
#include "transpose/variant.hpp"

namespace ridge::transpose {

struct PlanState {
  Device device;
  Problem problem;
  Layout layout;
  std::vector<planner::Decision> decisions{};
  std::vector<KernelSource> kernels{};
  std::shared_ptr<const Variant> variant{};
  std::string panels{};  // text for explain(), if host arrays are transposed in panels
};

namespace {

constexpr const char* kWorkload = "transpose";

planner::Problem describe(const Device& device, const Layout& layout) {
  std::string key = layout.key();
  if (device.is_host()) key += fmt::format(" threads {}", layout.threads);
  return {.workload = kWorkload,
          .key = key,
          .flops = 0,
          .bytes = 2.0 * static_cast<double>(layout.elements()) * static_cast<double>(layout.element_bytes)};
}

std::shared_ptr<const PlanState> make_plan(const Device& device, const Problem& problem, std::size_t element_bytes,
                                           const planner::Options& options) {
  auto state = std::make_shared<PlanState>(PlanState{device, problem, resolve(problem, element_bytes)});
  if (const Problem panel = panel_problem(device, state->layout); panel.rows != 0) {
    const auto tile = make_plan(device, panel, element_bytes, options);
    state->kernels = tile->kernels;
    state->decisions = tile->decisions;
    state->variant = std::make_shared<const PanelTranspose>(device, state->layout, panel, tile->variant);
    state->panels =
        fmt::format("larger than the device memory: panels of {} x {} x {}\n", panel.batch, panel.rows, panel.columns);
    return state;
  }
  const std::vector<Entry> entries = list_variants(device, state->layout);
  Trials trials(device, state->layout);
  auto chosen = planner::choose(device, describe(device, state->layout), entries, options, trials);
  state->kernels = planner::kernels_of(entries[chosen.decision.winner]);
  state->variant = std::move(chosen.winner);
  state->decisions.push_back(std::move(chosen.decision));
  return state;
}

}  // namespace

AnyPlan::AnyPlan(const Device& device, const Problem& problem, std::size_t element_bytes,
                 const planner::Options& options)
    : state_(make_plan(device, problem, element_bytes, options)) {
  planner::improve<PlanState>(state_, options, [device, problem, element_bytes](const planner::Options& measuring) {
    return make_plan(device, problem, element_bytes, measuring);
  });
}

void AnyPlan::run_bytes(const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes) const {
  const Layout& layout = state_->layout;
  planner::check_length(kWorkload, "input", in_bytes, layout.input_bytes());
  planner::check_length(kWorkload, "output", out_bytes, layout.output_bytes());
  planner::check_apart(kWorkload, in, layout.input_bytes(), out, layout.output_bytes(), layout.in_place);
  state_->variant->run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out));
}

void AnyPlan::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  const Layout& layout = state_->layout;
  planner::check_queue(kWorkload, queue, state_->device);
  planner::check_buffer(kWorkload, "input", in, state_->device, layout.input_bytes());
  planner::check_buffer(kWorkload, "output", out, state_->device, layout.output_bytes());
  planner::check_apart(kWorkload, in, out, layout.in_place);
  state_->variant->enqueue(queue, in, out);
}

std::string AnyPlan::explain() const { return state_->panels + state_->decisions.front().explain(); }
const std::vector<planner::Decision>& AnyPlan::decisions() const { return state_->decisions; }
const std::vector<KernelSource>& AnyPlan::kernels() const { return state_->kernels; }
const Device& AnyPlan::device() const { return state_->device; }
const Problem& AnyPlan::problem() const { return state_->problem; }
double AnyPlan::flops() const { return 0; }
double AnyPlan::bytes() const {
  return 2.0 * static_cast<double>(state_->layout.elements()) * static_cast<double>(state_->layout.element_bytes);
}

std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem, std::size_t element_bytes) {
  return planner::candidates_of(list_variants(device, resolve(problem, element_bytes)));
}

}  // namespace ridge::transpose
