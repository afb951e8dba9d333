// Reasons not to trust a measured profile: figures that contradict each other, and load by other processes.
#pragma once
#include <string>
#include <vector>

#include <ridge/machine.hpp>

namespace ridge::machine {

// CPU time that other processes, and the hypervisor of a virtual machine, take from the CPUs this process may use.
class OtherLoad {
 public:
  explicit OtherLoad(std::string stat_file = "/proc/stat");
  // Average number of CPUs used by others since construction. 0 if the system does not report it, and during the first
  // half second, when the clock ticks are too coarse.
  double cpus() const;

 private:
  struct Sample {
    double wall = 0, everyone = 0, own = 0;  // seconds; the last two are CPU time
    bool known = false;
  };
  Sample sample() const;
  std::string stat_file_;
  Sample start_;
};

// A rate is the largest of its measurements. It is confirmed if a second one is within a fifth of it.
bool confirmed(const std::vector<double>& rates);

// Contradictions between the figures of one device, one sentence each.
std::vector<std::string> contradictions(const DeviceProfile& device);

// A sentence if other processes used more than a fifth of the CPUs, else empty.
std::string load_text(double others, std::size_t cpus);

}  // namespace ridge::machine
