// Batches and lines too large for the caches, and groups of short lines, which have variants of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/reference.hpp"
#include "fft/support.hpp"
#include "support/worst.hpp"

namespace ridge::fft {
namespace {

using reference::random_points;

template <class T>
class Large : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Large, Types);

TYPED_TEST(Large, ABatchBeyondTheCachesEqualsItsLinesOneByOne) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t n : {std::size_t{8}, std::size_t{60}, std::size_t{512}}) {
    const std::size_t batch = (std::size_t{1} << 20) / n + 3;
    const auto in = random_points<TypeParam>(n * batch, 5);
    std::vector<Complex> out(n * batch + 1), line(n);
    const auto many = plan<TypeParam>(host(), {.shape = {n}, .batch = batch, .threads = 1}, quick());
    const auto one = plan<TypeParam>(host(), {.shape = {n}, .threads = 1}, quick());
    // Offset by one element, so that only the alignment of a complex number is guaranteed.
    many.forward(in, std::span<Complex>(out).subspan(1));
    for (std::size_t b = 0; b < batch; b += b + 40 < batch ? 37 : 1) {
      one.forward(std::span<const Complex>(in).subspan(b * n, n), line);
      const double scale = std::sqrt(static_cast<double>(n));
      for (std::size_t k = 0; k < n; ++k) {
        ASSERT_NEAR(std::abs(out[1 + b * n + k] - line[k]), 0, 8 * scale * std::numeric_limits<TypeParam>::epsilon())
            << n << " points, transform " << b << ", bin " << k;
      }
    }
  }
}

// Any number and distance of lines: those that fill vectors together and the remainder.
TYPED_TEST(Large, ShortLinesInGroupsEqualSingleOnes) {
  using Complex = std::complex<TypeParam>;
  for (std::size_t n = 2; n <= 256; n *= 2) {
    const auto kernel = default_power2<TypeParam>(n);
    std::vector<Complex> scratch(kernel->scratch() + 64);
    auto* const aligned =
        reinterpret_cast<Complex*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 127) / 128 * 128);
    for (const std::size_t gap : {std::size_t{0}, std::size_t{3}}) {
      for (const std::size_t count : {1u, 2u, 3u, 7u, 33u, 70u}) {
        const std::size_t distance = n + gap;
        const auto in = random_points<TypeParam>(distance * count, 6);
        for (const Direction direction : {Direction::forward, Direction::inverse}) {
          std::vector<Complex> out(distance * count, Complex(9, 9)), line(n);
          kernel->run_many(direction, in.data(), distance, out.data(), distance, count, aligned);
          for (std::size_t i = 0; i < count; ++i) {
            kernel->run(direction, in.data() + i * distance, line.data(), aligned);
            for (std::size_t k = 0; k < n; ++k) {
              ASSERT_NEAR(std::abs(out[i * distance + k] - line[k]), 0,
                          8 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<TypeParam>::epsilon())
                  << n << " points, " << count << " lines, line " << i << ", bin " << k;
            }
            for (std::size_t k = 0; k < gap; ++k) ASSERT_EQ(out[i * distance + n + k], Complex(9, 9));
          }
        }
      }
    }
  }
}

TYPED_TEST(Large, TwoStepsEqualTheOtherVariants) {
  const std::size_t n = std::size_t{1} << 19;
  const auto in = random_points<TypeParam>(n, 7);
  const auto choices = power2_choices<TypeParam>(n);
  const auto square = std::find_if(choices.begin(), choices.end(), [](const auto& c) { return c.rows != 0; });
  const auto other = std::find_if(choices.begin(), choices.end(), [](const auto& c) { return c.rows == 0; });
  ASSERT_NE(square, choices.end());
  ASSERT_NE(other, choices.end());
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    std::vector<std::complex<TypeParam>> results[2];
    for (const auto& choice : {*square, *other}) {
      const auto kernel = make_power2<TypeParam>(n, choice);
      base::AlignedArray<std::complex<TypeParam>> scratch(kernel->scratch()), out(n);
      kernel->run(direction, in.data(), out.data(), scratch.data());
      results[choice.rows == 0].assign(out.begin(), out.end());
    }
    double error = 0, sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      error += std::norm(results[0][k] - results[1][k]);
      sum += std::norm(results[1][k]);
    }
    EXPECT_LE(std::sqrt(error / sum), 2 * reference::error_gate<TypeParam>(n));
  }
}

// The variants that a planner tries.
TYPED_TEST(Large, TheFirstVariantsOfALongLineAgree) {
  using Complex = std::complex<TypeParam>;
  const std::size_t n = std::size_t{1} << 17;
  const auto in = random_points<TypeParam>(n, 11);
  auto choices = power2_choices<TypeParam>(n);
  choices.resize(std::min<std::size_t>(choices.size(), 8));
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    std::vector<Complex> first;
    for (const auto& choice : choices) {
      const auto kernel = make_power2<TypeParam>(n, choice);
      base::AlignedArray<Complex> scratch(kernel->scratch()), out(n);
      std::fill(out.begin(), out.end(), Complex(std::numeric_limits<TypeParam>::quiet_NaN()));
      kernel->run(direction, in.data(), out.data(), scratch.data());
      if (first.empty()) first.assign(out.begin(), out.end());
      double error = 0, sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        error += std::norm(out[k] - first[k]);
        sum += std::norm(first[k]);
      }
      EXPECT_LE(std::sqrt(error / sum), 2 * reference::error_gate<TypeParam>(n)) << choice.name;
    }
  }
}

