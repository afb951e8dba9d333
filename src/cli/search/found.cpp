// Writes candidates as JSON and CSV, and draws them.
#include "cli/search/found.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/svg.hpp"
#include "cli/search/power_file.hpp"
#include "io/images/picture.hpp"
#include "search/input_block.hpp"

namespace ridge::cli {
namespace {

base::Json as_json(const search::Candidate& one, double start) {
  base::Json object{{"dm", one.dm},           {"time", one.time},         {"snr", one.snr},
                    {"width", one.width},     {"samples", one.samples},   {"sample", one.sample},
                    {"members", one.members}, {"dm_first", one.dm_first}, {"dm_last", one.dm_last}};
  if (start > 0) object["mjd"] = start + one.time / 86400;
  return object;
}

// Power around a pulse: `bins` of time by at most 128 groups of channels, each channel's mean removed.
struct Cutout {
  std::size_t groups = 0, bins = 0, bin_samples = 1;
  std::vector<float> power{};
  double first_seconds = 0;  // of the first bin, from the start of the file
};

Cutout cutout(const std::string& file, std::size_t number, const search::Candidate& one) {
  constexpr std::size_t kBins = 96, kMostGroups = 128;
  PowerFile in(file, number);
  const search::Band band = in.band();
  Cutout cut{.groups = std::min(kMostGroups, band.channels), .bins = kBins};
  cut.bin_samples = std::max<std::size_t>(1, one.samples / 4);
  const std::uint64_t before = kBins / 2 * cut.bin_samples;
  const std::uint64_t middle = one.sample + one.samples / 2, first = middle > before ? middle - before : 0;
  cut.first_seconds = static_cast<double>(first) * band.interval;
  cut.power.assign(cut.groups * cut.bins, 0);
  std::vector<std::size_t> late(band.channels);
  for (std::size_t c = 0; c < band.channels; ++c) {
    const double mhz = band.first_mhz + band.step_mhz * static_cast<double>(c);
    late[c] =
        static_cast<std::size_t>(std::lround(search::delay_seconds(one.dm, mhz, band.highest_mhz()) / band.interval));
  }
  const std::size_t rows = *std::max_element(late.begin(), late.end()) + kBins * cut.bin_samples;
  in.skip(first);
  std::vector<std::byte> bytes;
  const std::size_t got = in.read(bytes, rows);
  std::vector<float> row(band.channels);
  std::vector<double> sum(band.channels), square(band.channels);
  std::vector<float> count(cut.power.size());
  const auto each = [&](const auto& use) {
    for (std::size_t r = 0; r < got; ++r) {
      search::unpack(bytes.data() + r * in.row_bytes(), in.bits(), in.header().is_signed, row.data(), band.channels);
      for (std::size_t c = 0; c < band.channels; ++c) {
        if (std::isfinite(row[c])) use(r, c, row[c]);
      }
    }
  };
  each([&](std::size_t, std::size_t c, float x) { sum[c] += x, square[c] += static_cast<double>(x) * x; });
  const auto n = static_cast<double>(std::max<std::size_t>(got, 1));
  each([&](std::size_t r, std::size_t c, float x) {
    const double mean = sum[c] / n, variance = square[c] / n - mean * mean;
    if (r < late[c] || !(variance > 0)) return;
    const std::size_t bin = (r - late[c]) / cut.bin_samples;
    if (bin >= cut.bins) return;
    const std::size_t group = c * cut.groups / band.channels, at = group * cut.bins + bin;
    cut.power[at] += static_cast<float>((x - mean) / std::sqrt(variance));
    count[at] += 1;
  });
  for (std::size_t i = 0; i < cut.power.size(); ++i) cut.power[i] /= std::sqrt(std::max(count[i], 1.0F));
  return cut;
}

}  // namespace

base::Json candidates_json(const std::vector<search::Candidate>& found, double start) {
  base::Json list = base::Json::array();
  for (const search::Candidate& one : found) list.push_back(as_json(one, start));
  return list;
}

void write_candidates(const std::string& name, const std::vector<search::Candidate>& found, double start) {
  std::string text;
  if (name.ends_with(".csv")) {
    text = "time,dm,snr,width,samples,sample,members,dm_first,dm_last\n";
    for (const search::Candidate& one : found) {
      text += fmt::format("{:.9f},{:.4f},{:.3f},{:.9f},{},{},{},{:.4f},{:.4f}\n", one.time, one.dm, one.snr, one.width,
                          one.samples, one.sample, one.members, one.dm_first, one.dm_last);
    }
  } else {
    text = candidates_json(found, start).dump(1) + "\n";
  }
  if (name == "-") {
    fmt::print("{}", text);
  } else {
    base::write_file(name, text);
  }
}

std::string overview_svg(const std::vector<search::Candidate>& found, double seconds, double dm_begin, double dm_end) {
  namespace svg = base::svg;
  constexpr double kWidth = 900, kHeight = 420, kLeft = 60, kBottom = 40, kTop = 30;
  const svg::Axis x{.low = 0, .high = std::max(seconds, 1e-9), .from = kLeft, .to = kWidth - 20};
  const svg::Axis y{.low = dm_begin, .high = std::max(dm_end, dm_begin + 1e-9), .from = kHeight - kBottom, .to = kTop};
  std::string out = svg::open(kWidth, kHeight, "Candidates: dispersion measure against time", true);
  const auto text = [&](double px, double py, const char* anchor, const std::string& words) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"12\">{}</text>\n", px, py,
                       anchor, svg::escape(words));
  };
  for (const double tick : x.ticks(8)) {
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x.at(tick), kTop,
                       kHeight - kBottom);
    text(x.at(tick), kHeight - kBottom + 16, "middle", x.text(tick));
  }
  for (const double tick : y.ticks(6)) {
    out += fmt::format("<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", y.at(tick),
                       kLeft, kWidth - 20);
    text(kLeft - 6, y.at(tick) + 4, "end", y.text(tick));
  }
  text(kWidth / 2, kHeight - 6, "middle", "time, s");
  text(kLeft, kTop - 12, "start", "DM, pc/cm^3; the area of a circle grows with the S/N");
  for (const search::Candidate& one : found) {
    out += fmt::format(
        "<circle class=\"s0\" fill=\"none\" stroke=\"currentColor\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
        "r=\"{:.1f}\"{}><title>S/N {:.1f}, DM {:.2f}, {:.6f} s, width {:.3g} s</title></circle>\n",
        x.at(one.time), y.at(std::clamp(one.dm, y.low, y.high)), 1.5 * std::sqrt(one.snr), svg::data("snr", one.snr),
        one.snr, one.dm, one.time, one.width);
  }
  return out + "</svg>\n";
}

