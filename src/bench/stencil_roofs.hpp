// Ceilings of a stencil: copy bandwidth and peak arithmetic of its device.
#pragma once
#include <optional>
#include <string>

#include <ridge/device.hpp>

#include "machine/host/probes.hpp"

namespace ridge::cli {

// Bytes and flops per second. A device's are from the saved profile. On the host, where other processes may interfere,
// they are the best of the profile (if there is one) and of probes between the timings.
class StencilRoofs {
 public:
  StencilRoofs(const Device& device, std::size_t threads, bool float64, double seconds);
  void probe();
  void probe_copy(double seconds);
  double copy() const;
  double peak() const;
  std::string note() const;

 private:
  Device device_;
  std::size_t threads_;
  bool float64_;
  double seconds_;
  std::optional<machine::HostPieces> pieces_;
  double copy_ = 0, peak_ = 0, run_copy_ = 0, run_peak_ = 0;
};

}  // namespace ridge::cli
