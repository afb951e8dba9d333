// Converted sample rows and weights for the FIR kernels.
#include "filterbank/host/window.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::filterbank {
namespace {

std::size_t tile_of(const Geometry& geometry) { return kernels().tile / geometry.polarizations; }

std::size_t rounded(std::size_t times, std::size_t tile) { return (times + tile - 1) / tile * tile; }

}  // namespace

std::size_t SampleWindow::stride_of(const Geometry& geometry, std::size_t capacity) {
  return (capacity * geometry.polarizations + 1) * kBlockFloats;  // one line more, to avoid power-of-two strides
}

std::size_t SampleWindow::floats(const Geometry& geometry, std::size_t capacity) {
  return blocks_of(geometry) * stride_of(geometry, capacity) + whole_lines(geometry.row_bytes() / 4 + 1) +
         whole_lines(geometry.row_samples() / 2 + 1);
}

SampleWindow::SampleWindow(const Geometry& geometry, std::size_t capacity, float* memory)
    : geometry_(geometry), capacity_(capacity), stride_(stride_of(geometry, capacity)), memory_(memory) {
  float* after = memory + blocks_of(geometry) * stride_;
  room_ = reinterpret_cast<std::byte*>(after);
  unpacked_ = reinterpret_cast<signed char*>(after + whole_lines(geometry.row_bytes() / 4 + 1));
  // Padding channels after the last: their weights are 0, and their samples must be finite.
  if (geometry.channels % kBlock != 0) {
    float* last = memory + (blocks_of(geometry) - 1) * stride_;
    std::fill(last, last + stride_, 0.0f);
  }
}

void SampleWindow::convert(const std::byte* from, std::int64_t row) {
  ConvertRow task{.from = from,
                  .channels = geometry_.channels,
                  .polarizations = geometry_.polarizations,
                  .to = memory_ + static_cast<std::size_t>(row - base_) * geometry_.polarizations * kBlockFloats,
                  .block_stride = stride_};
  switch (geometry_.samples) {
    case Samples::int4:
      kernels().unpack_int4(from, geometry_.row_samples(), unpacked_);
      task.from = reinterpret_cast<const std::byte*>(unpacked_);
      return kernels().convert_int8(task);
    case Samples::int8:
      return kernels().convert_int8(task);
    case Samples::int16:
      return kernels().convert_int16(task);
    default:
      return kernels().convert_float(task);
  }
}

void SampleWindow::ensure(const RawView& raw, std::size_t station, std::int64_t low, std::int64_t high) {
  if (!started_) base_ = end_ = low, started_ = true;
  if (high - base_ >= static_cast<std::int64_t>(capacity_)) {
    const std::size_t row = geometry_.polarizations * kBlockFloats;
    const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(0, end_ - low));
    if (kept > 0) {
      for (std::size_t b = 0; b < blocks_of(geometry_); ++b) {
        float* const front = memory_ + b * stride_;
        std::memmove(front, front + static_cast<std::size_t>(low - base_) * row, kept * row * sizeof(float));
      }
    }
    base_ = low;
    end_ = std::max(end_, low);
  }
  // The rows of the next call are prefetched while this call's rows are converted.
  const std::int64_t ahead = high + 1 - end_;
  for (; end_ <= high; ++end_) {
    raw.prefetch_row(geometry_, station, end_ + ahead);
    convert(raw.row(geometry_, station, end_, room_), end_);
  }
}

BlockWeights::BlockWeights(const Geometry& geometry, std::span<const double> prototype)
    : taps_(geometry.taps), table_(blocks_of(geometry) * geometry.taps * kBlockFloats) {
  std::fill(table_.begin(), table_.end(), 0.0f);
  const std::size_t channels = geometry.channels;
  for (std::size_t m = 0; m < channels; ++m) {
    for (std::size_t j = 0; j < taps_; ++j) {
      const double weight = prototype[(taps_ - 1 - j) * channels + (channels - 1 - m)];
      float* at = table_.data() + (m / kBlock * taps_ + j) * kBlockFloats + m % kBlock * 2;
      at[0] = at[1] = static_cast<float>(geometry.centred && m % 2 == 1 ? -weight : weight);
    }
  }
}

