// The benchmark cases of `ridge tour`. A workload adds its cases here.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "report/bench_rows.hpp"

namespace ridge::cli {

struct TourCase {
  std::size_t bench = 0;  // index into tour_benches()
  std::string device;     // its id
  std::string what;       // "fft c64 1024 batch 4096"
  std::function<std::vector<report::BenchRow>()> run;
};

// Titles and notes of the benches, without rows.
std::vector<report::Bench> tour_benches();

// All cases: the host's first, then devices that compile fast, then the rest. `quick`: small problems, seconds in
// total.
std::vector<TourCase> tour_cases(const std::vector<Device>& devices, bool quick);

// A gas after an explosion, as drawn by `ridge stencil euler`; empty if this build cannot write pictures.
std::optional<report::Illustration> tour_picture();
// Discs moving over a moving background, as seen by `ridge flow`; empty if this build cannot write pictures.
std::optional<report::Illustration> tour_flow_picture();

}  // namespace ridge::cli
