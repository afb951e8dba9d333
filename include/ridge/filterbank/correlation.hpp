// Products of all pairs of stations behind a bank.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>

#include <ridge/filterbank/bank.hpp>

namespace ridge::filterbank {

// What is multiplied: floats, or values rounded to fewer bits, which the matrix units of a device multiply several
// times as fast. A value of 8 bits lies within -127 and 127 and what is larger is cut off; sums of them are exact.
enum class Arithmetic { float32, float16, int8 };

struct Correlation {
  std::size_t times = 256;   // spectra of one integration
  std::size_t channels = 1;  // neighbouring channels summed; divides the number of channels
  Arithmetic arithmetic = Arithmetic::float32;
  float scale = 1;  // float16, int8: values are multiplied by it before they are rounded, and the sums divided again
};

class CorrelatorState;

// Every pair of stations behind a bank, a station with itself among them, and every pair of polarizations:
//
//   V[b][k][p][q] = sum over the times of an integration of X_i,p[k] conj(X_j,q[k]),  b = j (j + 1) / 2 + i,  i <= j
//
// Output, slowest to fastest: integration, baseline b, channel, polarization of i, polarization of j, complex float.
// Spectra come in the order of the problem. However they are cut into pushes, and however many threads work on them,
// the sums are the same to the last bit: floats over a few times, doubles over those. What is left of an integration is
// carried to the next push.
class Correlator {
 public:
  Correlator(const Problem& problem, const Correlation& correlation);
  // On a device; Order::channel is what it reads at full speed.
  Correlator(const Device& device, const Problem& problem, const Correlation& correlation);
  ~Correlator();
  Correlator(Correlator&&) noexcept;
  Correlator& operator=(Correlator&&) noexcept;
  std::size_t baselines() const;  // stations * (stations + 1) / 2
  std::size_t channels() const;
  std::size_t size() const;  // complex values of one integration
  double flops() const;      // of one time: 8 for each product
  std::size_t due(std::size_t spectra) const;
  // Returns how many integrations it wrote. Error{invalid_argument} where `out` is shorter than those due.
  std::size_t push(std::span<const std::complex<float>> spectra, std::span<std::complex<float>> out);
  // Devices: `times` spectra that are there already, whole integrations, to as many in `out`; enqueued, not waited for.
  // Apart from what push() carries.
  void enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out);
  // Devices, float16 and int8: values that are rounded already, `scale` times what they stand for, in rows of 64 bytes:
  // packed_times() times (16 and 32) of one signal, real part first; rows lie as block of times, channel, station,
  // polarization. The k-th 16 bytes of signal s (station times polarizations plus polarization) stand where the
  // (k ^ s / 2 % 4)-th would: as matrix units read rows. An integration has whole blocks.
  void enqueue_packed(Queue& queue, const Buffer& rows, std::size_t times, const Buffer& out);
  std::size_t packed_times() const;
  // Spectra rounded into such rows, whole blocks of them.
  void pack(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& rows);

 private:
  std::unique_ptr<CorrelatorState> state_;
};

}  // namespace ridge::filterbank
