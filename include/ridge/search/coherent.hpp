// Coherent dedispersion: removes the dispersion of voltages by a filter with the inverse phase, by overlap-save.
//
//   ridge::search::CoherentPlan plan(ridge::host(), {.centre_mhz = 1400, .rate_mhz = 6.25, .dm = 40});
//   plan.run(voltages, dedispersed);
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::search {

struct CoherentProblem {
  double centre_mhz = 0;   // sky frequency of 0 Hz of the complex samples
  double rate_mhz = 0;     // complex samples per microsecond; negative: an inverted band
  double dm = 0;           // pc/cm^3
  std::size_t length = 0;  // points per transform; 0: at least eight times the sweep
  double taper = 0.02;     // outer part of the band, on each side, that is attenuated by a raised cosine
  double margin = 1.1;     // overlap in units of the sweep
  std::size_t threads = 0;
  bool bytes = false;  // devices, enqueue(): input samples are complex int8
};

struct CoherentState;

// Cheap to copy. Runs may be made by any number of threads, one after another.
class CoherentPlan {
 public:
  CoherentPlan(const Device& device, const CoherentProblem& problem,
               const planner::Options& options = {.effort = Effort::quick});

  // out has as many samples as in and must not overlap it. Samples before and after the input count as zero. Delays
  // refer to the centre of the band.
  void run(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const;

  // Devices: `samples` values in device memory, complex float or int8, to as many complex floats; enqueued, not waited
  // for. The queues of one plan must not run concurrently.
  void enqueue(Queue& queue, const Buffer& in, std::size_t samples, const Buffer& out) const;

  std::size_t length() const;  // points per transform
  std::size_t before() const;  // input samples before an output that it depends on
  std::size_t after() const;
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;
  const Device& device() const;
  const CoherentProblem& problem() const;

 private:
  std::shared_ptr<const CoherentState> state_;
};

// The filter's value at `offset_mhz` from the centre, without taper.
std::complex<double> coherent_response(const CoherentProblem& problem, double offset_mhz);

}  // namespace ridge::search
