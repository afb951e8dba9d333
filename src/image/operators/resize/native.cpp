// Resizing of interleaved pixels in the image's own type: means of 2x2 pixels, copies of the nearest pixel, and
// interpolation, where a strip of rows is interpolated vertically, then horizontally before it leaves the L1 cache.
// Each tap of a vector of results is a permutation of one vector of the interpolated row.
#include <algorithm>
#include <cstring>

#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/out_rows.hpp"
#include "image/methods/host/padded.hpp"
#include "image/methods/host/row_blocks.hpp"
#include "image/operators/resize/taps.hpp"

namespace ridge::image {
namespace {

// Source positions and weights of every channel of an output row, counted from `pad` pixels before the row.
class ValueTable {
 public:
  ValueTable(const std::vector<ResizeTap>& taps, std::size_t columns, std::size_t channels) : channels_(channels) {
    const auto end = static_cast<std::ptrdiff_t>(columns);
    for (const ResizeTap& tap : taps) taps_ = std::max(taps_, tap.weights.size());
    for (const ResizeTap& tap : taps) {
      const std::ptrdiff_t behind = tap.from + static_cast<std::ptrdiff_t>(taps_) - end;
      pad_ = std::max(pad_, static_cast<std::size_t>(std::max({std::ptrdiff_t{0}, -tap.from, behind})));
    }
    stride_ = taps.size() * channels + kRowSlack;
    places_.resize(stride_);
    weights_.resize(taps_ * stride_);
    for (std::size_t i = 0; i < stride_; ++i) {
      const ResizeTap& tap = taps[std::min(i / channels, taps.size() - 1)];
      places_[i] = static_cast<std::int32_t>((tap.from + static_cast<std::ptrdiff_t>(pad_)) *
                                                 static_cast<std::ptrdiff_t>(channels) +
                                             static_cast<std::ptrdiff_t>(i % channels));
      for (std::size_t k = 0; k < tap.weights.size(); ++k)
        weights_[k * stride_ + i] = static_cast<float>(tap.weights[k]);
    }
    lanes_ = vectors_of_places(places_.data(), stride_ - kRowSlack, firsts_);
  }
  bool picks() const { return lanes_ > 0; }
  std::size_t pad() const { return pad_; }
  // Entries from `begin` on, with positions relative to first(begin); `begin` is a multiple of the vector length and of
  // the channels.
  PickedValues part(std::size_t begin) const {
    return {places_.data() + begin, firsts_.data() + begin / lanes_, weights_.data() + begin, taps_, stride_, channels_,
            places_[begin]};
  }
  std::size_t first(std::size_t begin) const { return static_cast<std::size_t>(places_[begin]); }
  // One past the last position that values before `end` read; `end` is a multiple of the channels.
  std::size_t behind(std::size_t end) const {
    return static_cast<std::size_t>(places_[end - 1]) + (taps_ - 1) * channels_ + 1;
  }

 private:
  std::size_t channels_, pad_ = 0, taps_ = 1, stride_ = 0, lanes_ = 0;
  std::vector<std::int32_t> places_, firsts_;
  std::vector<float> weights_;
};

template <class T>
class NativeResize final : public Native {
 public:
  NativeResize(const std::vector<ResizeTap>& down, ValueTable&& across) : across_(std::move(across)) {
    for (const ResizeTap& tap : down) down_.push_back({tap.from, {tap.weights.begin(), tap.weights.end()}});
    for (std::size_t r = 0; r < down_.size(); ++r) {
      const RowTap& last = down_[std::min(r + kRows, down_.size()) - 1];
      held_ = std::max(held_, static_cast<std::size_t>(last.from - down_[r].from) + last.weights.size());
    }
  }
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 64, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  static constexpr std::size_t kRows = kResampledRows, kStrip = 768;
  struct RowTap {
    std::ptrdiff_t from;
    std::vector<float> weights;
  };

  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t channels = in.channels(), wide = out.columns() * channels;
    PaddedRows<T> rows(in, across_.pad(), held_, {Border::replicate, 0});
    std::size_t most = 0;
    for (std::size_t x = 0; x < wide; x += kStrip)
      most = std::max(most, across_.behind(std::min(x + kStrip, wide)) - across_.first(x));
    const std::size_t pitch = most + 2 * kRowSlack;
    OutRows<T> outs(out, kRows);
    base::AlignedArray<float> memory(kRows * pitch);
    std::vector<const T*> window[kRows], from;
    for (std::size_t r = begin; r < end; r += kRows) {
      const std::size_t count = std::min(kRows, end - r);
      for (std::size_t j = 0; j < count; ++j) {
        const RowTap& tap = down_[r + j];
        window[j].clear();
        for (std::size_t k = 0; k < tap.weights.size(); ++k)
          window[j].push_back(rows.row(tap.from + static_cast<std::ptrdiff_t>(k)) - across_.pad() * channels);
      }
      for (std::size_t x = 0; x < wide; x += kStrip) {
        const std::size_t values = std::min(kStrip, wide - x), first = across_.first(x);
        const float* mixed[kRows];
        T* to[kRows];
        for (std::size_t j = 0; j < count; ++j) {
          from.clear();
          for (const T* row : window[j]) from.push_back(row + first);
          float* sums = memory.data() + j * pitch;
          const std::vector<float>& weights = down_[r + j].weights;
          weighted_sum(from.data(), weights.data(), weights.size(), sums, across_.behind(x + values) - first);
          mixed[j] = sums;
          to[j] = outs.row(r + j) + x;
        }
        resample_values(mixed, count, across_.part(x), to, values);
      }
      for (std::size_t j = 0; j < count; ++j) outs.done(r + j);
    }
  }

