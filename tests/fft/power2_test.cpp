// Power-of-two lines of every engine: error limits, in place, many lines, columns.
#include "fft/host/power2/power2.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/reference.hpp"
#include "fft/support.hpp"

namespace ridge::fft {
namespace {

using reference::error_gate;
using reference::random_points;
using reference::relative_error;

template <class T>
class Power2 : public testing::Test {
 public:
  static void expect_run(const LineKernel<T>& kernel, Direction direction, const std::vector<std::complex<T>>& in,
                         const std::vector<reference::Point<reference::Wider<T>>>& expected) {
    const std::size_t n = in.size();
    base::AlignedArray<std::complex<T>> scratch(kernel.scratch());
    std::vector<std::complex<T>> out(n + 1);
    // Offset by one element, so that only the alignment of a complex number is guaranteed.
    kernel.run(direction, in.data(), out.data() + 1, scratch.data());
    EXPECT_LE(relative_error(out.data() + 1, 1, expected), error_gate<T>(n)) << n << ' ' << kernel.describe();
    std::vector<std::complex<T>> place = in;
    kernel.run(direction, place.data(), place.data(), scratch.data());
    EXPECT_TRUE(std::equal(place.begin(), place.end(), out.begin() + 1)) << n << " in place " << kernel.describe();
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Power2, Types);

constexpr Direction kPower2Directions[] = {Direction::forward, Direction::inverse};

TYPED_TEST(Power2, EveryChoiceMeetsTheErrorGate) {
  for (std::size_t n = 1; n <= 1 << 15; n *= 2) {
    const auto in = random_points<TypeParam>(n, 1);
    for (const Direction direction : kPower2Directions) {
      const auto expected = reference::dft(in, direction == Direction::inverse);
      const auto choices = power2_choices<TypeParam>(n);
      ASSERT_FALSE(choices.empty()) << n;
      // Every third of the many variants of a long transform; all of a short one.
      const std::size_t step = n > 4096 ? 3 : 1;
      for (std::size_t i = 0; i < choices.size(); i += step) {
        this->expect_run(*make_power2<TypeParam>(n, choices[i]), direction, in, expected);
      }
    }
  }
}

TYPED_TEST(Power2, DefaultsMeetTheErrorGateUpToAMillion) {
  for (std::size_t n = 1 << 16; n <= 1 << 20; n *= 2) {
    const auto in = random_points<TypeParam>(n, 2);
    // The reference of the inverse is the forward one with real and imaginary parts exchanged on both sides.
    const auto expected = reference::dft(in, false);
    const auto kernel = default_power2<TypeParam>(n);
    this->expect_run(*kernel, Direction::forward, in, expected);
    std::vector<std::complex<TypeParam>> swapped(n);
    for (std::size_t i = 0; i < n; ++i) swapped[i] = {in[i].imag(), in[i].real()};
    auto swapped_expected = expected;
    for (auto& point : swapped_expected) std::swap(point.re, point.im);
    this->expect_run(*kernel, Direction::inverse, swapped, swapped_expected);
  }
}

TYPED_TEST(Power2, ManyLinesAtAnyDistance) {
  using Complex = std::complex<TypeParam>;
  for (std::size_t n = 1; n <= 1024; n *= 2) {
    for (const auto& choice : power2_choices<TypeParam>(n)) {
      const auto kernel = make_power2<TypeParam>(n, choice);
      base::AlignedArray<Complex> scratch(kernel->scratch());
      for (const std::size_t count : {1, 2, 7, 33}) {
        const std::size_t from = n + 3, to = n + 1;
        const auto in = random_points<TypeParam>(count * from, static_cast<unsigned>(n));
        const Complex untouched(42, 42);
        std::vector<Complex> out(count * to, untouched), one(n);
        kernel->run_many(Direction::inverse, in.data(), from, out.data(), to, count, scratch.data());
        ErrorsOfMany<TypeParam> errors(n);
        for (std::size_t i = 0; i < count; ++i) {
          const std::vector<Complex> line(in.begin() + static_cast<long>(i * from),
                                          in.begin() + static_cast<long>(i * from + n));
          const auto expected = reference::dft(line, true);
          errors.add(relative_error(out.data() + i * to, 1, expected), fmt::format("{} line {}", choice.name, i));
          ASSERT_EQ(out[i * to + n], untouched) << choice.name << " wrote past line " << i;
        }
        auto place = in;
        kernel->run_many(Direction::inverse, place.data(), from, place.data(), from, count, scratch.data());
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_TRUE(std::equal(out.begin() + static_cast<long>(i * to), out.begin() + static_cast<long>(i * to + n),
                                 place.begin() + static_cast<long>(i * from)))
              << choice.name << " in place, line " << i << " of " << count;
        }
      }
    }
  }
}

TYPED_TEST(Power2, ColumnsWithStridesAndOddCounts) {
  using Complex = std::complex<TypeParam>;
  for (std::size_t n = 1; n <= 8192; n *= 2) {
    std::vector<std::string> engines;
    for (const auto& choice : power2_choices<TypeParam>(n)) {
      if (std::find(engines.begin(), engines.end(), choice.engine) != engines.end()) continue;
      engines.push_back(choice.engine);
      const auto kernel = make_power2<TypeParam>(n, choice);
      base::AlignedArray<Complex> scratch(kernel->scratch_columns());
      for (const std::size_t columns :
           n <= 256 ? std::vector<std::size_t>{1, 5, 16, 27} : std::vector<std::size_t>{19}) {
        const Direction direction = columns % 2 == 0 ? Direction::forward : Direction::inverse;
        const std::size_t from = columns + 5, to = columns + 2;
        const auto in = random_points<TypeParam>(n * from, static_cast<unsigned>(n));
        const Complex untouched(42, 42);
        std::vector<Complex> out(n * to, untouched);
        kernel->run_columns(direction, in.data(), from, out.data(), to, columns, scratch.data());
        ErrorsOfMany<TypeParam> errors(n);
        for (std::size_t c = 0; c < columns; c += n <= 256 ? 1 : 6) {
          std::vector<Complex> column(n);
          for (std::size_t p = 0; p < n; ++p) column[p] = in[p * from + c];
          const auto expected = reference::dft(column, direction == Direction::inverse);
          errors.add(relative_error(out.data() + c, to, expected), fmt::format("{} column {}", choice.name, c));
        }
        for (std::size_t p = 0; p < n; ++p) ASSERT_EQ(out[p * to + columns], untouched) << choice.name << " row " << p;
        auto place = in;
        kernel->run_columns(direction, place.data(), from, place.data(), from, columns, scratch.data());
        for (std::size_t p = 0; p < n; ++p) {
          for (std::size_t c = 0; c < columns; ++c) ASSERT_EQ(place[p * from + c], out[p * to + c]) << choice.name;
          ASSERT_EQ(place[p * from + columns], in[p * from + columns]) << choice.name << " row " << p;
        }
      }
    }
  }
}

TYPED_TEST(Power2, ImpulseAndTone) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t n : {8, 64, 1024, 16384}) {
    const auto kernel = default_power2<TypeParam>(n);
    base::AlignedArray<Complex> scratch(kernel->scratch());
    std::vector<Complex> in(n), out(n);
    in[1] = 1;
    kernel->run(Direction::forward, in.data(), out.data(), scratch.data());
    const double angle = -2 * std::numbers::pi / static_cast<double>(n);
    EXPECT_NEAR(out[1].real(), std::cos(angle), 1e-6);
    EXPECT_NEAR(out[1].imag(), std::sin(angle), 1e-6);
    for (std::size_t i = 0; i < n; ++i) {
      const double phase = 2 * std::numbers::pi * 3 * static_cast<double>(i) / static_cast<double>(n);
      in[i] = Complex(static_cast<TypeParam>(std::cos(phase)), static_cast<TypeParam>(std::sin(phase)));
    }
    kernel->run(Direction::forward, in.data(), out.data(), scratch.data());
    EXPECT_NEAR(out[3].real(), static_cast<double>(n), 1e-5 * static_cast<double>(n));
    EXPECT_NEAR(std::abs(out[2]) + std::abs(out[n - 3]), 0, 1e-5 * static_cast<double>(n));
  }
}

TYPED_TEST(Power2, RefusesOtherLengths) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 31}) {
    EXPECT_THROW(power2_choices<TypeParam>(n), Error) << n;
    EXPECT_THROW(default_power2<TypeParam>(n), Error) << n;
  }
  auto choice = power2_choices<TypeParam>(1024).front();
  EXPECT_THROW(make_power2<TypeParam>(512, choice), Error);
  choice.engine = "abacus";
  EXPECT_THROW(make_power2<TypeParam>(1024, choice), Error);
}

TYPED_TEST(Power2, DescribesItsRadices) {
  const auto kernel = default_power2<TypeParam>(1024);
  EXPECT_EQ(kernel->length(), 1024u);
  EXPECT_EQ(kernel->describe(), power2_choices<TypeParam>(1024).front().name);
  // Radix 16 saves a quarter of the textbook's 5 N log2 N; no known algorithm saves a third.
  EXPECT_GT(kernel->flops(), 3.4 * 1024 * 10);
  EXPECT_LT(kernel->flops(), 5.0 * 1024 * 10);
}

}  // namespace
}  // namespace ridge::fft
