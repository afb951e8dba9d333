// Textbook and published transforms against the reference: error limits, in place, columns, the order of frequencies.
#include "papers/fft/classic/classic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/reference.hpp"
#include "papers/fft/classic/radix2_passes.hpp"
#include "papers/fft/classic/radix_planner.hpp"

namespace ridge::fft {
namespace {

using reference::error_gate;
using reference::random_points;
using reference::relative_error;

template <class T>
class Classic : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Classic, Types);

template <class T>
std::vector<LineChoice<T>> choices_of(std::size_t n) {
  std::vector<LineChoice<T>> choices;
  list_classic<T>(n, choices);
  return choices;
}

TYPED_TEST(Classic, EveryVariantMeetsTheErrorGateOutOfPlaceAndInPlace) {
  using Complex = std::complex<TypeParam>;
  for (std::size_t n = 1; n <= 1 << 14; n *= 2) {
    const auto in = random_points<TypeParam>(n, 3);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto expected = reference::dft(in, direction == Direction::inverse);
      const auto choices = choices_of<TypeParam>(n);
      ASSERT_EQ(choices.size(), 12u);
      for (const auto& choice : choices) {
        if (n > 8 && choice.refusal.starts_with("needs a product")) continue;
        ASSERT_EQ(choice.refusal, "");
        const auto kernel = choice.make();
        EXPECT_EQ(kernel->length(), n);
        base::AlignedArray<Complex> scratch(kernel->scratch());
        std::vector<Complex> out(n + 2, Complex(42, 42));
        kernel->run(direction, in.data(), out.data() + 1, scratch.data());
        EXPECT_LE(relative_error(out.data() + 1, 1, expected), error_gate<TypeParam>(n)) << choice.name << ' ' << n;
        EXPECT_EQ(out.front(), Complex(42, 42)) << choice.name << ' ' << n;
        EXPECT_EQ(out.back(), Complex(42, 42)) << choice.name << ' ' << n;
        auto place = in;
        kernel->run(direction, place.data(), place.data(), scratch.data());
        EXPECT_TRUE(std::equal(place.begin(), place.end(), out.begin() + 1)) << choice.name << ' ' << n;
      }
    }
  }
}

TYPED_TEST(Classic, ColumnsGiveWhatLinesGive) {
  using Complex = std::complex<TypeParam>;
  const std::size_t n = 64, columns = 5, from = 7, to = 6;
  const auto in = random_points<TypeParam>(n * from, 4);
  for (const auto& choice : choices_of<TypeParam>(n)) {
    if (!choice.refusal.empty()) continue;
    const auto kernel = choice.make();
    base::AlignedArray<Complex> scratch(std::max(kernel->scratch(), kernel->scratch_columns()));
    std::vector<Complex> out(n * to, Complex(42, 42)), line(n);
    kernel->run_columns(Direction::inverse, in.data(), from, out.data(), to, columns, scratch.data());
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t p = 0; p < n; ++p) line[p] = in[p * from + c];
      kernel->run(Direction::inverse, line.data(), line.data(), scratch.data());
      for (std::size_t p = 0; p < n; ++p) ASSERT_EQ(out[p * to + c], line[p]) << choice.name;
    }
    for (std::size_t p = 0; p < n; ++p) ASSERT_EQ(out[p * to + columns], Complex(42, 42)) << choice.name;
  }
}

TYPED_TEST(Classic, SixFmaButterflyIsFiniteAtPiOver2) {
  // Four points use exp(-i pi / 2), whose cosine is 0 and must not be a divisor.
  const auto kernel = make_fma6<TypeParam>(4);
  std::vector<std::complex<TypeParam>> points{{0, 0}, {1, 0}, {0, 0}, {0, 0}};
  kernel->run(Direction::forward, points.data(), points.data(), nullptr);
  EXPECT_EQ(points, (std::vector<std::complex<TypeParam>>{{1, 0}, {0, -1}, {-1, 0}, {0, 1}}));
}

TYPED_TEST(Classic, StockhamByAnyPlan) {
  const std::vector<Radices> plans{{8, 8, 4, 4},           {8, 4, 4, 8}, {8, 8, 8, 2}, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                                   {2, 2, 2, 2, 2, 2, 16}, {16, 4, 16},  {4, 16, 16}};
  const auto in = random_points<TypeParam>(1024, 5);
  const auto expected = reference::dft(in, false);
  for (const Radices& plan : plans) {
    const auto kernel = make_stockham<TypeParam>(1024, plan);
    base::AlignedArray<std::complex<TypeParam>> scratch(kernel->scratch());
    std::vector<std::complex<TypeParam>> out(1024);
    kernel->run(Direction::forward, in.data(), out.data(), scratch.data());
    EXPECT_LE(relative_error(out.data(), 1, expected), error_gate<TypeParam>(1024)) << to_string(plan);
  }
}

