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

bool HasRows() { return false; }
void AddBlock(const CpmlWeights<T>&, const CpmlBlock<T>&) {}
void AddLines(const CpmlWeights<T>&, const CpmlLines<T>&) {}

#else

using D = hn::ScalableTag<T>;
using V = hn::Vec<D>;

// Vectors of the cells from `at` on, or only lanes [begin, end) of them, where memory beyond is not touched. Pointers
// are to cell 0; `at` may be negative as long as the lanes are not.
template <bool kWhole>
struct Access {
  std::ptrdiff_t at = 0;
  std::size_t begin = 0, end = 0;
  HWY_INLINE auto Lanes() const { return hn::AndNot(hn::FirstN(D(), begin), hn::FirstN(D(), end)); }
  HWY_INLINE V Load(const T* from) const {
    if constexpr (kWhole) return hn::LoadU(D(), from + at);
    if constexpr (HWY_ARCH_X86) return hn::MaskedLoad(Lanes(), D(), from + at);
    HWY_ALIGN T cells[hn::MaxLanes(D())] = {};
    for (std::size_t i = begin; i < end; ++i) cells[i] = from[at + static_cast<std::ptrdiff_t>(i)];
    return hn::Load(D(), cells);
  }
  HWY_INLINE void Store(V value, T* to) const {
    if constexpr (kWhole) {
      hn::StoreU(value, D(), to + at);
    } else if constexpr (HWY_ARCH_X86) {
      hn::BlendedStore(value, Lanes(), D(), to + at);
    } else {
      HWY_ALIGN T cells[hn::MaxLanes(D())];
      hn::Store(value, D(), cells);
      for (std::size_t i = begin; i < end; ++i) to[at + static_cast<std::ptrdiff_t>(i)] = cells[i];
    }
  }
};

HWY_INLINE V Weight(T value) { return hn::Set(D(), value); }

// Sums over pairs of neighbours; `at[k]` is the value k cells away.
template <std::ptrdiff_t kRadius>
HWY_INLINE V First(const CpmlWeights<T>& weights, const V* at) {
  V sum = hn::Mul(Weight(weights.first[1]), hn::Sub(at[1], at[-1]));
  HWY_UNROLL(3)
  for (std::ptrdiff_t k = 2; k <= kRadius; ++k)
    sum = hn::MulAdd(Weight(weights.first[static_cast<std::size_t>(k)]), hn::Sub(at[k], at[-k]), sum);
  return sum;
}
template <std::ptrdiff_t kRadius>
HWY_INLINE V Second(const CpmlWeights<T>& weights, const V* at) {
  V sum = hn::Mul(Weight(weights.second[0]), at[0]);
  HWY_UNROLL(4)
  for (std::ptrdiff_t k = 1; k <= kRadius; ++k)
    sum = hn::MulAdd(Weight(weights.second[static_cast<std::size_t>(k)]), hn::Add(at[k], at[-k]), sum);
  return sum;
}

struct Profiles {
  V stretch, slope, gain, decay;
};
// The term of the wave, and the new memory variables.
struct Terms {
  V added, psi, zeta;
};
HWY_INLINE Terms TermsOf(const Profiles& profiles, V second, V slope, V memory, V psi, V zeta) {
  const V more = hn::MulAdd(profiles.stretch, second, hn::MulAdd(profiles.slope, slope, memory));
  const V t = hn::Add(second, more);
  return {hn::MulAdd(profiles.stretch, t, hn::Add(more, zeta)),
          hn::MulAdd(profiles.gain, slope, hn::Mul(profiles.decay, psi)),
          hn::MulAdd(profiles.gain, t, hn::Mul(profiles.decay, zeta))};
}

