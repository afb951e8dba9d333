// A device under measurement: its queue, compiled kernels and two large buffers, shared by all its probes.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::machine {

class DeviceBench {
 public:
  // `quick`: small buffers and few shapes, for tests and quick measurements.
  DeviceBench(const Device& device, bool quick);

  const Device& device() const { return device_; }
  const Limits& limits() const { return device_.limits(); }
  Queue& queue() { return queue_; }
  bool modest() const {
    return modest_;
  }  // PoCL, an integrated device or a quick measurement: fewer shapes, smaller buffers
  Kernel kernel(const std::string& name);  // compiles its source on first use

  // Bytes of each large buffer: several times the last-level cache, a multiple of every tile.
  std::size_t large() const { return large_; }
  const Buffer& from();
  const Buffer& to();
  const Buffer& results();  // output of probes: 256 bytes per resident work-item
  const Buffer& constants(bool in_double);

  // Number of groups of `items` work-items that the device holds at once.
  std::size_t resident_groups(std::size_t items) const;
  // Largest work-group of this kernel.
  std::size_t most_items(const Kernel& kernel) const;
  // The wanted group sizes that this kernel allows; if none, the largest it allows.
  std::vector<std::size_t> group_sizes(const Kernel& kernel, const std::vector<std::size_t>& wanted) const;

  // Seconds per call by the device's clock: the least of several rounds, in about `seconds`.
  double time(const std::function<void()>& enqueue, double seconds);

 private:
  Device device_;
  Queue queue_;
  bool modest_;
  std::size_t large_ = 0;
  Buffer from_, to_, results_, constants_float_, constants_double_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, Program> programs_;
};

// Factors of the FMA probes: neither is trivial, and a chain stays finite for hours.
inline constexpr double kFmaFactors[2] = {0.7071067811865475, -1.3e-3};

}  // namespace ridge::machine
