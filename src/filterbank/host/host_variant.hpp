// What the host variants share: stations and stretches of time over the threads, scratch.
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

// Spectra of one station, done by one thread.
struct Piece {
  const RawView& raw;
  std::size_t station;
  std::uint64_t first;
  std::size_t spectra;
  const Weights& weights;
  std::complex<float>* out;  // the job's
  std::uint64_t job_first;
  std::size_t job_spectra;
  std::span<const Phase> phases;  // the job's
};

class Output;

class HostVariant : public Variant {
 public:
  // `scratch` floats for each thread, 64-byte aligned.
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

// Floats, rounded up to whole cache lines.
inline std::size_t whole_lines(std::size_t floats) { return (floats + 15) / 16 * 16; }

// The forward FFT of a variant: the choice of the priors, so that every process makes the same one and a stream that is
// resumed goes on to the last bit.
std::shared_ptr<const fft::LineKernel<float>> channel_fft(std::size_t channels);

// The cost host variants have in common: the arithmetic of one time at `efficiency` of the roof, and `passes` more
// trips of the channels through memory than the least.
planner::Cost host_cost(const Geometry& geometry, double efficiency, double passes = 0);

// The bank without its FFT, for the record: branch m where channel m would be. The problem is complete.
std::shared_ptr<const Variant> host_fir_alone(const Problem& problem, const Geometry& geometry);

// The first refusal that holds.
std::string needs_critical(const Geometry& geometry);

}  // namespace ridge::filterbank
