// Draws a horizontal bar chart as SVG.
#include "report/charts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/svg.hpp"

namespace ridge::report {
namespace {

namespace svg = base::svg;

constexpr double kValues = 150, kRow = 24, kThickness = 13, kFont = 12;

struct BarLayout {
  double width = 760;
  bool narrow = width < 500;
  double bars = narrow ? 8 : 250;  // x of the bars' left end
  double label_height = narrow ? 14 : 0;
  double row() const { return kRow + label_height; }
};

double shown(double value) { return std::isfinite(value) ? std::max(value, 0.0) : 0; }

// Plain digits in the chart's common unit, so that the numbers align in a column.
std::string digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return value >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.3g}", value);
}

// Outline of one bar: square corners at the base, rounded corners at the end.
std::string bar_path(double x, double y, double length) {
  const double radius = std::min(4.0, length);
  return fmt::format("M{:.1f} {:.1f}h{:.1f}q{:.1f} 0 {:.1f} {:.1f}v{:.1f}q0 {:.1f} {:.1f} {:.1f}h{:.1f}z", x, y,
                     length - radius, radius, radius, radius, kThickness - 2 * radius, radius, -radius, radius,
                     radius - length);
}

std::string draw_bar(const Bar& bar, const BarChart& chart, const BarLayout& layout, const svg::Axis& axis, double y) {
  const double value = shown(bar.value);
  std::string tip = fmt::format("{} {}\n{}", digits(value), chart.unit, bar.label);
  if (bar.share > 0) tip += fmt::format("\n{:.0f} % of {}", bar.share * 100, chart.roof_name);
  std::string out =
      layout.narrow ? fmt::format("<text class=\"name halo\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", layout.bars,
                                  y + 14, svg::escape(svg::shortened(bar.label, layout.width - 2 * layout.bars, kFont)))
                    : fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                                  layout.bars - 10, y + kRow / 2 + 4,
                                  svg::escape(svg::shortened(bar.label, layout.bars - 14, kFont)));
  y += layout.label_height;
  out += fmt::format("<path class=\"bar{}\" d=\"{}\"{}><title>{}</title></path>\n", bar.chosen ? " chosen" : "",
                     bar_path(layout.bars, y + (kRow - kThickness) / 2, std::max(axis.at(value) - layout.bars, 1.0)),
                     svg::data(bar.value_key, bar.value), svg::escape(tip));
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"{}>{} {}</text>\n", layout.width - 58,
                     y + kRow / 2 + 4, svg::data(bar.value_key, bar.value), digits(value), svg::escape(chart.unit));
  if (bar.share > 0)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"{}>{:.0f} %</text>\n", layout.width - 8,
                       y + kRow / 2 + 4, svg::data(bar.share_key, bar.share), bar.share * 100);
  return out;
}

}  // namespace

std::string svg_of(const BarChart& chart, bool standalone, double width) {
  const BarLayout layout{.width = width};
  double highest = shown(chart.roof);
  for (const Bar& bar : chart.bars) highest = std::max(highest, shown(bar.value));
  const svg::Axis axis = {svg::Spacing::linear, 0, highest > 0 ? highest * 1.02 : 1, layout.bars, width - kValues};
  std::string out;
  double y = 4;
  if (!chart.title.empty()) {
    out += fmt::format("<text class=\"title\" x=\"8\" y=\"{:.1f}\">{}</text>\n", y + 13,
                       svg::escape(svg::shortened(chart.title, width - 16, 13.5)));
    y += 22;
  }
  const double rows = layout.row() * static_cast<double>(chart.bars.size());
  if (chart.roof > 0) {
    const double x = axis.at(chart.roof);
    out += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", x + 4, y + 11,
                       svg::escape(chart.roof_name));
    y += 15;
    out += fmt::format("<line class=\"roof peak2\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x, y,
                       x, y + rows);
  }
  out += fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
                     layout.bars, y, y + rows);
  for (const Bar& bar : chart.bars) {
    out += draw_bar(bar, chart, layout, axis, y);
    y += layout.row();
  }
  return svg::open(width, y + 6, chart.title.empty() ? "bars" : chart.title, standalone) + out + "</svg>\n";
}

}  // namespace ridge::report
