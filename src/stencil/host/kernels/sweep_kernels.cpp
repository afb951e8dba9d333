// Kernels that a sweep of overlapped tiles calls.
#include "stencil/host/kernels/sweep_kernels.hpp"

#include <algorithm>

#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/host/kernels/linear_shape.hpp"
#include "stencil/host/kernels/sweep_simd.hpp"

namespace ridge::stencil {
namespace {

// An unrolled block kernel if one exists, otherwise `otherwise`.
template <class T>
class UnrolledRows {
 public:
  UnrolledRows(KnownShape shape, const std::vector<Term>& terms, RowKernel<T> otherwise, bool streaming)
      : otherwise_(std::move(otherwise)) {
    for (const Term& term : terms) weights_.push_back(static_cast<T>(term.weight));
    for (std::size_t rows = 0; rows < sums_.size(); ++rows) sums_[rows] = sweep_sum<T>(shape, 1, rows, streaming);
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
    const Ahead<T>& ahead = fetch_ahead<T>();
    sum(rows.in, weights.data(), rows.out, rows.begin, rows.end, ahead.at, ahead.lines);
  };
}

}  // namespace

KnownShape known_shape(const std::vector<Term>& terms) {
  if (Shape<0, 0, 1, true>::matches(terms)) return KnownShape::line_1;
  if (Shape<0, 0, 2, true>::matches(terms)) return KnownShape::line_2;
  if (Shape<0, 1, 1, true>::matches(terms)) return KnownShape::star_2d_1;
  if (Shape<0, 2, 2, true>::matches(terms)) return KnownShape::star_2d_2;
  if (Shape<0, 4, 4, true>::matches(terms)) return KnownShape::star_2d_4;
  if (Shape<0, 1, 1, false>::matches(terms)) return KnownShape::box_2d_1;
  if (Shape<1, 1, 1, true>::matches(terms)) return KnownShape::star_3d_1;
  if (Shape<2, 2, 2, true>::matches(terms)) return KnownShape::star_3d_2;
  if (Shape<3, 3, 3, true>::matches(terms)) return KnownShape::star_3d_3;
  if (Shape<4, 4, 4, true>::matches(terms)) return KnownShape::star_3d_4;
  if (Shape<1, 1, 1, false>::matches(terms)) return KnownShape::box_3d_1;
  return KnownShape::none;
}

template <class T>
SweepKernels<T> general_sweep_kernels(const Update<T>& update, bool vectors) {
  if constexpr (std::is_floating_point_v<T>) {
    if (vectors) {
      const RowKernel<T> rows = vector_rows<T>(update);
      return {.rows = rows, .last = rows};
    }
  }
  return {.rows = update.row, .last = update.row};
}

template <class T>
SweepKernels<T> linear_sweep_kernels(const Update<T>& update, const SweepKernelOptions& options) {
  const std::vector<Term>& terms = *update.linear;
  const auto rows = [&](bool streaming) { return linear_rows<T>(terms, update.radius, update.fields, streaming); };
  SweepKernels<T> kernels{.rows = rows(false), .last = rows(options.streaming)};
  kernels.vector = 1;
  kernels.streams = options.streaming;
  if constexpr (std::is_floating_point_v<T>) {
    kernels.vector = std::max(sweep_vector<T>(), 32 / sizeof(T));  // pairs of small vectors are stored together
    const KnownShape shape = update.fields == 1 ? known_shape(terms) : KnownShape::none;
    kernels.rows = UnrolledRows<T>(shape, terms, kernels.rows, false);
    kernels.last = UnrolledRows<T>(shape, terms, kernels.last, options.streaming);
    const auto sum = [&](std::size_t planes, std::size_t together, bool streaming) {
      return unrolled_planes<T>(sweep_sum<T>(shape, planes, together, streaming), terms);
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

template SweepKernels<float> general_sweep_kernels(const Update<float>&, bool);
template SweepKernels<double> general_sweep_kernels(const Update<double>&, bool);
template SweepKernels<std::int32_t> general_sweep_kernels(const Update<std::int32_t>&, bool);
template SweepKernels<std::uint8_t> general_sweep_kernels(const Update<std::uint8_t>&, bool);
template SweepKernels<float> linear_sweep_kernels(const Update<float>&, const SweepKernelOptions&);
template SweepKernels<double> linear_sweep_kernels(const Update<double>&, const SweepKernelOptions&);
template SweepKernels<std::int32_t> linear_sweep_kernels(const Update<std::int32_t>&, const SweepKernelOptions&);
template SweepKernels<std::uint8_t> linear_sweep_kernels(const Update<std::uint8_t>&, const SweepKernelOptions&);

}  // namespace ridge::stencil
