// Heat map of a sweep of lengths by batches: how many times as fast as another library, drawn as SVG.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "report/charts.hpp"

namespace ridge::report {
namespace {

namespace svg = base::svg;

constexpr std::size_t kFewLengths = 128, kLengthsInRow = 64;
constexpr double kSmallCell = 10;
constexpr double kCellWidth = 64, kCellHeight = 22, kMapLeft = 84, kMapTop = 58;

// White at 1, blue where Ridgeline is faster, red where it is slower; saturated at factors of two.
std::string colour(double ratio) {
  const double share = std::clamp(std::log2(ratio), -1.0, 1.0), amount = 0.85 * std::abs(share);
  const std::array<double, 3> full = share < 0 ? std::array{227.0, 73.0, 72.0} : std::array{42.0, 120.0, 214.0};
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(255 + amount * (full[0] - 255)),
                     std::lround(255 + amount * (full[1] - 255)), std::lround(255 + amount * (full[2] - 255)));
}

std::string power_text(double value) {
  const double exponent = std::log2(value);
  return value >= 1024 && exponent == std::floor(exponent) ? fmt::format("2^{:.0f}", exponent)
                                                           : fmt::format("{:.0f}", value);
}

std::string legend_of(double y) {
  std::string out;
  double x = kMapLeft;
  for (const double ratio : {0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0}) {
    out += fmt::format(
        "<rect x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"44\" height=\"12\" style=\"fill:{2}\"/>"
        "<text class=\"small\" x=\"{3:.0f}\" y=\"{4:.0f}\" text-anchor=\"middle\">{5}{6:g}</text>\n",
        x, y, colour(ratio), x + 22, y + 25,
        ratio == 0.5   ? "≤ "
        : ratio == 2.0 ? "≥ "
                       : "",
        ratio);
    x += 44;
  }
  return out;
}

double member(const BenchRow& row, const char* name) {
  const auto found = row.more.find(name);
  return found == row.more.end() ? 0 : found->second;
}

// A map of one batch: a row of small cells holds kLengthsInRow lengths.
std::string svg_of_lengths(const HeatMap& map, bool standalone) {
  const auto row_of = [](double length) { return static_cast<std::size_t>(length) / kLengthsInRow; };
  std::size_t first = row_of(map.cells.front().length), last = first;
  for (const HeatCell& cell : map.cells) {
    first = std::min(first, row_of(cell.length));
    last = std::max(last, row_of(cell.length));
  }
  const double bottom = kMapTop + kSmallCell * static_cast<double>(last + 1 - first);
  std::string out = svg::open(kMapLeft + kSmallCell * kLengthsInRow + 10, bottom + 44, map.title, standalone);
  out += fmt::format("<text class=\"title\" x=\"8\" y=\"18\">{}</text>\n", svg::escape(map.title));
  out += fmt::format("<text class=\"small\" x=\"{:.0f}\" y=\"{:.0f}\">{} lengths per row</text>\n", kMapLeft,
                     kMapTop - 8, kLengthsInRow);
  for (std::size_t row = first; row <= last; row += 4) {
    out += fmt::format("<text class=\"small\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kMapLeft - 8,
                       kMapTop + kSmallCell * static_cast<double>(row - first) + 9, row * kLengthsInRow);
  }
  for (const HeatCell& cell : map.cells) {
    const auto length = static_cast<std::size_t>(cell.length);
    out += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" style=\"fill:{}\"{}>"
        "<title>{}</title></rect>\n",
        kMapLeft + kSmallCell * static_cast<double>(length % kLengthsInRow),
        kMapTop + kSmallCell * static_cast<double>(row_of(cell.length) - first), kSmallCell - 1, kSmallCell - 1,
        colour(cell.ratio), svg::data(cell.key, cell.ratio), svg::escape(cell.tip));
  }
  return out + legend_of(bottom + 10) + "</svg>\n";
}

}  // namespace

std::vector<HeatMap> heat_maps(const Bench& bench, const std::string& key) {
  std::vector<HeatMap> maps;
  for (std::size_t i = 0; i < bench.rows.size(); ++i) {
    const BenchRow& row = bench.rows[i];
    const double length = member(row, "length"), batch = member(row, "batch");
    if (!row.chosen || !(length > 0) || !(batch > 0)) continue;
    for (const auto& [peer, seconds] : row.peers) {
      if (!std::isfinite(seconds / row.seconds) || !(seconds > 0)) continue;
      const std::string title = fmt::format("{} on {}: times as fast as {}", bench.title, row.device, peer);
      auto map = std::ranges::find(maps, title, &HeatMap::title);
      if (map == maps.end()) map = maps.insert(maps.end(), {.title = title, .cells = {}});
      map->cells.push_back({length, batch, seconds / row.seconds, fmt::format("{}.rows.{}.vs_{}", key, i, peer),
                            fmt::format("{}\n{}, {} {}\n{}", row.problem, base::human_seconds(row.seconds), peer,
                                        base::human_seconds(seconds), row.variant)});
    }
  }
  // A single length or few of one batch need no map: the bar chart shows them.
  std::erase_if(maps, [](const HeatMap& map) {
    std::set<double> lengths, batches;
    for (const HeatCell& cell : map.cells) {
      lengths.insert(cell.length);
      batches.insert(cell.batch);
    }
    return lengths.size() < 2 || (batches.size() < 2 && lengths.size() < kFewLengths);
  });
  return maps;
}

std::string svg_of(const HeatMap& map, bool standalone) {
  std::set<double> lengths, batches;
  for (const HeatCell& cell : map.cells) {
    lengths.insert(cell.length);
    batches.insert(cell.batch);
  }
  if (batches.size() < 2) return svg_of_lengths(map, standalone);
  const double bottom = kMapTop + kCellHeight * static_cast<double>(lengths.size());
  const double right = kMapLeft + kCellWidth * static_cast<double>(batches.size());
  std::string out = svg::open(std::max(right + 10, kMapLeft + 9 * 44 + 20), bottom + 44, map.title, standalone);
  out += fmt::format("<text class=\"title\" x=\"8\" y=\"18\">{}</text>\n", svg::escape(map.title));
  out += fmt::format("<text class=\"small\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">points</text>\n",
                     kMapLeft - 8, kMapTop - 8);
  const auto place = [](const std::set<double>& all, double value) {
    return static_cast<double>(std::distance(all.begin(), all.find(value)));
  };
  for (const double length : lengths) {
    out += fmt::format("<text class=\"name\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kMapLeft - 8,
                       kMapTop + kCellHeight * place(lengths, length) + 15, power_text(length));
  }
  for (const double batch : batches) {
    out += fmt::format("<text class=\"name\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}{:g}</text>\n",
                       kMapLeft + kCellWidth * (place(batches, batch) + 0.5), kMapTop - 8,
                       batch == *batches.begin() ? "batch " : "", batch);
  }
  for (const HeatCell& cell : map.cells) {
    const double x = kMapLeft + kCellWidth * place(batches, cell.batch),
                 y = kMapTop + kCellHeight * place(lengths, cell.length);
    out += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" style=\"fill:{}\">"
        "<title>{}</title></rect>\n",
        x, y, kCellWidth - 1, kCellHeight - 1, colour(cell.ratio), svg::escape(cell.tip));
    out +=
        fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\" style=\"fill:#0b0b0b\"{}>{:.2f}</text>\n",
                    x + kCellWidth / 2, y + 15, svg::data(cell.key, cell.ratio), cell.ratio);
  }
  return out + legend_of(bottom + 10) + "</svg>\n";
}

}  // namespace ridge::report
