// What binds a stencil: the copy rate and the peak of where it runs.
#pragma once
#include <optional>
#include <string>

#include <ridge/device.hpp>

#include "machine/host_probes.hpp"

namespace ridge::cli {

// Bytes and flops a second. A device's are those of the saved profile. On the host, whose neighbours come and go, they
// are the best of the profile (where somebody has measured) and of probes between the timings.
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
