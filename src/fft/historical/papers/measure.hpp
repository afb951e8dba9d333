// Times of Burtsev's variants at one length on one device, and the choice among them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/plan.hpp>

#include "fft/historical/papers/compiled_stages.hpp"
#include "fft/historical/papers/figures.hpp"
#include "fft/historical/papers/unit.hpp"

namespace ridge::fft::papers {

struct VariantTimes {
  StagePlan plan{};            // bit reversal by table; refused ones have no times
  PartTimes times{};           // with the table
  double computed = 0;         // seconds of the kernels with computed bit reversal
  std::vector<double> runs{};  // of each run of the plan
};

struct LengthTimes {
  int log_n = 0;
  double part1_table = 0, part1_computed = 0;
  std::vector<VariantTimes> variants{};  // in the order of variants()
  std::size_t winner = 0;                // by the kernels' time with the table, as the paper chose
  planner::Decision decision{};          // over both ways to reverse bits; saved as wisdom of "burtsev"

  const VariantTimes& of(const std::string& variant) const;
};

struct MeasureOptions {
  double seconds = 0.01;  // to spend on each thing that is timed
  bool save = true;       // the choice, as wisdom
};

// Each variant's answer is compared with the host's first: Error{internal} where one is wrong. Kernels are timed by the
// device's clock, enqueued one behind the other; the paper waits for each.
LengthTimes measure_length(const Device& device, int log_n, Shelf& shelf, const MeasureOptions& options = {});

// One FFT per unit: seconds of `lines` transforms of 2^log_n points, data resident. Error where the design is refused.
double measure_unit(const Device& device, const UnitDesign& design, std::size_t lines, double seconds);

}  // namespace ridge::fft::papers
