// Measures offsets and scales of power, and quantizes it to bytes.
#include "io/telescopes/eight_bits.hpp"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

constexpr double kSigmas = 6;  // from the mean to 0 and to 255

}  // namespace

std::string levels_text(std::span<const Level> levels) {
  std::string text = "# power = offset + scale * level, a line per product and channel in the order of the file\n";
  for (const Level& level : levels) text += fmt::format("{} {}\n", level.offset, level.scale);
  return text;
}

std::vector<Level> parse_levels(std::string_view text, std::size_t count, const std::string& name) {
  std::vector<Level> levels;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    line.erase(std::find(line.begin(), line.end(), '#'), line.end());
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    Level level;
    std::string rest;
    if (!(words >> level.offset >> level.scale) || words >> rest || !std::isfinite(level.offset) ||
        !std::isfinite(level.scale) || !(level.scale > 0)) {
      throw Error(ErrorKind::io, fmt::format("{}: line {} needs an offset and a scale above 0", name, number));
    }
    levels.push_back(level);
  }
  if (levels.size() != count) {
    throw Error(ErrorKind::io,
                fmt::format("{} holds {} levels; products x channels need {}", name, levels.size(), count));
  }
  return levels;
}

EightBits::EightBits(std::size_t row_size, std::size_t rows) : row_size_(row_size), rows_(rows) {}

EightBits::EightBits(std::vector<Level> levels) : row_size_(levels.size()), levels_(std::move(levels)) {}

void EightBits::put(std::span<const float> rows, std::vector<std::uint8_t>& out) {
  if (!levels_.empty()) return convert(rows, out);
  waiting_.insert(waiting_.end(), rows.begin(), rows.end());
  if (waiting_.size() >= rows_ * row_size_) finish(out);
}

void EightBits::finish(std::vector<std::uint8_t>& out) {
  if (!levels_.empty()) return;
  estimate();
  convert(waiting_, out);
  waiting_ = {};
}

void EightBits::estimate() {
  levels_.resize(row_size_);
  for (std::size_t i = 0; i < row_size_; ++i) {
    double sum = 0, count = 0, squares = 0;
    for (std::size_t at = i; at < waiting_.size(); at += row_size_) {
      if (!std::isfinite(waiting_[at])) continue;
      sum += waiting_[at];
      ++count;
    }
    const double mean = count > 0 ? sum / count : 0;
    for (std::size_t at = i; at < waiting_.size(); at += row_size_) {
      if (std::isfinite(waiting_[at])) squares += (waiting_[at] - mean) * (waiting_[at] - mean);
    }
    const double sigma = count > 0 ? std::sqrt(squares / count) : 0;
    // A constant value has no scale of its own: uses one that is small relative to it.
    const double scale = sigma > 1e-6 * std::abs(mean) ? 2 * kSigmas * sigma / 255
                         : mean != 0                   ? std::abs(mean) / 255
                                                       : 1;
    const bool constant = !(sigma > 1e-6 * std::abs(mean));
    levels_[i] = {static_cast<float>(mean - (constant ? 128 : 127.5) * scale), static_cast<float>(scale)};
  }
}

void EightBits::convert(std::span<const float> rows, std::vector<std::uint8_t>& out) {
  out.reserve(out.size() + rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const Level& level = levels_[at % row_size_];
    const float value = std::nearbyint((rows[at] - level.offset) / level.scale);
    if (!(value >= 0 && value <= 255)) ++clipped_;  // NaN counts as clipped
    out.push_back(value >= 0 ? static_cast<std::uint8_t>(std::min(value, 255.0f)) : std::uint8_t{0});
  }
  values_ += rows.size();
}

}  // namespace ridge::io
