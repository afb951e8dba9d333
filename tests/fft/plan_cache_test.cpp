// Memory limit of the cache of plans, for callers that plan at every call.
#include <malloc.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/fft/tensor.hpp>

namespace ridge::fft {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

template <class T>
TensorPlan<T> cached_line(std::size_t n, TensorKind kind = TensorKind::complex_forward) {
  return cached_tensor_plan<T>({.kind = kind, .axes = {{n, 1, 1}}}, {.effort = Effort::quick, .use_wisdom = false});
}

template <class T>
class PlanCache : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanCache, Precisions, );

// Lengths with large tables: multiples of a prime, which store several times the points.
TYPED_TEST(PlanCache, staysWithinItsLimit) {
  forget_cached_plans();
  const std::size_t before = bytes_in_use();
  std::size_t most = 0;
  for (std::size_t n = 1 << 14; n < (1 << 14) + 600; n += 2) {
    cached_line<TypeParam>(n, n % 4 == 0 ? TensorKind::complex_forward : TensorKind::real_forward);
    most = std::max(most, bytes_in_use() - std::min(before, bytes_in_use()));
  }
  EXPECT_LT(most, 48 * kMiB) << "kept plans exceed 32 MiB by more than their decisions";
  EXPECT_GT(most, 8 * kMiB) << "plans are not kept";
  forget_cached_plans();
  EXPECT_LT(bytes_in_use(), before + 8 * kMiB);
}

TYPED_TEST(PlanCache, keepsTheMostRecentlyUsed) {
  forget_cached_plans();
  const TensorPlan<TypeParam> first = cached_line<TypeParam>(1000);
  for (std::size_t n = 1 << 14; n < (1 << 14) + 600; n += 4) {
    cached_line<TypeParam>(n);
    ASSERT_EQ(&first.problem(), &cached_line<TypeParam>(1000).problem()) << "dropped although it was used just before";
  }
  const TensorPlan<TypeParam> again = cached_line<TypeParam>(1 << 14);  // dropped long ago: planned again, and correct
  std::vector<std::complex<TypeParam>> in(1 << 14), out(1 << 14);
  in[0] = 1;
  again.run(in.data(), out.data());
  for (const auto& value : out) ASSERT_EQ(value, std::complex<TypeParam>(1));
  forget_cached_plans();
}

}  // namespace
}  // namespace ridge::fft
