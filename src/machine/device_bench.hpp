// One device under measurement: its queue, its compiled kernels and two large buffers, shared by all probes of it.
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
  // `glance`: small buffers and few shapes, for tests and impatient people.
  DeviceBench(const Device& device, bool glance);

  const Device& device() const { return device_; }
  const Limits& limits() const { return device_.limits(); }
  Queue& queue() { return queue_; }
  bool modest() const { return modest_; }  // PoCL, an integrated device, or a glance: fewer shapes, smaller buffers
  Kernel kernel(const std::string& name);  // compiles the source it stands in on first use

  // Bytes of each large buffer: several times the last cache, a multiple of every tile.
  std::size_t large() const { return large_; }
  const Buffer& from();
  const Buffer& to();
  const Buffer& results();  // what probes write besides: 256 bytes for each item the device holds at once
  const Buffer& constants(bool in_double);

  // Groups that fill the device once with groups of `items`.
  std::size_t resident_groups(std::size_t items) const;
  // Work-items allowed in a group of this kernel.
  std::size_t most_items(const Kernel& kernel) const;
  // Of the wanted group sizes those this kernel may have; the largest it may have where that is none of them.
  std::vector<std::size_t> group_sizes(const Kernel& kernel, const std::vector<std::size_t>& wanted) const;

  // Seconds a call by the device's clock; the least of several rounds, about `seconds` spent.
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

// The factors of the FMA probes: neither is trivial and a chain stays finite for hours.
inline constexpr double kFmaFactors[2] = {0.7071067811865475, -1.3e-3};

}  // namespace ridge::machine
