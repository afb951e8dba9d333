// Row kernels of linear updates: chooses an unrolled shape or a general weighted sum.
#include "stencil/host/kernels/linear_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <hwy/cache_control.h>

#include "stencil/host/kernels/linear_shape.hpp"

namespace ridge::stencil {
namespace {

// Position of a term's row in the table of a Rows<T>: the plane's number, and dy + ry within it.
struct Place {
  std::size_t plane, line;
  std::ptrdiff_t dx;
};

template <class T>
struct FieldTerms {
  std::vector<Place> places{};
  std::vector<T> weights{};
};

template <class T>
class LinearRows {
 public:
  using Weight = Compute<T>;
  LinearRows(const std::vector<Term>& terms, const Offset& radius, std::size_t fields, bool streaming)
      : fields_(fields),
        planes_(2 * static_cast<std::size_t>(radius[0]) + 1),
        ry_(static_cast<std::size_t>(radius[1])) {
    to_.resize(fields);
    for (const Term& term : terms) {
      FieldTerms<Weight>& sum = to_[term.to];
      sum.places.push_back({term.field * planes_ + static_cast<std::size_t>(term.offset[0] + radius[0]),
                            static_cast<std::size_t>(term.offset[1] + radius[1]), term.offset[2]});
      sum.weights.push_back(static_cast<Weight>(term.weight));
    }
    if constexpr (std::is_floating_point_v<T>) {
      terms_ = sum_terms<T>(streaming);
      const ShapeName shape = fields == 1 ? shape_of(terms) : ShapeName::none;
      one_ = sum_shape<T>(shape, 1, streaming);
      two_ = sum_shape<T>(shape, 2, streaming);
      four_ = sum_shape<T>(shape, 4, streaming);
    }
  }

  void operator()(const Rows<T>& rows) const {
    if constexpr (std::is_floating_point_v<T>) {
      const auto whole = rows.count == 1 ? one_ : rows.count == 2 ? two_ : rows.count == 4 ? four_ : nullptr;
      if (whole != nullptr) return whole(rows.in, to_[0].weights.data(), rows.out, rows.begin, rows.end);
    }
    std::array<const T*, 64> few;
    std::vector<const T*> many;
    for (std::size_t field = 0; field < fields_; ++field) {
      const FieldTerms<Weight>& sum = to_[field];
      const std::size_t count = sum.places.size();
      if (count > few.size()) many.resize(count);
      const T** in = count > few.size() ? many.data() : few.data();
      for (std::size_t r = 0; r < rows.count; ++r) {
        for (std::size_t i = 0; i < count; ++i) {
          const Place& place = sum.places[i];
          in[i] = rows.in[place.plane * (2 * ry_ + rows.count) + place.line + r] + place.dx;
        }
        T* out = rows.out[field * rows.count + r];
        if constexpr (std::is_floating_point_v<T>) {
          terms_(in, sum.weights.data(), count, out, rows.begin, rows.end);
        } else {
          sum_integers(in, sum.weights.data(), count, out, rows.begin, rows.end);
        }
      }
    }
  }

 private:
  std::size_t fields_, planes_, ry_;
  std::vector<FieldTerms<Weight>> to_;
  SumTerms<T> terms_ = nullptr;
  SumShape<T> one_ = nullptr, two_ = nullptr, four_ = nullptr;
};

}  // namespace

ShapeName shape_of(const std::vector<Term>& terms) {
  if (Shape<0, 0, 1, true>::matches(terms)) return ShapeName::line_1;
  if (Shape<0, 0, 2, true>::matches(terms)) return ShapeName::line_2;
  if (Shape<0, 1, 1, true>::matches(terms)) return ShapeName::star_2d_1;
  if (Shape<0, 2, 2, true>::matches(terms)) return ShapeName::star_2d_2;
  if (Shape<0, 1, 1, false>::matches(terms)) return ShapeName::box_2d_1;
  if (Shape<1, 1, 1, true>::matches(terms)) return ShapeName::star_3d_1;
  if (Shape<2, 2, 2, true>::matches(terms)) return ShapeName::star_3d_2;
  if (Shape<1, 1, 1, false>::matches(terms)) return ShapeName::box_3d_1;
  return ShapeName::none;
}

void streaming_fence() { hwy::FlushStream(); }

template <class T>
RowKernel<T> linear_rows(const std::vector<Term>& terms, const Offset& radius, std::size_t fields, bool streaming) {
  return LinearRows<T>(terms, radius, fields, streaming);
}

template RowKernel<float> linear_rows<float>(const std::vector<Term>&, const Offset&, std::size_t, bool);
template RowKernel<double> linear_rows<double>(const std::vector<Term>&, const Offset&, std::size_t, bool);
template RowKernel<std::int32_t> linear_rows<std::int32_t>(const std::vector<Term>&, const Offset&, std::size_t, bool);
template RowKernel<std::uint8_t> linear_rows<std::uint8_t>(const std::vector<Term>&, const Offset&, std::size_t, bool);

}  // namespace ridge::stencil