std::size_t write_pictures(const std::string& folder, const std::string& file, std::size_t number,
                           const std::vector<search::Candidate>& found, std::size_t most) {
  std::vector<const search::Candidate*> order;
  for (const search::Candidate& one : found) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->snr > b->snr; });
  if (order.size() > most) order.resize(most);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(ErrorKind::io, fmt::format("cannot create the folder {}: {}", folder, failed.message()));
  for (const search::Candidate* one : order) {
    const Cutout cut = cutout(file, number, *one);
    const search::Band band = PowerFile(file, number).band();
    const bool upward = band.step_mhz > 0;
    const double step = std::abs(band.step_mhz) * static_cast<double>(band.channels) / static_cast<double>(cut.groups);
    const io::GridSource source{.shape = {cut.groups, cut.bins},
                                .type = io::ElementType::float32,
                                .names = {"power"},
                                .read = [&](std::size_t, std::size_t begin, std::size_t end, void* to) {
                                  auto* out = static_cast<float*>(to);
                                  for (std::size_t g = begin; g < end; ++g) {
                                    const std::size_t row = upward ? g : cut.groups - 1 - g;
                                    std::copy_n(cut.power.begin() + static_cast<std::ptrdiff_t>(row * cut.bins),
                                                cut.bins, out);
                                    out += cut.bins;
                                  }
                                }};
    const auto picture =
        io::draw_field(source, 0,
                       {.title = fmt::format("DM {:.2f}  S/N {:.1f}  {:.4f} s  width {:.3g} ms", one->dm, one->snr,
                                             one->time, 1e3 * one->width),
                        .x = io::PictureAxis{.name = "time, s",
                                             .first = cut.first_seconds,
                                             .step = static_cast<double>(cut.bin_samples) * band.interval},
                        .y = {.name = "frequency, MHz", .first = band.lowest_mhz(), .step = step}});
    const auto index = static_cast<std::size_t>(one - found.data());
    io::write_png(std::filesystem::path(folder) / fmt::format("candidate-{:03}.png", index), picture.raster);
  }
  return order.size();
}

}  // namespace ridge::cli
