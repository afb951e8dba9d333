// Reasons not to trust a measured profile: figures that contradict each other, and load by other processes.
#pragma once
#include <string>
#include <vector>

#include <ridge/machine.hpp>

namespace ridge::machine {

// Time that other processes, and the hypervisor of a virtual machine, take from the CPUs this process may use.
class OtherLoad {
 public:
  explicit OtherLoad(std::string stat_file = "/proc/stat");
  // Average number of CPUs used by others since construction. 0 where the system does not report it, and during the
  // first half second, in which the system's clock ticks are too coarse.
  double cpus() const;

 private:
  struct Sample {
    double wall = 0, everyone = 0, own = 0;  // seconds; of CPU time
    bool known = false;
  };
  Sample sample() const;
  std::string stat_file_;
  Sample start_;
};

// A rate is the largest of its measurements; it is confirmed where a second one comes within a fifth of it.
bool confirmed(const std::vector<double>& rates);

// Contradictions between the figures of one device, a sentence each.
std::vector<std::string> contradictions(const DeviceProfile& device);

// A sentence where others used more than a fifth of the CPUs, else empty.
std::string load_text(double others, std::size_t cpus);

}  // namespace ridge::machine
