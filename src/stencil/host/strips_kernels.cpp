#include "stencil/host/strips_kernels.hpp"

#include <algorithm>

#include "stencil/host/linear_shape.hpp"
#include "stencil/host/strips_simd.hpp"

namespace ridge::stencil {
namespace {

// Blocks the compiler unrolled where there are such, else `otherwise`.
template <class T>
class UnrolledRows {
 public:
  UnrolledRows(StripShape shape, const std::vector<Term>& terms, RowKernel<T> otherwise, bool streaming)
      : otherwise_(std::move(otherwise)) {
    for (const Term& term : terms) weights_.push_back(static_cast<T>(term.weight));
    for (std::size_t rows = 0; rows < sums_.size(); ++rows) sums_[rows] = strip_sum<T>(shape, 1, rows, streaming);
  }
  void operator()(const Rows<T>& rows) const {
    const SumBlock<T> sum = rows.count < sums_.size() ? sums_[rows.count] : nullptr;
    if (sum == nullptr) return otherwise_(rows);
    sum(rows.in, weights_.data(), rows.out, rows.begin, rows.end, nullptr, 0);
  }

 private:
  std::vector<T> weights_;
  std::array<SumBlock<T>, 5> sums_{};
  RowKernel<T> otherwise_;
};

template <class T>
RowKernel<T> unrolled_planes(SumBlock<T> sum, const std::vector<Term>& terms) {
  if (sum == nullptr) return {};
  std::vector<T> weights;
  for (const Term& term : terms) weights.push_back(static_cast<T>(term.weight));
  return [sum, weights](const Rows<T>& rows) {
    const Ahead<T>& ahead = strip_ahead<T>();
    sum(rows.in, weights.data(), rows.out, rows.begin, rows.end, ahead.at, ahead.lines);
  };
}

}  // namespace

StripShape strip_shape(const std::vector<Term>& terms) {
  if (Shape<0, 0, 1, true>::matches(terms)) return StripShape::line_1;
  if (Shape<0, 0, 2, true>::matches(terms)) return StripShape::line_2;
  if (Shape<0, 1, 1, true>::matches(terms)) return StripShape::star_2d_1;
  if (Shape<0, 2, 2, true>::matches(terms)) return StripShape::star_2d_2;
  if (Shape<0, 4, 4, true>::matches(terms)) return StripShape::star_2d_4;
  if (Shape<0, 1, 1, false>::matches(terms)) return StripShape::box_2d_1;
  if (Shape<1, 1, 1, true>::matches(terms)) return StripShape::star_3d_1;
  if (Shape<2, 2, 2, true>::matches(terms)) return StripShape::star_3d_2;
  if (Shape<4, 4, 4, true>::matches(terms)) return StripShape::star_3d_4;
  if (Shape<1, 1, 1, false>::matches(terms)) return StripShape::box_3d_1;
  return StripShape::none;
}

template <class T>
StripKernels<T> general_strip_kernels(const Update<T>& update) {
  return {.rows = update.row, .last = update.row};
}

template <class T>
StripKernels<T> linear_strip_kernels(const Update<T>& update, const StripKernelOptions& options) {
  const std::vector<Term>& terms = *update.linear;
  const auto rows = [&](bool streaming) { return linear_rows<T>(terms, update.radius, update.fields, streaming); };
  StripKernels<T> kernels{.rows = rows(false), .last = rows(options.streaming)};
  kernels.vector = 1;
  kernels.streams = options.streaming;
  if constexpr (std::is_floating_point_v<T>) {
    kernels.vector = std::max(strip_vector<T>(), 32 / sizeof(T));  // pairs of small vectors are stored together
    const StripShape shape = update.fields == 1 ? strip_shape(terms) : StripShape::none;
    kernels.rows = UnrolledRows<T>(shape, terms, kernels.rows, false);
    kernels.last = UnrolledRows<T>(shape, terms, kernels.last, options.streaming);
    const auto sum = [&](std::size_t planes, std::size_t together, bool streaming) {
      return unrolled_planes<T>(strip_sum<T>(shape, planes, together, streaming), terms);
    };
    if (options.planes > 1) {
      kernels.block = sum(options.planes, options.rows, false);
      kernels.block_last = sum(options.planes, options.rows, options.streaming);
    }
    if (options.flat && update.dimensions == 3) {
      kernels.plane = sum(1, 1, false);
      kernels.plane_last = sum(1, 1, options.streaming);
      kernels.planes = sum(options.planes, 1, false);
      kernels.planes_last = sum(options.planes, 1, options.streaming);
    }
  }
  return kernels;
}

template StripKernels<float> general_strip_kernels(const Update<float>&);
template StripKernels<double> general_strip_kernels(const Update<double>&);
template StripKernels<std::int32_t> general_strip_kernels(const Update<std::int32_t>&);
template StripKernels<std::uint8_t> general_strip_kernels(const Update<std::uint8_t>&);
template StripKernels<float> linear_strip_kernels(const Update<float>&, const StripKernelOptions&);
template StripKernels<double> linear_strip_kernels(const Update<double>&, const StripKernelOptions&);
template StripKernels<std::int32_t> linear_strip_kernels(const Update<std::int32_t>&, const StripKernelOptions&);
template StripKernels<std::uint8_t> linear_strip_kernels(const Update<std::uint8_t>&, const StripKernelOptions&);

}  // namespace ridge::stencil
