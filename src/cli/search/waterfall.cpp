// Reduces the latest power to a small picture for the live page.
#include "cli/search/waterfall.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/images/png.hpp"
#include "search/input_block.hpp"

namespace ridge::cli {
namespace {

constexpr std::size_t kGroups = 64, kColumns = 128, kColumnsPerPiece = 16;
constexpr std::size_t kPictureRows = 512, kPictureColumns = 1024;

}  // namespace

LiveWaterfall::LiveWaterfall(const PowerFile& of)
    : channels_(of.band().channels),
      bits_(of.bits()),
      row_bytes_(of.row_bytes()),
      groups_(std::min(kGroups, channels_)),
      is_signed_(of.header().is_signed),
      ascending_(of.band().step_mhz > 0) {}

void LiveWaterfall::add(const std::vector<std::byte>& bytes, std::size_t rows) {
  std::vector<float> row(channels_);
  const std::size_t each = (rows + kColumnsPerPiece - 1) / kColumnsPerPiece;
  for (std::size_t begin = 0; begin < rows; begin += each) {
    const std::size_t end = std::min(rows, begin + each);
    std::vector<double> sum(groups_), count(groups_);
    for (std::size_t r = begin; r < end; ++r) {
      search::unpack(bytes.data() + r * row_bytes_, bits_, is_signed_, row.data(), channels_);
      for (std::size_t c = 0; c < channels_; ++c) {
        const std::size_t group = (ascending_ ? channels_ - 1 - c : c) * groups_ / channels_;
        if (std::isfinite(row[c])) sum[group] += row[c], count[group] += 1;
      }
    }
    std::vector<float>& column = columns_.emplace_back(groups_);
    for (std::size_t g = 0; g < groups_; ++g) column[g] = static_cast<float>(sum[g] / std::max(count[g], 1.0));
    if (columns_.size() > kColumns) columns_.pop_front();
  }
}

base::Json LiveWaterfall::json() const {
  std::vector<float> low(groups_, std::numeric_limits<float>::max()),
      high(groups_, std::numeric_limits<float>::lowest());
  for (const auto& column : columns_) {
    for (std::size_t g = 0; g < groups_; ++g)
      low[g] = std::min(low[g], column[g]), high[g] = std::max(high[g], column[g]);
  }
  base::Json rows = base::Json::array();
  for (const auto& column : columns_) {
    base::Json one = base::Json::array();
    for (std::size_t g = 0; g < groups_; ++g) {
      const float range = high[g] - low[g];
      one.push_back(range > 0 ? static_cast<int>(99 * (column[g] - low[g]) / range) : 0);
    }
    rows.push_back(std::move(one));
  }
  return {{"rows", std::move(rows)}};
}

WaterfallPicture::WaterfallPicture(const PowerFile& of)
    : channels_(of.band().channels),
      bits_(of.bits()),
      row_bytes_(of.row_bytes()),
      groups_(std::min(kPictureRows, channels_)),
      is_signed_(of.header().is_signed),
      ascending_(of.band().step_mhz > 0) {}

WaterfallPicture::Cell& WaterfallPicture::cell(std::uint64_t row, std::size_t channel) {
  for (; row / each_ >= kPictureColumns; each_ *= 2) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell from = cells_[i];
      Cell& to = cells_[i / groups_ / 2 * groups_ + i % groups_];
      to = i / groups_ % 2 == 0 ? from : Cell{to.sum + from.sum, to.count + from.count, to.flagged + from.flagged};
    }
    cells_.resize((cells_.size() / groups_ + 1) / 2 * groups_);
  }
  const std::size_t column = static_cast<std::size_t>(row / each_);
  if (cells_.size() < (column + 1) * groups_) cells_.resize((column + 1) * groups_);
  return cells_[column * groups_ + (ascending_ ? channels_ - 1 - channel : channel) * groups_ / channels_];
}

void WaterfallPicture::add(const std::vector<std::byte>& bytes, std::size_t rows) {
  std::vector<float> row(channels_);
  for (std::size_t r = 0; r < rows; ++r, ++added_) {
    search::unpack(bytes.data() + r * row_bytes_, bits_, is_signed_, row.data(), channels_);
    for (std::size_t c = 0; c < channels_; ++c) {
      if (!std::isfinite(row[c])) continue;
      Cell& one = cell(added_, c);
      one.sum += row[c], one.count += 1;
    }
  }
}

void WaterfallPicture::flag(std::span<const std::byte> bits, std::size_t rows) {
  const std::size_t row = (channels_ + 7) / 8;
  for (std::size_t r = 0; r < rows; ++r, ++seen_) {
    for (std::size_t c = 0; c < channels_; ++c) {
      if ((std::to_integer<unsigned>(bits[r * row + c / 8]) >> (c % 8) & 1U) != 0) cell(seen_, c).flagged += 1;
    }
  }
}

// A group of channels is drawn relative to its own mean and deviation over time: -2 to 4 deviations.
void WaterfallPicture::write(const std::string& name) const {
  const std::size_t columns = cells_.size() / groups_;
  io::Raster picture(std::max<std::size_t>(columns, 1), groups_, {0, 0, 0});
  const double inside = static_cast<double>(each_) * static_cast<double>(channels_) / static_cast<double>(groups_);
  for (std::size_t g = 0; g < groups_; ++g) {
    double sum = 0, square = 0, count = 0;
    const auto each_mean = [&](const auto& use) {
      for (std::size_t x = 0; x < columns; ++x) {
        const Cell& one = cells_[x * groups_ + g];
        if (one.count > 0 && one.flagged < inside / 2) use(x, one.sum / one.count);
      }
    };
    each_mean([&](std::size_t, double mean) { sum += mean, square += mean * mean, count += 1; });
    const double middle = sum / std::max(count, 1.0);
    const double deviation = std::sqrt(std::max(0.0, square / std::max(count, 1.0) - middle * middle));
    each_mean([&](std::size_t x, double mean) {
      const double level = deviation > 0 ? (mean - middle) / deviation : 0;
      const auto grey = static_cast<std::uint8_t>(std::clamp(255 * (level + 2) / 6, 0.0, 255.0));
      picture.set(x, g, {grey, grey, grey});
    });
    for (std::size_t x = 0; x < columns; ++x) {
      if (cells_[x * groups_ + g].flagged >= inside / 2) picture.set(x, g, {200, 0, 0});
    }
  }
  io::write_png(name, picture);
}

}  // namespace ridge::cli
