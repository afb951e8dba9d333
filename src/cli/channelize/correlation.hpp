// Filter bank and correlator on one device: spectra and filter state stay on it.
#pragma once
#include <cstdint>
#include <memory>

#include <ridge/filterbank.hpp>

#include "cli/channelize/work.hpp"
#include "filterbank/device/sample_window.hpp"
#include "filterbank/geometry.hpp"

namespace ridge::cli {

class DeviceCorrelation final : public BankWork {
 public:
  // Null if an integration exceeds the memory limit, or if delays are corrected.
  static std::unique_ptr<DeviceCorrelation> make(const Device& device, const filterbank::Problem& problem,
                                                 const filterbank::Correlation& correlation,
                                                 const planner::Options& options);

  std::string variant() const override { return plan_.variant() + " and a correlator on the device"; }
  Product product() const override { return Product::correlations; }
  std::size_t hop() const override { return geometry_.hop; }
  std::size_t time_size() const override { return 2 * correlator_.size(); }
  std::uint64_t start_at(std::uint64_t spectrum) override;
  std::size_t most_times(std::size_t bytes) const override;
  std::size_t push(std::span<const std::byte> in, std::span<float> out, bool last) override;
  std::uint64_t spectra() const override { return spectra_; }
  void exclude(std::vector<filterbank::SpectrumRange> ranges) override { excluded_ = std::move(ranges); }

 private:
  DeviceCorrelation(const Device& device, const filterbank::Problem& problem,
                    const filterbank::Correlation& correlation, const planner::Options& options);
  void clear_excluded(std::size_t count);

  Device device_;
  Queue queue_;
  filterbank::Plan plan_;
  filterbank::Correlator correlator_;
  filterbank::Geometry geometry_;
  std::size_t times_;    // per integration
  std::size_t at_once_;  // integrations whose spectra fit the buffer
  filterbank::on_device::SampleWindow window_;
  Buffer values_, sums_, zeros_;
  std::vector<filterbank::SpectrumRange> excluded_;
  std::uint64_t spectra_ = 0;
};

}  // namespace ridge::cli
