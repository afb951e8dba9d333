// The corner turn's bench, for `ridge bench transpose` and for the tour.
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
  std::size_t trials = 0;    // variants to try before one is chosen, and no others in rows; 0: all there are
  double plan_seconds = 60;  // in which they are tried
};

// A row a variant that the device allows, the planner's choice marked. Peer "memcpy" moves the same bytes by a plain
// copy (all threads on the host, the driver's own copy on a device).
std::vector<report::BenchRow> bench_transpose(const Device& device, const TransposeCase& wanted,
                                              const std::string& variant, double seconds_each,
                                              std::string* explanation);

}  // namespace ridge::cli