// More lines than fit the scratch between their steps, and enough bytes for nontemporal stores.
TYPED_TEST(Large, ManyLongLinesEachByAllThreads) {
  using Complex = std::complex<TypeParam>;
  const std::size_t n = std::size_t{1} << 18, batch = 17;
  const auto in = random_points<TypeParam>(n * batch, 9);
  const auto line = [&](const auto& points, std::size_t b) {
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(b * n);
    return std::vector<Complex>(from, from + static_cast<std::ptrdiff_t>(n));
  };
  const auto expected = reference::dft(line(in, batch - 1), false);
  std::vector<Complex> results[3];
  for (const std::size_t way : {0, 1, 2}) {
    const bool in_place = way == 2;
    const Plan<TypeParam> plan(host(), {.shape = {n}, .batch = batch, .in_place = in_place, .threads = 3},
                               {.effort = Effort::quick, .variant = way == 0 ? "one_thread" : "two_step"});
    base::AlignedArray<Complex> out(n * batch);
    std::copy(in.begin(), in.end(), out.begin());
    plan.forward(in_place ? std::span<const Complex>(out.span()) : std::span<const Complex>(in), out.span());
    results[way].assign(out.begin(), out.end());
    EXPECT_LE(reference::relative_error(out.data() + (batch - 1) * n, 1, expected), reference::error_gate<TypeParam>(n))
        << plan.explain();
  }
  EXPECT_EQ(results[1], results[2]);
  for (std::size_t b = 0; b < batch; ++b) {
    double error = 0, sum = 0;
    for (std::size_t k = b * n; k < (b + 1) * n; ++k) {
      error += std::norm(results[0][k] - results[1][k]);
      sum += std::norm(results[1][k]);
    }
    EXPECT_LE(std::sqrt(error / sum), 2 * reference::error_gate<TypeParam>(n)) << "line " << b;
  }
}

// The first variant of a long line: against double, in both directions and in place.
TYPED_TEST(Large, LongLinesAgainstDouble) {
  using Complex = std::complex<TypeParam>;
  const int longest = sizeof(TypeParam) == sizeof(float) ? 20 : 18;  // the reference for double is slow
  for (const std::size_t n : {std::size_t{1} << 17, std::size_t{1} << longest}) {
    const auto in = random_points<TypeParam>(n, 13);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto expected = reference::dft(in, direction == Direction::inverse);
      const auto kernel = default_power2<TypeParam>(n);
      base::AlignedArray<Complex> scratch(kernel->scratch()), out(n);
      std::fill(out.begin(), out.end(), Complex(std::numeric_limits<TypeParam>::quiet_NaN()));
      kernel->run(direction, in.data(), out.data(), scratch.data());
      EXPECT_LE(reference::relative_error(out.data(), 1, expected), reference::error_gate<TypeParam>(n))
          << kernel->describe();
      base::AlignedArray<Complex> place(n);
      std::copy(in.begin(), in.end(), place.begin());
      kernel->run(direction, place.data(), place.data(), scratch.data());
      EXPECT_TRUE(std::equal(out.begin(), out.end(), place.begin())) << kernel->describe();
    }
  }
}

// Planes through a thread's own buffer if the caches do not hold the whole array (x86): separable products of three
// lines, whose transform is the product of theirs. Large sizes with RIDGE_SLOW=1 only.
TYPED_TEST(Large, ProductsOfThreeLines) {
  using Complex = std::complex<TypeParam>;
  std::vector<std::array<std::size_t, 3>> shapes{{8, 64, 128}, {6, 40, 128}};
  if (std::getenv("RIDGE_SLOW") != nullptr) shapes.push_back({sizeof(TypeParam) == 4 ? 140u : 70u, 512, 512});
  for (const auto& shape : shapes) {
    std::array<std::vector<std::complex<double>>, 3> lines, spectra;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lines[axis] = random_points<double>(shape[axis], static_cast<unsigned>(11 + axis));
      spectra[axis].resize(shape[axis]);
      plan<double>(host(), {.shape = {shape[axis]}}, quick()).forward(lines[axis], spectra[axis]);
    }
    const auto product = [&](const auto& of, std::size_t at) {
      return of[0][at / (shape[1] * shape[2])] * of[1][at / shape[2] % shape[1]] * of[2][at % shape[2]];
    };
    const std::size_t n = shape[0] * shape[1] * shape[2];
    std::vector<Complex> data(n), out(n, Complex(std::numeric_limits<TypeParam>::quiet_NaN()));
    for (std::size_t i = 0; i < n; ++i) data[i] = Complex(product(lines, i));
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += std::norm(product(spectra, i));
    const double allowed = 64 * std::sqrt(squares / static_cast<double>(n)) *
                           static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
    const std::vector<std::size_t> sides(shape.begin(), shape.end());
    const auto worst = [&](const std::vector<Complex>& got, const auto& of, double scale) {
      test::Worst largest;
      for (std::size_t i = 0; i < n; ++i) largest.add(std::abs(std::complex<double>(got[i]) - scale * product(of, i)));
      return largest.value();
    };
    const auto there = plan<TypeParam>(host(), {.shape = sides, .threads = 2}, quick());
    there.forward(data, out);
    EXPECT_LE(worst(out, spectra, 1), allowed) << there.explain();
    there.inverse(out, data);
    EXPECT_LE(worst(data, lines, static_cast<double>(n)), allowed * std::sqrt(static_cast<double>(n)));
    const auto within = plan<TypeParam>(host(), {.shape = sides, .in_place = true, .threads = 2}, quick());
    for (std::size_t i = 0; i < n; ++i) data[i] = Complex(product(lines, i));
    within.forward(data);
    EXPECT_LE(worst(data, spectra, 1), allowed);
  }
}

}  // namespace
}  // namespace ridge::fft
