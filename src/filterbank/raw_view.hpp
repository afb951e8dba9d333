// View of a contiguous part of a stream that is stored in two memory ranges: held from earlier pushes, and pushed now.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank {

class RawView {
 public:
  // `start` is the stream position of the first range; the second range follows it without a gap.
  RawView(std::uint64_t start, const std::byte* first, std::size_t first_bytes, const std::byte* second,
          std::size_t second_bytes)
      : start_(start),
        middle_(start + first_bytes),
        end_(start + first_bytes + second_bytes),
        first_(first),
        second_(second) {}

  std::uint64_t start() const { return start_; }
  std::uint64_t end() const { return end_; }

  // Sets the delays in whole samples: station s is read shifts[s] samples later. Empty: no delays.
  void shift_stations(std::span<const std::int64_t> shifts) { shifts_ = shifts; }
  std::int64_t shift(std::size_t station) const { return shifts_.empty() ? 0 : shifts_[station]; }

  // Pointer to the bytes, or null if they cross the two ranges or are not all present.
  const std::byte* direct(std::uint64_t at, std::size_t bytes) const {
    if (at >= middle_) return at + bytes <= end_ ? second_ + (at - middle_) : nullptr;
    return at >= start_ && at + bytes <= middle_ ? first_ + (at - start_) : nullptr;
  }

  // Copies bytes; those outside the view read as 0.
  void copy(std::uint64_t at, std::size_t bytes, std::byte* to) const {
    each_run(at, bytes, [&](const std::byte* from, std::size_t run) {
      if (from != nullptr) {
        std::memcpy(to, from, run);
      } else {
        std::memset(to, 0, run);
      }
      to += run;
    });
  }

  // Calls take(pointer, length) for each contiguous run, in order; the pointer is null for bytes outside the view.
  template <class Take>
  void each_run(std::uint64_t at, std::size_t bytes, const Take& take) const {
    while (bytes > 0) {
      const std::byte* from = nullptr;
      std::size_t run = bytes;
      if (at < start_) {
        run = clamp(start_ - at, bytes);
      } else if (at < middle_) {
        run = clamp(middle_ - at, bytes);
        from = first_ + (at - start_);
      } else if (at < end_) {
        run = clamp(end_ - at, bytes);
        from = second_ + (at - middle_);
      }
      take(from, run);
      at += run, bytes -= run;
    }
  }

  // Returns `count` contiguous samples of one station from sample number `sample` on, all polarizations: a pointer into
  // the stream, or a copy in `room`. Samples before the stream are 0. The station's shift is added here.
  const std::byte* samples(const Geometry& g, std::size_t station, std::int64_t sample, std::size_t count,
                           std::byte* room) const {
    const std::size_t piece = g.polarizations * g.sample_bytes;
    std::byte* to = room;
    sample += shift(station);
    if (sample < 0) {
      const std::size_t before = clamp(static_cast<std::uint64_t>(-sample), count);
      std::memset(to, 0, before * piece);
      to += before * piece, count -= before, sample += static_cast<std::int64_t>(before);
    }
    bool alone = to == room;
    while (count > 0) {
      const std::size_t frame = static_cast<std::size_t>(sample) / g.block,
                        within = static_cast<std::size_t>(sample) % g.block;
      const std::size_t run = g.stations == 1 ? count : std::min(count, g.block - within);
      const std::uint64_t at = ((std::uint64_t{frame} * g.stations + station) * g.block + within) * piece;
      if (alone && run == count) {
        if (const std::byte* there = direct(at, run * piece)) return there;
      }
      alone = false;
      copy(at, run * piece, to);
      to += run * piece, count -= run, sample += static_cast<std::int64_t>(run);
    }
    return room;
  }
  // Prefetches a row. The rows of many stations are too far apart for the hardware prefetcher.
  void prefetch_row(const Geometry& g, std::size_t station, std::int64_t row) const {
    const std::byte* there = g.stations > 1 ? block_row(g, station, row) : nullptr;
    if (there == nullptr) return;
    for (std::size_t byte = 0; byte < g.row_bytes(); byte += 64) __builtin_prefetch(there + byte, 0, 2);
  }
  const std::byte* row(const Geometry& g, std::size_t station, std::int64_t row, std::byte* room) const {
    if (const std::byte* there = block_row(g, station, row)) return there;
    return samples(g, station, row * static_cast<std::int64_t>(g.channels), g.channels, room);
  }

 private:
  // Pointer to a row where the rows coincide with the input blocks, which is the common case; otherwise null.
  const std::byte* block_row(const Geometry& g, std::size_t station, std::int64_t row) const {
    if (g.block != g.channels || row < 0 || shift(station) != 0) return nullptr;
    return direct((static_cast<std::uint64_t>(row) * g.stations + station) * g.row_bytes(), g.row_bytes());
  }
  static std::size_t clamp(std::uint64_t a, std::size_t b) { return a < b ? static_cast<std::size_t>(a) : b; }

  std::uint64_t start_, middle_, end_;
  const std::byte *first_, *second_;
  std::span<const std::int64_t> shifts_{};
};

}  // namespace ridge::filterbank
