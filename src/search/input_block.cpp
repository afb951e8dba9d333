// Unpacks values of 1 to 32 bits, computes statistics per channel, and normalizes to bytes.
#include "search/input_block.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/threads.hpp"
#include "search/host/rows.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kTurned = 64;  // rows transposed at once

bool all_finite(const float* row, std::size_t count) {
  float probe = 0;
  for (std::size_t i = 0; i < count; ++i) probe += row[i] * 0.0F;  // NaN if any value is NaN or infinite
  return probe == 0;
}

// Reads row r and flags the values that are not finite. Returns their number.
std::uint64_t read_row(const RawRows& raw, std::size_t r, std::vector<float>& row, Mask& mask) {
  unpack(raw.row(r), raw.bits, raw.is_signed, row.data(), raw.channels);
  if (raw.bits != 32 || all_finite(row.data(), raw.channels)) return 0;
  std::uint64_t found = 0;
  for (std::size_t c = 0; c < raw.channels; ++c) {
    if (std::isfinite(row[c]) || mask.at(r, c)) continue;
    mask.set(r, c);
    ++found;
  }
  return found;
}

template <class Number>
Number middle_of(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Sets the reference of each channel, the median of a few unflagged values, so that sums of squares keep their digits
// even if some rows are zeros. Floats may have any unit: a power of two makes the reference about 1.
void choose_references(const RawRows& raw, const Mask& mask, PartSums& sums) {
  constexpr std::size_t kLooks = 5;
  std::vector<std::vector<float>> values(raw.channels);
  std::vector<float> row(raw.channels);
  std::size_t missing = raw.channels;
  const auto look = [&](std::size_t r, std::size_t enough) {
    unpack(raw.row(r), raw.bits, raw.is_signed, row.data(), raw.channels);
    for (std::size_t c = 0; c < raw.channels; ++c) {
      if (values[c].size() >= enough || mask.at(r, c) || !std::isfinite(row[c])) continue;
      if (values[c].empty()) --missing;
      values[c].push_back(row[c]);
    }
  };
  for (std::size_t i = 0; i < kLooks; ++i) look((raw.rows - 1) * i / (kLooks - 1), kLooks);
  for (std::size_t r = 0; r < raw.rows && missing > 0; ++r) look(r, 1);
  for (std::size_t c = 0; c < raw.channels; ++c) {
    const float middle = values[c].empty() ? 0 : middle_of(values[c]);
    int exponent = 0;
    if (raw.bits == 32) std::frexp(middle, &exponent);
    sums.scale[c] = std::ldexp(1.0F, -std::clamp(exponent, -120, 120));
    sums.reference[c] = middle * sums.scale[c];
  }
}

}  // namespace

bool Mask::any(std::size_t row) const {
  const std::byte* from = bits_.data() + row * row_;
  return std::any_of(from, from + row_, [](std::byte bits) { return bits != std::byte{0}; });
}
void Mask::clear() { std::fill(bits_.begin(), bits_.end(), std::byte{0}); }
std::uint64_t Mask::count(std::size_t rows) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < rows * row_; ++i)
    total += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(bits_[i])));
  return total;
}

PartSums part_sums(const RawRows& raw, Mask& mask, std::size_t threads, std::uint64_t& not_numbers) {
  const std::size_t channels = raw.channels;
  PartSums sums{.parts = (raw.rows + kPartRows - 1) / kPartRows};
  sums.reference.resize(channels);
  sums.scale.resize(channels);
  choose_references(raw, mask, sums);
  sums.sum.assign(sums.parts * channels, 0);
  sums.square.assign(sums.parts * channels, 0);
  sums.count.assign(sums.parts * channels, 0);
  std::atomic<std::uint64_t> found{0};
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(sums.parts, thread, of);
    std::vector<float> row(channels);
    for (std::size_t part = mine.begin; part < mine.end; ++part) {
      const std::size_t first = part * kPartRows, rows = std::min(kPartRows, raw.rows - first);
      std::uint16_t* const count = sums.count.data() + part * channels;
      std::fill_n(count, channels, static_cast<std::uint16_t>(rows));
      for (std::size_t r = first; r < first + rows; ++r) {
        if (const std::uint64_t some = read_row(raw, r, row, mask)) found += some;
        for (std::size_t c = 0; c < channels && raw.bits == 32; ++c) row[c] *= sums.scale[c];
        if (mask.any(r)) {
          for (std::size_t c = 0; c < channels; ++c) {
            if (mask.at(r, c)) row[c] = sums.reference[c], --count[c];
          }
        }
        row_kernels().accumulate(row.data(), sums.reference.data(), sums.sum.data() + part * channels,
                                 sums.square.data() + part * channels, channels);
      }
    }
  });
  not_numbers += found;
  return sums;
}

