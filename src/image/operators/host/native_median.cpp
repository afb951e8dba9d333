// Medians of 3x3 and 5x5 in the image's own type.
#include "image/operators/host/median_kernels.hpp"
#include "image/operators/host/native.hpp"
#include "image/operators/host/out_rows.hpp"
#include "image/operators/host/padded.hpp"
#include "image/operators/host/pieces.hpp"

namespace ridge::image {
namespace {

template <class T>
class NativeMedian final : public Native {
 public:
  NativeMedian(std::size_t radius, const Edge& edge) : radius_(radius), edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_pieces(threads, out.rows(), 64, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t side = 2 * radius_ + 1, step = in.channels(), wide = in.columns() * step;
    PaddedRows<T> rows(in, radius_, side, edge_);
    OutRows<T> outs(out, 1);
    base::AlignedArray<T> columns(3 * (wide + 2 * step + 256)), line(wide + 256);
    const T* window[5] = {};
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t k = 0; k < side; ++k)
        window[k] = rows.row(static_cast<std::ptrdiff_t>(r + k) - static_cast<std::ptrdiff_t>(radius_));
      // Vectors end with the image as far as its width goes; the rest takes a way round.
      const std::size_t whole = wide / 64 * 64;
      if (whole > 0) median_row(window, radius_, step, outs.row(r), whole, columns.data());
      if (whole < wide) {
        for (std::size_t k = 0; k < side; ++k) window[k] += whole;
        median_row(window, radius_, step, line.data(), wide - whole, columns.data());
        std::memcpy(outs.row(r) + whole, line.data(), (wide - whole) * sizeof(T));
      }
      outs.done(r);
    }
  }

  std::size_t radius_;
  Edge edge_;
};

}  // namespace

std::unique_ptr<Native> native_median(const Operation& operation, const Shape& in, const Edge& edge) {
  const auto* median = std::get_if<Median>(&operation);
  if (median == nullptr || median->radius < 1 || median->radius > 2) return {};
  switch (in.depth) {
    case Depth::u8:
      return std::make_unique<NativeMedian<std::uint8_t>>(median->radius, edge);
    case Depth::u16:
      return std::make_unique<NativeMedian<std::uint16_t>>(median->radius, edge);
    default:
      return std::make_unique<NativeMedian<float>>(median->radius, edge);
  }
}

}  // namespace ridge::image
