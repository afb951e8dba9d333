// The stations of a bank divided among several devices of this process, in proportion to their speed.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

#include "cli/channelize/work.hpp"
#include "filterbank/geometry.hpp"

namespace ridge::cli {

// Processing of every station.
struct StationWork {
  filterbank::Problem problem;
  std::optional<filterbank::Detection> detection;  // power instead of spectra
  planner::Options options;
};

// Maximum number of output times, of `each` spectra, that a push of `bytes` bytes produces.
std::size_t most_times_of(const filterbank::Geometry& geometry, std::size_t each, std::size_t bytes);

class Part;

// Produces the same bytes as one bank of all stations; with a single device it is one bank.
class StationParts final : public BankWork {
 public:
  StationParts(const StationWork& work, const std::vector<Device>& devices);
  ~StationParts() override;

  std::string variant() const override { return variant_; }
  Product product() const override { return work_.detection ? Product::power : Product::spectra; }
  std::size_t hop() const override { return geometry_.hop; }
  std::size_t time_size() const override { return time_size_; }
  std::size_t grain() const override { return parts_.size() == 1 ? 1 : geometry_.frame_bytes(); }
  std::uint64_t start_at(std::uint64_t spectrum) override;
  std::size_t most_times(std::size_t bytes) const override;
  std::size_t push(std::span<const std::byte> in, std::span<float> out, bool last) override;
  std::uint64_t spectra() const override;

  // Spectra only.
  void set_delays(std::uint64_t sample, std::span<const double> delays);
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights);

 private:
  void split(std::span<const std::byte> in, std::size_t part, std::vector<std::byte>& to) const;
  void join(const std::vector<float>& from, std::size_t part, std::size_t times, float* out) const;
  std::uint64_t times_in(std::uint64_t bytes) const;

  StationWork work_;
  filterbank::Geometry geometry_;
  std::size_t time_size_ = 0;
  std::string variant_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::uint64_t bytes_ = 0, times_ = 0, first_ = 0;  // bytes of the stream; output times; its first spectrum
};

}  // namespace ridge::cli
