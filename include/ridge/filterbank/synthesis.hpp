// Synthesis filter banks: reconstruct samples from spectra.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <ridge/filterbank/bank.hpp>

namespace ridge::filterbank {

// The least-squares inverse of `prototype`: `length` times as long, one value per sample. At critical sampling short
// filters do not get below about -35 dB; from 8/7 oversampling, length 1.5 reaches -90 dB.
std::vector<double> dual(std::span<const double> prototype, std::size_t channels, std::size_t hop, double length = 1.5);

class SynthesisState;

// The inverse of a bank, for one stream of spectra. Input: time, polarization, station, channel. Output, in steps of
// `hop` samples: step, station, sample, polarization. The output is the analysis input delayed by delay() samples.
class Synthesis {
 public:
  Synthesis(const Problem& analysis, double length = 1.5);
  ~Synthesis();
  Synthesis(Synthesis&&) noexcept;
  Synthesis& operator=(Synthesis&&) noexcept;
  std::size_t hop() const;
  std::size_t delay() const;
  std::size_t step_size() const;  // complex values per step: stations * hop * polarizations
  // Writes one step per whole spectrum in `in`; Error{invalid_argument} if `out` is shorter.
  std::size_t push(std::span<const std::complex<float>> in, std::span<std::complex<float>> out);

 private:
  std::unique_ptr<SynthesisState> state_;
};

}  // namespace ridge::filterbank
