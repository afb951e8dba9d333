// Where points land on a roofline; shared by its text, JSON and SVG.
#pragma once
#include <cmath>
#include <string>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"

namespace ridge::machine {

inline bool moves_only(const Point& point) { return !(point.flops > 0); }

struct Landing {
  double intensity = 0;  // FLOP per byte; infinite where nothing is moved
  double flops_per_second = 0, bytes_per_second = 0;
  double share = 0;  // of the roof
  std::string roof;  // the one that binds: "memory", "peak float"
};
Landing land(const Roofline& roofline, const Point& point);

double main_memory(const Roofline& roofline);  // bytes/s; 0 where there is no roof
double ridge_point(
    const Roofline& roofline);  // FLOP per byte where main memory meets the float peak; 0 where it never does

// The part of the plane worth drawing: every roof with its bend, every point. All above 0 and finite.
struct Frame {
  double x_low = 0.1, x_high = 10;    // FLOP per byte
  double y_low = 1e9, y_high = 1e12;  // FLOP/s
};
Frame frame_of(const Roofline& roofline);
bool drawable(const Landing& landing);  // has a place on the logarithmic plane

base::Json json_of(const Roofline& roofline);

// `key` starts the data-key of every number ("device.host.roofline"); see src/report/page.hpp. Below a width of 500 the
// layout is that for a phone.
std::string svg_of(const Roofline& roofline, const std::string& key, bool standalone, double width = 760);

}  // namespace ridge::machine
