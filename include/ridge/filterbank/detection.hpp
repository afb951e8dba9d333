// Power detection after a filter bank: squares spectra and sums them.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/filterbank/bank.hpp>

namespace ridge::filterbank {

enum class Products {
  total,   // |X|^2 + |Y|^2 (or |X|^2 of one polarization)
  powers,  // |X|^2, |Y|^2
  // I = |X|^2 + |Y|^2, Q = |X|^2 - |Y|^2, U = 2 Re(X Y*), V = -2 Im(X Y*) of two linear polarizations. V is positive if
  // Y leads X by 90 degrees.
  stokes,
  moments,  // |X|^2, |Y|^2, |X|^4, |Y|^4: sums and sums of squares of the powers, for spectral kurtosis
};

// Values per channel.
std::size_t product_count(Products products, std::size_t polarizations);

struct Detection {
  Products products = Products::total;
  std::size_t times = 1;     // spectra summed
  std::size_t channels = 1;  // neighbouring channels summed; see Correlation::channels
};

// Sums the power of spectra over times and channels; an incomplete sum is carried to the next push. Output: time,
// station, product, channel. Uses Problem::threads threads; sums do not depend on their number.
class Detector {
 public:
  Detector(const Problem& problem, const Detection& detection);
  std::size_t products() const;
  std::size_t channels() const;
  std::size_t row_size() const;  // values per summed time
  std::size_t due(std::size_t spectra) const;
  std::size_t push(std::span<const std::complex<float>> spectra, std::span<float> out);

 private:
  void add_times(std::span<const std::complex<float>> spectra, std::span<float> out, std::size_t station,
                 std::size_t first_sum, std::size_t end_sum);

  std::size_t channels_, stations_, polarizations_, threads_;
  Detection detection_;
  std::size_t held_ = 0;  // spectra in the sum
  std::vector<double> sum_;
};

class PowerState;

// A bank followed by a detector: samples in, power out. On OpenCL and CUDA devices one kernel does both and spectra are
// never written. The sums are bit-identical for any division into pushes. Delays are not supported.
class PowerStream {
 public:
  PowerStream(const Device& device, const Problem& problem, const Detection& detection,
              const planner::Options& options = {});
  ~PowerStream();
  PowerStream(PowerStream&&) noexcept;
  PowerStream& operator=(PowerStream&&) noexcept;
  std::size_t row_size() const;  // values per summed time: station, product, channel
  std::string variant() const;
  std::size_t due(std::size_t bytes) const;  // summed times that a push of `bytes` bytes will write
  // Accepts any number of bytes. Error{invalid_argument} if `out` is shorter than what is due; nothing is then
  // consumed. Transfers are fastest from page-locked memory (MemoryKind::pinned).
  std::size_t push(std::span<const std::byte> in, std::span<float> out);
  // As Stream::start_at; the spectrum must be the first of a sum.
  std::uint64_t start_at(std::uint64_t spectrum);

 private:
  std::unique_ptr<PowerState> state_;
  std::size_t times_ = 1;
};

}  // namespace ridge::filterbank
