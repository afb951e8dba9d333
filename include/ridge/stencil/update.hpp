// Definition of a stencil update: a function of neighbouring cells, or offsets and weights.
//
// update<T>(dimensions, f): f is a generic lambda. It gets an accessor u with u(dy, dx) for the first field, u.field(k,
// dy, dx) for field k, u.coefficient(k, dy, dx) for per-cell coefficients (1D: dx alone; 3D: dz, dy, dx), and returns
// the new value, or a std::array with one value per field. values.hpp lists the operations it may use. On the host it
// is inlined into the row loop (no call per cell). It is also called once with expressions, which give the device
// source, the linear form and the flop count; so it must not branch on values (use select) and must be deterministic.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ridge/stencil/values.hpp>

namespace ridge::stencil {

// u(new) of field `to` += weight * u(old) of field `field` at `offset`
struct Term {
  Offset offset{};
  double weight = 0;
  std::size_t field = 0;
  std::size_t to = 0;
};

// Output rows and the neighbouring rows they read: the argument of an update's row function, which host engines call
// once per row or group of rows. The rows of `out` are consecutive along y: y, y + 1, ... Output and input never
// overlap.
template <class T>
struct Rows {
  // in[(field * (2 rz + 1) + dz + rz) * (2 ry + count) + dy + ry + r] points to x = 0 of the row that output row r
  // reads at (dz, dy); readable from x = begin - rx to end + rx.
  const T* const* in = nullptr;
  const T* const* coefficients = nullptr;  // in the same order
  T* const* out = nullptr;                 // out[field * count + r]
  std::size_t count = 1;                   // output rows
  std::size_t begin = 0, end = 0;          // range of x to compute; nothing else is written
};

// An absorbing layer along one fixed side of the grid (acoustic() in problems.hpp makes them). It has memory variables
// that exist only there, and adds its output 0, times a coefficient, to the new level of field 0. In its expressions
// field 0 is the level before the step, fields 1, 2, ... are the memory variables, and coefficient k is profile k.
// Offsets are along its axis only.
struct LayerUpdate {
  // Set if the expressions are those of a CPML or of its transpose: the weights at distance k of the first difference,
  // u(k) - u(-k), and of the second one, u(k) + u(-k), up to 4; profiles are stretch, slope, gain and decay. Hosts have
  // loops for both.
  struct Differences {
    std::vector<double> first{}, second{};
    bool transposed = false;
  };
  std::size_t axis = 2;  // 0, 1, 2: z, y, x, as in an Offset
  bool high = false;     // at the high side of the axis
  std::size_t cells = 0;
  std::size_t scale = 0;                        // coefficient of the update by which output 0 is multiplied
  std::vector<std::vector<double>> profiles{};  // per profile: a value per cell of the layer and as many more inwards
                                                // as the radius, in the order of the axis
  std::vector<Expression> outputs{};            // what is added to field 0, then the new memory variables
  Differences differences{};
};

template <class T>
struct Update {
  std::size_t dimensions = 2;
  std::size_t fields = 1;
  std::size_t coefficients = 0;
  Offset radius{};                    // largest offset read along each axis, in both directions, also by unused reads
  std::vector<Expression> outputs{};  // one per field
  std::optional<std::vector<Term>>
      linear{};             // constant weights without a constant term: the form of the fastest kernels
  bool sums_terms = false;  // defined as the sum of `linear` in its order, by linear<T>()
  std::function<void(const Rows<T>&)> row{};  // the inlined loop
  std::size_t rows_at_once = 4;               // passing more rows per call to `row` does not help
  double flops = 0;                           // per cell: 2 l - 1 for l weighted points, otherwise the operations
  std::string name{};                         // for keys and explain: equal for equal updates
  // A simpler form of the update for cells at least `margin` cells from each side: new values of the first fields,
  // while further fields do not change there. It holds if the coefficients in `zero_coefficients` and all further
  // fields are zero in these cells. Not used if empty.
  struct Inner {
    std::size_t margin = 0;
    std::vector<Expression> outputs{};
    std::vector<std::size_t> zero_coefficients{};
  };
  Inner inner{};
  // For leapfrog updates of two fields, the second of which is the first one's previous level:
  std::vector<LayerUpdate> layers{};
  bool equal_planes = false;  // the caller has equal coefficients in all planes along the first axis
  bool free_surface = false;  // the low fixed side of the first axis has u(-k) = -u(k) beyond its innermost cell
};

// From offsets and weights. The points of a field are summed in the given order: the first product is rounded, the
// others are added by FMA; kernels that keep this order agree bit for bit. Error for weights that are not finite (or,
// for integer cells, not integers), for an empty list, and for a field without terms.
template <class T>
Update<T> linear(std::size_t dimensions, const std::vector<Term>& terms, std::string name = "");

// Stencil shapes, in memory order (which the fastest kernels need). Von Neumann as in the stenCINES paper: the points
// up to `order` along each axis, 2 d order of them, and the centre. Diamond: |dz| + |dy| + |dx| <= order. Moore: each
// offset within order.
std::vector<Offset> von_neumann(std::size_t dimensions, int order, bool centre = true);
std::vector<Offset> diamond(std::size_t dimensions, int order, bool centre = true);
std::vector<Offset> moore(std::size_t dimensions, int order, bool centre = true);
// The same weight for every offset.
std::vector<Term> weighted(const std::vector<Offset>& offsets, double weight);

namespace detail {

// Accessor of the row loop for one cell; the row pointers are constant along x.
template <class T>
class Cell {
 public:
  Cell(const Rows<T>& rows, const Offset& radius, std::size_t row, std::size_t x)
      : in_(rows.in),
        coefficients_(rows.coefficients),
        row_(row),
        x_(x),
        rz_(radius[0]),
        ry_(radius[1]),
        height_(2 * static_cast<std::size_t>(radius[1]) + rows.count) {}
  template <class... Offsets>
  Value<Compute<T>> operator()(Offsets... offsets) const {
    return field(0, offsets...);
  }
  template <class... Offsets>
  Value<Compute<T>> field(std::size_t index, Offsets... offsets) const {
    return read(in_, index, offsets...);
  }
  template <class... Offsets>
  Value<Compute<T>> coefficient(std::size_t index, Offsets... offsets) const {
    return read(coefficients_, index, offsets...);
  }

