// What `ridge tour` runs on each device. A workload adds its cases here.
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
  std::size_t bench = 0;  // which of tour_benches()
  std::string device;     // its id
  std::string what;       // "fft c64 1024 batch 4096"
  std::function<std::vector<report::BenchRow>()> run;
};

// Their titles and notes, without rows.
std::vector<report::Bench> tour_benches();

// Every case, the host's first, then devices that compile fast, then the others. `quick`: small problems, seconds in
// all.
std::vector<TourCase> tour_cases(const std::vector<Device>& devices, bool quick);

// A gas after an explosion, as `ridge stencil euler` draws it; nothing where this build draws no pictures.
std::optional<report::Illustration> tour_picture();
// Discs that move before a ground that moves, as `ridge flow` sees them; the same.
std::optional<report::Illustration> tour_flow_picture();

}  // namespace ridge::cli
