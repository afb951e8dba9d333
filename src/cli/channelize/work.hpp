// What becomes of a stream's samples on its way through `ridge channelize`: spectra, power or correlations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ridge::cli {

enum class Product { spectra, power, correlations };

class BankWork {
 public:
  virtual ~BankWork() = default;
  virtual std::string variant() const = 0;
  virtual Product product() const = 0;
  virtual std::size_t hop() const = 0;        // samples from a spectrum to the next
  virtual std::size_t time_size() const = 0;  // floats of one output time: a spectrum, a sum of power, an integration
  // Bytes a push must be a multiple of, but for the last.
  virtual std::size_t grain() const { return 1; }
  // The stream begins with this spectrum; returns the number of the first sample that is to be pushed.
  virtual std::uint64_t start_at(std::uint64_t spectrum) = 0;
  // Output times that a push of so many bytes makes at most.
  virtual std::size_t most_times(std::size_t bytes) const = 0;
  // Returns the output times it wrote; `last` where nothing follows.
  virtual std::size_t push(std::span<const std::byte> in, std::span<float> out, bool last) = 0;
  virtual std::uint64_t spectra() const = 0;  // made so far, those before start_at included
};

}  // namespace ridge::cli
