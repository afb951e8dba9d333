// Coherent dedispersion on a device: overlap-save in one kernel for 4096 to 65536 points, else by transforms.
#pragma once
#include <complex>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/fft.hpp>

#include "device/staging.hpp"

namespace ridge::search {

struct CoherentShape {
  std::size_t length = 0, before = 0, after = 0;  // points; samples that an output depends on
  bool bytes = false;                             // device input is complex int8
  std::size_t hop() const { return length - before - after; }
};

class DeviceCoherent {
 public:
  // `filter`: one factor per frequency. options.variant: "fused", "transforms", or empty for the first one possible.
  DeviceCoherent(const Device& device, const CoherentShape& shape, std::vector<std::complex<double>> filter,
                 const planner::Options& options);
  // Output 0 is at sample `offset` of the input.
  void enqueue(Queue& queue, const Buffer& in, std::size_t samples, std::size_t offset, const Buffer& out,
               std::size_t outputs) const;
  void run(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) const;
  std::string explain() const;
  std::vector<planner::Decision> decisions() const;
  static KernelSource fused_source(std::size_t length, bool bytes);

 private:
  struct Work {  // of the route by transforms
    fft::Plan<float> plan;
    std::size_t batch = 0;
    Kernel gather, scatter;
    Buffer blocks, spectra;
  };
  void prepare_fused(std::span<const std::complex<double>> filter);
  void prepare_transforms(std::vector<std::complex<double>> filter, const planner::Options& options);

  Device device_;
  CoherentShape shape_;
  Kernel fused_{};
  Buffer filter_, turns_;
  std::unique_ptr<Work> work_;
  mutable std::mutex mutex_;
};

}  // namespace ridge::search
