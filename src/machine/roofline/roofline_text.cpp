// Prints a roofline as text for a terminal.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "machine/roofline/roofline.hpp"

namespace ridge::machine {
namespace {

constexpr int kColumns = 64, kRows = 16;

char mark_of(std::size_t index) { return index < 26 ? static_cast<char>('a' + index) : '*'; }

class Canvas {
 public:
  explicit Canvas(const Frame& frame) : frame_(frame), lines_(kRows, std::string(kColumns, ' ')) {}

  double intensity_at(int column) const {
    return frame_.x_low * std::pow(frame_.x_high / frame_.x_low, column / (kColumns - 1.0));
  }
  void put(int column, double flops, char mark) {
    const double share = std::log(flops / frame_.y_low) / std::log(frame_.y_high / frame_.y_low);
    const int row = static_cast<int>(std::lround((1 - share) * (kRows - 1)));
    if (column < 0 || column >= kColumns || row < 0 || row >= kRows) return;
    lines_[row][column] = mark;
  }
  void put_at(double intensity, double flops, char mark) {
    const double share = std::log(intensity / frame_.x_low) / std::log(frame_.x_high / frame_.x_low);
    put(static_cast<int>(std::lround(share * (kColumns - 1))), flops, mark);
  }

  std::string text() const {
    std::string out;
    for (int row = 0; row < kRows; ++row) {
      const double value = frame_.y_low * std::pow(frame_.y_high / frame_.y_low, 1 - row / (kRows - 1.0));
      const bool labelled = row % 5 == 0;
      std::string line = fmt::format("{:>14} |{}", labelled ? base::human_rate(value, "FLOP/s") : "", lines_[row]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    out += fmt::format("{:>14} +{}\n", "", std::string(kColumns, '-'));
    std::string scale(kColumns + 16, ' ');
    for (const int column : {0, kColumns / 3, 2 * kColumns / 3, kColumns - 4}) {
      const std::string value = fmt::format("{:.3g}", intensity_at(column));
      scale.replace(static_cast<std::size_t>(column) + 16, value.size(), value);
    }
    return out + scale + " FLOP/byte\n";
  }

 private:
  Frame frame_;
  std::vector<std::string> lines_;
};

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

}  // namespace

std::string to_text(const Roofline& roofline) {
  std::string out = fmt::format("Roofline of {}\n", roofline.device);
  if (roofline.peak_float > 0) {
    Canvas canvas(frame_of(roofline));
    for (int column = 0; column < kColumns; ++column) {
      const double x = canvas.intensity_at(column);
      if (roofline.peak_double > 0 && x * main_memory(roofline) > roofline.peak_double)
        canvas.put(column, roofline.peak_double, '.');
      for (const auto& [name, rate] : roofline.roofs)
        canvas.put(column, std::min(roofline.peak_float, x * rate), x * rate > roofline.peak_float ? '-' : '/');
    }
    for (std::size_t i = 0; i < roofline.points.size(); ++i) {
      const PlotPoint plotted = plot_point(roofline, roofline.points[i]);
      if (drawable(plotted)) canvas.put_at(plotted.intensity, plotted.flops_per_second, mark_of(i));
    }
    out += canvas.text();
  }

  std::vector<std::vector<std::string>> ceilings{{"roof", "rate", "ridge"}};
  const auto ridge = [&](double rate) {
    return rate > 0 ? fmt::format("{:.3g} FLOP/byte", roofline.peak_float / rate) : "";
  };
  ceilings.push_back({"peak float", base::human_rate(roofline.peak_float, "FLOP/s"), ""});
  ceilings.push_back({"peak double", base::human_rate(roofline.peak_double, "FLOP/s"), ""});
  for (const auto& [name, rate] : roofline.roofs)
    ceilings.push_back({name, base::human_rate(rate, "B/s"), ridge(rate)});
  out += base::table(ceilings);
  if (roofline.points.empty()) return out;

  std::vector<std::vector<std::string>> points{
      {"", "point", "FLOP/byte", "arithmetic", "traffic", "of roof", "bound by"}};
  for (std::size_t i = 0; i < roofline.points.size(); ++i) {
    const Point& point = roofline.points[i];
    const PlotPoint plotted = plot_point(roofline, point);
    points.push_back({moves_only(point) ? "" : std::string(1, mark_of(i)), point.label,
                      moves_only(point) ? "-" : fmt::format("{:.3g}", plotted.intensity),
                      moves_only(point) ? "-" : base::human_rate(plotted.flops_per_second, "FLOP/s"),
                      base::human_rate(plotted.bytes_per_second, "B/s"), percent(plotted.share), plotted.roof});
  }
  return out + "\n" + base::table(points);
}

}  // namespace ridge::machine
