// Interface of the processing in `ridge channelize`: samples to spectra, power or correlations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ridge/filterbank/bank.hpp>

namespace ridge::cli {

enum class Product { spectra, power, correlations };

class BankWork {
 public:
  virtual ~BankWork() = default;
  virtual std::string variant() const = 0;
  virtual Product product() const = 0;
  virtual std::size_t hop() const = 0;        // samples from one spectrum to the next
  virtual std::size_t time_size() const = 0;  // floats per output time: a spectrum, a sum of power, an integration
  // The size of every push except the last must be a multiple of this number of bytes.
  virtual std::size_t grain() const { return 1; }
  // Starts the stream at this spectrum; returns the number of the first sample to push.
  virtual std::uint64_t start_at(std::uint64_t spectrum) = 0;
  // Maximum number of output times that a push of `bytes` bytes produces.
  virtual std::size_t most_times(std::size_t bytes) const = 0;
  // Correlations: spectra with lost samples, in order, which are left out of the sums of later pushes.
  virtual void exclude(std::vector<filterbank::SpectrumRange>) {}
  // Returns the number of output times written; `last` if no samples follow.
  virtual std::size_t push(std::span<const std::byte> in, std::span<float> out, bool last) = 0;
  virtual std::uint64_t spectra() const = 0;  // so far, including those before start_at
};

}  // namespace ridge::cli
