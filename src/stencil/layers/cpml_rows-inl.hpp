// Rows of absorbing layers, for one element type (Number, cmake/RidgeNumbers.cmake) and every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/layers/cpml_rows-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/highway.h>

#include <algorithm>

#include "stencil/layers/cpml_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using T = Number;

// Without native FMA the vector unit would round differently from the definition.
#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

bool AddRows(const CpmlWeights<T>&, const CpmlRows<T>&) { return false; }

#else

using D = hn::ScalableTag<T>;
using V = hn::Vec<D>;

// Loads and stores of whole vectors, or of the last cells of a row: masked where the instruction set does not touch
// what the mask excludes.
template <bool kWhole>
struct Access {
  std::size_t at = 0, left = 0;
  HWY_INLINE V Load(const T* from) const {
    if constexpr (kWhole) return hn::LoadU(D(), from + at);
    if constexpr (HWY_ARCH_X86) return hn::MaskedLoad(hn::FirstN(D(), left), D(), from + at);
    HWY_ALIGN T cells[hn::MaxLanes(D())] = {};
    std::copy_n(from + at, left, cells);
    return hn::Load(D(), cells);
  }
  HWY_INLINE void Store(V value, T* to) const {
    if constexpr (kWhole) {
      hn::StoreU(value, D(), to + at);
    } else if constexpr (HWY_ARCH_X86) {
      hn::BlendedStore(value, hn::FirstN(D(), left), D(), to + at);
    } else {
      HWY_ALIGN T cells[hn::MaxLanes(D())];
      hn::Store(value, D(), cells);
      std::copy_n(cells, left, to + at);
    }
  }
};

template <int kRadius, bool kOneCell, bool kKeeps, bool kWhole>
HWY_INLINE void AddCells(const CpmlWeights<T>& weights, const CpmlRows<T>& rows, std::size_t grid, std::size_t stored,
                         const Access<kWhole>& access) {
  const auto weight = [](T value) HWY_ATTR { return hn::Set(D(), value); };
  const auto before = [&](int k) HWY_ATTR { return access.Load(rows.before[kRadius + k] + grid); };
  const auto psi = [&](int k) HWY_ATTR { return access.Load(rows.psi[kRadius + k] + stored); };
  const auto profile = [&](std::size_t k) HWY_ATTR {
    if constexpr (kOneCell) return hn::Set(D(), *rows.profiles[k]);
    return access.Load(rows.profiles[k]);
  };
  V second = hn::Mul(weight(weights.second[0]), before(0));
  V slope = hn::Zero(D()), memory = slope;
  for (int k = 1; k <= kRadius; ++k) {
    const V up = before(k), down = before(-k), change = hn::Sub(psi(k), psi(-k));
    const V first = weight(weights.first[static_cast<std::size_t>(k)]);
    second = hn::MulAdd(weight(weights.second[static_cast<std::size_t>(k)]), hn::Add(up, down), second);
    slope = k == 1 ? hn::Mul(first, hn::Sub(up, down)) : hn::MulAdd(first, hn::Sub(up, down), slope);
    memory = k == 1 ? hn::Mul(first, change) : hn::MulAdd(first, change, memory);
  }
  const V stretch = profile(0), zeta = access.Load(rows.zeta + stored);
  const V more = hn::MulAdd(stretch, second, hn::MulAdd(profile(1), slope, memory));
  const V t = hn::Add(second, more);
  const V added = hn::MulAdd(stretch, t, hn::Add(more, zeta));
  access.Store(hn::MulAdd(access.Load(rows.scale + grid), added, access.Load(rows.fresh + grid)), rows.fresh + grid);
  if constexpr (kKeeps) {
    const V gain = profile(2), decay = profile(3);
    access.Store(hn::MulAdd(gain, slope, hn::Mul(decay, psi(0))), rows.new_psi + stored);
    access.Store(hn::MulAdd(gain, t, hn::Mul(decay, zeta)), rows.new_zeta + stored);
  }
}

template <int kRadius, bool kOneCell, bool kKeeps>
void AddAllRows(const CpmlWeights<T>& weights, const CpmlRows<T>& rows) {
  const std::size_t lanes = hn::Lanes(D());
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const std::size_t grid = row * rows.grid_step, stored = row * rows.stored_step;
    std::size_t at = 0;
    for (; at + lanes <= rows.cells; at += lanes)
      AddCells<kRadius, kOneCell, kKeeps, true>(weights, rows, grid, stored, {at, lanes});
    if (at < rows.cells) AddCells<kRadius, kOneCell, kKeeps, false>(weights, rows, grid, stored, {at, rows.cells - at});
  }
}

template <int kRadius>
bool AddWithRadius(const CpmlWeights<T>& weights, const CpmlRows<T>& rows) {
  const bool keeps = rows.new_psi != nullptr;
  if (weights.one_cell) {
    keeps ? AddAllRows<kRadius, true, true>(weights, rows) : AddAllRows<kRadius, true, false>(weights, rows);
  } else {
    AddAllRows<kRadius, false, true>(weights, rows);
  }
  return true;
}

bool AddRows(const CpmlWeights<T>& weights, const CpmlRows<T>& rows) {
  switch (weights.radius) {
    case 1:
      return AddWithRadius<1>(weights, rows);
    case 2:
      return AddWithRadius<2>(weights, rows);
    case 3:
      return AddWithRadius<3>(weights, rows);
    case 4:
      return AddWithRadius<4>(weights, rows);
    default:
      return false;
  }
}

#endif

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(AddRows);

template <>
bool add_cpml_rows(const CpmlWeights<Number>& weights, const CpmlRows<Number>& rows) {
  return HWY_DYNAMIC_DISPATCH(AddRows)(weights, rows);
}

}  // namespace ridge::stencil
#endif
