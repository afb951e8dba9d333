// Cross-correlation of all pairs of stations after a filter bank.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>

#include <ridge/filterbank/bank.hpp>

namespace ridge::filterbank {

// Number type of the factors: float, or values rounded to fewer bits, which a device's matrix units multiply several
// times faster. 8-bit values are clamped to -127 .. 127; their sums are exact.
enum class Arithmetic { float32, float16, int8 };

struct Correlation {
  std::size_t times = 256;  // spectra per integration
  // Neighbouring channels summed; divides the number of channels. No sum may join both edges of the band: unless all
  // channels are summed or the bank is centred, it also divides the channels from the centre to the upper edge.
  std::size_t channels = 1;
  Arithmetic arithmetic = Arithmetic::float32;
  float scale = 1;  // float16, int8: values are multiplied by it before rounding; sums are divided accordingly
};

class CorrelatorState;

// Correlates every pair of stations, including each station with itself, and every pair of polarizations:
//
//   V[b][k][p][q] = sum over the times of an integration of X_i,p[k] conj(X_j,q[k]),  b = j (j + 1) / 2 + i,  i <= j
//
// Output, slowest to fastest: integration, baseline b, channel, polarization of i, polarization of j, complex float.
// Spectra arrive in the order of the problem. Sums are bit-identical for any division into pushes and any number of
// threads: float over a few times, double over these sums. An incomplete integration is carried to the next push.
class Correlator {
 public:
  Correlator(const Problem& problem, const Correlation& correlation);
  // On a device; reads Order::channel at full speed.
  Correlator(const Device& device, const Problem& problem, const Correlation& correlation);
  ~Correlator();
  Correlator(Correlator&&) noexcept;
  Correlator& operator=(Correlator&&) noexcept;
  std::size_t baselines() const;  // stations * (stations + 1) / 2
  std::size_t channels() const;
  std::size_t size() const;  // complex values per integration
  double flops() const;      // per time: 8 per product
  std::size_t due(std::size_t spectra) const;
  // Returns the number of integrations written. Error{invalid_argument} if `out` is too short for them.
  std::size_t push(std::span<const std::complex<float>> spectra, std::span<std::complex<float>> out);
  // Devices: `times` spectra in device memory, whole integrations, to `out`; enqueued, not waited for. Independent of
  // the state that push() carries.
  void enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out);
  // Devices, float16 and int8: values already rounded, multiplied by `scale`, in rows of 64 bytes. A row holds
  // packed_times() times (16 for float16, 32 for int8) of one signal, real part first. Row order: block of times,
  // channel, station, polarization. The 16-byte groups of a row are permuted for matrix units: group k of signal s (s =
  // station * polarizations + polarization) is stored in position k ^ s / 2 % 4. An integration has whole blocks.
  void enqueue_packed(Queue& queue, const Buffer& rows, std::size_t times, const Buffer& out);
  std::size_t packed_times() const;
  // Rounds spectra into such rows; whole blocks only.
  void pack(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& rows);

 private:
  std::unique_ptr<CorrelatorState> state_;
};

}  // namespace ridge::filterbank