// A vector of each row of a block. Rows that several rows of the block read are loaded once.
template <std::size_t kRadius, std::size_t kRows, bool kKeeps, bool kWhole>
HWY_INLINE void BlockCells(const CpmlWeights<T>& weights, const CpmlBlock<T>& block, const Access<kWhole>& access) {
  constexpr std::size_t kRead = kRows + 2 * kRadius;
  V psi[kRead], memory[kRows];
  HWY_UNROLL(12)
  for (std::size_t i = 0; i < kRead; ++i) psi[i] = access.Load(block.psi[i]);
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < kRows; ++r) memory[r] = First<kRadius>(weights, psi + kRadius + r);
  if constexpr (kKeeps) {
    V before[kRead];
    HWY_UNROLL(12)
    for (std::size_t i = 0; i < kRead; ++i) before[i] = access.Load(block.before[i]);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      const V* const at = before + kRadius + r;
      const Profiles profiles{Weight(block.profiles[0][r]), Weight(block.profiles[1][r]), Weight(block.profiles[2][r]),
                              Weight(block.profiles[3][r])};
      const Terms terms = TermsOf(profiles, Second<kRadius>(weights, at), First<kRadius>(weights, at), memory[r],
                                  psi[kRadius + r], access.Load(block.zeta[r]));
      access.Store(hn::MulAdd(access.Load(block.scale[r]), terms.added, access.Load(block.fresh[r])), block.fresh[r]);
      access.Store(terms.psi, block.new_psi[r]);
      access.Store(terms.zeta, block.new_zeta[r]);
    }
  } else {
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r)
      access.Store(hn::MulAdd(access.Load(block.scale[r]), memory[r], access.Load(block.fresh[r])), block.fresh[r]);
  }
}

// Whole vectors are aligned.
template <std::size_t kRadius, std::size_t kRows, bool kKeeps>
void BlockLoop(const CpmlWeights<T>& given_weights, const CpmlBlock<T>& given) {
  const CpmlWeights<T> weights = given_weights;  // local copies: stores do not alias them
  const CpmlBlock<T> block = given;
  const std::size_t lanes = hn::Lanes(D()), skip = block.skip % lanes, end = skip + block.cells;
  for (std::size_t x = 0; x < end; x += lanes) {
    const auto at = static_cast<std::ptrdiff_t>(x) - static_cast<std::ptrdiff_t>(skip);
    if (x >= skip && x + lanes <= end) {
      BlockCells<kRadius, kRows, kKeeps, true>(weights, block, {at, 0, lanes});
    } else {
      BlockCells<kRadius, kRows, kKeeps, false>(weights, block,
                                                {at, x < skip ? skip - x : 0, std::min(lanes, end - x)});
    }
  }
}

template <std::size_t kRadius, std::size_t kRows>
void BlockOf(const CpmlWeights<T>& weights, const CpmlBlock<T>& block) {
  block.keeps ? BlockLoop<kRadius, kRows, true>(weights, block) : BlockLoop<kRadius, kRows, false>(weights, block);
}

template <std::size_t kRadius>
void BlockBy(const CpmlWeights<T>& weights, const CpmlBlock<T>& block) {
  static_assert(kCpmlRows == 4);
  switch (block.rows) {
    case 1:
      return BlockOf<kRadius, 1>(weights, block);
    case 2:
      return BlockOf<kRadius, 2>(weights, block);
    default:
      return BlockOf<kRadius, 4>(weights, block);
  }
}

// Lanes [begin, end) of a row, of a vector that begins at cell `x`, as Access<false> of memory that begins at `begin`.
HWY_INLINE Access<false> LanesOf(std::size_t begin, std::size_t end, std::size_t x) {
  const std::size_t lanes = hn::Lanes(D());
  const auto lane = [&](std::size_t cell) { return std::min(lanes, cell - std::min(cell, x)); };
  return {static_cast<std::ptrdiff_t>(x) - static_cast<std::ptrdiff_t>(begin), lane(begin), lane(end)};
}

// Copies memory variables to rows of whole padded width, with zeros around them: loads at neighbours then neither read
// beyond the row nor wait for masked stores of the row before.
HWY_INLINE void CopyLines(const T* from, const CpmlLines<T>& lines, std::size_t first, T* to) {
  const std::size_t lanes = hn::Lanes(D()), kept = lines.end - lines.begin;
  // Backwards, because the last vector of a row may end in the next row, which then replaces its first cells.
  for (std::size_t x = (lines.width + lanes - 1) / lanes * lanes; x > 0;) {
    x -= lanes;
    const Access<false> stored = LanesOf(first + lines.begin, first + lines.end, x);
    for (std::size_t row = 0; row < lines.rows; ++row)
      hn::StoreU(stored.Load(from + row * kept), D(), to + row * lines.width + x);
  }
}

