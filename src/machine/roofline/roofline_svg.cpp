// Draws the roofline as SVG: logarithmic axes, one line per memory level, both peaks, numbered points and a list of
// their names. Points without arithmetic, which have no position on this plane, are drawn below on a bandwidth axis
// with the same roofs.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "machine/roofline/roofline.hpp"

namespace ridge::machine {
namespace {

namespace svg = base::svg;

constexpr double kFont = 12;
constexpr double kRow = 22;           // height of a list row
constexpr double kStripValues = 128;  // width for rate and share right of the bandwidth axis

// Main memory has the strongest tone; faster levels are lighter.
std::string roof_class(const Roofline& roofline, std::size_t level) {
  return fmt::format("roof r{}", std::min<std::size_t>(roofline.roofs.size() - 1 - level, 3));
}

std::string point_key(const std::string& key, std::size_t index, const char* field) {
  return fmt::format("{}.points.{}.{}", key, index, field);
}

// Boxes that together cover a text centred at (x, y) and rotated by an angle in radians.
std::vector<svg::Box> boxes_along(double x, double y, double angle, double width) {
  constexpr double side = kFont + 3;
  const auto count = static_cast<std::size_t>(width / (side / 2)) + 1;
  std::vector<svg::Box> boxes;
  for (std::size_t i = 0; i <= count; ++i) {
    const double along = width * (static_cast<double>(i) / static_cast<double>(count) - 0.5);
    boxes.push_back({x + along * std::cos(angle) - side / 2, y + along * std::sin(angle) - side / 2, side, side});
  }
  return boxes;
}

bool clear_of(const std::vector<svg::Box>& boxes, const std::vector<svg::Box>& obstacles, const svg::Box& inside) {
  return std::all_of(boxes.begin(), boxes.end(), [&](const svg::Box& box) {
    const bool within = box.x >= inside.x && box.x + box.width <= inside.x + inside.width && box.y >= inside.y &&
                        box.y + box.height <= inside.y + inside.height;
    return within && std::none_of(obstacles.begin(), obstacles.end(),
                                  [&](const svg::Box& other) { return svg::overlap(box, other); });
  });
}

// The element's data value comes first: readers and tests look there.
std::string tooltip(const Point& point, const PlotPoint& plotted) {
  const std::string traffic = base::human_rate(plotted.bytes_per_second, "B/s");
  std::string text =
      moves_only(point) ? traffic
                        : fmt::format("{} at {:.3g} FLOP/byte, {}",
                                      base::human_rate(plotted.flops_per_second, "FLOP/s"), plotted.intensity, traffic);
  text += fmt::format("\n{}\n{:.0f} % of the roof", point.label, plotted.share * 100);
  if (!plotted.roof.empty()) text += fmt::format(" ({})", plotted.roof);
  return text + fmt::format(", {}", base::human_seconds(point.seconds));
}

std::string line(const std::string& classes, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", classes, x1, y1,
                     x2, y2);
}

std::string text(const std::string& classes, double x, double y, const char* anchor, const std::string& content) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", classes, x, y,
                     anchor, svg::escape(content));
}

// Ticks along a horizontal axis whose labels neither touch each other nor reach beyond `end`.
std::vector<double> readable_ticks(const svg::Axis& axis, std::size_t about, double end) {
  std::vector<double> values;
  double free_from = axis.from - kFont;
  for (const double value : axis.ticks(about)) {
    const double half = svg::text_width(svg::tick_text(value), kFont) / 2, middle = axis.at(value);
    if (middle - half < free_from || middle + half > end) continue;
    values.push_back(value);
    free_from = middle + half + 4;
  }
  return values;
}

class Drawing {
 public:
  Drawing(const Roofline& roofline, std::string key, double width)
      : roofline_(roofline), key_(std::move(key)), width_(width), narrow_(width < 500) {}

  std::string finish(bool standalone) {
    double y = 4;
    y += draw_legend(y) + 14;
    y = draw_plane(y);
    y = draw_list(y);
    y = draw_strip(y);
    return svg::open(width_, y + 6, "Roofline of " + roofline_.device, standalone) + out_ + "</svg>\n";
  }

