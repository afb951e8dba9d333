// Chooses a variant for a workload: takes the listed variants, returns the decision and the built winner.
//
//   std::vector<planner::Entry<Variant>> entries = list_variants(device, layout);
//   MyTrials trials(device, layout);
//   auto [decision, winner] = planner::choose(device, problem, entries, options, trials);
//
// src/transpose/plan.cpp is a complete example.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

#include "device/compile_cache.hpp"
#include "plan/comparison.hpp"
#include "plan/predict.hpp"
#include "plan/selection.hpp"

namespace ridge::planner {

// A candidate and the function that builds it. A workload that needs more fields per variant defines its own struct
// with these three names. Neither function is called for a refused candidate.
template <class V>
struct Entry {
  Candidate candidate{};
  std::function<std::vector<KernelSource>()>
      kernels{};  // devices: the kernels that `build` compiles, to show them and to compile them ahead
  std::function<std::shared_ptr<const V>()> build{};
};

template <class E>
using VariantOf = std::remove_cv_t<typename decltype(std::declval<const E&>().build())::element_type>;

// Times and verifies built variants. Its arrays are allocated for the first variant and shared by all.
template <class V>
class Trials {
 public:
  using Build = std::function<const V&()>;
  virtual ~Trials() = default;
  // Seconds of one warm run on random data (device/random.hpp): constant data draw less power, which makes a
  // power-limited GPU faster.
  virtual double seconds(const V& variant) = 0;
  // Compares the answer on random data with that of the reference: plain loops, or a variant known to be correct. The
  // output is filled with NaN first, so that elements left unwritten are noticed.
  virtual Comparison compare(const V& variant) = 0;
  // For a workload that times something other than the variant it will run, such as a part of a large grid.
  virtual double seconds_of(std::size_t /*entry*/, const Build& build) { return seconds(build()); }
};

enum class Keep {
  all,   // keep every variant built for a trial until the choice is made: nothing is built twice
  last,  // keep only the last one built: for variants that hold memory of the problem's size
};

template <class V>
struct Chosen {
  Decision decision{};
  std::shared_ptr<const V> winner{};
};

template <class E>
std::vector<Candidate> candidates_of(const std::vector<E>& entries) {
  std::vector<Candidate> candidates;
  candidates.reserve(entries.size());
  for (const E& entry : entries) candidates.push_back(entry.candidate);
  return candidates;
}

// Kernels of one entry; empty on the host.
template <class E>
std::vector<KernelSource> kernels_of(const E& entry) {
  return entry.kernels ? entry.kernels() : std::vector<KernelSource>{};
}

namespace detail {

template <class E>
class Built {
 public:
  using V = VariantOf<E>;
  Built(const std::vector<E>& entries, Keep keep) : entries_(entries), keep_(keep), built_(entries.size()) {}
  const V& operator()(std::size_t i) { return *shared(i); }
  const std::shared_ptr<const V>& shared(std::size_t i) {
    if (!built_[i]) {
      if (keep_ == Keep::last && last_ < built_.size()) built_[last_].reset();
      built_[i] = entries_[i].build();
      last_ = i;
    }
    return built_[i];
  }

 private:
  const std::vector<E>& entries_;
  Keep keep_;
  std::vector<std::shared_ptr<const V>> built_;
  std::size_t last_ = static_cast<std::size_t>(-1);
};

}  // namespace detail

// The winner is the object that was timed: nothing is built again, except with Keep::last.
template <class E>
Chosen<VariantOf<E>> choose(const Device& device, const Problem& problem, const std::vector<E>& entries,
                            const Options& options, std::type_identity_t<Trials<VariantOf<E>>>& trials,
                            Keep keep = Keep::all) {
  using V = VariantOf<E>;
  detail::Built<E> built(entries, keep);
  bool compiled_ahead = false;
  const auto compile_ahead = [&](std::span<const std::size_t> some) {
    if (device.info().backend != Backend::cuda) return;
    std::vector<KernelSource> sources;
    for (const std::size_t i : some) {
      for (KernelSource& source : kernels_of(entries[i])) sources.push_back(std::move(source));
    }
    compile_together(device, std::move(sources));
    compiled_ahead = true;
  };
  Questions ask;
  ask.seconds = [&](std::size_t i) { return trials.seconds_of(i, [&built, i]() -> const V& { return built(i); }); };
  ask.compare = [&](std::size_t i) { return trials.compare(built(i)); };
  ask.prepare = compile_ahead;
  PowerMeter meter;
  ask.open_meter = [&] { meter.open(device, options); };
  ask.watts = [&](std::size_t i) { return meter.watts([&] { ask.seconds(i); }); };
  Chosen<V> chosen{.decision =
                       select(device.info(), machine::ceilings(device), problem, candidates_of(entries), options, ask)};
  const std::size_t winner = chosen.decision.winner;
  // The kernels of a winner that an earlier process measured are in the cache on disk.
  if (!compiled_ahead && chosen.decision.source != Source::wisdom) compile_ahead(std::span(&winner, 1));
  chosen.winner = built.shared(winner);
  return chosen;
}

}  // namespace ridge::planner