// Every divisor of 840, against the transform in long double.
TYPED_TEST(Classic, PrimeFactorTransformsOfCoprimeFactors) {
  using Complex = std::complex<TypeParam>;
  std::size_t lengths = 0;
  for (std::size_t n = 1; n <= 840; ++n) {
    if (!has_coprime_factors(n)) continue;
    ++lengths;
    const auto in = random_points<TypeParam>(n, 8);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto expected = reference::dft(in, direction == Direction::inverse);
      for (const auto& kernel : {make_good_thomas<TypeParam>(n), make_winograd<TypeParam>(n)}) {
        base::AlignedArray<Complex> scratch(kernel->scratch());
        std::vector<Complex> out = in;
        kernel->run(direction, out.data(), out.data(), scratch.data());
        // Small transforms without twiddles add up more terms per result than passes of radix 2.
        EXPECT_LE(relative_error(out.data(), 1, expected), 2 * error_gate<TypeParam>(n)) << kernel->describe() << n;
      }
    }
  }
  EXPECT_EQ(lengths, 32u);
  EXPECT_LT(make_winograd<TypeParam>(105)->flops(), make_good_thomas<TypeParam>(105)->flops() * 1.2);
}

// Figure 2.7 of the thesis, relative error of a round trip of 1024 points in float. The older factorization puts 1e-7
// in place of 0, an error of about one rounding per butterfly without a twiddle; the thesis prints 1e-4 without saying
// for which input.
TEST(ClassicAccuracy, TheOlderFactorizationIsLessAccurate) {
  const auto in = random_points<float>(1024, 9);
  const auto round_trip = [&](const LineKernel<float>& kernel) {
    std::vector<std::complex<float>> x = in;
    base::AlignedArray<std::complex<float>> scratch(kernel.scratch());
    kernel.run(Direction::forward, x.data(), x.data(), scratch.data());
    kernel.run(Direction::inverse, x.data(), x.data(), scratch.data());
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      difference += std::norm(std::complex<double>(x[i]) / 1024.0 - std::complex<double>(in[i]));
      norm += std::norm(std::complex<double>(in[i]));
    }
    return std::sqrt(difference / norm);
  };
  const double plain = round_trip(*make_radix2_dit<float>(1024)), safe = round_trip(*make_fma6<float>(1024)),
               older = round_trip(*make_fma6_divided_by<float>(Divisor::imaginary, 1024));
  EXPECT_LT(plain, 5e-7);
  EXPECT_LT(safe, 5e-7);
  EXPECT_GT(older, 1.05 * safe);
  EXPECT_LT(older, 1e-6);
}

TYPED_TEST(Classic, ConvolutionNeedsNoBitReversal) {
  using Complex = std::complex<TypeParam>;
  const std::size_t n = 256;
  const classic::Radix2Passes<TypeParam> passes(n);
  const auto a = random_points<TypeParam>(n, 6), b = random_points<TypeParam>(n, 7);
  auto x = a, y = b;
  passes.decimate_in_frequency(Direction::forward, x.data());
  passes.decimate_in_frequency(Direction::forward, y.data());
  for (std::size_t i = 0; i < n; ++i) x[i] *= y[i];
  passes.decimate_in_time(Direction::inverse, x.data());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::complex<double> sum = 0;
    for (std::size_t m = 0; m < n; ++m) {
      sum += std::complex<double>(a[m]) * std::complex<double>(b[(i + n - m) % n]);
    }
    const Complex scaled = x[i] / static_cast<TypeParam>(n);
    difference += std::norm(std::complex<double>(scaled) - sum);
    norm += std::norm(sum);
  }
  EXPECT_LE(std::sqrt(difference / norm), 3 * error_gate<TypeParam>(n) + 1e-15);
}

TYPED_TEST(Classic, FrequenciesAreInBitReversedOrder) {
  // A tone at 1 of 8 must appear at 4, the bit-reversed index: the convolution above would not detect another order.
  const classic::Radix2Passes<TypeParam> passes(8);
  std::vector<std::complex<TypeParam>> tone(8);
  for (std::size_t i = 0; i < 8; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / 8;
    tone[i] = {static_cast<TypeParam>(std::cos(angle)), static_cast<TypeParam>(std::sin(angle))};
  }
  passes.decimate_in_frequency(Direction::forward, tone.data());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(std::abs(tone[i]), i == 4 ? 8 : 0, 1e-5) << i;
}

TYPED_TEST(Classic, OtherLengthsAreRefused) {
  for (const auto& choice : choices_of<TypeParam>(18)) {
    EXPECT_TRUE(choice.refusal == "needs a power of two, got 18" ||
                choice.refusal == "needs a product of coprime factors 2, 3, 4, 5, 7, 8, got 18")
        << choice.name << ": " << choice.refusal;
  }
  EXPECT_THROW(make_winograd<TypeParam>(9), Error);
  EXPECT_THROW(make_good_thomas<TypeParam>(0), Error);
  for (const auto& choice : choices_of<TypeParam>(kMaxClassic * 2)) EXPECT_NE(choice.refusal, "");
  EXPECT_THROW(make_radix2_dit<TypeParam>(12), Error);
  EXPECT_THROW(make_cpu_v1<TypeParam>(0), Error);
  EXPECT_THROW(make_stockham<TypeParam>(16, {4, 2}), Error);
  EXPECT_THROW(make_stockham<TypeParam>(16, {4, 3}), Error);
  EXPECT_THROW(make_stockham<TypeParam>(16, {16, 2}), Error);
}

}  // namespace
}  // namespace ridge::fft
