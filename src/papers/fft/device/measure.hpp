// Measures Burtsev's variants at one length on one device and chooses the fastest.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/plan.hpp>

#include "papers/fft/device/compiled_stages.hpp"
#include "papers/fft/device/figures.hpp"
#include "papers/fft/device/unit.hpp"

namespace ridge::fft::papers {

struct VariantTimes {
  StagePlan plan{};            // bit reversal by table; refused ones have no times
  PartTimes times{};           // with the table
  double computed = 0;         // kernel seconds with computed bit reversal
  std::vector<double> runs{};  // seconds of each run of the plan
};

struct LengthTimes {
  int log_n = 0;
  double part1_table = 0, part1_computed = 0;
  std::vector<VariantTimes> variants{};  // in the order of variants()
  std::size_t winner = 0;                // by kernel time with the table, as in the paper
  planner::Decision decision{};          // over both methods of bit reversal; saved as wisdom of "burtsev"

  const VariantTimes& of(const std::string& variant) const;
};

struct MeasureOptions {
  double seconds = 0.01;  // per timed quantity
  bool save = true;       // store the choice as wisdom
};

// Compares each variant's result with the host's first and throws Error{internal} if one is wrong. Kernels are timed by
// the device's clock, enqueued without waiting in between; the paper waits for each.
LengthTimes measure_length(const Device& device, int log_n, Shelf& shelf, const MeasureOptions& options = {});

// One FFT per unit: seconds of `lines` transforms of 2^log_n points in device memory. Throws if the design is refused.
double measure_unit(const Device& device, const UnitDesign& design, std::size_t lines, double seconds);

}  // namespace ridge::fft::papers
