// Registry of the paper's host FFT variants.
#include "papers/fft/classic/classic.hpp"

#include <bit>

#include <fmt/format.h>

#include "fft/variant.hpp"
#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/radix_planner.hpp"

namespace ridge::fft {
namespace {

// About a third of the efficiency measured at 1024 points, so that the planner tries all fast variants first.
constexpr double kScalar = 0.02, kVector = 0.05;

}  // namespace

template <class T>
void list_classic(std::size_t n, std::vector<LineChoice<T>>& out) {
  std::string refusal;
  if (!std::has_single_bit(n)) refusal = fmt::format("needs a power of two, got {}", n);
  if (n > kMaxClassic) refusal = fmt::format("needs at most 2^24 points, got {}", n);
  const double points = static_cast<double>(n),
               stages = n < 2 ? 0 : static_cast<double>(classic::log2_of(std::bit_floor(n)));
  const double radix2 = 5 * points * stages, fused = 6 * points * stages;
  const auto add = [&](const char* name, double flops, double efficiency, auto make) {
    out.push_back({std::string("classic/") + name, refusal, flops, efficiency, make});
  };
  add("radix2_dit", radix2, kScalar, [n] { return make_radix2_dit<T>(n); });
  add("radix2_dif", radix2, kScalar, [n] { return make_radix2_dif<T>(n); });
  add("split_radix", 4 * points * stages, kScalar, [n] { return make_split_radix<T>(n); });
  add("fma6", fused, kScalar, [n] { return make_fma6<T>(n); });
  add("radix2_10", radix2, kScalar, [n] { return make_fma6_divided_by<T>(Divisor::none, n); });
  add("cpu_v1", fused, kVector, [n] { return make_cpu_v1<T>(n); });
  add("cpu_v2_per_stage", fused, kVector, [n] { return make_cpu_v2<T>(n, RegisterLayout::per_stage); });
  add("cpu_v2_constant_geometry", fused, kVector, [n] { return make_cpu_v2<T>(n, RegisterLayout::constant_geometry); });
  add("cpu_244", radix2, kVector, [n] { return make_cpu_244<T>(n); });
  add("stockham", radix2, kScalar, [n] { return make_stockham<T>(n, quick_radices<T>(n)); });
  refusal = has_coprime_factors(n) ? "" : fmt::format("needs a product of coprime factors 2, 3, 4, 5, 7, 8, got {}", n);
  add("good_thomas", radix2, kScalar, [n] { return make_good_thomas<T>(n); });
  add("winograd", radix2, kScalar, [n] { return make_winograd<T>(n); });
}

template void list_classic<float>(std::size_t, std::vector<LineChoice<float>>&);
template void list_classic<double>(std::size_t, std::vector<LineChoice<double>>&);
extern const LineListers kClassicLines{list_classic<float>, list_classic<double>};

}  // namespace ridge::fft
