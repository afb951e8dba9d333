// Shared part of the host variants: distributes stations and ranges of time over the threads, and provides scratch.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "fft/host/scratch.hpp"
#include "fft/variant.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank {

// A range of spectra of one station, computed by one thread.
struct Piece {
  const RawView& raw;
  std::size_t station;
  std::uint64_t first;
  std::size_t spectra;
  const Weights& weights;
  std::complex<float>* out;  // of the whole job
  std::uint64_t job_first;
  std::size_t job_spectra;
  std::span<const Phase> phases;  // of the whole job
};

class Output;

class HostVariant : public Variant {
 public:
  // `scratch` floats per thread, 64-byte aligned.
  HostVariant(const Problem& problem, const Geometry& geometry, std::size_t scratch);
  void run(const Job& job) const final;

 protected:
  virtual void work(const Piece& piece, Output& output, float* scratch) const = 0;
  const Geometry& geometry() const { return geometry_; }

 private:
  Geometry geometry_;
  std::vector<std::complex<float>> bandpass_;
  std::size_t scratch_;
  std::unique_ptr<fft::ScratchPool<float>> pool_;
};

// Rounds a number of floats up to whole cache lines.
inline std::size_t whole_lines(std::size_t floats) { return (floats + 15) / 16 * 16; }

// The forward FFT of a variant, chosen without measurement: every process makes the same choice, so that a resumed
// stream has bit-identical results.
std::shared_ptr<const fft::LineKernel<float>> channel_fft(std::size_t channels);

// Cost of host variants: the arithmetic of one spectrum at `efficiency` of the roofline ceiling, and `passes`
// additional passes of the channels through memory.
planner::Cost host_cost(const Geometry& geometry, double efficiency, double passes = 0);

// The bank without its FFT, for benchmarks: branch m at the position of channel m. The problem is complete.
std::shared_ptr<const Variant> host_fir_alone(const Problem& problem, const Geometry& geometry);

// Refusal of an oversampled problem; empty for critical sampling.
std::string needs_critical(const Geometry& geometry);

}  // namespace ridge::filterbank