 private:
  double draw_legend(double y) {
    std::vector<svg::Key> keys;
    const auto add = [&](const std::string& mark, const std::string& name, const std::string& rate,
                         const std::string& field, double value) {
      keys.push_back({mark, name, rate, svg::data(key_ + "." + field, value)});
    };
    for (std::size_t i = 0; i < roofline_.roofs.size(); ++i) {
      const auto& [name, rate] = roofline_.roofs[i];
      add(roof_class(roofline_, i), name, base::human_rate(rate, "B/s"), fmt::format("roofs.{}.bytes_per_second", i),
          rate);
    }
    if (roofline_.peak_float > 0)
      add("roof peak", "float", base::human_rate(roofline_.peak_float, "FLOP/s"), "peak_float", roofline_.peak_float);
    if (roofline_.peak_double > 0)
      add("roof peak2", "double", base::human_rate(roofline_.peak_double, "FLOP/s"), "peak_double",
          roofline_.peak_double);
    return svg::legend(keys, left_, y, right_ - left_, out_);
  }

  double draw_plane(double top) {
    const Frame frame = frame_of(roofline_);
    const double bottom = top + plot_height_;
    const svg::Axis x{svg::Spacing::decades, frame.x_low, frame.x_high, left_, right_};
    const svg::Axis y{svg::Spacing::decades, frame.y_low, frame.y_high, bottom, top};
    draw_grid(x, y, top, bottom);
    std::vector<svg::Box> obstacles;
    const svg::Box inside{left_, top, right_ - left_, plot_height_};
    draw_roofs(x, y, inside, obstacles);
    draw_points(x, y, inside, std::move(obstacles));
    return bottom + 44;
  }

  void draw_grid(const svg::Axis& x, const svg::Axis& y, double top, double bottom) {
    for (const double value : readable_ticks(x, narrow_ ? 5 : 8, width_)) {
      out_ += line("grid", x.at(value), top, x.at(value), bottom);
      out_ += text("small", x.at(value), bottom + 16, "middle", svg::tick_text(value));
    }
    for (const double value : y.ticks(7)) {
      out_ += line("grid", left_, y.at(value), right_, y.at(value));
      out_ += text("small", left_ - 6, y.at(value) + 4, "end", svg::tick_text(value));
    }
    out_ += line("axis", left_, bottom, right_, bottom) + line("axis", left_, top, left_, bottom);
    out_ += text("", (left_ + right_) / 2, bottom + 34, "middle", "arithmetic intensity, FLOP/byte");
    out_ += fmt::format("<text transform=\"translate(12 {:.1f}) rotate(-90)\" text-anchor=\"middle\">FLOP/s</text>\n",
                        (top + bottom) / 2);
  }

