#include "cli/search/waterfall.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/values.hpp"

namespace ridge::cli {
namespace {

constexpr std::size_t kGroups = 64, kColumns = 128, kColumnsPerPiece = 16;

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

}  // namespace ridge::cli
