// Planning of a filter bank: checks and completes the problem, lists the variants and chooses one.
#include <algorithm>

#include <fmt/format.h>

#include "filterbank/delays.hpp"
#include "filterbank/trials.hpp"
#include "filterbank/variant.hpp"
#include "plan/improve.hpp"

namespace ridge::filterbank {

Bank::Bank(const Device& where, const Problem& wanted, const planner::Options& options)
    : problem(complete(wanted)), geometry(resolve(problem)), device(where) {
  std::vector<Entry> entries = list_variants(device, problem, geometry);
  Trials trials(problem, geometry);
  const auto times = static_cast<double>(trials.spectra());
  for (Entry& entry : entries) {
    entry.candidate.cost.flops *= times;
    entry.candidate.cost.bytes *= times;
  }
  const planner::Problem described{.workload = "filterbank",
                                   .key = fmt::format("{}{} threads {}", geometry.key(),
                                                      problem.bandpass.empty() ? "" : " bandpass", geometry.threads),
                                   .flops = geometry.flops() * times,
                                   .bytes = geometry.bytes() * times};
  auto chosen = planner::choose(device, described, entries, options, trials);
  const Entry& winner = entries[chosen.decision.winner];
  kernels = planner::kernels_of(winner);
  variant_name = winner.candidate.name();
  variant = std::move(chosen.winner);
  decisions.push_back(std::move(chosen.decision));
  weights = variant->prepare(problem.weights);
}

Plan::Plan(const Device& device, const Problem& problem, const planner::Options& options)
    : bank_(std::make_shared<const Bank>(device, problem, options)) {
  planner::improve<Bank>(bank_, options, [device, problem](const planner::Options& measuring) {
    return std::make_shared<const Bank>(device, problem, measuring);
  });
}

const Problem& Plan::problem() const { return bank_->problem; }
std::size_t Plan::hop() const { return bank_->geometry.hop; }
std::size_t Plan::spectrum_size() const { return bank_->geometry.spectrum_size(); }
std::size_t Plan::history() const { return bank_->problem.weights.size() - 1; }
double Plan::flops() const { return bank_->geometry.flops(); }
double Plan::bytes() const { return bank_->geometry.bytes(); }
std::string Plan::variant() const { return bank_->variant_name; }
const Device& Plan::device() const { return bank_->device; }
std::string Plan::explain() const { return bank_->decisions.front().explain(); }
const std::vector<planner::Decision>& Plan::decisions() const { return bank_->decisions; }
const std::vector<KernelSource>& Plan::kernels() const { return bank_->kernels; }

std::size_t Plan::run(std::span<const std::byte> in, std::span<std::complex<float>> out) const {
  return Stream(*this).push(in, out);
}

void Plan::enqueue(Queue& queue, const Resident& work) const {
  if (work.count == 0) return;
  const Geometry& g = bank_->geometry;
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::invalid_argument, "filterbank: " + what); };
  if (work.start % g.block != 0)
    refuse(fmt::format("the samples must start at a multiple of {}, got sample {}", g.block, work.start));
  const std::int64_t oldest = g.oldest_row(work.first) * static_cast<std::int64_t>(g.channels);
  if (static_cast<std::int64_t>(work.start) > std::max<std::int64_t>(oldest, 0)) {
    refuse(fmt::format("spectrum {} needs samples from {} on, the buffer starts with sample {}", work.first, oldest,
                       work.start));
  }
  const std::uint64_t before = work.start / g.block * g.frame_bytes();
  if (work.samples.size() == 0 || g.spectra_in(before + work.samples.size()) < work.first + work.count) {
    refuse(fmt::format("the buffer of {} bytes ends before the samples of spectrum {}", work.samples.size(),
                       work.first + work.count - 1));
  }
  if (work.spectra.size() / sizeof(std::complex<float>) / g.spectrum_size() < work.count) {
    refuse(fmt::format("{} spectra of {} values need an output of {} bytes, got {}", work.count, g.spectrum_size(),
                       work.count * g.spectrum_size() * sizeof(std::complex<float>), work.spectra.size()));
  }
  ResidentDelays delays;
  if (g.delayed) {
    DelayTrack track(g, bank_->problem.delays.frequency);
    track.add(0, work.delays);
    std::vector<std::int64_t> shifts(g.stations);
    track.shifts(work.first, shifts);
    delays.shifts.assign(shifts.begin(), shifts.end());
    const std::size_t each = g.polarizations * g.stations;
    delays.phases.resize(work.count * each);
    for (std::size_t t = 0; t < work.count; ++t) {
      track.phases(work.first + t, shifts, std::span(delays.phases).subspan(t * each, each));
    }
  }
  const std::shared_ptr<const Bank> bank = planner::current(bank_);  // variant and weights belong together
  bank->variant->enqueue(queue, work, *bank->weights, delays);
}

Plan plan(const Device& device, const Problem& problem, const planner::Options& options) {
  return Plan(device, problem, options);
}

std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem) {
  const Problem whole = complete(problem);
  return planner::candidates_of(list_variants(device, whole, resolve(whole)));
}

}  // namespace ridge::filterbank
