// One pass over all lines of one axis with any strides: gathers a tile of lines, transforms them, scatters the results.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "fft/tensor/dimensions.hpp"
#include "fft/tensor/real_line.hpp"

namespace ridge::fft {

// An operation on one line: from contiguous `In` to contiguous `Out` values, with scratch of complex elements.
template <class T, class In, class Out>
class LineOperation {
 public:
  virtual ~LineOperation() = default;
  virtual std::size_t scratch() const = 0;
  virtual bool in_place() const = 0;  // in == out is allowed
  virtual void run(const In* in, Out* out, std::complex<T>* scratch) const = 0;
};

template <class T, class In, class Out>
class LinePass {
 public:
  // `in_points` and `out_points` along the axis differ if one side is half a spectrum.
  LinePass(std::shared_ptr<const LineOperation<T, In, Out>> operation, std::size_t in_points, std::size_t out_points,
           const Dimension& axis, const std::vector<Dimension>& loops)
      : operation_(std::move(operation)),
        in_points_(in_points),
        out_points_(out_points),
        axis_(axis),
        loops_(shortest(loops)) {
    // A contiguous line needs no tile. The loop with the smallest strides runs within a tile.
    direct_ = (axis_.input == 1 || in_points_ == 1) && (axis_.output == 1 || out_points_ == 1);
    if (!direct_ && !loops_.empty()) {
      width_ = std::min<std::size_t>(loops_.back().length, kTile / sizeof(Out));
      columns_ = loops_.back();
      loops_.pop_back();
      strips_ = (columns_.length + width_ - 1) / width_;
    }
  }

  // Returns the operation if there is a single, contiguous line.
  const LineOperation<T, In, Out>* alone() const { return direct_ && units() == 1 ? operation_.get() : nullptr; }
  std::size_t units() const { return count(loops_) * strips_; }
  double points() const { return static_cast<double>(std::max(in_points_, out_points_) * units() * width_); }
  // In complex elements, as scratch is counted everywhere.
  std::size_t scratch() const { return operation_->scratch() + 2 * whole_lines(tile_points()); }

  void run(const In* in, Out* out, std::complex<T>* scratch, std::size_t begin, std::size_t end) const {
    auto* const from = reinterpret_cast<In*>(scratch);
    auto* const to = reinterpret_cast<Out*>(scratch + whole_lines(tile_points()));
    std::complex<T>* const inner = scratch + 2 * whole_lines(tile_points());
    const std::size_t first = begin / strips_, last = (end + strips_ - 1) / strips_;
    std::size_t unit = first * strips_;
    for_each_item(loops_, first, last, [&](std::ptrdiff_t in_offset, std::ptrdiff_t out_offset) {
      for (std::size_t strip = 0; strip < strips_; ++strip, ++unit) {
        if (unit < begin || unit >= end) continue;
        if (direct_) {
          operation_->run(in + in_offset, out + out_offset, inner);
        } else {
          const std::size_t column = strip * width_, wide = std::min(width_, columns_.length - column);
          tile(in + in_offset + static_cast<std::ptrdiff_t>(column) * columns_.input,
               out + out_offset + static_cast<std::ptrdiff_t>(column) * columns_.output, wide, from, to, inner);
        }
      }
    });
  }

 private:
  static constexpr std::size_t kTile = 128;  // bytes of neighbouring lines: two cache lines

  std::size_t tile_points() const { return direct_ ? 0 : width_ * std::max(in_points_, out_points_); }

  void tile(const In* in, Out* out, std::size_t wide, In* from, Out* to, std::complex<T>* inner) const {
    for (std::size_t p = 0; p < in_points_; ++p) {
      const In* const row = in + static_cast<std::ptrdiff_t>(p) * axis_.input;
      for (std::size_t c = 0; c < wide; ++c) {
        from[c * in_points_ + p] = row[static_cast<std::ptrdiff_t>(c) * columns_.input];
      }
    }
    for (std::size_t c = 0; c < wide; ++c) operation_->run(from + c * in_points_, to + c * out_points_, inner);
    for (std::size_t p = 0; p < out_points_; ++p) {
      Out* const row = out + static_cast<std::ptrdiff_t>(p) * axis_.output;
      for (std::size_t c = 0; c < wide; ++c) {
        row[static_cast<std::ptrdiff_t>(c) * columns_.output] = to[c * out_points_ + p];
      }
    }
  }

  std::shared_ptr<const LineOperation<T, In, Out>> operation_;
  std::size_t in_points_, out_points_;
  Dimension axis_;
  std::vector<Dimension> loops_;
  bool direct_ = false;
  Dimension columns_ = {};
  std::size_t width_ = 1, strips_ = 1;
};

}  // namespace ridge::fft
