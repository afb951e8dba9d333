// Makes line kernels from the codelets of this machine's instruction set.
#include "fft/host/short/short.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/instruction_sets.hpp"
#include "fft/host/mixed/mixed.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/host/short/codelet.hpp"
#include "fft/roots.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

using shorts::Codelet;
using shorts::Codelets;

template <class T>
std::array<Codelets<T>, 2> lists() {
  constexpr bool single = sizeof(T) == sizeof(float);
#if defined(__aarch64__)
  if (base::has_fcma()) {
    if constexpr (single) return {shorts::fcma::float_up_to_32(), shorts::fcma::float_up_to_144()};
    if constexpr (!single) return {shorts::fcma::double_up_to_32(), shorts::fcma::double_up_to_144()};
  }
  if constexpr (single) return {shorts::neon::floats()};
  if constexpr (!single) return {shorts::neon::doubles()};
#elif defined(__x86_64__)
  if (!base::has_fma()) return {};
  if constexpr (single) return {shorts::fma::floats()};
  if constexpr (!single) return {shorts::fma::doubles()};
#else
  return {};
#endif
}

template <class T>
const Codelet<T>* find(std::size_t n) {
  for (const Codelets<T>& list : lists<T>()) {
    const auto* end = list.data + list.count;
    const auto* found = std::find_if(list.data, end, [&](const Codelet<T>& one) { return one.length == n; });
    if (found != end) return found;
  }
  return nullptr;
}

template <class T>
std::string name_of(const Codelet<T>& codelet) {
  if (codelet.radices[1] == 0) return fmt::format("short {}", codelet.length);
  return fmt::format("short {}*{}", codelet.radices[0], codelet.radices[1]);
}

template <class T>
class Short final : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;

  explicit Short(const Codelet<T>& codelet) : codelet_(codelet) {
    const std::size_t n = codelet.length, a = codelet.radices[0], b = codelet.radices[1], lanes = codelet.lanes;
    if (b == 0) return;
    twiddles_ = base::AlignedArray<T>(2 * (b + lanes - 1) / lanes * lanes * (a - 1));
    const AnyRoots<T> roots(n);
    T* next = twiddles_.data();
    for (std::size_t j = 0; j < b; j += lanes) {
      for (std::size_t t = 1; t < a; ++t) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const Complex w = roots.at((j + lane) * t % n);
          *next++ = w.real();
          *next++ = w.imag();
        }
      }
    }
  }

  std::size_t length() const override { return codelet_.length; }
  std::string describe() const override { return name_of(codelet_); }
  double flops() const override { return columns().flops(); }
  std::size_t scratch() const override { return 0; }
  BareLine<T> bare(Direction direction) const override {
    return {.one = codelet_.one[direction == Direction::inverse], .table = twiddles_.data()};
  }
  void run(Direction direction, const Complex* in, Complex* out, Complex*) const override {
    codelet_.one[direction == Direction::inverse](real(in), real(out), twiddles_.data());
  }
  void run_many(Direction direction, const Complex* in, std::size_t in_distance, Complex* out, std::size_t out_distance,
                std::size_t count, Complex*) const override {
    codelet_.many[direction == Direction::inverse](real(in), in_distance, real(out), out_distance, count,
                                                   twiddles_.data());
  }
  std::size_t scratch_columns() const override { return columns().scratch_columns(); }
  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t count, Complex* scratch) const override {
    columns().run_columns(direction, in, in_stride, out, out_stride, count, scratch);
  }

 private:
  static const T* real(const Complex* p) { return reinterpret_cast<const T*>(p); }
  static T* real(Complex* p) { return reinterpret_cast<T*>(p); }
  // Columns fill the lanes without this code, so the kernels of longer lengths are used. Created on the first request
  // for their scratch, which every plan makes before it runs.
  const LineKernel<T>& columns() const {
    std::call_once(once_, [this] {
      const std::size_t n = codelet_.length;
      columns_ = std::has_single_bit(n) ? default_power2<T>(n) : make_mixed<T>(n, mixed_radices<T>(n).front());
    });
    return *columns_;
  }

  const Codelet<T>& codelet_;
  base::AlignedArray<T> twiddles_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const LineKernel<T>> columns_;
};

}  // namespace

template <class T>
void list_short(std::size_t n, std::vector<LineChoice<T>>& out) {
  const Codelet<T>* codelet = find<T>(n);
  if (codelet == nullptr) return;
  const double points = static_cast<double>(n);
  out.push_back({name_of(*codelet), "", 0.85 * 5 * points * std::log2(points), 0.7,
                 [codelet]() -> std::unique_ptr<LineKernel<T>> { return std::make_unique<Short<T>>(*codelet); }});
}

template void list_short<float>(std::size_t, std::vector<LineChoice<float>>&);
template void list_short<double>(std::size_t, std::vector<LineChoice<double>>&);
extern const LineListers kShortLines{list_short<float>, list_short<double>};

}  // namespace ridge::fft
