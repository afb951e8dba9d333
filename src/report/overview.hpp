// Overview table at the top of the page and in the terminal: one line per workload, one column per device. Each cell
// holds the rate, the share of the roofline ceiling and the ceiling that limits it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "report/page.hpp"

namespace ridge::report {

struct OverviewCell {
  bool there = false;
  std::string key;   // path of the rate in the page's data
  double value = 0;  // in `unit`
  std::string unit;
  std::string share_key;
  double share = 0;   // of the roofline ceiling; 0 if unknown
  std::string binds;  // "memory", "peak float"; empty for a ceiling itself
  std::string problem, variant;
};

struct OverviewLine {
  std::string workload, detail;     // "Fourier transforms", "fft c64 1024 batch 4096"
  std::vector<OverviewCell> cells;  // one per device of the report
};

// Ceilings first, then the best row of each problem of each benchmark.
std::vector<OverviewLine> overview(const Report& report);

std::string overview_card(const Report& report);  // HTML
std::string overview_text(const Report& report);  // for a terminal

}  // namespace ridge::report
