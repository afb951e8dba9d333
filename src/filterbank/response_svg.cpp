// SVG plot of a prototype filter's frequency response.
#include "filterbank/response_svg.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/svg.hpp"

namespace ridge::filterbank {
namespace {

namespace svg = base::svg;

constexpr double kWidth = 860, kHeight = 460, kLeft = 64, kRight = kWidth - 20, kTop = 84, kBottom = kHeight - 44;

std::string polyline(const std::vector<std::pair<double, double>>& points, const svg::Axis& x, const svg::Axis& y,
                     double shift, const std::string& style) {
  std::string path;
  for (const auto& [offset, level] : points) {
    const double at = offset + shift;
    if (at < x.low || at > x.high) continue;
    path += fmt::format("{:.1f},{:.1f} ", x.at(at), y.at(std::max(level, y.low)));
  }
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>\n", style, path);
}

}  // namespace

std::string response_svg(std::span<const double> prototype, std::size_t channels, const Quality& quality,
                         double channels_shown) {
  const std::size_t taps = prototype.size() / channels;
  const double floor_db = std::floor((quality.leakage_db - 25) / 20) * 20;
  const svg::Axis x{svg::Spacing::linear, -channels_shown, channels_shown, kLeft, kRight};
  const svg::Axis y{svg::Spacing::linear, floor_db, 10, kBottom, kTop};
  std::string out =
      svg::open(kWidth, kHeight, fmt::format("Response of a channel, {} channels x {} taps", channels, taps), true);
  out += fmt::format("<text class=\"title\" x=\"{}\" y=\"26\">Response of a channel: {} channels, {} taps</text>\n",
                     kLeft, channels, taps);
  out += fmt::format(
      "<text x=\"{}\" y=\"46\">leakage<tspan dx=\"5\"{}>{:.1f} dB</tspan> beyond {:g} channels, edge<tspan "
      "dx=\"5\"{}>{:.2f} dB</tspan>, ripple<tspan dx=\"5\"{}>{:.3f} dB</tspan> within a quarter</text>\n",
      kLeft, svg::data("leakage_db", quality.leakage_db), quality.leakage_db, quality.beyond,
      svg::data("edge_db", quality.edge_db), quality.edge_db, svg::data("ripple_db", quality.ripple_db),
      quality.ripple_db);
  for (const double tick : y.ticks(8)) {
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft, kRight,
                       y.at(tick), y.at(tick));
    out += fmt::format("<text class=\"small\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{:g} dB</text>\n", kLeft - 6,
                       y.at(tick) + 4, tick);
  }
  for (const double tick : x.ticks(8)) {
    out += fmt::format("<text class=\"small\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{:g}</text>\n", x.at(tick),
                       kBottom + 18, tick);
  }
  out += fmt::format(
      "<text class=\"small\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">channels from the centre</text>\n",
      (kLeft + kRight) / 2, kBottom + 36);
  for (const double edge : {-0.5, 0.5}) {
    out += fmt::format("<line class=\"lead\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>\n", x.at(edge),
                       x.at(edge), kTop, kBottom);
  }
  out += fmt::format("<line class=\"peak2\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft, kRight,
                     y.at(quality.leakage_db), y.at(quality.leakage_db));

  // Fine enough for the side lobes, which are 1 / taps channels wide. Adjacent channels have the same curve, shifted.
  std::vector<std::pair<double, double>> curve;
  const double step = std::max(1.0 / (8 * static_cast<double>(taps)), 2 * channels_shown / 4000);
  for (double offset = 0; offset <= channels_shown + 1; offset += step) {
    curve.emplace_back(offset, response_db(prototype, channels, offset));
  }
  std::vector<std::pair<double, double>> whole;
  for (auto one = curve.rbegin(); one != curve.rend(); ++one) whole.emplace_back(-one->first, one->second);
  whole.insert(whole.end(), curve.begin() + 1, curve.end());
  out += polyline(whole, x, y, -1, "s1 dash1");
  out += polyline(whole, x, y, 1, "s1 dash1");
  out += polyline(whole, x, y, 0, "s0");
  svg::legend({{"line s0", "this channel"}, {"line s1 dash1", "its neighbours"}, {"peak2", "worst leakage"}}, kLeft, 56,
              kRight - kLeft, out);
  return out + "</svg>\n";
}

}  // namespace ridge::filterbank
