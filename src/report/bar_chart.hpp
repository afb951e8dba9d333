// Horizontal bars: variants against each other and against the roof.
#pragma once
#include <string>
#include <vector>

namespace ridge::report {

struct Bar {
  std::string label;
  double value = 0;
  std::string value_key = {};  // data-key of the value
  double share = 0;            // of the roof; 0: not shown
  std::string share_key = {};
  bool chosen = false;  // drawn in the accent colour
};

struct BarChart {
  std::string title;
  std::string unit;  // "GB/s"
  std::vector<Bar> bars;
  double roof = 0;  // a line across all bars; 0: none
  std::string roof_name = "roof";
};

// Below a width of 500 labels are above their bars.
std::string svg_of(const BarChart& chart, bool standalone, double width = 760);

}  // namespace ridge::report
