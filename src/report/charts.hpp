// Charts as SVG: bars of the variants of one problem, lines of a sweep.
#pragma once
#include <string>
#include <vector>

#include <ridge/machine.hpp>

namespace ridge::report {

// Horizontal bar chart (SVG): the variants of one problem, and a line at the roofline ceiling.
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

// Draws a sweep of the machine model as a line chart. `key` is the prefix of every point's data-key:
// key.lines.2.points.5.1 is a y of the sweep's JSON.
std::string svg_of(const machine::Sweep& sweep, const std::string& key, bool standalone);

}  // namespace ridge::report
