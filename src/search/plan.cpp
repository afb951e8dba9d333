// Public plan of dedispersion: resolves the problem, chooses a variant, checks arguments and runs it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/arguments.hpp"
#include "search/trials.hpp"
#include "search/variant.hpp"

namespace ridge::search {

struct PlanState {
  Device device;
  Problem problem;
  Layout layout;
  std::vector<planner::Decision> decisions{};
  std::vector<KernelSource> kernels{};
  std::shared_ptr<const Variant> variant{};
};

namespace {

constexpr const char* kWorkload = "search";

// The roof counts the additions of the variant that needs fewest: a tree's are 50 to 100 times fewer than brute
// force's.
planner::Problem describe(const Device& device, const Layout& layout, const std::vector<Entry>& entries) {
  std::string key = layout.key();
  if (device.is_host()) key += fmt::format(" threads {}", layout.threads);
  double least = layout.additions();
  for (const Entry& entry : entries) {
    if (entry.candidate.refusal.empty()) least = std::min(least, entry.candidate.cost.flops);
  }
  return {.workload = kWorkload,
          .key = key,
          .flops = least,
          .bytes = static_cast<double>(layout.input_bytes() + layout.output_bytes())};
}

}  // namespace

Plan::Plan(const Device& device, const Problem& problem, const planner::Options& options) {
  auto state = std::make_shared<PlanState>(PlanState{device, problem, resolve(problem)});
  const std::vector<Entry> entries = list_variants(device, state->layout);
  Trials trials(device, state->layout);
  auto chosen =
      planner::choose(device, describe(device, state->layout, entries), entries, options, trials, planner::Keep::last);
  state->kernels = planner::kernels_of(entries[chosen.decision.winner]);
  state->variant = std::move(chosen.winner);
  state->decisions.push_back(std::move(chosen.decision));
  state_ = std::move(state);
}

std::size_t Plan::row() const { return state_->layout.row; }

void Plan::run(std::span<const std::uint8_t> in, std::span<float> out) const {
  const Layout& layout = state_->layout;
  planner::check_length(kWorkload, "input", in.size_bytes(), layout.input_bytes());
  planner::check_length(kWorkload, "output", out.size_bytes(), layout.output_bytes());
  planner::check_apart(kWorkload, in.data(), layout.input_bytes(), out.data(), layout.output_bytes(), false);
  state_->variant->run(in.data(), out.data());
}

void Plan::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  const Layout& layout = state_->layout;
  planner::check_queue(kWorkload, queue, state_->device);
  planner::check_buffer(kWorkload, "input", in, state_->device, layout.input_bytes());
  planner::check_buffer(kWorkload, "output", out, state_->device, layout.output_bytes());
  planner::check_apart(kWorkload, in, out, false);
  state_->variant->enqueue(queue, in, out);
}

std::size_t Plan::interpolates() const { return state_->variant->interpolates(); }

std::vector<std::int32_t> Plan::delays(std::size_t trial) const {
  if (trial >= state_->layout.trials) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("search: trial {} of {} does not exist", trial, state_->layout.trials));
  }
  return state_->variant->delays(trial);
}

// A channel that is e samples off contributes 1 - |e| / width of its share; the best common offset is subtracted.
double Plan::kept(std::size_t width) const {
  if (interpolates() > 0) return 1;
  constexpr std::size_t kTrials = 7;
  const Layout& layout = state_->layout;
  double total = 0;
  for (std::size_t i = 0; i < kTrials; ++i) {
    const std::size_t trial = (2 * i + 1) * layout.trials / (2 * kTrials);
    const std::vector<std::int32_t> delays = state_->variant->delays(trial);
    double best = 0;
    for (const int offset : {-1, 0, 1}) {
      double sum = 0;
      for (std::size_t c = 0; c < layout.channels; ++c) {
        const double error = std::abs(delays[c] - layout.nearest(trial, c) - offset);
        sum += std::max(0.0, 1 - error / static_cast<double>(width));
      }
      best = std::max(best, sum);
    }
    total += best / static_cast<double>(layout.channels);
  }
  return total / kTrials;
}

std::string Plan::explain() const {
  return state_->decisions.front().explain() +
         fmt::format("\nkeeps {:.2f} of the S/N of pulses of 1 sample, {:.2f} of 4, {:.2f} of 16", kept(1), kept(4),
                     kept(16));
}
const std::vector<planner::Decision>& Plan::decisions() const { return state_->decisions; }
const std::vector<KernelSource>& Plan::kernels() const { return state_->kernels; }
const Device& Plan::device() const { return state_->device; }
const Problem& Plan::problem() const { return state_->problem; }
double Plan::flops() const { return state_->layout.additions(); }
double Plan::bytes() const { return state_->decisions.front().problem.bytes; }

std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem) {
  return planner::candidates_of(list_variants(device, resolve(problem)));
}

}  // namespace ridge::search