  std::vector<RowTap> down_{};
  ValueTable across_;
  std::size_t held_ = 1;
};

template <class T>
class NativeDownscale final : public Native {
 public:
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 32, [&](std::size_t begin, std::size_t end) {
      OutRows<T> outs(out, 1);
      for (std::size_t r = begin; r < end; ++r) {
        downscale_row(in.row<T>(2 * r), in.row<T>(2 * r + 1), in.channels(), out.columns(), outs.row(r));
        outs.done(r);
      }
    });
  }
};

// Nearest-neighbour resize: copies pixels of kBytes.
template <std::size_t kBytes>
class NativeNearest final : public Native {
 public:
  NativeNearest(const Resize& resize, const Shape& in) {
    const ResizeTaps taps = resize_taps(resize, in);
    for (const ResizeTap& tap : taps.down) rows_.push_back(static_cast<std::size_t>(tap.from));
    for (const ResizeTap& tap : taps.across)
      places_.push_back(static_cast<std::uint32_t>(tap.from) * static_cast<std::uint32_t>(kBytes));
  }
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_bands(threads, out.rows(), 4, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        auto* to = out.row<std::byte>(r);
        if (r > begin && rows_[r] == rows_[r - 1]) {
          std::memcpy(to, out.row<std::byte>(r - 1), out.shape().row_bytes());
          continue;
        }
        const auto* from = in.row<std::byte>(rows_[r]);
        for (const std::uint32_t place : places_) {
          std::memcpy(to, from + place, kBytes);
          to += kBytes;
        }
      }
    });
  }

 private:
  std::vector<std::size_t> rows_;
  std::vector<std::uint32_t> places_;
};

std::unique_ptr<Native> make_nearest(const Resize& o, const Shape& in) {
  switch (in.pixel_bytes()) {
    case 1:
      return std::make_unique<NativeNearest<1>>(o, in);
    case 2:
      return std::make_unique<NativeNearest<2>>(o, in);
    case 3:
      return std::make_unique<NativeNearest<3>>(o, in);
    case 4:
      return std::make_unique<NativeNearest<4>>(o, in);
    case 6:
      return std::make_unique<NativeNearest<6>>(o, in);
    case 8:
      return std::make_unique<NativeNearest<8>>(o, in);
    case 12:
      return std::make_unique<NativeNearest<12>>(o, in);
    default:
      return std::make_unique<NativeNearest<16>>(o, in);
  }
}

// Both sides halved: means of 2x2 pixels.
bool halves_both_sides(const Resize& o, const Shape& in) {
  const Shape out = output_shape(o, in);
  const bool means = o.interpolation == Interpolation::bilinear || o.interpolation == Interpolation::area;
  if (!means || 2 * out.rows != in.rows || 2 * out.columns != in.columns) return false;
  const bool by_scale = o.rows == 0 || o.columns == 0;
  return !(o.like == Like::opencv && by_scale && o.scale != 0.5);  // OpenCV samples 1 / scale pixels apart
}

}  // namespace

std::unique_ptr<Native> native_resize(const Resize& o, const Shape& in, const Edge&) {
  if (halves_both_sides(o, in)) return native_of_depth<NativeDownscale>(in.depth);
  if (o.interpolation == Interpolation::nearest) return make_nearest(o, in);
  if (in.depth != Depth::f32 && !kLoadsWiden) return {};
  const ResizeTaps taps = resize_taps(o, in);
  ValueTable across(taps.across, in.columns, in.channels);
  if (!across.picks()) return {};
  const std::vector<ResizeTap>& down = taps.down;
  switch (in.depth) {
    case Depth::u8:
      return std::make_unique<NativeResize<std::uint8_t>>(down, std::move(across));
    case Depth::u16:
      return std::make_unique<NativeResize<std::uint16_t>>(down, std::move(across));
    default:
      return std::make_unique<NativeResize<float>>(down, std::move(across));
  }
}

}  // namespace ridge::image
