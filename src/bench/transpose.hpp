// The transpose benchmark of `ridge bench transpose` and `ridge tour`.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/transpose.hpp>

#include "report/bench_rows.hpp"

namespace ridge::cli {

struct TransposeCase {
  transpose::Problem problem;
  std::string type = "c64";  // i8, i16, f32, f64, c64, c128
  std::size_t trials = 0;    // variants to try, and to show in rows; 0: all
  double plan_seconds = 60;  // time limit of the trials
};

// One row per variant that the device allows, the planner's choice marked. The peer "memcpy" copies the same bytes (all
// threads on the host, the driver's copy on a device).
std::vector<report::BenchRow> bench_transpose(const Device& device, const TransposeCase& wanted,
                                              const std::string& variant, double seconds_each,
                                              std::string* explanation);

}  // namespace ridge::cli
