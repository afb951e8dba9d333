// CPU version 2 of the paper (section 4.2.3): radix-2 passes on split arrays as in version 1, but the last log2(2
// width) stages, transforms of 2 width neighbours, stay in two registers: one load, one store. Between stages the
// registers a and b exchange lanes so that partners are in the same lane again, by one of two methods.
//   per stage: the lane bit of the next stage is exchanged with the register bit, a different exchange each time
//   constant geometry: the lower halves interleave into a, the upper into b, the same exchange every time
// Both are described by the source of each lane; twiddles and output order follow when the plan is made.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "papers/fft/classic/v2.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/v2_tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::classic::HWY_NAMESPACE {
namespace {
#include "fft/host/power2/simd/simd-inl.hpp"
#include "papers/fft/classic/split-inl.hpp"

template <class T, size_t kLanes, RegisterLayout kLayout, size_t kStage, class R>
HWY_INLINE void exchange(R& a, R& b) {
#if HWY_TARGET != HWY_SCALAR
  const typename Lanes<T, kLanes>::D d;
  const R first = a, second = b;
  constexpr size_t kBlocks = kLanes * sizeof(T) / 16;  // Highway's interleaves stay within 16 bytes
  if constexpr (kLayout == RegisterLayout::constant_geometry && kBlocks <= 2) {
    const R low = hn::InterleaveLower(d, first, second), high = hn::InterleaveUpper(d, first, second);
    if constexpr (kBlocks == 2) {
      a = hn::ConcatLowerLower(d, high, low);
      b = hn::ConcatUpperUpper(d, high, low);
    } else {
      a = low;
      b = high;
    }
  } else if constexpr (kLayout == RegisterLayout::per_stage && kStage == 1) {
    a = hn::ConcatLowerLower(d, second, first);
    b = hn::ConcatUpperUpper(d, second, first);
  } else if constexpr (kLayout == RegisterLayout::per_stage && (kLanes >> kStage) == 1) {
    a = hn::OddEven(hn::DupEven(second), first);
    b = hn::OddEven(second, hn::DupOdd(first));
  } else {
    size_t source[2 * kLanes];
    for (size_t p = 0; p < 2 * kLanes; ++p) {
      const size_t lane = p % kLanes, in_b = p / kLanes, bit = kLanes >> kStage;
      source[p] = kLayout == RegisterLayout::constant_geometry
                      ? lane % 2 * kLanes + in_b * (kLanes / 2) + lane / 2
                      : ((lane & bit) != 0 ? kLanes : 0) + (lane & ~bit) + in_b * bit;
    }
    a = pick<T, kLanes>(source, first, second);
    b = pick<T, kLanes>(source + kLanes, first, second);
  }
#endif
}

// Blocks that go through the last stages at the same time. The stages of one block are a chain of dependent
// instructions (an exchange and three fused multiply-adds per stage), so that one block alone waits for its own
// results.
template <class T, size_t kLanes>
inline constexpr size_t kTogether = kLanes * sizeof(T) == 64 ? 4 : 2;  // as many as the registers hold

// kCount neighbouring blocks of 2 * kLanes points in registers; compilers keep arrays of vectors in memory.
template <class T, size_t kLanes, RegisterLayout kLayout, size_t kCount>
struct Blocks {
  static constexpr size_t kPoints = 2 * kLanes, kTable = log2_lanes(kPoints) * kPoints;
  typename Lanes<T, kLanes>::R are, aim, bre, bim;
  Blocks<T, kLanes, kLayout, kCount - 1> rest;

