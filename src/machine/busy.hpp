// Background load: keeps a device busy while another one is measured.
#pragma once
#include <atomic>
#include <memory>
#include <thread>

#include "machine/device/bench.hpp"

namespace ridge::machine {

enum class LoadKind { copy, arithmetic };

// Runs from construction, which returns once the load has started, until destruction.
class BusyHost {
 public:
  explicit BusyHost(LoadKind kind);
  ~BusyHost();

 private:
  std::atomic<bool> stop_{false}, started_{false};
  std::thread thread_;
};

class BusyDevice {
 public:
  // The bench must not be used by other code while this object exists.
  BusyDevice(DeviceBench& bench, LoadKind kind);
  ~BusyDevice();

 private:
  std::atomic<bool> stop_{false}, started_{false};
  std::thread thread_;
};

}  // namespace ridge::machine
