// 3x3 and 5x5 medians computed in the image's own type.
#include "image/methods/host/native.hpp"
#include "image/methods/host/kernels/median_kernels.hpp"
#include "image/methods/host/out_rows.hpp"
#include "image/methods/host/padded.hpp"
#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {
namespace {

template <class T>
class NativeMedian3 final : public Native {
 public:
  explicit NativeMedian3(const Edge& edge) : edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 64, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t step = in.channels(), wide = in.columns() * step;
    const auto high = static_cast<std::ptrdiff_t>(in.rows()), columns = static_cast<std::ptrdiff_t>(in.columns());
    base::AlignedArray<T> sorted(kMedianColumns / sizeof(T)), constant(edge_.border == Border::constant ? wide : 0);
    std::fill(constant.begin(), constant.end(), static_cast<T>(edge_.constant));
    OutRows<T> outs(out, 1);
    const auto row_at = [&](std::ptrdiff_t r) {
      const std::ptrdiff_t y = border_index(edge_.border, r, high);
      return y < 0 ? constant.data() : in.row<T>(static_cast<std::size_t>(y));
    };
    const std::ptrdiff_t before = border_index(edge_.border, -1, columns),
                         behind = border_index(edge_.border, columns, columns);
    const auto beyond = [&](const T* row, std::ptrdiff_t from, T* to) {
      for (std::size_t c = 0; c < step; ++c)
        to[c] = from < 0 ? static_cast<T>(edge_.constant) : row[static_cast<std::size_t>(from) * step + c];
    };
    for (std::size_t r = begin; r < end; ++r) {
      const auto y = static_cast<std::ptrdiff_t>(r);
      MedianRow<T> row{};
      row.step = step;
      row.wide = wide;
      row.ahead = row_at(y + 2);
      for (std::size_t k = 0; k < 3; ++k) row.rows[k] = row_at(y - 1 + static_cast<std::ptrdiff_t>(k));
      for (std::size_t k = 0; k < 3; ++k) {
        beyond(row.rows[k], before, row.before[k]);
        beyond(row.rows[k], behind, row.behind[k]);
      }
      // Aligned rows are streamed to memory directly; other rows are first written to a buffer in the cache.
      row.nontemporal = uses_nontemporal_stores(out) && reinterpret_cast<std::uintptr_t>(out.row<T>(r)) % 64 == 0;
      row.out = row.nontemporal ? out.row<T>(r) : outs.row(r);
      median_3_row(row, sorted.data());
      if (!row.nontemporal) outs.done(r);
    }
  }

  Edge edge_;
};

template <class T>
class NativeMedian5 final : public Native {
 public:
  explicit NativeMedian5(const Edge& edge) : edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 64, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t step = in.channels(), wide = in.columns() * step;
    PaddedRows<T> rows(in, 2, 5, edge_);
    OutRows<T> outs(out, 1);
    base::AlignedArray<T> line(256);
    const T* window[5] = {};
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t k = 0; k < 5; ++k) window[k] = rows.row(static_cast<std::ptrdiff_t>(r + k) - 2);
      // Whole blocks of 64 values are written directly; the rest goes through a buffer, because the kernel writes whole
      // vectors.
      const std::size_t whole = wide / 64 * 64;
      if (whole > 0) median_5_row(window, step, outs.row(r), whole);
      if (whole < wide) {
        for (const T*& each : window) each += whole;
        median_5_row(window, step, line.data(), wide - whole);
        std::memcpy(outs.row(r) + whole, line.data(), (wide - whole) * sizeof(T));
      }
      outs.done(r);
    }
  }

  Edge edge_;
};

template <class T>
std::unique_ptr<Native> median_of(std::size_t radius, const Edge& edge) {
  if (radius == 1) return std::make_unique<NativeMedian3<T>>(edge);
  return std::make_unique<NativeMedian5<T>>(edge);
}

}  // namespace

std::unique_ptr<Native> native_median(const Median& median, const Shape& in, const Edge& edge) {
  if (median.radius < 1 || median.radius > 2) return {};
  switch (in.depth) {
    case Depth::u8:
      return median_of<std::uint8_t>(median.radius, edge);
    case Depth::u16:
      return median_of<std::uint16_t>(median.radius, edge);
    default:
      return median_of<float>(median.radius, edge);
  }
}

}  // namespace ridge::image