  HWY_INLINE void load(Arrays<T> x) {
    const typename Lanes<T, kLanes>::D d;
    are = hn::LoadU(d, x.re), bre = hn::LoadU(d, x.re + kLanes);
    aim = hn::LoadU(d, x.im), bim = hn::LoadU(d, x.im + kLanes);
    rest.load(x.at(kPoints));
  }
  template <size_t kStage>
  HWY_INLINE void stage(const T* twiddles) {
    const typename Lanes<T, kLanes>::D d;
    if constexpr (kStage > 0) {
      exchange<T, kLanes, kLayout, kStage>(are, bre);
      exchange<T, kLanes, kLayout, kStage>(aim, bim);
    }
    butterfly(d, are, aim, bre, bim, hn::LoadU(d, twiddles), hn::LoadU(d, twiddles + kLanes));
    rest.template stage<kStage>(twiddles + kTable);
  }
  HWY_INLINE void store(T* re, T* im) const {
    const typename Lanes<T, kLanes>::D d;
    hn::Store(are, d, re);
    hn::Store(bre, d, re + kLanes);
    hn::Store(aim, d, im);
    hn::Store(bim, d, im + kLanes);
    rest.store(re + kPoints, im + kPoints);
  }
};
template <class T, size_t kLanes, RegisterLayout kLayout>
struct Blocks<T, kLanes, kLayout, 0> {
  HWY_INLINE void load(Arrays<T>) {}
  template <size_t kStage>
  HWY_INLINE void stage(const T*) {}
  HWY_INLINE void store(T*, T*) const {}
};

template <class T, size_t kLanes, size_t kStage, class B>
HWY_INLINE void fused_stages(const T* twiddles, B& blocks) {
  if constexpr ((size_t{1} << kStage) <= kLanes) {
    blocks.template stage<kStage>(twiddles);
    fused_stages<T, kLanes, kStage + 1>(twiddles + 2 * kLanes, blocks);
  }
}
template <class T, size_t kLanes, RegisterLayout kLayout, size_t kCount>
HWY_INLINE void fused_blocks(const T* twiddles, Arrays<T> x, T* re, T* im) {
  Blocks<T, kLanes, kLayout, kCount> blocks;
  blocks.load(x);
  fused_stages<T, kLanes, 0>(twiddles, blocks);
  blocks.store(re, im);
}

template <class T, size_t kLanes, RegisterLayout kLayout>
HWY_INLINE void fused_group(const T* twiddles, Arrays<T> x, size_t group, T* re, T* im) {
  constexpr size_t kPoints = 2 * kLanes, kTable = log2_lanes(kPoints) * kPoints, kMany = kTogether<T, kLanes>;
  size_t g = 0;
  for (; g + kMany <= group; g += kMany)
    fused_blocks<T, kLanes, kLayout, kMany>(twiddles + g * kTable, x.at(g * kPoints), re + g * kPoints,
                                            im + g * kPoints);
  for (; g < group; ++g)
    fused_blocks<T, kLanes, kLayout, 1>(twiddles + g * kTable, x.at(g * kPoints), re + g * kPoints, im + g * kPoints);
}

// Block j holds 2 * kLanes neighbours and ends as frequencies j, j + blocks, j + 2 blocks, ... Groups of kLanes blocks
// go through a small tile, which is transposed in registers, so that outputs of one frequency are stored as a vector.
template <class T, size_t kLanes, RegisterLayout kLayout>
HWY_INLINE void last_stages(Direction direction, size_t n, const V2Tables<T>& tables, Arrays<T> x,
                            std::complex<T>* out) {
  const typename Lanes<T, kLanes>::D d;
  constexpr size_t kPoints = 2 * kLanes, kStages = log2_lanes(kPoints);
  const size_t blocks = n / kPoints, group = std::min(kLanes, blocks);
  HWY_ALIGN T re[kLanes * kPoints], im[kLanes * kPoints];
  const T* real = direction == Direction::inverse ? im : re;
  const T* imaginary = direction == Direction::inverse ? re : im;
  for (size_t j0 = 0; j0 < blocks; j0 += group) {
    fused_group<T, kLanes, kLayout>(tables.fused.data() + j0 * kStages * kPoints, x.at(j0 * kPoints), group, re, im);
    if (group < kLanes) {
      for (size_t p = 0; p < kPoints; ++p) {
        std::complex<T>* to = out + tables.output[p] * blocks + j0;
        for (size_t g = 0; g < group; ++g) to[g] = {real[g * kPoints + p], imaginary[g * kPoints + p]};
      }
      continue;
    }
    for (size_t half = 0; half < kPoints; half += kLanes) {
      typename Lanes<T, kLanes>::R vre[kLanes], vim[kLanes];
      for (size_t g = 0; g < kLanes; ++g) {
        vre[g] = hn::Load(d, real + g * kPoints + half);
        vim[g] = hn::Load(d, imaginary + g * kPoints + half);
      }
      Split<T, kLanes, false>::transpose(vre);
      Split<T, kLanes, false>::transpose(vim);
      for (size_t l = 0; l < kLanes; ++l) {
        T* to = reinterpret_cast<T*>(out + tables.output[half + l] * blocks + j0);
        hn::StoreInterleaved2(vre[l], vim[l], d, to);
      }
    }
  }
}

template <class T, size_t kLanes>
void transform(Direction direction, RegisterLayout layout, size_t n, const V2Tables<T>& tables,
               const std::complex<T>* in, std::complex<T>* out, T* scratch) {
  Arrays<T> x{scratch, scratch + n}, y{scratch + 2 * n, scratch + 3 * n};
  split<T, kLanes>(direction, in, x, n);
  for (size_t done = 1; n / done > 2 * kLanes; done *= 2) {
    wide_stage<T, kLanes>(n, done, tables.wide.data() + done - 1, x, y);
    std::swap(x, y);
  }
  if (layout == RegisterLayout::per_stage) {
    last_stages<T, kLanes, RegisterLayout::per_stage>(direction, n, tables, x, out);
  } else {
    last_stages<T, kLanes, RegisterLayout::constant_geometry>(direction, n, tables, x, out);
  }
}

template <class T>
size_t lanes_for(size_t n) {
  return n >= 2 * kFullLanes<T> ? kFullLanes<T> : 1;
}
template <class T>
void run_v2(Direction direction, RegisterLayout layout, size_t n, const V2Tables<T>& tables, const std::complex<T>* in,
            std::complex<T>* out, T* scratch) {
  if (lanes_for<T>(n) == 1) return transform<T, 1>(direction, layout, n, tables, in, out, scratch);
  transform<T, kFullLanes<T>>(direction, layout, n, tables, in, out, scratch);
}

size_t lanes_float(size_t n) { return lanes_for<float>(n); }
size_t lanes_double(size_t n) { return lanes_for<double>(n); }
void run_float(Direction direction, RegisterLayout layout, size_t n, const V2Tables<float>& tables,
               const std::complex<float>* in, std::complex<float>* out, float* scratch) {
  run_v2<float>(direction, layout, n, tables, in, out, scratch);
}
void run_double(Direction direction, RegisterLayout layout, size_t n, const V2Tables<double>& tables,
                const std::complex<double>* in, std::complex<double>* out, double* scratch) {
  run_v2<double>(direction, layout, n, tables, in, out, scratch);
}

}  // namespace
}  // namespace ridge::fft::classic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft {
namespace classic {
namespace {

HWY_EXPORT(lanes_float);
HWY_EXPORT(lanes_double);
HWY_EXPORT(run_float);
HWY_EXPORT(run_double);

template <class T>
std::size_t lanes_of(std::size_t n) {
  if constexpr (sizeof(T) == sizeof(float)) return HWY_DYNAMIC_DISPATCH(lanes_float)(n);
  if constexpr (sizeof(T) == sizeof(double)) return HWY_DYNAMIC_DISPATCH(lanes_double)(n);
}

double v2_flops(std::size_t n, std::size_t lanes) {
  if (n < 2) return 0;
  // The first stage has no twiddles unless it is fused.
  const double stages = static_cast<double>(log2_of(n)), plain = n > 2 * lanes ? 1 : 0;
  return static_cast<double>(n) / 2 * (4 * plain + 12 * (stages - plain));
}

template <class T>
V2Tables<T> make_tables(std::size_t n, std::size_t lanes, RegisterLayout layout) {
  V2Tables<T> tables;
  const std::size_t points = 2 * lanes, blocks = n / points;
  for (std::size_t done = 1; n / done > points; done *= 2) {
    const power2::Roots<T> exact(2 * done);
    for (std::size_t j = 0; j < done; ++j) tables.wide.push_back(exact.at(j));
  }
  // frequency[s][p]: frequency index of the value at position p before stage s, among the 2^s of its block.
  std::vector<std::vector<std::size_t>> frequency{std::vector<std::size_t>(points, 0)};
  for (std::size_t stage = 0; (std::size_t{1} << stage) <= lanes; ++stage) {
    std::vector<std::size_t>& before = frequency.back();
    if (stage > 0) {
      const auto source = exchange_before(stage, layout, lanes);
      std::vector<std::size_t> moved(points);
      for (std::size_t p = 0; p < points; ++p) moved[p] = before[source[p]];
      before = moved;
    }
    std::vector<std::size_t> after = before;
    for (std::size_t l = 0; l < lanes; ++l) after[lanes + l] += std::size_t{1} << stage;
    frequency.push_back(after);
  }
  tables.output.assign(frequency.back().begin(), frequency.back().end());
  const std::size_t stages = frequency.size() - 1;
  std::vector<power2::Roots<T>> roots;
  for (std::size_t s = 0; s < stages; ++s) roots.emplace_back(blocks * (std::size_t{2} << s));
  for (std::size_t j = 0; j < blocks; ++j) {
    for (std::size_t s = 0; s < stages; ++s) {
      const auto twiddle = [&](std::size_t l) { return roots[s].at(j + blocks * frequency[s][l]); };
      for (std::size_t l = 0; l < lanes; ++l) tables.fused.push_back(twiddle(l).real());
      for (std::size_t l = 0; l < lanes; ++l) tables.fused.push_back(twiddle(l).imag());
    }
  }
  return tables;
}

template <class T>
class CpuV2 final : public ClassicLine<T> {
 public:
  using typename ClassicLine<T>::Complex;
  CpuV2(std::size_t n, std::size_t lanes, RegisterLayout layout)
      : ClassicLine<T>(
            n,
            fmt::format("radix-2 passes, last {} stages in two registers, {}", log2_of(2 * lanes),
                        layout == RegisterLayout::per_stage ? "one exchange per stage" : "constant geometry"),
            v2_flops(n, lanes), 2 * n),
        layout_(layout) {
    if (n > 1) tables_ = make_tables<T>(n, lanes, layout);
  }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    if (this->length() == 1) {
      *out = *in;
      return;
    }
    T* work = reinterpret_cast<T*>(scratch);
    if constexpr (sizeof(T) == sizeof(float)) {
      HWY_DYNAMIC_DISPATCH(run_float)(direction, layout_, this->length(), tables_, in, out, work);
    } else {
      HWY_DYNAMIC_DISPATCH(run_double)(direction, layout_, this->length(), tables_, in, out, work);
    }
  }

 private:
  RegisterLayout layout_;
  V2Tables<T> tables_;
};

}  // namespace
}  // namespace classic

template <class T>
std::unique_ptr<LineKernel<T>> make_cpu_v2(std::size_t n, RegisterLayout layout) {
  classic::checked_length(n);
  return std::make_unique<classic::CpuV2<T>>(n, classic::lanes_of<T>(n), layout);
}

template std::unique_ptr<LineKernel<float>> make_cpu_v2<float>(std::size_t, RegisterLayout);
template std::unique_ptr<LineKernel<double>> make_cpu_v2<double>(std::size_t, RegisterLayout);

}  // namespace ridge::fft
#endif
