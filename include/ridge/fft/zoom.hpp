// Chirp-z transforms: the spectrum of a signal on any arc, at any resolution, without padding the signal.
//
//   ridge::fft::Zoom<float> band({.samples = 1000, .values = 500, .from = 0.11, .step = 0.01 / 500});
//   band.run(signal, spectrum);      // spectrum[k] = sum signal[n] exp(-2 pi i (from + k step) n)
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>

#include <ridge/plan.hpp>

namespace ridge::fft {

struct ZoomProblem {
  std::size_t samples = 0, values = 0;
  double from = 0, step = 0;  // cycles per sample
  double radius = 1;          // distance of the arc from 0: sample n is divided by radius^n
  std::size_t batch = 1;
  std::size_t threads = 0;  // 0 = all
};

template <class T>
struct ZoomState;  // src/fft/zoom.cpp

// On the host. Cheap to copy; runs are const and may be made by any number of threads.
template <class T>
class Zoom {
 public:
  using Complex = std::complex<T>;
  explicit Zoom(const ZoomProblem& problem, const planner::Options& options = {.effort = Effort::quick});
  void run(std::span<const Complex> in, std::span<Complex> out) const;  // batch x samples -> batch x values
  const ZoomProblem& problem() const;

 private:
  std::shared_ptr<const ZoomState<T>> state_;
};

}  // namespace ridge::fft
