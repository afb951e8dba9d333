// Measures Burtsev's variants at one length on one device and chooses the fastest.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/plan.hpp>

#include "papers/fft/classic/radix_planner.hpp"
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
  double part1_table = 0, part1_computed = 0, part1_tiled = 0;
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
LengthTimes measure_length(const Device& device, int log_n, SharedKernels& shared, const MeasureOptions& options = {});

// One FFT per unit: seconds of `lines` transforms of 2^log_n points in device memory. Throws if the design is refused.
double measure_unit(const Device& device, const UnitDesign& design, std::size_t lines, double seconds);

// Figure 5.7: seconds per transform of the phases of a simt kernel with `units` groups (0: one per transform), by
// kernels of growing content.
struct UnitPhaseTimes {
  std::size_t units = 0;
  double memory = 0, exchanges = 0, butterflies = 0, twiddles = 0;  // time that each phase adds to those before
  double all() const { return memory + exchanges + butterflies + twiddles; }
};
UnitPhaseTimes measure_unit_phases(const Device& device, std::size_t length, std::size_t p, std::size_t units,
                                   double seconds);

// Time of one dependent access to a private array of a work-item, for arrays of growing size.
struct PrivateMemory {
  std::size_t bytes = 0;
  double access_seconds = 0;
};
KernelSource private_memory_text(std::size_t words);
std::vector<PrivateMemory> probe_private_memory(const Device& device, double seconds, std::size_t most_words = 16384);
// Bytes of the largest array before accesses become 1.5 times slower than the fastest.
std::size_t private_capacity(const std::vector<PrivateMemory>& rows);

// Seconds of every pass of radix 2 .. p in local memory, with one transform on every compute unit at the same time.
RadixGraph measure_unit_graph(const Device& device, std::size_t length, std::size_t p, double seconds);

// The shortest paths through the measured passes and the first guess, unit_radices(), each run end to end.
struct UnitRadixPlan {
  RadixGraph graph = {};
  std::vector<RadixPath> paths = {};
  std::vector<double> seconds = {};  // per path: of one transform on one unit, all units busy
  std::size_t winner = 0;            // among the paths
};
UnitRadixPlan plan_unit_radices(const Device& device, std::size_t length, std::size_t p, double seconds);

}  // namespace ridge::fft::papers
