// Draws axes, ticks, labels that do not overlap, and the style of all charts.
#include "base/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace ridge::base::svg {

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F ? ' ' : c;
    }
  }
  return out;
}

std::string data(std::string_view key, double value) {
  if (!std::isfinite(value)) return "";  // NaN and infinity are null in the JSON: no attribute
  return fmt::format(" data-key=\"{}\" data-value=\"{}\"", escape(key), value);
}

std::string style() {
  // Light and dark values of the same roles. The eight series colours, in this order, are distinguishable for
  // colour-blind readers.
  return R"(:root{--ink:#0b0b0b;--soft:#52514e;--faint:#898781;--grid:#e6e5de;--axis:#c3c2b7;--surface:#fcfcfb;
--accent:#eb6834;--c0:#2a78d6;--c1:#1baf7a;--c2:#eda100;--c3:#008300;--c4:#4a3aa7;--c5:#e34948;--c6:#e87ba4;--c7:#eb6834;
--r0:#184f95;--r1:#3987e5;--r2:#6da7ec;--r3:#9ec5f4}
@media (prefers-color-scheme:dark){:root{--ink:#fff;--soft:#c3c2b7;--faint:#94928b;--grid:#2c2c2a;--axis:#4a4946;
--surface:#1a1a19;--accent:#f08a5d;--c0:#3987e5;--c1:#199e70;--c2:#c98500;--c3:#2f9e2f;--c4:#9085e9;--c5:#e66767;
--c6:#d55181;--c7:#d95926;--r0:#b7d3f6;--r1:#6da7ec;--r2:#3987e5;--r3:#256abf}}
svg.chart{display:block;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}
.chart text{fill:var(--soft);font-size:12px}
.chart .title{fill:var(--ink);font-size:13px;font-weight:600}
.chart .small{fill:var(--faint);font-size:11px}
.chart .name{fill:var(--ink)}.chart .value{fill:var(--soft)}
.chart .halo{paint-order:stroke;stroke:var(--surface);stroke-width:4px;stroke-linejoin:round}
.chart .grid{stroke:var(--grid);stroke-width:1;fill:none}
.chart .axis{stroke:var(--axis);stroke-width:1;fill:none}
.chart .lead{stroke:var(--faint);stroke-width:.75;fill:none}
.chart .roof{stroke-width:2;fill:none;stroke-linejoin:round}
.chart .r0{stroke:var(--r0)}.chart .r1{stroke:var(--r1)}.chart .r2{stroke:var(--r2)}.chart .r3{stroke:var(--r3)}
.chart .peak{stroke:var(--soft)}.chart .peak2{stroke:var(--soft);stroke-dasharray:6 4}
.chart .point{fill:var(--accent);stroke:var(--surface);stroke-width:1.5}
.chart .track{fill:var(--grid)}
.chart .bar{fill:var(--c0)}.chart .bar.chosen{fill:var(--accent)}
.chart .line{stroke-width:2;fill:none;stroke-linejoin:round;stroke-linecap:round}
.chart .dot{stroke:var(--surface);stroke-width:1}
.chart .s0{stroke:var(--c0)}.chart .s1{stroke:var(--c1)}.chart .s2{stroke:var(--c2)}.chart .s3{stroke:var(--c3)}
.chart .s4{stroke:var(--c4)}.chart .s5{stroke:var(--c5)}.chart .s6{stroke:var(--c6)}.chart .s7{stroke:var(--c7)}
.chart .f0{fill:var(--c0)}.chart .f1{fill:var(--c1)}.chart .f2{fill:var(--c2)}.chart .f3{fill:var(--c3)}
.chart .f4{fill:var(--c4)}.chart .f5{fill:var(--c5)}.chart .f6{fill:var(--c6)}.chart .f7{fill:var(--c7)}
.chart .dash1{stroke-dasharray:6 4}.chart .dash2{stroke-dasharray:2 4}
)";
}

std::string series_class(std::size_t index) {
  const std::size_t dash = index / kSeries % 3;
  return fmt::format("s{}{}", index % kSeries, dash == 0 ? "" : fmt::format(" dash{}", dash));
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

double text_width(std::string_view text, double font_size) {
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80)
      continue;  // UTF-8 continuation byte: its character is already counted
    const bool narrow = std::string_view("iljtfrI.,:;|!'()[] ").find(c) != std::string_view::npos;
    const bool wide = std::string_view("mwMW@%").find(c) != std::string_view::npos;
    width += narrow ? 0.4 : wide ? 0.95 : 0.64;
  }
  return width * font_size;
}

std::string shortened(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  const std::string more = "…";
  while (!text.empty() && text_width(text, font_size) + text_width(more, font_size) > width) {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.remove_suffix(1);
    text.remove_suffix(1);
  }
  return std::string(text) + more;
}

// --- axes ----------------------------------------------------------------------------------------------------------

double Axis::at(double value) const {
  double share = 0;
  if (spacing == Spacing::linear) {
    share = (value - low) / (high - low);
  } else {
    share = std::log(std::max(value, low * 1e-3) / low) / std::log(high / low);
  }
  return from + share * (to - from);
}

namespace {

// 1, 2 or 5 times a power of ten, at or above `value`.
double round_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> powers(double base, double low, double high, std::size_t about) {
  const int first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log(high) / std::log(base) + 1e-9));
  const int most = static_cast<int>(std::max<std::size_t>(about, 1));
  const int step = std::max(1, (last - first + most - 1) / most);
  std::vector<double> values;
  for (int e = first; e <= last; e += step) values.push_back(std::pow(base, e));
  return values;
}

}  // namespace

