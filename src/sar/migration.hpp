// Range cell migration correction and azimuth compression in one pass over the range-Doppler plane [range][Doppler]:
// a target's line, bent by its changing distance, is drawn straight by interpolation along range, then multiplied by
// the conjugate of its Doppler history.
#pragma once
#include <ridge/sar.hpp>

#include "sar/tables.hpp"

namespace ridge::sar {

class HostMigration {
 public:
  HostMigration(const Problem& problem, const Tables& tables) : problem_(problem), tables_(tables) {}
  void run(const Complex* in, Complex* out) const;

 private:
  const Problem& problem_;
  const Tables& tables_;
};

class DeviceMigration {
 public:
  DeviceMigration(const Device& device, const Problem& problem, const Tables& tables);
  void enqueue(const Buffer& in, const Buffer& out, Queue& queue) const;

  static KernelSource source();

 private:
  Kernel kernel_;
  Launch launch_;
  Buffer azimuth_, taps_, stretch_;
  std::int32_t ranges_, pulses_;
  float first_range_;
};

}  // namespace ridge::sar
