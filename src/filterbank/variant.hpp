// Interface of a filter-bank variant. To add one: write a file with a lister, and add its line to registry.cpp.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"
#include "filterbank/raw_view.hpp"
#include "plan/choose.hpp"
#include "plan/lister.hpp"

namespace ridge::filterbank {

// A prototype in a variant's own layout; immutable, replaced as a whole.
class Weights {
 public:
  virtual ~Weights() = default;
};

// Phase of a delay: channel k is multiplied by exp(2 pi i (start + signed_channel(k) * slope)). `start` is in cycles
// between -1/2 and 1/2, so that single precision suffices.
struct Phase {
  float start = 0, slope = 0;
};

struct Job {
  const RawView& raw;       // with the whole-sample delays of the stations: raw.shift(station)
  std::uint64_t first = 0;  // number of the first spectrum
  std::size_t spectra = 0;
  const Weights& weights;
  // Start of the output block that holds `first`: index it with geometry.place(first, ...). With Order::channel a job
  // may begin and end within a block; it writes only its own times.
  std::complex<float>* out = nullptr;
  // [spectrum - first][polarization][station]; empty if the problem has no delays.
  std::span<const Phase> phases{};
  // State that a variant keeps for this stream between jobs, such as history in device memory; may be null.
  std::shared_ptr<void>* memory = nullptr;
};

// Delays for samples in device memory: whole samples per station, and phases as in Job.
struct ResidentDelays {
  std::vector<std::int32_t> shifts{};
  std::vector<Phase> phases{};
};

// Built for one problem on one device; immutable, safe for concurrent use.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const = 0;
  virtual void run(const Job& job) const = 0;
  // Enqueues work on samples and spectra in device memory, without waiting. The caller has checked the sizes.
  virtual void enqueue(Queue& queue, const Resident& work, const Weights& weights, const ResidentDelays& delays) const;
  // The device whose memory should hold the samples while the variant is timed; null: run() is timed.
  virtual const Device* resident_device() const { return nullptr; }
};

using Entry = planner::Entry<Variant>;

// Appends a variant's entries: one per parameter set worth trying, refused ones included. Defaults of the problem are
// filled in. Each variant's file defines a lister; registry.cpp names it.
using Lister = planner::Lister<Entry, Problem, Geometry>;

std::vector<Entry> list_variants(const Device& device, const Problem& problem, const Geometry& geometry);

// State of a filter-bank Plan: the completed problem, the planner's decision and the variant that was built.

class Bank {
 public:
  Bank(const Device& device, const Problem& problem, const planner::Options& options);

  Problem problem;
  Geometry geometry;
  Device device;
  std::vector<planner::Decision> decisions;
  std::vector<KernelSource> kernels;
  std::string variant_name;
  std::shared_ptr<const Variant> variant;
  std::shared_ptr<const Weights> weights;  // problem.weights in the variant's layout
};

}  // namespace ridge::filterbank
