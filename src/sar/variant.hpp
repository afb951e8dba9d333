// Interface of the migration step of the range-Doppler algorithm; the FFTs and the corner turn are plans of their own.
// Range cell migration correction and azimuth compression are one pass over the range-Doppler plane [range][Doppler]. A
// target's trajectory, curved by its changing distance, is straightened by interpolation along range, then multiplied
// by the conjugate of its Doppler history. There is one variant per kind of device: a file, and a line in registry.cpp.
#pragma once
#include <memory>
#include <vector>

#include <ridge/sar.hpp>

#include "sar/tables.hpp"

namespace ridge::sar {

class Migration {
 public:
  virtual ~Migration() = default;
  virtual void run(const Complex* in, Complex* out) const = 0;                        // host only
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const = 0;  // devices only
  virtual std::vector<KernelSource> kernels() const { return {}; }
};

// Builds the step. The problem and the tables must outlive it.
using MakeMigration = std::unique_ptr<const Migration>(const Device& device, const Problem& problem,
                                                       const Tables& tables);
MakeMigration make_migration;  // selects by the kind of device

KernelSource migration_source();

}  // namespace ridge::sar
