// The step of the range-Doppler algorithm that is this workload's own; transforms and the corner turn are plans of
// theirs. Range cell migration correction and azimuth compression in one pass over the range-Doppler plane [range]
// [Doppler]: a target's line, bent by its changing distance, is drawn straight by interpolation along range, then
// multiplied by the conjugate of its Doppler history. One variant a kind of device: its file, and its line in
// registry.cpp.
#pragma once
#include <memory>
#include <vector>

#include <ridge/sar.hpp>

#include "sar/tables.hpp"

namespace ridge::sar {

class Migration {
 public:
  virtual ~Migration() = default;
  virtual void run(const Complex* in, Complex* out) const = 0;                        // the host
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const = 0;  // devices
  virtual std::vector<KernelSource> kernels() const { return {}; }
};

// The problem and the tables outlive it.
using MakeMigration = std::unique_ptr<const Migration>(const Device& device, const Problem& problem,
                                                       const Tables& tables);
MakeMigration make_migration;  // the device's

KernelSource migration_source();

}  // namespace ridge::sar