 private:
  Value<Compute<T>> read(const T* const* table, std::size_t field, int dx) const {
    return read(table, field, 0, 0, dx);
  }
  Value<Compute<T>> read(const T* const* table, std::size_t field, int dy, int dx) const {
    return read(table, field, 0, dy, dx);
  }
  Value<Compute<T>> read(const T* const* table, std::size_t field, int dz, int dy, int dx) const {
    const std::size_t plane = field * (2 * static_cast<std::size_t>(rz_) + 1) + static_cast<std::size_t>(dz + rz_);
    const T* row = table[plane * height_ + static_cast<std::size_t>(dy + ry_) + row_];
    return Value<Compute<T>>(row[static_cast<std::ptrdiff_t>(x_) + dx]);
  }
  const T* const* in_;
  const T* const* coefficients_;
  std::size_t row_, x_;
  int rz_, ry_;
  std::size_t height_;
};

// The accessor that records an update function as expressions. `reads` collects every read, also those that do not
// contribute to the result: the compiled function performs them too.
template <class T>
class Recorder {
 public:
  Recorder(std::size_t dimensions, std::vector<Expression>& reads) : dimensions_(dimensions), reads_(&reads) {}
  template <class... Offsets>
  Recorded<Compute<T>> operator()(Offsets... offsets) const {
    return field(0, offsets...);
  }
  template <class... Offsets>
  Recorded<Compute<T>> field(std::size_t index, Offsets... offsets) const {
    return read(Node::Kind::read, index, offsets...);
  }
  template <class... Offsets>
  Recorded<Compute<T>> coefficient(std::size_t index, Offsets... offsets) const {
    return read(Node::Kind::coefficient, index, offsets...);
  }