ChannelStatistics channel_statistics(const RawRows& raw, const PartSums& sums) {
  constexpr float kLeastSigma = 1e-36F;  // its inverse is finite
  ChannelStatistics statistics{std::vector<float>(raw.channels), std::vector<float>(raw.channels)};
  std::vector<double> means, variances, order;
  for (std::size_t c = 0; c < raw.channels; ++c) {
    // Parts of few values count only if there are no others.
    const auto values = [&](std::size_t part) { return sums.count[part * raw.channels + c]; };
    std::size_t most = 0;
    for (std::size_t part = 0; part < sums.parts; ++part) most = std::max<std::size_t>(most, values(part));
    means.clear(), variances.clear();
    for (std::size_t part = 0; part < sums.parts; ++part) {
      const double n = values(part), mean = sums.sum[part * raw.channels + c] / n;
      const double variance = (sums.square[part * raw.channels + c] - n * mean * mean) / (n - 1);
      if (n < 2 || 2 * values(part) < most || !std::isfinite(mean) || !std::isfinite(variance)) continue;
      means.push_back(mean);
      variances.push_back(std::max(0.0, variance));
    }
    if (means.empty()) continue;
    order = means;
    const double middle = middle_of(order);
    const double k = static_cast<double>(most) - 1, variance = middle_of(variances) / std::pow(1 - 2 / (9 * k), 3);
    const double allowed = 5 * std::sqrt(variance / (k + 1));
    double total = 0, used = 0;
    for (const double mean : means) {
      if (std::abs(mean - middle) <= allowed) total += mean, used += 1;
    }
    const double mean = static_cast<double>(sums.reference[c]) + (used > 0 ? total / used : middle);
    statistics.mean[c] = static_cast<float>(mean / sums.scale[c]);
    // A deviation below the resolution of float at this mean is rounding, not noise.
    const double least = 1e-6 * std::abs(mean);
    const auto sigma = static_cast<float>(std::sqrt(variance) / sums.scale[c]);
    statistics.sigma[c] = variance > least * least && sigma > kLeastSigma ? sigma : 0.0F;
  }
  return statistics;
}

Normalizer::Normalizer(std::size_t channels, std::size_t plane_stride, bool reversed, std::size_t threads)
    : channels_(channels), stride_(plane_stride), threads_(threads), reversed_(reversed) {
  turn_ = std::make_unique<transpose::Plan<std::uint8_t>>(
      host(), transpose::Problem{.rows = kTurned, .columns = channels, .output = {.row = plane_stride}, .threads = 1},
      planner::Options{.effort = Effort::quick});
}

void Normalizer::run(const RawRows& raw, const ChannelStatistics& statistics, const Mask& mask,
                     std::uint8_t* plane) const {
  std::vector<float> scale(channels_), offset(channels_);
  for (std::size_t c = 0; c < channels_; ++c) {
    scale[c] = statistics.sigma[c] > 0 ? kByteSigma / statistics.sigma[c] : 0;
    offset[c] = kByteMean - statistics.mean[c] * scale[c];
    if (scale[c] == 0) offset[c] = kByteMean;
  }
  base::parallel(threads_, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(raw.rows, thread, of, kTurned);
    std::vector<float> row(channels_);
    std::vector<std::uint8_t> bytes(kTurned * channels_);
    for (std::size_t r = mine.begin; r < mine.end; r += kTurned) {
      const std::size_t rows = std::min(kTurned, mine.end - r);
      for (std::size_t i = 0; i < rows; ++i) {
        std::uint8_t* to = bytes.data() + i * channels_;
        unpack(raw.row(r + i), raw.bits, raw.is_signed, row.data(), channels_);
        if (mask.any(r + i)) {
          for (std::size_t c = 0; c < channels_; ++c) {
            if (mask.at(r + i, c)) row[c] = statistics.mean[c];
          }
        }
        row_kernels().quantize(row.data(), scale.data(), offset.data(), to, channels_);
        if (reversed_) std::reverse(to, to + channels_);
      }
      if (rows == kTurned) {
        turn_->run_bytes(bytes.data(), bytes.size(), plane + r, (channels_ - 1) * stride_ + kTurned);
        continue;
      }
      for (std::size_t c = 0; c < channels_; ++c) {
        for (std::size_t i = 0; i < rows; ++i) plane[c * stride_ + r + i] = bytes[i * channels_ + c];
      }
    }
  });
}

void check_bits(std::size_t bits, std::size_t channels) {
  if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != 32) {
    throw Error(ErrorKind::invalid_argument, fmt::format("search: needs 1, 2, 4, 8, 16 or 32 bits, got {}", bits));
  }
  if (bits * channels % 8 != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("search: {} channels of {} bits are not a whole number of bytes", channels, bits));
  }
}

void unpack(const std::byte* in, std::size_t bits, bool is_signed, float* out, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
  if (bits == 32) {
    std::memcpy(out, in, count * sizeof(float));
  } else if (bits == 16) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t value = 0;
      std::memcpy(&value, bytes + 2 * i, 2);
      out[i] = value;
    }
  } else if (bits == 8 && is_signed) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int8_t>(bytes[i]);
  } else if (bits == 8) {
    row_kernels().from_bytes(bytes, out, count);
  } else {
    const unsigned mask = (1U << bits) - 1, each = 8 / static_cast<unsigned>(bits);
    for (std::size_t i = 0; i < count; i += each) {
      const unsigned byte = bytes[i / each];
      for (unsigned k = 0; k < each; ++k) out[i + k] = static_cast<float>((byte >> (k * bits)) & mask);
    }
  }
}

void pack(const float* in, std::size_t bits, std::byte* out, std::size_t count) {
  if (bits == 32) return void(std::memcpy(out, in, count * sizeof(float)));
  const float most = static_cast<float>((1U << bits) - 1);
  const auto whole = [&](std::size_t i) {
    return static_cast<unsigned>(std::min(std::max(std::floor(in[i] + 0.5F), 0.0F), most));
  };
  if (bits == 16) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint16_t>(whole(i));
      std::memcpy(out + 2 * i, &value, 2);
    }
    return;
  }
  const std::size_t each = 8 / bits;
  for (std::size_t i = 0; i < count; i += each) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < each; ++k) byte |= whole(i + k) << (k * bits);
    out[i / each] = static_cast<std::byte>(byte);
  }
}

}  // namespace ridge::search
