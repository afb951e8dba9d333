// Interface of the migration step of the range-Doppler algorithm; the FFTs and the corner turn are plans of their own.
// Range cell migration correction and azimuth compression are one step over the range-Doppler plane [range][Doppler]. A
// target's trajectory, curved by its changing distance, is straightened along range: row r of Doppler bin f takes the
// value at row r + (first range + r) * stretch[f]. The result is multiplied by the conjugate of the Doppler history. To
// add a variant, write a file with a lister and add its line to registry.cpp.
#pragma once
#include <memory>
#include <vector>

#include <ridge/sar.hpp>

#include "plan/choose.hpp"
#include "plan/lister.hpp"
#include "sar/tables.hpp"

namespace ridge::sar {

class Migration {
 public:
  virtual ~Migration() = default;
  virtual void run(const Complex* in, Complex* out) const;                        // host only
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;  // devices only
  virtual double residual() const { return 0; }  // cells of migration that the variant leaves uncorrected
};

using Entry = planner::Entry<Migration>;
// The problem and the tables must outlive what the entries build.
using Lister = planner::Lister<Entry, Problem, Tables>;

std::vector<Entry> list_migrations(const Device& device, const Problem& problem, const Tables& tables);

// Arithmetic of the interpolation by 16 taps: the useful work of the step.
double migration_flops(const Problem& problem);
// Cost of a variant that executes `flops` and moves the plane and the azimuth filter once.
planner::Cost migration_cost(const Problem& problem, double flops, double efficiency);

KernelSource migration_source();

// Times variants on random data and compares them with tones, whose values between two cells are known exactly.
class MigrationTrials final : public planner::Trials<Migration> {
 public:
  MigrationTrials(const Device& device, const Problem& problem, const Tables& tables)
      : device_(device), problem_(problem), tables_(tables) {}
  double seconds(const Migration& variant) override;
  planner::Comparison compare(const Migration& variant) override;

 private:
  Device device_;
  const Problem& problem_;
  const Tables& tables_;
};

}  // namespace ridge::sar