// The cells from `x` on of all rows of a layer along x.
template <std::size_t kRadius>
HWY_INLINE void LineCells(const CpmlWeights<T>& weights, const CpmlLines<T>& lines, std::size_t x) {
  constexpr std::ptrdiff_t kReach = kRadius;
  const std::size_t kept = lines.end - lines.begin;
  const Access<false> cells = LanesOf(0, lines.cells, x), stored = LanesOf(lines.begin, lines.end, x);
  const Profiles profiles{cells.Load(lines.profiles[0]), cells.Load(lines.profiles[1]), cells.Load(lines.profiles[2]),
                          cells.Load(lines.profiles[3])};
  for (std::size_t row = 0; row < lines.rows; ++row) {
    const T* const before = lines.before + row * lines.grid_step;
    const T* const psi = lines.psi_copy + row * lines.width + kRadius + x;
    V u[2 * kRadius + 1], memory[2 * kRadius + 1];
    HWY_UNROLL(9)
    for (std::ptrdiff_t k = -kReach; k <= kReach; ++k) {
      u[kReach + k] = cells.Load(before + k);
      memory[kReach + k] = hn::LoadU(D(), psi + k);
    }
    T* const fresh = lines.fresh + row * lines.grid_step;
    const Terms terms = TermsOf(profiles, Second<kRadius>(weights, u + kReach), First<kRadius>(weights, u + kReach),
                                First<kRadius>(weights, memory + kReach), memory[kReach],
                                hn::LoadU(D(), lines.zeta_copy + row * lines.width + x));
    cells.Store(hn::MulAdd(cells.Load(lines.scale + row * lines.grid_step), terms.added, cells.Load(fresh)), fresh);
    stored.Store(terms.psi, lines.psi + row * kept);
    stored.Store(terms.zeta, lines.zeta + row * kept);
  }
}

template <std::size_t kRadius>
void LinesBy(const CpmlWeights<T>& given_weights, const CpmlLines<T>& given) {
  const CpmlWeights<T> weights = given_weights;
  const CpmlLines<T> lines = given;
  CopyLines(lines.psi, lines, kRadius, lines.psi_copy);
  CopyLines(lines.zeta, lines, 0, lines.zeta_copy);
  for (std::size_t x = 0; x < lines.cells; x += hn::Lanes(D())) LineCells<kRadius>(weights, lines, x);
}

bool HasRows() { return true; }

void AddBlock(const CpmlWeights<T>& weights, const CpmlBlock<T>& block) {
  switch (weights.radius) {
    case 1:
      return BlockBy<1>(weights, block);
    case 2:
      return BlockBy<2>(weights, block);
    case 3:
      return BlockBy<3>(weights, block);
    default:
      return BlockBy<4>(weights, block);
  }
}

void AddLines(const CpmlWeights<T>& weights, const CpmlLines<T>& lines) {
  switch (weights.radius) {
    case 1:
      return LinesBy<1>(weights, lines);
    case 2:
      return LinesBy<2>(weights, lines);
    case 3:
      return LinesBy<3>(weights, lines);
    default:
      return LinesBy<4>(weights, lines);
  }
}

#endif

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(HasRows);
HWY_EXPORT(AddBlock);
HWY_EXPORT(AddLines);

template <>
bool has_cpml_rows<Number>() {
  return HWY_DYNAMIC_DISPATCH(HasRows)();
}
template <>
void add_cpml_block(const CpmlWeights<Number>& weights, const CpmlBlock<Number>& block) {
  HWY_DYNAMIC_DISPATCH(AddBlock)(weights, block);
}
template <>
void add_cpml_lines(const CpmlWeights<Number>& weights, const CpmlLines<Number>& lines) {
  HWY_DYNAMIC_DISPATCH(AddLines)(weights, lines);
}

}  // namespace ridge::stencil
#endif
