// Draws a sweep of the machine model as an SVG line chart.
#include "report/charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/svg.hpp"

namespace ridge::report {
namespace {

namespace svg = base::svg;

constexpr double kPlotWidth = 420, kLeft = 48, kRight = kPlotWidth - 12, kPlotHeight = 190;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

bool drawable(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

bool power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

svg::Axis x_axis(const machine::Sweep& sweep, const Range& range) {
  bool doublings = true;
  for (const auto& line : sweep.lines) {
    for (const auto& point : line.points) doublings = doublings && power_of_two(point.first);
  }
  if (range.low > 0 && doublings && range.high >= 8 * range.low)
    return {svg::Spacing::doublings, range.low, range.high, kLeft + 8, kRight - 8};
  if (range.low > 0 && range.high >= 100 * range.low)
    return {svg::Spacing::decades, range.low, range.high, kLeft + 8, kRight - 8};
  const double high = range.high > range.low ? range.high : range.low + 1;
  return {svg::Spacing::linear, range.low, high, kLeft + 8, kRight - 8};
}

// Starts at zero, so that heights compare; logarithmic if values span a factor of 300 or more.
svg::Axis y_axis(const Range& range, double bottom, double top) {
  if (range.low > 0 && range.high >= 300 * range.low) {
    const double low = std::pow(10.0, std::floor(std::log10(range.low)));
    return {svg::Spacing::decades, low, range.high * 1.2, bottom, top};
  }
  svg::Axis axis = svg::linear_axis(range.high, bottom, top);
  if (range.low < 0) axis.low = -svg::linear_axis(-range.low, 0, 1).high;
  return axis;
}

class Drawing {
 public:
  Drawing(const machine::Sweep& sweep, std::string key) : sweep_(sweep), key_(std::move(key)) {}

  std::string finish(bool standalone) {
    double y = 4 + draw_title();
    y += draw_legend(y) + 26;
    draw_plot(y, y + kPlotHeight);
    return svg::open(kPlotWidth, y + kPlotHeight + 40, sweep_.title, standalone) + out_ + "</svg>\n";
  }

 private:
  // At most two lines; the tooltip of the whole drawing has the full title.
  double draw_title() {
    constexpr double font = 13.5, row = 17, room = kPlotWidth - 16;
    std::string rest = sweep_.title;
    std::size_t fits = rest.size();
    while (fits != 0 && fits != std::string::npos && svg::text_width(rest.substr(0, fits), font) > room)
      fits = rest.rfind(' ', fits - 1);
    if (fits == 0 || fits == std::string::npos) fits = rest.size();
    std::vector<std::string> lines{rest.substr(0, fits)};
    if (fits < rest.size()) lines.push_back(rest.substr(fits + 1));
    double y = 17;
    for (const std::string& line : lines) {
      out_ += fmt::format("<text class=\"title\" x=\"8\" y=\"{:.1f}\">{}</text>\n", y,
                          svg::escape(svg::shortened(line, room, font)));
      y += row;
    }
    return y - 10;
  }

  double draw_legend(double y) {
    if (sweep_.lines.size() < 2) return 0;  // the title names a single line
    std::vector<svg::Key> keys;
    for (std::size_t i = 0; i < sweep_.lines.size(); ++i)
      keys.push_back({"line " + svg::series_class(i), sweep_.lines[i].name});
    return svg::legend(keys, 8, y, kPlotWidth - 16, out_);
  }

  void draw_plot(double top, double bottom) {
    Range xs, ys;
    for (const auto& line : sweep_.lines) {
      for (const auto& point : line.points) {
        if (!drawable(point)) continue;
        xs.take(point.first);
        ys.take(point.second);
      }
    }
    if (xs.empty()) {
      out_ += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\">nothing was measured</text>\n", kLeft,
                          (top + bottom) / 2);
      out_ += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, bottom, kRight);
      return;
    }
    const svg::Axis x = x_axis(sweep_, xs), y = y_axis(ys, bottom, top);
    draw_axes(x, y, top, bottom);
    for (std::size_t i = 0; i < sweep_.lines.size(); ++i) draw_line(i, x, y);
  }

  void draw_axes(const svg::Axis& x, const svg::Axis& y, double top, double bottom) {
    for (const double value : y.ticks(5)) {
      out_ += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\"/>", kLeft,
                          kRight, y.at(value));
      out_ += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6,
                          y.at(value) + 4, svg::tick_text(value));
    }
    for (const double value : x.ticks(x_ticks(x)))
      out_ += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                          x.at(value), bottom + 15, x.text(value));
    out_ += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, bottom, kRight);
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (kLeft + kRight) / 2,
                        bottom + 32, svg::escape(sweep_.x));
    out_ += fmt::format("<text class=\"small\" x=\"8\" y=\"{:.1f}\">{}</text>\n", top - 12, svg::escape(sweep_.y));
  }

  // Number of tick intervals. Whole numbers (core counts) in a short range get a tick each, never a fraction.
  std::size_t x_ticks(const svg::Axis& x) const {
    bool whole = x.spacing == svg::Spacing::linear && x.high - x.low < 6;
    for (const auto& line : sweep_.lines) {
      for (const auto& point : line.points) whole = whole && point.first == std::floor(point.first);
    }
    return whole ? static_cast<std::size_t>(x.high - x.low) : 6;
  }

  void draw_line(std::size_t index, const svg::Axis& x, const svg::Axis& y) {
    const auto& line = sweep_.lines[index];
    std::string path, dots;
    for (std::size_t p = 0; p < line.points.size(); ++p) {
      if (!drawable(line.points[p])) continue;
      const auto [px, py] = line.points[p];
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(px), y.at(py));
      dots +=
          fmt::format("<circle class=\"dot f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"{}><title>{}</title></circle>\n",
                      index % svg::kSeries, x.at(px), y.at(py),
                      svg::data(fmt::format("{}.lines.{}.points.{}.1", key_, index, p), py),
                      svg::escape(fmt::format("{} {}\n{}\nat {} {}", svg::tick_text(py), sweep_.y, line.name, sweep_.x,
                                              svg::tick_text(px))));
    }
    out_ += fmt::format("<path class=\"line {}\" d=\"{}\"><title>{}</title></path>\n{}", svg::series_class(index), path,
                        svg::escape(line.name), dots);
  }

  const machine::Sweep& sweep_;
  std::string key_;
  std::string out_;
};

}  // namespace

std::string svg_of(const machine::Sweep& sweep, const std::string& key, bool standalone) {
  return Drawing(sweep, key).finish(standalone);
}

}  // namespace ridge::report
