// Positions of points on a roofline, shared by its text, JSON and SVG.
#pragma once
#include <cmath>
#include <string>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"

namespace ridge::machine {

inline bool moves_only(const Point& point) { return !(point.flops > 0); }

struct PlotPoint {
  double intensity = 0;  // FLOP per byte; infinite if no bytes are moved
  double flops_per_second = 0, bytes_per_second = 0;
  double share = 0;  // fraction of the roof
  std::string roof;  // the limiting roof: "memory", "peak float"
};
PlotPoint plot_point(const Roofline& roofline, const Point& point);

double main_memory(const Roofline& roofline);  // bytes/s; 0 if there is no roof
double ridge_point(
    const Roofline& roofline);  // FLOP per byte at which main memory meets the float peak; 0 if it never does

// The range to draw: every roof with its ridge point, and every point. All values are positive and finite.
struct Frame {
  double x_low = 0.1, x_high = 10;    // FLOP per byte
  double y_low = 1e9, y_high = 1e12;  // FLOP/s
};
Frame frame_of(const Roofline& roofline);
bool drawable(const PlotPoint& plotted);  // true if it has a position on logarithmic axes

base::Json json_of(const Roofline& roofline);

// `key` is the prefix of every data-key ("device.host.roofline"); see src/report/page.hpp. A width below 500 selects
// the layout for phones.
std::string svg_of(const Roofline& roofline, const std::string& key, bool standalone, double width = 760);

// From limits and names alone: accurate within a small factor, which suffices to rank candidates. `host` is the
// machine's processor, on which PoCL runs.
Ceilings estimate(const DeviceInfo& device, const DeviceInfo& host);

}  // namespace ridge::machine
