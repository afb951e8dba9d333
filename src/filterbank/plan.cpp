// The way of one call: check, complete, list, decide, build.
#include <algorithm>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "filterbank/bank.hpp"
#include "filterbank/delays.hpp"

namespace ridge::filterbank {
namespace {

constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 3, .at_most = 1000, .round = 2e-4};
constexpr std::size_t kTrialSamples = std::size_t{1} << 20;  // of all stations together
constexpr std::size_t kTrialBytes = std::size_t{256} << 20;

// A stretch of stream and room for its spectra, made when the first candidate is timed.
class Trials {
 public:
  explicit Trials(const Geometry& geometry) : geometry_(geometry) {
    const std::size_t each = geometry.hop * geometry.stations * geometry.polarizations;
    spectra_ = std::clamp<std::size_t>(kTrialSamples / each, 16,
                                       std::max<std::size_t>(16, kTrialBytes / (8 * geometry.spectrum_size())));
  }
  std::size_t spectra() const { return spectra_; }

  double seconds(const Variant& variant, const Weights& weights) {
    if (in_.size() == 0) {
      // Enough samples that no spectrum reaches before or behind them.
      const std::size_t samples = geometry_.channels * geometry_.taps + spectra_ * geometry_.hop + geometry_.block;
      in_ = base::AlignedArray<std::byte>((samples / geometry_.block + 2) * geometry_.frame_bytes());
      out_ = base::AlignedArray<std::complex<float>>((spectra_ + 2 * geometry_.times) * geometry_.spectrum_size());
      if (geometry_.delayed) phases_.resize(spectra_ * geometry_.polarizations * geometry_.stations, {0.1f, 1e-3f});
      std::uint32_t noise = 1;
      for (std::byte& value : in_) value = static_cast<std::byte>((noise = noise * 1664525 + 1013904223) >> 24);
      if (geometry_.samples == Samples::float32) std::fill(in_.begin(), in_.end(), std::byte{0x3e});  // 0.186
      std::fill(out_.begin(), out_.end(), 0.0f);
    }
    const RawView raw(0, in_.data(), in_.size(), nullptr, 0);
    const std::uint64_t first = geometry_.channels * geometry_.taps / geometry_.hop + 1;
    return base::best_seconds(
        [&] {
          variant.run({.raw = raw,
                       .first = first,
                       .spectra = spectra_,
                       .weights = weights,
                       .out = out_.data(),
                       .phases = phases_});
        },
        kTrial);
  }

 private:
  const Geometry& geometry_;
  std::size_t spectra_;
  base::AlignedArray<std::byte> in_;
  base::AlignedArray<std::complex<float>> out_;
  std::vector<Phase> phases_;
};

std::vector<planner::Candidate> only_candidates(const std::vector<Entry>& entries) {
  std::vector<planner::Candidate> candidates;
  for (const Entry& entry : entries) candidates.push_back(entry.candidate);
  return candidates;
}

}  // namespace

Bank::Bank(const Device& device, const Problem& wanted, const planner::Options& options)
    : problem(complete(wanted)), geometry(resolve(problem)) {
  std::vector<Entry> entries = list_variants(device, problem, geometry);
  Trials trials(geometry);
  const auto times = static_cast<double>(trials.spectra());
  for (Entry& entry : entries) {
    entry.candidate.cost.flops *= times;
    entry.candidate.cost.bytes *= times;
  }
  std::vector<std::shared_ptr<const Variant>> built(entries.size());
  const auto build = [&](std::size_t i) {
    if (!built[i]) built[i] = entries[i].build();
    return built[i];
  };
  const planner::Problem described{.workload = "filterbank",
                                   .key = fmt::format("{}{} threads {}", geometry.key(),
                                                      problem.bandpass.empty() ? "" : " bandpass", geometry.threads),
                                   .flops = geometry.flops() * times,
                                   .bytes = geometry.bytes() * times};
  decision = planner::decide(device, described, only_candidates(entries), options, [&](std::size_t i) {
    const auto candidate = build(i);
    return trials.seconds(*candidate, *candidate->prepare(problem.weights));
  });
  variant_name = entries[decision.winner].candidate.name();
  variant = build(decision.winner);
  weights = variant->prepare(problem.weights);
}

Plan::Plan(const Device& device, const Problem& problem, const planner::Options& options)
    : bank_(std::make_shared<const Bank>(device, problem, options)) {}

const Problem& Plan::problem() const { return bank_->problem; }
std::size_t Plan::hop() const { return bank_->geometry.hop; }
std::size_t Plan::spectrum_size() const { return bank_->geometry.spectrum_size(); }
std::size_t Plan::history() const { return bank_->problem.weights.size() - 1; }
double Plan::flops() const { return bank_->geometry.flops(); }
double Plan::bytes() const { return bank_->geometry.bytes(); }
std::string Plan::variant() const { return bank_->variant_name; }
std::string Plan::explain() const { return bank_->decision.explain(); }
const planner::Decision& Plan::decision() const { return bank_->decision; }

void Plan::enqueue(Queue& queue, const Resident& work) const {
  if (work.count == 0) return;
  const Geometry& g = bank_->geometry;
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::invalid_argument, "filterbank: " + what); };
  if (work.start % g.block != 0) refuse(fmt::format("sample {} does not begin a block of {}", work.start, g.block));
  const std::int64_t oldest = g.oldest_row(work.first) * static_cast<std::int64_t>(g.channels);
  if (static_cast<std::int64_t>(work.start) > std::max<std::int64_t>(oldest, 0)) {
    refuse(fmt::format("spectrum {} depends on samples from {} on, the buffer begins with {}", work.first, oldest,
                       work.start));
  }
  const std::uint64_t before = work.start / g.block * g.frame_bytes();
  if (work.samples.size() == 0 || g.spectra_in(before + work.samples.size()) < work.first + work.count) {
    refuse(fmt::format("the samples end before spectrum {}", work.first + work.count - 1));
  }
  if (work.spectra.size() / sizeof(std::complex<float>) / g.spectrum_size() < work.count) {
    refuse(fmt::format("there is no room for {} spectra of {} values", work.count, g.spectrum_size()));
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
  bank_->variant->enqueue(queue, work, *bank_->weights, delays);
}

Plan plan(const Device& device, const Problem& problem, const planner::Options& options) {
  return Plan(device, problem, options);
}

std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem) {
  const Problem whole = complete(problem);
  return only_candidates(list_variants(device, whole, resolve(whole)));
}

}  // namespace ridge::filterbank
