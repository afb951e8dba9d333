// Common plan of the image workloads: lists and chooses a variant, checks arguments and runs it.
#include <fmt/format.h>

#include "image/work.hpp"
#include "plan/arguments.hpp"
#include "plan/improve.hpp"

namespace ridge::image {

struct PlanState {
  Device device;
  std::string workload;
  std::vector<Shape> inputs;
  Shape output;
  std::vector<planner::Decision> decisions{};
  std::vector<KernelSource> kernels{};
  std::shared_ptr<const Variant> variant{};
};

namespace {

void check_shape(const std::string& workload, const std::string& what, const Image& image, const Shape& wanted) {
  if (image.shape() == wanted) return;
  throw Error(ErrorKind::invalid_argument, image ? fmt::format("{}: the {} is {}, this plan needs {}", workload, what,
                                                               image.shape().text(), wanted.text())
                                                 : fmt::format("{}: the {} is an empty image", workload, what));
}

std::string input_name(std::size_t i, std::size_t count) {
  return count == 1 ? "input" : i == 0 ? "first input" : "second input";
}

std::shared_ptr<const PlanState> made_plan(const Device& device, const Work& work, const planner::Options& options) {
  auto state = std::make_shared<PlanState>(PlanState{device, work.problem.workload, work.inputs, work.output});
  Trials trials(device, work);
  auto chosen = planner::choose(device, work.problem, work.entries, options, trials, planner::Keep::last);
  state->kernels = planner::kernels_of(work.entries[chosen.decision.winner]);
  state->variant = std::move(chosen.winner);
  state->decisions.push_back(std::move(chosen.decision));
  return state;
}

}  // namespace

planner::Exchangeable<PlanState> chosen_plan(const Device& device, const Work& work, const planner::Options& options) {
  const planner::Exchangeable<PlanState> plan(made_plan(device, work, options));
  planner::improve<PlanState>(
      plan, options, [device, work](const planner::Options& measuring) { return made_plan(device, work, measuring); });
  return plan;
}

std::shared_ptr<const Variant> variant_of(const AnyPlan& plan) { return plan.state_->variant; }

void AnyPlan::run_images(std::span<const Image> in, Image& out) const {
  const std::string& workload = state_->workload;
  if (in.size() != state_->inputs.size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: this plan needs {} input images, got {}", workload, state_->inputs.size(), in.size()));
  }
  check_shape(workload, "output", out, state_->output);
  std::byte* const to = out.bytes();
  for (std::size_t i = 0; i < in.size(); ++i) {
    check_shape(workload, input_name(i, in.size()), in[i], state_->inputs[i]);
    if (planner::overlap(in[i].bytes(), in[i].span_bytes(), to, out.span_bytes())) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: {} and output overlap: pass separate memory", workload, input_name(i, in.size())));
    }
  }
  state_->variant->run(in, out);
}

void AnyPlan::enqueue_images(Queue& queue, std::span<const Image> in, const Image& out) const {
  const char* workload = state_->workload.c_str();
  planner::check_queue(workload, queue, state_->device);
  const auto check_place = [&](const std::string& what, const Image& image, const Shape& shape) {
    check_shape(workload, what, image, shape);
    if (!image.resident()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: the {} is in the host's memory; use run(), or an image on {}", workload, what,
                              state_->device.id()));
    }
    planner::check_buffer(workload, what.c_str(), image.buffer(), state_->device, image.offset() + image.span_bytes());
  };
  check_place("output", out, state_->output);
  for (std::size_t i = 0; i < in.size(); ++i) {
    check_place(input_name(i, in.size()), in[i], state_->inputs[i]);
    const bool same = &in[i].buffer().state() == &out.buffer().state();
    if (same && in[i].offset() < out.offset() + out.span_bytes() &&
        out.offset() < in[i].offset() + in[i].span_bytes()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: {} and output overlap: pass separate memory", workload, input_name(i, in.size())));
    }
  }
  state_->variant->enqueue(queue, in, out);
}

std::string AnyPlan::explain() const { return state_->decisions.front().explain(); }
const std::vector<planner::Decision>& AnyPlan::decisions() const { return state_->decisions; }
const std::vector<KernelSource>& AnyPlan::kernels() const { return state_->kernels; }
const Device& AnyPlan::device() const { return state_->device; }
double AnyPlan::flops() const { return state_->decisions.front().problem.flops; }
double AnyPlan::bytes() const { return state_->decisions.front().problem.bytes; }

}  // namespace ridge::image