std::vector<double> Axis::ticks(std::size_t about) const {
  if (spacing == Spacing::doublings) return powers(2, low, high, about);
  if (spacing == Spacing::decades) {
    std::vector<double> values = powers(10, low, high, about);
    if (values.size() > 3) return values;
    values.clear();  // too few ticks: add 2 and 5 times each power
    for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (const double value : {power, 2 * power, 5 * power}) {
        if (value >= low && value <= high) values.push_back(value);
      }
    }
    return values;
  }
  std::vector<double> values;
  const double step = round_step((high - low) / static_cast<double>(std::max<std::size_t>(about, 1)));
  const double first = std::ceil(low / step - 1e-9);
  for (double i = first; i * step <= high * (1 + 1e-9); ++i) values.push_back(i * step + 0.0);  // + 0.0 avoids "-0"
  return values;
}

Axis linear_axis(double highest, double from, double to) {
  if (!(highest > 0) || !std::isfinite(highest)) highest = 1;
  const double step = round_step(highest / 4);
  return {Spacing::linear, 0, step * std::ceil(highest / step - 1e-9), from, to};
}

namespace {

std::string with_prefix(double value, double step, double from, const std::array<const char*, 7>& prefixes) {
  std::size_t prefix = 0;
  while (std::abs(value) >= from && prefix + 1 < prefixes.size()) {
    value /= step;
    ++prefix;
  }
  return fmt::format("{:.4g}{}", value, prefixes[prefix]);
}

}  // namespace

std::string tick_text(double value) { return with_prefix(value, 1000, 999.5, {"", "k", "M", "G", "T", "P", "E"}); }

std::string Axis::text(double value) const {
  if (spacing != Spacing::doublings) return tick_text(value);
  return with_prefix(value, 1024, 2048, {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"});
}

// --- labels --------------------------------------------------------------------------------------------------------

namespace {

bool within(const Box& box, const Box& outer) {
  return box.x >= outer.x && box.y >= outer.y && box.x + box.width <= outer.x + outer.width &&
         box.y + box.height <= outer.y + outer.height;
}

// Candidate positions: right, left, above, below, then circles of growing radius.
std::vector<Box> spots_around(const Label& label, double width, double height) {
  constexpr double gap = 8;
  std::vector<Box> spots{{label.x + gap, label.y - height / 2, width, height},
                         {label.x - gap - width, label.y - height / 2, width, height},
                         {label.x - width / 2, label.y - gap - height, width, height},
                         {label.x - width / 2, label.y + gap, width, height}};
  for (int ring = 1; ring <= 14; ++ring) {
    const double away = gap + ring * height * 0.8;
    for (const double side : {-1.0, 1.0}) {
      const double y = label.y + side * away - height / 2;
      spots.push_back({label.x + gap, y, width, height});
      spots.push_back({label.x - gap - width, y, width, height});
    }
  }
  return spots;
}

}  // namespace

std::vector<Placement> place_labels(const std::vector<Label>& labels, double font_size, const Box& inside,
                                    std::vector<Box> obstacles) {
  constexpr double radius = 6;
  for (const Label& label : labels) obstacles.push_back({label.x - radius, label.y - radius, 2 * radius, 2 * radius});
  std::vector<Placement> placed;
  for (const Label& label : labels) {
    Placement placement;
    const auto spots = spots_around(label, text_width(label.text, font_size), font_size * 1.25);
    for (std::size_t i = 0; i < spots.size() && !placement.shown; ++i) {
      const bool free = std::none_of(obstacles.begin(), obstacles.end(),
                                     [&](const Box& obstacle) { return overlap(obstacle, spots[i]); });
      if (free && within(spots[i], inside)) placement = {spots[i], true, i >= 4};
    }
    if (placement.shown) obstacles.push_back(placement.box);
    placed.push_back(placement);
  }
  return placed;
}

double legend(const std::vector<Key>& keys, double x, double y, double width, std::string& out) {
  constexpr double font = 12, swatch = 22, row = 19;
  double at = x, top = y;
  for (const Key& key : keys) {
    const double needs = swatch + 6 + text_width(key.name, font) + text_width(key.value, font) + 24;
    if (at > x && at + needs > x + width) {
      at = x;
      top += row;
    }
    out += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", key.mark_class,
                       at, top + 8, at + swatch, top + 8);
    out +=
        fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}", at + swatch + 6, top + 12, escape(key.name));
    if (!key.value.empty())
      out += fmt::format("<tspan class=\"value\" dx=\"6\"{}>{}</tspan>", key.attributes, escape(key.value));
    out += "</text>\n";
    at += needs;
  }
  return keys.empty() ? 0 : top + row - y;
}

std::string open(double width, double height, std::string_view title, bool standalone) {
  std::string out = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\"", width, height);
  if (standalone) out += fmt::format(" width=\"{:.0f}\" height=\"{:.0f}\"", width, height);
  out += fmt::format(" role=\"img\" aria-label=\"{}\">\n<title>{}</title>\n", escape(title), escape(title));
  if (standalone)
    out += fmt::format("<style>{}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--surface)\"/>\n",
                       style());
  return out;
}

}  // namespace ridge::base::svg