  // A roof rises with the intensity up to the float peak.
  void draw_roofs(const svg::Axis& x, const svg::Axis& y, const svg::Box& inside, std::vector<svg::Box>& obstacles) {
    const double peak = std::max(roofline_.peak_float, roofline_.peak_double);
    if (!(peak > 0)) return;
    // Names must not overlap the lines of other roofs or of the peaks.
    const auto along = [&](double from_x, double from_y, double to_x, double to_y, std::vector<svg::Box>& boxes) {
      const double length = std::hypot(to_x - from_x, to_y - from_y);
      for (double at = 0; at <= length; at += 3) {
        const double share = length > 0 ? at / length : 0;
        boxes.push_back({from_x + share * (to_x - from_x) - 1, from_y + share * (to_y - from_y) - 1, 2, 2});
      }
    };
    const auto bend_of = [&](double rate) { return std::clamp(peak / rate, x.low, x.high); };
    // Peaks first: their names have one possible position; the roofs' names avoid them.
    const double first_bend = roofline_.roofs.empty() ? x.low : bend_of(roofline_.roofs.front().second);
    draw_peak(x, y, "peak", roofline_.peak_float, first_bend, "float", obstacles);
    const double memory = main_memory(roofline_);
    const double meets = memory > 0 ? std::max(x.low, roofline_.peak_double / roofline_.roofs.front().second) : x.low;
    draw_peak(x, y, "peak2", roofline_.peak_double, meets, "double", obstacles);
    std::vector<std::vector<svg::Box>> lines(roofline_.roofs.size());
    std::vector<svg::Box> peaks;
    for (const double flat : {roofline_.peak_float, roofline_.peak_double}) {
      if (flat > y.low) along(left_, y.at(flat), right_, y.at(flat), peaks);
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double rate = roofline_.roofs[i].second, start = std::max(x.low, y.low / rate), bend = bend_of(rate);
      along(x.at(start), y.at(start * rate), x.at(bend), y.at(bend * rate), lines[i]);
    }
    for (std::size_t i = 0; i < roofline_.roofs.size(); ++i) {
      const auto& [name, rate] = roofline_.roofs[i];
      const double start = std::max(x.low, y.low / rate), bend = bend_of(rate);
      out_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"><title>{}</title></path>\n",
                          roof_class(roofline_, i), x.at(start), y.at(start * rate), x.at(bend), y.at(bend * rate),
                          svg::escape(fmt::format("{} {}\nmeets the peak at {:.3g} FLOP/byte", name,
                                                  base::human_rate(rate, "B/s"), peak / rate)));
      std::vector<svg::Box> others = peaks;
      for (std::size_t other = 0; other < lines.size(); ++other) {
        if (other != i) others.insert(others.end(), lines[other].begin(), lines[other].end());
      }
      name_roof(x, y, i, start, bend, inside, others, obstacles);
    }
    obstacles.insert(obstacles.end(), peaks.begin(), peaks.end());
    for (const auto& one : lines) obstacles.insert(obstacles.end(), one.begin(), one.end());
  }

  // Names are written along their lines without overlap. A name without a free position appears in the legend only.
  void name_roof(const svg::Axis& x, const svg::Axis& y, std::size_t i, double start, double bend,
                 const svg::Box& inside, const std::vector<svg::Box>& others, std::vector<svg::Box>& obstacles) {
    constexpr double kAbove = 5, kPlaces = 16;
    const auto& [name, rate] = roofline_.roofs[i];
    const double count = static_cast<double>(roofline_.roofs.size());
    const double preferred = 0.88 - 0.7 * (static_cast<double>(i) + 0.5) / count;
    const double angle = std::atan2(y.at(bend * rate) - y.at(start * rate), x.at(bend) - x.at(start));
    for (double place = 0; place <= 2 * kPlaces; ++place) {
      // Positions at growing distance, alternately to either side.
      const double away = std::ceil(place / 2) / kPlaces * (static_cast<int>(place) % 2 == 0 ? 1 : -1);
      const double share = preferred + away;
      if (share < 0 || share > 1) continue;
      const double at = start * std::pow(bend / start, share);
      const double px = x.at(at), py = y.at(at * rate), middle = kAbove + kFont / 3;
      const auto boxes = boxes_along(px + middle * std::sin(angle), py - middle * std::cos(angle), angle,
                                     svg::text_width(name, kFont));
      if (!clear_of(boxes, obstacles, inside) || !clear_of(boxes, others, inside)) continue;
      out_ += fmt::format(
          "<text class=\"name halo\" transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" y=\"-{:.0f}\" "
          "text-anchor=\"middle\">{}</text>\n",
          px, py, angle * 180 / M_PI, kAbove, svg::escape(name));
      obstacles.insert(obstacles.end(), boxes.begin(), boxes.end());
      return;
    }
  }

  void draw_peak(const svg::Axis& x, const svg::Axis& y, const char* kind, double peak, double from, const char* name,
                 std::vector<svg::Box>& obstacles) {
    if (!(peak > 0) || peak < y.low) return;
    const double py = y.at(peak);
    out_ += fmt::format("<path class=\"roof {}\" d=\"M{:.1f} {:.1f}H{:.1f}\"><title>peak {} {}</title></path>\n", kind,
                        x.at(std::min(from, x.high)), py, right_, name, base::human_rate(peak, "FLOP/s"));
    const double width = svg::text_width(std::string("peak ") + name, kFont) + 8;
    // Above its line, or below it if another peak's name is there.
    for (const double baseline : {py - 6, py + kFont + 3}) {
      const svg::Box box{right_ - width, baseline - 13, width, 18};
      if (std::any_of(obstacles.begin(), obstacles.end(), [&](const svg::Box& o) { return svg::overlap(box, o); })) {
        continue;
      }
      out_ += text("name halo", right_ - 4, baseline, "end", std::string("peak ") + name);
      obstacles.push_back(box);
      break;
    }
  }

  // Numbers beside the dots; draw_list() prints the names, which would not fit between the lines.
  void draw_points(const svg::Axis& x, const svg::Axis& y, const svg::Box& inside, std::vector<svg::Box> obstacles) {
    std::vector<svg::Label> labels;
    for (std::size_t i = 0; i < roofline_.points.size(); ++i) {
      const PlotPoint plotted = plot_point(roofline_, roofline_.points[i]);
      if (moves_only(roofline_.points[i]) || !drawable(plotted)) continue;
      numbered_.push_back(i);
      // A point outside the frame is drawn on its edge.
      labels.push_back({x.at(std::clamp(plotted.intensity, x.low, x.high)),
                        y.at(std::clamp(plotted.flops_per_second, y.low, y.high)), std::to_string(numbered_.size())});
    }
    const auto placed = svg::place_labels(labels, kFont, inside, std::move(obstacles));
    for (std::size_t p = 0; p < placed.size(); ++p) {
      if (!placed[p].shown || !placed[p].needs_leader) continue;
      const svg::Box& box = placed[p].box;
      out_ += line("lead", labels[p].x, labels[p].y, std::clamp(labels[p].x, box.x, box.x + box.width),
                   box.y + box.height / 2);
    }
    for (std::size_t p = 0; p < placed.size(); ++p) {
      const Point& point = roofline_.points[numbered_[p]];
      const PlotPoint plotted = plot_point(roofline_, point);
      out_ += fmt::format("<circle class=\"point\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"{}><title>{}</title></circle>\n",
                          labels[p].x, labels[p].y,
                          svg::data(point_key(key_, numbered_[p], "flops_per_second"), plotted.flops_per_second),
                          svg::escape(tooltip(point, plotted)));
      const svg::Box& box = placed[p].box;
      if (placed[p].shown)
        out_ += text("name halo", box.x + box.width / 2, box.y + box.height - 4, "middle", labels[p].text);
    }
  }

  // Number, name, rate and share of each point; in a narrow drawing the name has its own line.
  double draw_list(double y) {
    for (std::size_t p = 0; p < numbered_.size(); ++p) {
      const std::size_t index = numbered_[p];
      const Point& point = roofline_.points[index];
      const PlotPoint plotted = plot_point(roofline_, point);
      const double room = narrow_ ? right_ - list_left_ - 20 : right_ - kStripValues - list_left_ - 34;
      out_ += text("name", list_left_ + 12, y + 12, "end", std::to_string(p + 1));
      out_ += text("name", list_left_ + 20, y + 12, "start", svg::shortened(point.label, room, kFont));
      if (narrow_) y += kRow - 6;
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"{}>{}</text>\n", right_ - 44, y + 12,
                          svg::data(point_key(key_, index, "flops_per_second"), plotted.flops_per_second),
                          base::human_rate(plotted.flops_per_second, "FLOP/s"));
      draw_share(index, plotted, y + 12);
      y += kRow;
    }
    return y;
  }

  void draw_share(std::size_t index, const PlotPoint& plotted, double y) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"{}>{:.0f} %</text>\n", right_, y,
                        svg::data(point_key(key_, index, "share"), plotted.share), plotted.share * 100);
  }

  // --- no arithmetic ------------------------------------------------------------------------------------------------

  double draw_strip(double y) {
    std::vector<std::size_t> movers;
    double low = main_memory(roofline_), high = 0;
    for (const auto& [name, rate] : roofline_.roofs) high = std::max(high, rate);
    for (std::size_t i = 0; i < roofline_.points.size(); ++i) {
      const double rate = plot_point(roofline_, roofline_.points[i]).bytes_per_second;
      if (!moves_only(roofline_.points[i]) || !std::isfinite(rate) || rate <= 0) continue;
      movers.push_back(i);
      low = low > 0 ? std::min(low, rate) : rate;
      high = std::max(high, rate);
    }
    if (movers.empty()) return y;
    y += 12;
    out_ += text("title", list_left_, y + 12, "start", "No arithmetic: bandwidth alone");
    y += 28;
    const double labels = narrow_ ? list_left_ : 262, row = narrow_ ? 2 * kRow : kRow;
    const svg::Axis axis{svg::Spacing::decades, low / 2, high * 1.5, labels, right_ - kStripValues};
    const double roofs_height = draw_strip_roofs(axis, y, row * static_cast<double>(movers.size()));
    y += roofs_height;
    for (const std::size_t i : movers) {
      draw_mover(axis, i, y + row - kRow / 2);
      y += row;
    }
    out_ += line("axis", axis.from, y, axis.to, y);
    for (const double value : readable_ticks(axis, narrow_ ? 3 : 6, axis.to + 6))
      out_ += text("small", axis.at(value), y + 15, "middle", svg::tick_text(value));
    out_ += text("small", axis.to + 10, y + 15, "start", "B/s");
    return y + 20;
  }

  // One vertical line per roof with its name on top; names that would touch move up a row.
  double draw_strip_roofs(const svg::Axis& axis, double y, double rows_height) {
    constexpr double row = 15;
    std::vector<svg::Box> names;
    for (const auto& [name, rate] : roofline_.roofs) {
      const double width = svg::text_width(name, kFont) + 6;
      svg::Box box{axis.at(rate) - width / 2, 0, width, row};
      while (std::any_of(names.begin(), names.end(), [&](const svg::Box& other) { return svg::overlap(box, other); }))
        box.y += row;
      names.push_back(box);
    }
    double height = row;
    for (const svg::Box& box : names) height = std::max(height, box.y + row);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double x = axis.at(roofline_.roofs[i].second), label = y + height - names[i].y;
      out_ += line(roof_class(roofline_, i), x, label, x, y + height + rows_height);
      out_ += text("name halo", x, label - 3, "middle", roofline_.roofs[i].first);
    }
    return height;
  }

  void draw_mover(const svg::Axis& axis, std::size_t index, double y) {
    const Point& point = roofline_.points[index];
    const PlotPoint plotted = plot_point(roofline_, point);
    out_ += line("grid", axis.from, y, axis.to, y);
    if (narrow_)  // above its row
      out_ += text("name halo", axis.from, y - 12, "start", svg::shortened(point.label, right_ - axis.from, kFont));
    else
      out_ += text("name", axis.from - 10, y + 4, "end", svg::shortened(point.label, axis.from - 24, kFont));
    out_ += fmt::format("<circle class=\"point\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"{}><title>{}</title></circle>\n",
                        axis.at(plotted.bytes_per_second), y,
                        svg::data(point_key(key_, index, "bytes_per_second"), plotted.bytes_per_second),
                        svg::escape(tooltip(point, plotted)));
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", axis.to + 10, y + 4,
                        svg::data(point_key(key_, index, "bytes_per_second"), plotted.bytes_per_second),
                        base::human_rate(plotted.bytes_per_second, "B/s"));
    draw_share(index, plotted, y + 4);
  }

  const Roofline& roofline_;
  std::string key_;
  double width_;
  bool narrow_;  // layout for a phone
  double left_ = narrow_ ? 50 : 62, right_ = width_ - 16, plot_height_ = narrow_ ? 260 : 340;
  double list_left_ = narrow_ ? 2 : 12;
  std::vector<std::size_t> numbered_;  // points on the plane, in the order of their numbers
  std::string out_;
};

}  // namespace

std::string svg_of(const Roofline& roofline, const std::string& key, bool standalone, double width) {
  return Drawing(roofline, key, width).finish(standalone);
}

std::string to_svg(const Roofline& roofline) { return svg_of(roofline, "roofline", true); }

}  // namespace ridge::machine
