// Horizontal bar chart (SVG): the variants of one problem, and a line at the roofline ceiling.
#pragma once
#include <string>
#include <vector>

namespace ridge::report {

struct Bar {
  std::string label;
  double value = 0;
  std::string value_key = {};  // data-key of the value
  double share = 0;            // of the ceiling; 0: not shown
  std::string share_key = {};
  bool chosen = false;  // drawn in the accent colour
};

struct BarChart {
  std::string title;
  std::string unit;  // "GB/s"
  std::vector<Bar> bars;
  double roof = 0;  // roofline ceiling, drawn as a line across all bars; 0: none
  std::string roof_name = "roof";
};

// Draws the chart. Below a width of 500 the labels are placed above their bars.
std::string svg_of(const BarChart& chart, bool standalone, double width = 760);

}  // namespace ridge::report
