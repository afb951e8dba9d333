// Computes roofs, ridge points and shares of a device from its profile.
#include "machine/roofline/roofline.hpp"

#include <algorithm>
#include <limits>

#include "base/json.hpp"
#include "machine/profile.hpp"

namespace ridge::machine {
namespace {

// The roof of a level is its copy bandwidth, the mix of reads and writes of most workloads; if no copy was measured,
// the bandwidth that was.
double roof_of(const Bandwidth& bandwidth) {
  const double copy = std::max(bandwidth.copy, bandwidth.copy_streaming);
  return copy > 0 ? copy : std::max({bandwidth.read, bandwidth.write, bandwidth.write_streaming});
}

double peak_of(const Roofline& roofline) { return std::max(roofline.peak_float, roofline.peak_double); }

}  // namespace

double main_memory(const Roofline& roofline) { return roofline.roofs.empty() ? 0 : roofline.roofs.back().second; }

double ridge_point(const Roofline& roofline) {
  const double memory = main_memory(roofline);
  return memory > 0 ? roofline.peak_float / memory : 0;
}

Roofline roofline(const DeviceProfile& device) {
  Roofline result;
  result.device = device.id == device.name || device.name.empty() ? device.id : device.id + ", " + device.name;
  result.peak_float = device.ceilings.flops_float;
  result.peak_double = device.ceilings.flops_double;
  for (const Level& level : device.ceilings.levels) {
    if (const double roof = roof_of(level.all); roof > 0) result.roofs.emplace_back(level.name, roof);
  }
  return result;
}

PlotPoint plot_point(const Roofline& roofline, const Point& point) {
  PlotPoint plotted;
  const double flops = std::max(point.flops, 0.0), bytes = std::max(point.bytes, 0.0);
  plotted.intensity = bytes > 0 ? flops / bytes : flops > 0 ? std::numeric_limits<double>::infinity() : 0;
  const double memory = main_memory(roofline), peak = peak_of(roofline);
  const double moving = memory > 0 ? bytes / memory : 0;
  const double computing = peak > 0 ? flops / peak : 0;
  if (moving >= computing && moving > 0) plotted.roof = roofline.roofs.back().first;
  if (computing > moving) plotted.roof = roofline.peak_float >= roofline.peak_double ? "peak float" : "peak double";
  if (point.seconds > 0) {
    plotted.flops_per_second = flops / point.seconds;
    plotted.bytes_per_second = bytes / point.seconds;
    plotted.share = std::max(moving, computing) / point.seconds;
  }
  return plotted;
}

bool drawable(const PlotPoint& plotted) {
  return std::isfinite(plotted.intensity) && plotted.intensity > 0 && std::isfinite(plotted.flops_per_second) &&
         plotted.flops_per_second > 0;
}

Frame frame_of(const Roofline& roofline) {
  constexpr double beyond = 8;     // margin factor left and right of the ridge points
  constexpr double widest = 1e12;  // an outlier must not flatten the rest
  const double peak = peak_of(roofline);
  Frame frame;
  if (!(peak > 0) || !std::isfinite(peak)) return frame;
  frame.x_low = 1, frame.x_high = 1;
  for (const auto& [name, rate] : roofline.roofs) {
    frame.x_low = std::min(frame.x_low, peak / rate / beyond);
    frame.x_high = std::max(frame.x_high, peak / rate * beyond);
  }
  for (const Point& point : roofline.points) {
    const PlotPoint plotted = plot_point(roofline, point);
    if (!drawable(plotted)) continue;
    frame.x_low = std::min(frame.x_low, std::max(plotted.intensity / 2, frame.x_high / widest));
    frame.x_high = std::max(frame.x_high, std::min(plotted.intensity * 2, frame.x_low * widest));
  }
  frame.y_high = peak * 2;
  frame.y_low = std::min(peak / 100, std::max(main_memory(roofline) * frame.x_low, peak / widest));
  for (const Point& point : roofline.points) {
    const PlotPoint plotted = plot_point(roofline, point);
    if (!drawable(plotted)) continue;
    frame.y_low = std::min(frame.y_low, std::max(plotted.flops_per_second / 2, peak / widest));
    frame.y_high = std::max(frame.y_high, std::min(plotted.flops_per_second * 2, peak * widest));
  }
  return frame;
}

double roof_share(const Roofline& roofline, const Point& point) { return plot_point(roofline, point).share; }

base::Json json_of(const Roofline& roofline) {
  using base::Json;
  Json roofs = Json::array();
  for (const auto& [name, rate] : roofline.roofs) roofs.push_back({{"name", name}, {"bytes_per_second", rate}});
  Json points = Json::array();
  for (const Point& point : roofline.points) {
    const PlotPoint plotted = plot_point(roofline, point);
    Json json{{"label", point.label}, {"flops", point.flops}, {"bytes", point.bytes}, {"seconds", point.seconds}};
    json["intensity"] = std::isfinite(plotted.intensity) ? Json(plotted.intensity) : Json(nullptr);
    json["flops_per_second"] = plotted.flops_per_second;
    json["bytes_per_second"] = plotted.bytes_per_second;
    json["share"] = plotted.share;
    json["roof"] = plotted.roof;
    points.push_back(std::move(json));
  }
  return {{"device", roofline.device},           {"peak_float", roofline.peak_float},
          {"peak_double", roofline.peak_double}, {"ridge_point", ridge_point(roofline)},
          {"roofs", std::move(roofs)},           {"points", std::move(points)}};
}

std::string to_json(const Roofline& roofline) { return readable(json_of(roofline)); }

}  // namespace ridge::machine
