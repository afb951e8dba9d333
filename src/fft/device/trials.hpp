// What planning runs: candidates timed in memory of the problem's size, kernels compiled side by side.
#pragma once
#include <optional>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/compiled_route.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// The memory is made when the first candidate is timed and shared by all.
class Trials {
 public:
  Trials(const Device& device, const AxisProblem& problem) : device_(device), problem_(problem) {}
  double seconds(const CompiledRoute& route);

 private:
  Buffer array(const Address& at, bool input);

  const Device& device_;
  const AxisProblem& problem_;
  std::optional<Queue> queue_;
  Buffer in_, out_;
};

// NVRTC takes its time, and takes it on one core: each kernel on a core of its own, into the cache on disk. Nothing on
// other back ends. What does not compile is said when its route is built.
void compile_side_by_side(const Device& device, std::vector<KernelSource> sources);

}  // namespace ridge::fft::on_device
