// What a variant of the filter bank brings. Adding one: a file with a lister, and its line in registry.cpp.
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

namespace ridge::filterbank {

// A prototype in the form a variant wants it. Made beforehand and replaced as a whole.
class Weights {
 public:
  virtual ~Weights() = default;
};

// A delay's phase: channel k is turned by start + signed_channel(k) * slope turns. Half a turn either way at most in
// `start`, so that floats are exact enough.
struct Phase {
  float start = 0, slope = 0;
};

struct Job {
  const RawView& raw;       // with the stations' whole samples of delay: raw.shift(station)
  std::uint64_t first = 0;  // number of the first spectrum
  std::size_t spectra = 0;
  const Weights& weights;
  // Where the output block of `first` begins: geometry.place(first, ...). With Order::channel a job may begin and end
  // within a block, and writes its own times only.
  std::complex<float>* out = nullptr;
  // [spectrum - first][polarization][station]; empty where the problem wants no delays.
  std::span<const Phase> phases{};
  // What a variant keeps for this stream from job to job, if it keeps anything: history in a device's memory.
  std::shared_ptr<void>* memory = nullptr;
};

// Those of resident samples: whole samples of every station, and phases as a Job has them.
struct ResidentDelays {
  std::vector<std::int32_t> shifts{};
  std::vector<Phase> phases{};
};

// Built for one problem on one device: ready, unchanging, used by any number of threads.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const = 0;
  virtual void run(const Job& job) const = 0;
  // Devices: samples and spectra that are there already; enqueued, not waited for. The sizes have been checked.
  virtual void enqueue(Queue& queue, const Resident& work, const Weights& weights, const ResidentDelays& delays) const;
};

using Entry = planner::Entry<Variant>;

// A variant's file defines one and registry.cpp names it: appends the variant with each set of parameters worth trying,
// refusals included. The problem is complete.
using Lister = void(const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries);
namespace on_device {
using Lister = void(const Device& device, const Problem& problem, const Geometry& geometry,
                    std::vector<Entry>& entries);
}

std::vector<Entry> list_variants(const Device& device, const Problem& problem, const Geometry& geometry);

}  // namespace ridge::filterbank
