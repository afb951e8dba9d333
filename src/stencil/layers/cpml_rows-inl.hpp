// Rows of absorbing layers, for one element type (Number, cmake/RidgeNumbers.cmake) and every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/layers/cpml_rows-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

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

HWY_INLINE Profiles ProfilesOf(const CpmlBlock<T>& block, std::size_t row) {
  return {Weight(block.profiles[0][row]), Weight(block.profiles[1][row]), Weight(block.profiles[2][row]),
          Weight(block.profiles[3][row])};
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
      const Profiles profiles = ProfilesOf(block, kRadius + r);
      const Terms terms = TermsOf(profiles, Second<kRadius>(weights, at), First<kRadius>(weights, at), memory[r],
                                  psi[kRadius + r], access.Load(block.zeta[kRadius + r]));
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

// Values that the transposed differences read: the term of the wave is the second difference of `second` minus the
// first difference of `first`, and psi loses the first difference of `memory`.
struct Sources {
  V second, first, memory;
};
HWY_INLINE Sources SourcesOf(const Profiles& profiles, V before, V psi, V zeta) {
  const V t = hn::MulAdd(profiles.stretch, before, hn::Mul(profiles.gain, zeta)), memory = hn::Add(before, t);
  return {hn::MulAdd(profiles.stretch, memory, t), hn::MulAdd(profiles.slope, memory, hn::Mul(profiles.gain, psi)),
          memory};
}

// Adds the sources of row i to the sums of all rows of the block that are at most the radius away.
template <std::size_t kRadius, std::size_t kRows>
HWY_INLINE void AddSources(const CpmlWeights<T>& weights, const Sources& sources, std::size_t i, V (&added)[kRows],
                           V (&lost)[kRows]) {
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::size_t at = kRadius + r, k = i > at ? i - at : at - i;
    if (k > kRadius) continue;
    added[r] = hn::MulAdd(Weight(weights.second[k]), sources.second, added[r]);
    if (k == 0) continue;
    const V weight = Weight(i > at ? weights.first[k] : -weights.first[k]);
    added[r] = hn::NegMulAdd(weight, sources.first, added[r]);
    lost[r] = hn::NegMulAdd(weight, sources.memory, lost[r]);
  }
}

// The same for a transposed layer.
template <std::size_t kRadius, std::size_t kRows, bool kKeeps, bool kWhole>
HWY_INLINE void TransposedCells(const CpmlWeights<T>& weights, const CpmlBlock<T>& block,
                                const Access<kWhole>& access) {
  V added[kRows], lost[kRows];
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < kRows; ++r) added[r] = lost[r] = hn::Zero(D());
  HWY_UNROLL(12)
  for (std::size_t i = 0; i < kRows + 2 * kRadius; ++i) {
    const Sources sources = SourcesOf(ProfilesOf(block, i), access.Load(block.before[i]), access.Load(block.psi[i]),
                                      access.Load(block.zeta[i]));
    AddSources<kRadius, kRows>(weights, sources, i, added, lost);
  }
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < kRows; ++r) {
    access.Store(hn::MulAdd(access.Load(block.scale[r]), added[r], access.Load(block.fresh[r])), block.fresh[r]);
    if constexpr (kKeeps) {
      const V decay = Weight(block.profiles[3][kRadius + r]);
      access.Store(hn::MulAdd(decay, access.Load(block.psi[kRadius + r]), lost[r]), block.new_psi[r]);
      access.Store(hn::MulAdd(decay, access.Load(block.zeta[kRadius + r]), access.Load(block.before[kRadius + r])),
                   block.new_zeta[r]);
    }
  }
}

// Whole vectors are aligned.
template <std::size_t kRadius, std::size_t kRows, bool kKeeps, bool kTransposed>
void BlockLoop(const CpmlWeights<T>& given_weights, const CpmlBlock<T>& given) {
  const CpmlWeights<T> weights = given_weights;  // local copies: stores do not alias them
  const CpmlBlock<T> block = given;
  const std::size_t lanes = hn::Lanes(D()), skip = block.skip % lanes, end = skip + block.cells;
  const auto cells = [&](const auto& access) HWY_ATTR {
    if constexpr (kTransposed) return TransposedCells<kRadius, kRows, kKeeps>(weights, block, access);
    BlockCells<kRadius, kRows, kKeeps>(weights, block, access);
  };
  for (std::size_t x = 0; x < end; x += lanes) {
    const auto at = static_cast<std::ptrdiff_t>(x) - static_cast<std::ptrdiff_t>(skip);
    if (x >= skip && x + lanes <= end) {
      cells(Access<true>{at, 0, lanes});
    } else {
      cells(Access<false>{at, x < skip ? skip - x : 0, std::min(lanes, end - x)});
    }
  }
}

