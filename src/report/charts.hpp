// Charts as SVG: bars of the variants of one problem, lines of a sweep, heat maps of ratios.
#pragma once
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "report/bench_rows.hpp"

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

// Heat map (SVG): how many times as fast as another library, over lengths and batches, with a legend of the colours.
// Many lengths with one batch are drawn as small cells without numbers, 64 lengths in a row.
struct HeatCell {
  double length, batch;
  double ratio;          // seconds of the library over ours
  std::string key, tip;  // data-key; tooltip
};
struct HeatMap {
  std::string title;
  std::vector<HeatCell> cells;
};
// One map per device and library, of rows with the members "length" and "batch"; none for a single length or few of one
// batch.
std::vector<HeatMap> heat_maps(const Bench& bench, const std::string& key);
std::string svg_of(const HeatMap& map, bool standalone);

// Draws a sweep of the machine model as a line chart. `key` is the prefix of every point's data-key:
// key.lines.2.points.5.1 is a y of the sweep's JSON.
std::string svg_of(const machine::Sweep& sweep, const std::string& key, bool standalone);

}  // namespace ridge::report
