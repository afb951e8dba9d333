// Spectra back to samples.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <ridge/filterbank/bank.hpp>

namespace ridge::filterbank {

// The prototype that undoes `prototype` best in the sense of least squares: `length` times as long, one value a
// sample. At critical sampling no short filter comes below about -35 dB; from 8/7 up 1.5 reaches -90 dB.
std::vector<double> dual(std::span<const double> prototype, std::size_t channels, std::size_t hop, double length = 1.5);

class SynthesisState;

// The inverse of a bank, for one stream of spectra: time, polarization, station, channel in; steps of `hop` samples
// out: step, station, sample, polarization. Nothing but a delay of delay() samples is between the input of the analysis
// and this output.
class Synthesis {
 public:
  Synthesis(const Problem& analysis, double length = 1.5);
  ~Synthesis();
  Synthesis(Synthesis&&) noexcept;
  Synthesis& operator=(Synthesis&&) noexcept;
  std::size_t hop() const;
  std::size_t delay() const;
  std::size_t step_size() const;  // complex values of one step: stations * hop * polarizations
  // As many steps as there are whole spectra in `in`; Error{invalid_argument} where `out` is shorter.
  std::size_t push(std::span<const std::complex<float>> in, std::span<std::complex<float>> out);

 private:
  std::unique_ptr<SynthesisState> state_;
};

}  // namespace ridge::filterbank