 private:
  template <class... Offsets>
  Recorded<Compute<T>> read(Node::Kind kind, std::size_t index, Offsets... offsets) const {
    static_assert(sizeof...(Offsets) >= 1 && sizeof...(Offsets) <= 3, "one offset per axis: u(dx), u(dy, dx), ...");
    check(sizeof...(Offsets));
    Offset offset{};
    std::size_t axis = 3 - sizeof...(Offsets);
    ((offset[axis++] = static_cast<int>(offsets)), ...);
    reads_->push_back(make_read(kind, index, offset));
    return Recorded<Compute<T>>(reads_->back());
  }
  void check(std::size_t offsets) const;  // Error unless there is one offset per axis
  std::size_t dimensions_;
  std::vector<Expression>* reads_;
};

template <class Result>
struct Outputs {
  static constexpr std::size_t count = 1;
  static const Result& get(const Result& result, std::size_t) { return result; }
};
template <class Value, std::size_t kCount>
struct Outputs<std::array<Value, kCount>> {
  static constexpr std::size_t count = kCount;
  static const Value& get(const std::array<Value, kCount>& result, std::size_t i) { return result[i]; }
};

// Computes kRows output rows in one pass over x; values that neighbouring rows share are loaded once. Cell x is stored
// in out[field * kRows + row][x - begin].
template <std::size_t kRows, class T, class Function, class Out, std::size_t kOut>
inline void update_range(const Function& function, const Offset& radius, const Rows<T>& rows, std::size_t first,
                         std::array<Out, kOut>& out, std::size_t begin, std::size_t count) {
  using Result = decltype(function(std::declval<const Cell<T>&>()));
  const auto put = [&out](const Result& result, std::size_t r, std::size_t i) {
    for (std::size_t f = 0; f < kOut / kRows; ++f)
      out[f * kRows + r][i] = static_cast<T>(Value<Compute<T>>(Outputs<Result>::get(result, f)).value);
  };
  // Rows never overlap; the compiler cannot prove it.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (kRows == 1) {
      put(function(Cell<T>(rows, radius, first, begin + i)), 0, i);
    } else {
      const Result one = function(Cell<T>(rows, radius, first, begin + i));
      const Result two = function(Cell<T>(rows, radius, first + 1, begin + i));
      put(one, 0, i);
      put(two, 1, i);
    }
  }
}

template <std::size_t kRows, class T, class Function>
void update_rows(const Function& function, const Offset& radius, const Rows<T>& rows, std::size_t first) {
  using Result = decltype(function(std::declval<const Cell<T>&>()));
  constexpr std::size_t kFields = Outputs<Result>::count;
  std::array<T*, kFields * kRows> out;
  for (std::size_t f = 0; f < kFields; ++f) {
    for (std::size_t r = 0; r < kRows; ++r) out[f * kRows + r] = rows.out[f * rows.count + first + r] + rows.begin;
  }
  const Rows<T> local = rows;  // a local copy, which no store can alias
  const Offset reach = radius;
  if constexpr (sizeof(T) > 1) {
    update_range<kRows>(function, reach, local, first, out, local.begin, local.end - local.begin);
  } else {
    // A byte may alias anything, also the row pointers, which prevents vectorization. Bytes are therefore stored to a
    // local array first.
    constexpr std::size_t kChunk = 512;
    std::array<std::array<T, kChunk>, kFields * kRows> chunk;
    for (std::size_t begin = local.begin; begin < local.end; begin += kChunk) {
      const std::size_t count = local.end - begin < kChunk ? local.end - begin : kChunk;
      update_range<kRows>(function, reach, local, first, chunk, begin, count);
      for (std::size_t i = 0; i < out.size(); ++i) std::copy_n(chunk[i].data(), count, out[i] + (begin - local.begin));
    }
  }
}

// Fills in radius, number of coefficients, linear form, flops and name from the outputs. `reads` are further reads that
// the row loop performs and the outputs do not use. Error for expressions that are not a valid stencil.
template <class T>
void complete(Update<T>& update, const std::vector<Expression>& reads = {});

}  // namespace detail

template <class T, class Function>
Update<T> update(std::size_t dimensions, Function function, std::string name = "") {
  std::vector<Expression> reads;
  const auto recorded = function(detail::Recorder<T>(dimensions, reads));
  using Result = std::remove_cvref_t<decltype(recorded)>;
  Update<T> made;
  made.dimensions = dimensions;
  made.fields = detail::Outputs<Result>::count;
  made.name = std::move(name);
  for (std::size_t f = 0; f < made.fields; ++f) {
    made.outputs.push_back(Recorded<Compute<T>>(detail::Outputs<Result>::get(recorded, f)).expression);
  }
  detail::complete(made, reads);
  made.row = [function, radius = made.radius](const Rows<T>& rows) {
    std::size_t r = 0;
    for (; r + 2 <= rows.count; r += 2) detail::update_rows<2>(function, radius, rows, r);
    if (r < rows.count) detail::update_rows<1>(function, radius, rows, r);
  };
  return made;
}

}  // namespace ridge::stencil
