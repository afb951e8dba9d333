// Row kernel of the Euler equations (MUSCL-Hancock, HLLC): computes each primitive variable, face and flux once per
// strip; for one element type (Number, cmake/RidgeNumbers.cmake) and every instruction set. SVE is excluded: its
// vectors cannot be class members.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/problems/euler_rows-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "stencil/problems/euler_formulas-inl.hpp"
#include "stencil/problems/euler_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using T = Number;
using D = hn::ScalableTag<T>;
constexpr std::size_t kVector = hn::MaxLanes(D());  // exact: the remaining targets have fixed vector sizes

// Adjacent cells, with the operations of Value<T> and its treatment of NaN. Two vectors: the chain of divisions and
// roots from a state to its flux is long, and two chains take little longer than one. An AVX-512 core reorders far
// enough to overlap the next vector itself, and one vector leaves it all registers: there the second vector is the
// first.
constexpr bool kTwo = !(HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3);
struct Cells {
  hn::Vec<D> a, b;
  HWY_INLINE Cells(hn::Vec<D> first, hn::Vec<D> second) : a(first), b(second) {}
  HWY_INLINE explicit Cells(double number) : a(hn::Set(D(), static_cast<T>(number))), b(a) {}
};
constexpr std::size_t kLanes = (kTwo ? 2 : 1) * kVector;
struct Mask {
  hn::Mask<D> a, b;
};
template <class Made, class F>
HWY_INLINE Made Both(const F& f, Cells x, Cells y) {
  const auto first = f(x.a, y.a);
  if constexpr (kTwo) return {first, f(x.b, y.b)};
  return {first, first};
}
HWY_INLINE Cells operator+(Cells a, Cells b) {
  return Both<Cells>([](auto x, auto y) HWY_ATTR { return hn::Add(x, y); }, a, b);
}
HWY_INLINE Cells operator-(Cells a, Cells b) {
  return Both<Cells>([](auto x, auto y) HWY_ATTR { return hn::Sub(x, y); }, a, b);
}
HWY_INLINE Cells operator*(Cells a, Cells b) {
  return Both<Cells>([](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}
HWY_INLINE Cells operator/(Cells a, Cells b) {
  return Both<Cells>([](auto x, auto y) HWY_ATTR { return hn::Div(x, y); }, a, b);
}
HWY_INLINE Mask operator>(Cells a, Cells b) {
  return Both<Mask>([](auto x, auto y) HWY_ATTR { return hn::Gt(x, y); }, a, b);
}
HWY_INLINE Mask operator>=(Cells a, Cells b) {
  return Both<Mask>([](auto x, auto y) HWY_ATTR { return hn::Ge(x, y); }, a, b);
}
HWY_INLINE Cells select(Mask truth, Cells yes, Cells no) {
  const auto first = hn::IfThenElse(truth.a, yes.a, no.a);
  if constexpr (kTwo) return {first, hn::IfThenElse(truth.b, yes.b, no.b)};
  return {first, first};
}
// x86 returns the second operand if one is NaN, so a single instruction gives the same result.
HWY_INLINE Cells min(Cells a, Cells b) {
#if HWY_ARCH_X86
  return Both<Cells>([](auto x, auto y) HWY_ATTR { return hn::Min(y, x); }, a, b);
#else
  return select(a > b, b, a);
#endif
}
HWY_INLINE Cells max(Cells a, Cells b) {
#if HWY_ARCH_X86
  return Both<Cells>([](auto x, auto y) HWY_ATTR { return hn::Max(y, x); }, a, b);
#else
  return select(b > a, b, a);
#endif
}
HWY_INLINE Cells sqrt(Cells a) {
  return Both<Cells>([](auto x, auto) HWY_ATTR { return hn::Sqrt(x); }, a, a);
}

HWY_INLINE Cells Load(const T* from) {
  const auto first = hn::LoadU(D(), from);
  if constexpr (kTwo) return {first, hn::LoadU(D(), from + kVector)};
  return {first, first};
}
HWY_INLINE void Store(Cells cells, T* to) {
  hn::StoreU(cells.a, D(), to);
  if constexpr (kTwo) hn::StoreU(cells.b, D(), to + kVector);
}

// Intermediate rows of a strip while rows are processed in order. Column i of the primitive variables is x = i - 2 of
// the strip, column i of the faces x = i - 1. Vectors extend beyond the last column into unused values. A strip's
// faces, two more than its cells, fill whole vectors.
constexpr std::size_t kWidth = 256 - 2, kStride = kWidth + 4 + 2 * kLanes;
using Row = T[kStride];
struct Scratch {
  Row primitive[3][4];
  Row x_faces[8];     // low, high
  Row y_faces[2][8];  // the same, for two rows
  Row flux_x[2][4];
  Row flux_y[2][4];
};
constexpr std::size_t kLow = 0, kHigh = 4;

HWY_INLINE State<Cells> LoadState(const Row* from, std::size_t i) {
  return {Load(from[0] + i), Load(from[1] + i), Load(from[2] + i), Load(from[3] + i)};
}
HWY_INLINE void StoreState(const State<Cells>& state, Row* to, std::size_t i) {
  Store(state.density, to[0] + i);
  Store(state.normal, to[1] + i);
  Store(state.along, to[2] + i);
  Store(state.pressure, to[3] + i);
}
HWY_INLINE void StoreFlux(const Flux<Cells>& flux, Row* to, std::size_t i) {
  Store(flux.density, to[0] + i);
  Store(flux.normal, to[1] + i);
  Store(flux.along, to[2] + i);
  Store(flux.energy, to[3] + i);
}

// Converts the row's cells from `reach` before the strip to `reach` after it. in[field] is x = 0 of the strip.
void Primitives(const T* const* in, double gamma, std::size_t reach, std::size_t width, Row* to) {
  const std::size_t count = width + 2 * reach;
  const T* from[4] = {in[0] - reach, in[1] - reach, in[2] - reach, in[3] - reach};
  const std::size_t first = 2 - reach;
  T few[4][kLanes];
  if (count < kLanes) {  // too few for a vector: repeats the last one
    for (std::size_t f = 0; f < 4; ++f) {
      for (std::size_t i = 0; i < kLanes; ++i) few[f][i] = from[f][std::min(i, count - 1)];
      from[f] = few[f];
    }
  }
  for (std::size_t i = 0;; i += kLanes) {
    if (i + kLanes > count) i = count < kLanes ? 0 : count - kLanes;  // the last vector overlaps the previous one
    StoreState(primitive_of<Cells>(Load(from[0] + i), Load(from[1] + i), Load(from[2] + i), Load(from[3] + i), gamma),
               to, first + i);
    if (i + kLanes >= count) return;
  }
}

void FacesOf(const Row* south, const Row* here, const Row* north, const Constants<Cells>& k, std::size_t reach,
             std::size_t width, Row* along_x, Row* along_y) {
  for (std::size_t i = 1 - reach; i < width + 1 + reach; i += kLanes) {
    const Faces<Cells> made = faces_of(LoadState(here, i + 1), LoadState(here, i), LoadState(here, i + 2),
                                       LoadState(south, i + 1), LoadState(north, i + 1), k);
    StoreState(made.low_x, along_x + kLow, i);
    StoreState(made.high_x, along_x + kHigh, i);
    StoreState(made.low_y, along_y + kLow, i);
    StoreState(made.high_y, along_y + kHigh, i);
  }
}

// Column i is the face between x = i - 1 and x = i.
void FluxesX(const Row* faces, const Constants<Cells>& k, std::size_t width, Row* to) {
  for (std::size_t i = 0; i < width + 1; i += kLanes)
    StoreFlux(hllc(LoadState(faces + kHigh, i), LoadState(faces + kLow, i + 1), k), to, i);
}
void FluxesY(const Row* below, const Row* above, const Constants<Cells>& k, std::size_t width, Row* to) {
  for (std::size_t i = 0; i < width; i += kLanes)
    StoreFlux(hllc(LoadState(below + kHigh, i + 1), LoadState(above + kLow, i + 1), k), to, i);
}

void Apply(const T* in, const T* flux_x, const T* below, const T* above, const Constants<Cells>& k, std::size_t width,
           T* out) {
  const auto changed = [&](const T* from, std::size_t i) HWY_ATTR {
    return Load(from) - k.step_x * (Load(flux_x + i + 1) - Load(flux_x + i)) -
           k.step_y * (Load(above + i) - Load(below + i));
  };
  if (width < kLanes) {
    T few[kLanes] = {};
    std::copy_n(in, width, few);
    Store(changed(few, 0), few);
    std::copy_n(few, width, out);
    return;
  }
  std::size_t i = 0;
  for (; i + kLanes <= width; i += kLanes) Store(changed(in + i, i), out + i);
  if (i < width) Store(changed(in + width - kLanes, width - kLanes), out + width - kLanes);
}

// Computes a strip of all rows: after loading a row, the faces of the previous row are known, and the row before that
// can be written.
void Strip(const Euler& euler, const Rows<T>& rows, std::size_t begin, std::size_t width, Scratch& scratch) {
  const Constants<Cells> k = constants_of<Cells>(euler);
  const std::size_t count = rows.count;
  for (std::size_t j = 0; j < count + 4; ++j) {
    const T* in[4];
    for (std::size_t f = 0; f < 4; ++f) in[f] = rows.in[f * (4 + count) + j] + begin;
    // Outer rows need fewer cells to the sides.
    Primitives(in, euler.gamma, std::min({j, count + 3 - j, std::size_t{2}}), width, scratch.primitive[j % 3]);
    if (j < 2) continue;
    const std::size_t f = j - 2;  // the row whose faces are now complete
    const bool outside = f == 0 || f == count + 1;
    FacesOf(scratch.primitive[f % 3], scratch.primitive[(f + 1) % 3], scratch.primitive[j % 3], k, outside ? 0 : 1,
            width, scratch.x_faces, scratch.y_faces[f % 2]);
    if (!outside) FluxesX(scratch.x_faces, k, width, scratch.flux_x[f % 2]);
    if (f == 0) continue;
    FluxesY(scratch.y_faces[(f - 1) % 2], scratch.y_faces[f % 2], k, width, scratch.flux_y[f % 2]);
    if (f == 1) continue;
    const std::size_t r = f - 2;
    // Along y the x momentum is the tangential one.
    constexpr std::size_t kFromY[4] = {0, 2, 1, 3};
    for (std::size_t field = 0; field < 4; ++field) {
      Apply(rows.in[field * (4 + count) + r + 2] + begin, scratch.flux_x[(f - 1) % 2][field],
            scratch.flux_y[(f - 1) % 2][kFromY[field]], scratch.flux_y[f % 2][kFromY[field]], k, width,
            rows.out[field * count + r] + begin);
    }
  }
}

void EulerRows(const Euler& euler, const Rows<T>& rows) {
  static thread_local Scratch scratch;
  const std::size_t cells = rows.end - rows.begin, strips = (cells + kWidth - 1) / kWidth;
  if (strips == 0) return;
  const std::size_t width = (cells + strips - 1) / strips;  // equal strips, without a narrow one at the end
  for (std::size_t begin = rows.begin; begin < rows.end; begin += width)
    Strip(euler, rows, begin, std::min(width, rows.end - begin), scratch);
}

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(EulerRows);

template <>
void euler_rows(const Euler& euler, const Rows<Number>& rows) {
  HWY_DYNAMIC_DISPATCH(EulerRows)(euler, rows);
}

}  // namespace ridge::stencil
#endif
