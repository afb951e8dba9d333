// The stations of a bank distributed over MPI processes: the root has the stream, the others process their stations.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/mpi/filterbank.hpp>

#include "cli/channelize/parts.hpp"
#include "cli/channelize/work.hpp"
#include "filterbank/geometry.hpp"

namespace ridge::cli {

// Constructed by all processes. The root then uses it; the others call serve() until the root's object is destroyed.
class DistributedStations final : public BankWork {
 public:
  DistributedStations(const StationWork& work, const Device& device, const mpi::Communicator& all);
  ~DistributedStations() override;
  void serve();

  std::string variant() const override { return variant_; }
  Product product() const override { return power_ ? Product::power : Product::spectra; }
  std::size_t hop() const override { return geometry_.hop; }
  std::size_t time_size() const override { return time_size_; }
  std::uint64_t start_at(std::uint64_t spectrum) override;
  std::size_t most_times(std::size_t bytes) const override { return most_times_of(geometry_, times_each_, bytes); }
  std::size_t push(std::span<const std::byte> in, std::span<float> out, bool last) override;
  std::uint64_t spectra() const override;

  // Collective; spectra only.
  void set_delays(std::uint64_t sample, std::span<const double> delays);
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights);

 private:
  enum class Word : std::uint64_t { start, push, end };
  void tell(Word word, std::uint64_t number);
  std::uint64_t start(std::uint64_t spectrum);
  std::size_t take(std::span<const std::byte> in, std::span<float> out);

  mpi::Communicator all_;
  filterbank::Geometry geometry_;
  std::optional<mpi::filterbank::Stream> stream_;
  std::optional<mpi::filterbank::PowerStream> power_;
  std::size_t time_size_ = 0, times_each_ = 1;
  std::string variant_;
  std::uint64_t bytes_ = 0, first_ = 0;  // bytes of the stream; its first spectrum
};

}  // namespace ridge::cli
