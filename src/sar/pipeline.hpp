// The range-Doppler algorithm as passes over a frame: range compression (transform, filter, transform back), corner
// turn, Doppler transform, migration and azimuth filter, transform back.
#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include <ridge/fft.hpp>
#include <ridge/sar.hpp>
#include <ridge/transpose.hpp>

#include "base/aligned.hpp"
#include "sar/migration.hpp"

namespace ridge::sar {

class Pipeline {
 public:
  Pipeline(const Device& device, const Problem& problem, const planner::Options& options);
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;
  void enqueue(const Buffer& echoes, const Buffer& image, Queue& queue) const;
  std::string explain() const;
  double flops() const;

  const Device device;
  const Problem problem;

 private:
  void run_on_host(std::span<const Complex> echoes, std::span<Complex> image) const;
  void run_on_device(std::span<const Complex> echoes, std::span<Complex> image) const;

  const Tables tables_;
  const fft::Plan<float> range_;
  const transpose::Plan<Complex> turn_;
  const fft::Plan<float> along_;
  std::optional<HostMigration> host_migration_;
  std::optional<DeviceMigration> device_migration_;

  // One frame at a time.
  mutable std::mutex busy_;
  mutable std::vector<Complex> first_, second_;   // host
  mutable Buffer work_, other_, echoes_, image_;  // device; the last two for frames in host memory
  mutable std::optional<Queue> queue_;
};

}  // namespace ridge::sar