template <std::size_t kRadius, std::size_t kRows>
void BlockOf(const CpmlWeights<T>& weights, const CpmlBlock<T>& block) {
  if (block.transposed) {
    block.keeps ? BlockLoop<kRadius, kRows, true, true>(weights, block)
                : BlockLoop<kRadius, kRows, false, true>(weights, block);
  } else {
    block.keeps ? BlockLoop<kRadius, kRows, true, false>(weights, block)
                : BlockLoop<kRadius, kRows, false, false>(weights, block);
  }
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

// Calls `work` with the first cell of each vector of a padded row, and a row. Vectors that are stored there end in the
// next row, or in the next vectors of their own; these are computed later and replace what is beyond the row.
template <class Work>
HWY_INLINE void EachPaddedVector(const CpmlLines<T>& lines, const Work& work) {
  const std::size_t lanes = hn::Lanes(D());
  for (std::size_t x = (lines.width + lanes - 1) / lanes * lanes; x > 0;) {
    x -= lanes;
    for (std::size_t row = 0; row < lines.rows; ++row) work(x, row);
  }
}

// Copies memory variables to rows of whole padded width, with zeros around them: loads at neighbours then neither read
// beyond the row nor wait for masked stores of the row before.
HWY_INLINE void CopyLines(const T* from, const CpmlLines<T>& lines, std::size_t first, T* to) {
  EachPaddedVector(lines, [&](std::size_t x, std::size_t row) HWY_ATTR {
    const Access<false> stored = LanesOf(first + lines.begin, first + lines.end, x);
    hn::StoreU(stored.Load(from + row * (lines.end - lines.begin)), D(), to + row * lines.width + x);
  });
}

// Vectors at `at` and its neighbours.
template <std::ptrdiff_t kReach>
HWY_INLINE void LoadAround(const T* at, V (&vectors)[2 * kReach + 1]) {
  HWY_UNROLL(9)
  for (std::ptrdiff_t k = -kReach; k <= kReach; ++k) vectors[kReach + k] = hn::LoadU(D(), at + k);
}

// The cells from `x` on of all rows of a layer along x.
template <std::size_t kRadius>
HWY_INLINE void LineCells(const CpmlWeights<T>& weights, const CpmlLines<T>& lines, std::size_t x) {
  constexpr std::ptrdiff_t kReach = kRadius;
  const std::size_t kept = lines.end - lines.begin;
  const Access<false> cells = LanesOf(0, lines.cells, x), stored = LanesOf(lines.begin, lines.end, x);
  const auto profile = [&](std::size_t k) HWY_ATTR { return cells.Load(lines.profiles[k] + kRadius); };
  const Profiles profiles{profile(0), profile(1), profile(2), profile(3)};
  for (std::size_t row = 0; row < lines.rows; ++row) {
    const T* const before = lines.before + row * lines.grid_step;
    const T* const psi = lines.work + row * lines.width + kRadius + x;
    V u[2 * kRadius + 1], memory[2 * kRadius + 1];
    HWY_UNROLL(9)
    for (std::ptrdiff_t k = -kReach; k <= kReach; ++k) u[kReach + k] = cells.Load(before + k);
    LoadAround<kReach>(psi, memory);
    T* const fresh = lines.fresh + row * lines.grid_step;
    const Terms terms = TermsOf(profiles, Second<kRadius>(weights, u + kReach), First<kRadius>(weights, u + kReach),
                                First<kRadius>(weights, memory + kReach), memory[kReach],
                                hn::LoadU(D(), lines.work + lines.copy + row * lines.width + x));
    cells.Store(hn::MulAdd(cells.Load(lines.scale + row * lines.grid_step), terms.added, cells.Load(fresh)), fresh);
    stored.Store(terms.psi, lines.psi + row * kept);
    stored.Store(terms.zeta, lines.zeta + row * kept);
  }
}

// Computes five copies of padded rows: the values that the transposed differences read, psi, and the new zeta.
template <std::size_t kRadius>
HWY_INLINE void SourceLines(const CpmlLines<T>& lines) {
  const std::size_t kept = lines.end - lines.begin;
  EachPaddedVector(lines, [&](std::size_t x, std::size_t row) HWY_ATTR {
    const Access<false> cells = LanesOf(0, lines.width, x);
    const Access<false> stored = LanesOf(kRadius + lines.begin, kRadius + lines.end, x);
    const auto profile = [&](std::size_t k) HWY_ATTR { return cells.Load(lines.profiles[k]); };
    const Profiles profiles{profile(0), profile(1), profile(2), profile(3)};
    const V before = cells.Load(lines.before + row * lines.grid_step - kRadius);
    const V psi = stored.Load(lines.psi + row * kept), zeta = stored.Load(lines.zeta + row * kept);
    const Sources sources = SourcesOf(profiles, before, psi, zeta);
    T* const to = lines.work + row * lines.width + x;
    hn::StoreU(sources.second, D(), to);
    hn::StoreU(sources.first, D(), to + lines.copy);
    hn::StoreU(sources.memory, D(), to + 2 * lines.copy);
    hn::StoreU(psi, D(), to + 3 * lines.copy);
    hn::StoreU(hn::MulAdd(profiles.decay, zeta, before), D(), to + 4 * lines.copy);
  });
}

template <std::size_t kRadius>
HWY_INLINE void TransposedLineCells(const CpmlWeights<T>& weights, const CpmlLines<T>& lines, std::size_t x) {
  constexpr std::ptrdiff_t kReach = kRadius;
  const std::size_t kept = lines.end - lines.begin;
  const Access<false> cells = LanesOf(0, lines.cells, x), stored = LanesOf(lines.begin, lines.end, x);
  const V decay = cells.Load(lines.profiles[3] + kRadius);
  for (std::size_t row = 0; row < lines.rows; ++row) {
    const T* const from = lines.work + row * lines.width + kRadius + x;
    V second[2 * kRadius + 1], first[2 * kRadius + 1], memory[2 * kRadius + 1];
    LoadAround<kReach>(from, second);
    LoadAround<kReach>(from + lines.copy, first);
    LoadAround<kReach>(from + 2 * lines.copy, memory);
    const V added = hn::Sub(Second<kRadius>(weights, second + kReach), First<kRadius>(weights, first + kReach));
    T* const fresh = lines.fresh + row * lines.grid_step;
    cells.Store(hn::MulAdd(cells.Load(lines.scale + row * lines.grid_step), added, cells.Load(fresh)), fresh);
    const V psi = hn::LoadU(D(), from + 3 * lines.copy), zeta = hn::LoadU(D(), from + 4 * lines.copy);
    stored.Store(hn::MulSub(decay, psi, First<kRadius>(weights, memory + kReach)), lines.psi + row * kept);
    stored.Store(zeta, lines.zeta + row * kept);
  }
}

template <std::size_t kRadius>
void LinesBy(const CpmlWeights<T>& given_weights, const CpmlLines<T>& given) {
  const CpmlWeights<T> weights = given_weights;
  const CpmlLines<T> lines = given;
  const std::size_t lanes = hn::Lanes(D());
  if (lines.transposed) {
    SourceLines<kRadius>(lines);
    for (std::size_t x = 0; x < lines.cells; x += lanes) TransposedLineCells<kRadius>(weights, lines, x);
    return;
  }
  CopyLines(lines.psi, lines, kRadius, lines.work);
  CopyLines(lines.zeta, lines, 0, lines.work + lines.copy);
  for (std::size_t x = 0; x < lines.cells; x += lanes) LineCells<kRadius>(weights, lines, x);
}

bool HasRows() { return true; }

// Calls `work` with the radius as a constant.
template <class Work>
void WithRadius(std::size_t radius, const Work& work) {
  static_assert(kCpmlRadius == 4);
  switch (radius) {
    case 1:
      return work(std::integral_constant<std::size_t, 1>());
    case 2:
      return work(std::integral_constant<std::size_t, 2>());
    case 3:
      return work(std::integral_constant<std::size_t, 3>());
    default:
      return work(std::integral_constant<std::size_t, 4>());
  }
}

void AddBlock(const CpmlWeights<T>& weights, const CpmlBlock<T>& block) {
  WithRadius(weights.radius, [&](auto radius) { BlockBy<radius()>(weights, block); });
}
void AddLines(const CpmlWeights<T>& weights, const CpmlLines<T>& lines) {
  WithRadius(weights.radius, [&](auto radius) { LinesBy<radius()>(weights, lines); });
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