RotatedWeights::RotatedWeights(const Geometry& geometry, std::span<const double> prototype)
    : channels_(geometry.channels), stride_(whole_lines(4 * channels_) + 2 * kBlockFloats) {
  const auto fill = [&](base::AlignedArray<float>& table, double odd_sign) {
    table = base::AlignedArray<float>(geometry.taps * stride_);
    std::fill(table.begin(), table.end(), 0.0f);
    for (std::size_t j = 0; j < geometry.taps; ++j) {
      for (std::size_t z = 0; z < 2 * channels_; ++z) {
        const std::size_t m = z % channels_;
        const double weight = prototype[(geometry.taps - 1 - j) * channels_ + (channels_ - 1 - m)];
        const double sign = !geometry.centred ? 1 : (m % 2 == 1 ? -odd_sign : odd_sign);
        table[j * stride_ + 2 * z] = table[j * stride_ + 2 * z + 1] = static_cast<float>(sign * weight);
      }
    }
  };
  fill(even_, 1);
  if (geometry.centred) fill(odd_, -1);
}

std::shared_ptr<const Weights> window_weights(const Geometry& geometry, std::span<const double> prototype) {
  if (geometry.critical()) return std::make_shared<BlockWeights>(geometry, prototype);
  return std::make_shared<RotatedWeights>(geometry, prototype);
}

std::size_t least_rows(const Geometry& geometry, std::size_t times) {
  return geometry.critical() ? geometry.taps - 1 + rounded(times, tile_of(geometry)) : geometry.taps + 1;
}

namespace {

// A block of all polarizations and `times` spectra, rounded up to whole tiles; weights and output are set per block.
FirBlock fir_block(const Geometry& geometry, const float* rows, std::size_t times) {
  const std::size_t row = filtered_row(geometry);
  return {.rows = rows,
          .weights = nullptr,
          .weight_stride = kBlockFloats,
          .taps = geometry.taps,
          .polarizations = geometry.polarizations,
          .times = rounded(times, tile_of(geometry)),
          .out = nullptr,
          .time_stride = geometry.polarizations * row,
          .polarization_stride = row};
}

}  // namespace

void filter_many(const Geometry& geometry, SampleWindow& window, const Piece& piece, std::uint64_t spectrum,
                 std::size_t times, float* out, LateStores* late) {
  const std::int64_t low = geometry.oldest_row(spectrum);
  window.ensure(piece.raw, piece.station, low, low + static_cast<std::int64_t>(geometry.taps - 1 + times) - 1);
  const auto& weights = static_cast<const BlockWeights&>(piece.weights);
  FirBlock block = fir_block(geometry, nullptr, times);
  for (std::size_t b = 0; b < blocks_of(geometry); ++b) {
    block.rows = window.row(b, low);
    block.weights = weights.block(b);
    block.out = out + b * kBlockFloats;
    if (late == nullptr) {
      kernels().fir_tile(block);
      continue;
    }
    const std::size_t all = block.times, tile = tile_of(geometry);
    block.times = tile;
    for (std::size_t t = 0; t < all; t += tile) {
      kernels().fir_tile(block);
      late->beside_fir(tile * geometry.polarizations);
      block.rows += tile * geometry.polarizations * kBlockFloats;
      block.out += tile * block.time_stride;
    }
    block.times = all;
  }
}

namespace {

std::size_t direct_rows(const Geometry& geometry, std::size_t times) {
  return geometry.taps - 1 + rounded(times, tile_of(geometry));
}

}  // namespace

std::size_t DirectRows::floats(const Geometry& geometry, std::size_t times) {
  const std::size_t rows = direct_rows(geometry, times);
  return rows * geometry.polarizations * kBlockFloats + whole_lines(rows * geometry.row_bytes() / 4 + 1);
}

