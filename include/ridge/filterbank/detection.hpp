// Power behind a bank: spectra squared and summed.
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
  // I = |X|^2 + |Y|^2, Q = |X|^2 - |Y|^2, U = 2 Re(X Y*), V = -2 Im(X Y*): two linear polarizations. V is positive
  // where Y leads X by a quarter turn.
  stokes,
};

struct Detection {
  Products products = Products::total;
  std::size_t times = 1;     // spectra summed
  std::size_t channels = 1;  // neighbouring channels summed; divides the number of channels
};

// Power of spectra, summed over times and channels; what is left of a sum is carried to the next push. Output: time,
// station, product, channel. Problem::threads work on it, and the sums are the same however many there are.
class Detector {
 public:
  Detector(const Problem& problem, const Detection& detection);
  std::size_t products() const;
  std::size_t channels() const;
  std::size_t row_size() const;  // values of one summed time
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

// Samples in, power out: a bank and a detector behind it. On OpenCL and CUDA devices one kernel does both, and spectra
// are never written. However the stream is cut into pushes, the sums are the same to the last bit. No delays.
class PowerStream {
 public:
  PowerStream(const Device& device, const Problem& problem, const Detection& detection,
              const planner::Options& options = {});
  ~PowerStream();
  PowerStream(PowerStream&&) noexcept;
  PowerStream& operator=(PowerStream&&) noexcept;
  std::size_t row_size() const;  // values of one summed time: station, product, channel
  std::string variant() const;
  std::size_t due(std::size_t bytes) const;  // summed times that a push of so many bytes will write
  // Any number of bytes. Error{invalid_argument} where `out` is shorter than what is due, and nothing is taken. Pages
  // of `in` that are locked (MemoryKind::pinned) travel fastest.
  std::size_t push(std::span<const std::byte> in, std::span<float> out);
  // As Stream::start_at, with a spectrum that begins a sum.
  std::uint64_t start_at(std::uint64_t spectrum);

 private:
  std::unique_ptr<PowerState> state_;
  std::size_t times_ = 1;
};

}  // namespace ridge::filterbank