DirectRows::DirectRows(const Geometry& geometry, std::size_t times, float* memory)
    : geometry_(geometry),
      most_(direct_rows(geometry, times)),
      block_(memory),
      room_(reinterpret_cast<std::byte*>(memory + most_ * geometry.polarizations * kBlockFloats)),
      rows_(most_) {}

void DirectRows::filter(const Piece& piece, std::uint64_t spectrum, std::size_t times, float* out, LateStores* late) {
  const Geometry& g = geometry_;
  const std::size_t count = g.taps - 1 + times;
  const std::int64_t low = g.oldest_row(spectrum);
  for (std::size_t r = 0; r < count; ++r) {
    rows_[r] = piece.raw.row(g, piece.station, low + static_cast<std::int64_t>(r), room_ + r * g.row_bytes());
  }
  const auto& kernel = kernels();
  const auto convert = g.samples == Samples::int4    ? kernel.block_int4
                       : g.samples == Samples::int8  ? kernel.block_int8
                       : g.samples == Samples::int16 ? kernel.block_int16
                                                     : kernel.block_float;
  const auto& weights = static_cast<const BlockWeights&>(piece.weights);
  FirBlock block = fir_block(g, block_, times);
  for (std::size_t b = 0; b < blocks_of(g); ++b) {
    convert({.rows = rows_.data(),
             .count = count,
             .first = b * kBlock,
             .channels = std::min(kBlock, g.channels - b * kBlock),
             .polarizations = g.polarizations,
             .to = block_});
    block.weights = weights.block(b);
    block.out = out + b * kBlockFloats;
    kernel.fir_tile(block);
    if (late != nullptr) late->beside_fir(times * g.polarizations);
  }
}

void filter_one(const Geometry& geometry, SampleWindow& window, const Piece& piece, std::uint64_t spectrum,
                float* out) {
  const std::size_t channels = geometry.channels, row = filtered_row(geometry);
  const auto ahead = static_cast<std::uint64_t>(geometry.newest(spectrum) + 1);
  // Channels below the phase have their newest sample in row `newest`, the others in the row before.
  const auto phase = static_cast<std::size_t>(ahead % channels);
  const std::int64_t newest = static_cast<std::int64_t>(ahead / channels);
  const std::int64_t oldest = newest - static_cast<std::int64_t>(geometry.taps);  // for channels at or above the phase
  window.ensure(piece.raw, piece.station, oldest, phase == 0 ? newest - 1 : newest);
  const auto* blocks = dynamic_cast<const BlockWeights*>(&piece.weights);
  const auto* rotated = dynamic_cast<const RotatedWeights*>(&piece.weights);
  FirBlock task{.rows = nullptr,
                .weights = nullptr,
                .weight_stride = rotated != nullptr ? rotated->stride() : kBlockFloats,
                .taps = geometry.taps,
                .polarizations = geometry.polarizations,
                .times = 1,
                .out = nullptr,
                .time_stride = 0,
                .polarization_stride = row};
  for (std::size_t b = 0; b < blocks_of(geometry); ++b) {
    const std::size_t channel = b * kBlock;
    task.weights = rotated != nullptr ? rotated->at(channel, phase) : blocks->block(b);
    task.rows = window.row(b, phase >= channel + kBlock ? oldest + 1 : oldest);
    task.out = out + b * kBlockFloats;
    kernels().fir_one(task);
    if (phase <= channel || phase >= channel + kBlock) continue;
    // The phase lies within this block: its lower channels are computed again, one row later.
    alignas(64) float lower[2 * kBlockFloats];
    task.rows = window.row(b, oldest + 1);
    task.out = lower;
    task.polarization_stride = kBlockFloats;
    kernels().fir_one(task);
    task.polarization_stride = row;
    for (std::size_t p = 0; p < geometry.polarizations; ++p) {
      std::copy(lower + p * kBlockFloats, lower + p * kBlockFloats + 2 * (phase - channel),
                out + p * row + b * kBlockFloats);
    }
  }
}

}  // namespace ridge::filterbank
