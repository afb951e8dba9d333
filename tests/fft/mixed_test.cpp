// Mixed-radix lines: every codelet at every position, single lines, many lines and columns.
#include "fft/host/mixed/mixed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/host/mixed/engine.hpp"
#include "fft/support.hpp"

namespace ridge::fft {
namespace {

using namespace reference;
constexpr Direction kDirections[] = {Direction::forward, Direction::inverse};

template <class T>
class FftMixed : public testing::Test {
 public:
  using Complex = std::complex<T>;

  static void check(const LineKernel<T>& kernel) {
    const std::size_t n = kernel.length();
    const auto in = random_points<T>(n, static_cast<unsigned>(n));
    base::AlignedArray<Complex> scratch(kernel.scratch() + 1), columns_scratch(kernel.scratch_columns() + 1);
    scratch[kernel.scratch()] = columns_scratch[kernel.scratch_columns()] = Complex(42, 42);
    for (const Direction direction : kDirections) {
      const auto expected = dft(in, direction == Direction::inverse);
      std::vector<Complex> out(n + 1);
      kernel.run(direction, in.data(), out.data() + 1, scratch.data());
      EXPECT_LE(relative_error(out.data() + 1, 1, expected), error_gate<T>(n)) << n << ' ' << kernel.describe();
      auto place = in;
      kernel.run(direction, place.data(), place.data(), scratch.data());
      EXPECT_TRUE(std::equal(place.begin(), place.end(), out.begin() + 1)) << n << ' ' << kernel.describe();
      for (const std::size_t columns : {1, 3, 8, 21}) {
        const std::size_t row = columns + 2;
        std::vector<Complex> grid(n * row, Complex(7, 7)), result(n * row, Complex(9, 9));
        for (std::size_t p = 0; p < n; ++p) {
          for (std::size_t c = 0; c < columns; ++c) grid[p * row + c] = in[(p + c) % n];
        }
        kernel.run_columns(direction, grid.data(), row, result.data(), row, columns, columns_scratch.data());
        EXPECT_LE(relative_error(result.data(), row, expected), error_gate<T>(n)) << n << ' ' << kernel.describe();
        EXPECT_EQ(result[columns], Complex(9, 9));
        EXPECT_EQ(result.back(), Complex(9, 9));
        // The last column is the input rotated by columns - 1 points: its spectrum is multiplied by that power of the
        // roots.
        const auto roots = roots_of_unity<double>(n, direction == Direction::inverse ? -1 : 1);
        double difference = 0, norm = 0;
        for (std::size_t k = 0; k < n; ++k) {
          const auto root = roots[k * (columns - 1) % n];
          const std::complex<double> turned =
              std::complex<double>(static_cast<double>(expected[k].re), static_cast<double>(expected[k].im)) *
              std::complex<double>(root.re, root.im);
          difference += std::norm(std::complex<double>(result[k * row + columns - 1]) - turned);
          norm += std::norm(turned);
        }
        EXPECT_LE(std::sqrt(difference / norm), error_gate<T>(n)) << n << ' ' << kernel.describe();
        auto grid_place = grid;
        kernel.run_columns(direction, grid_place.data(), row, grid_place.data(), row, columns, columns_scratch.data());
        EXPECT_EQ(grid_place[columns - 1], result[columns - 1]);
        EXPECT_EQ(grid_place[columns], Complex(7, 7));
      }
    }
    EXPECT_EQ(scratch[kernel.scratch()], Complex(42, 42));
    EXPECT_EQ(columns_scratch[kernel.scratch_columns()], Complex(42, 42));
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftMixed, Types);

TYPED_TEST(FftMixed, EveryCodeletFirstMiddleLastAndAlone) {
  std::vector<std::size_t> radices;
  for (const auto& part : mixed::engine<TypeParam>().codelets) {
    for (const auto& codelet : part) radices.push_back(codelet.radix);
  }
  ASSERT_EQ(radices.size(), 15U);
  for (const std::size_t r : radices) {
    this->check(*make_mixed<TypeParam>(r, {r}));
    this->check(*make_mixed<TypeParam>(3 * r, {r, 3}));
    this->check(*make_mixed<TypeParam>(5 * r, {5, r}));
    this->check(*make_mixed<TypeParam>(2 * r, {2, r}));
    this->check(*make_mixed<TypeParam>(5 * r * 8, {5, r, 8}));
    this->check(*make_mixed<TypeParam>(3 * r * 2, {3, r, 2}));
    this->check(*make_mixed<TypeParam>(9 * r * 7, {9, 7, r}));
  }
}

TYPED_TEST(FftMixed, EveryListOfSomeLengths) {
  for (const std::size_t n : {6, 12, 60, 100, 243, 360, 1001, 1080, 1155, 2310}) {
    const auto lists = mixed_radices<TypeParam>(n);
    ASSERT_FALSE(lists.empty()) << n;
    for (const auto& radices : lists) {
      EXPECT_EQ(std::accumulate(radices.begin(), radices.end(), std::size_t{1}, std::multiplies<>()), n);
      this->check(*make_mixed<TypeParam>(n, radices));
    }
  }
}

TYPED_TEST(FftMixed, ManyLinesAreTheSameAsOneByOne) {
  using Point = std::complex<TypeParam>;
  for (const std::size_t n : {3, 5, 6, 7, 9, 10, 11, 12, 13, 15, 18, 30, 63, 64, 80}) {
    const auto kernel = make_mixed<TypeParam>(n, mixed_radices<TypeParam>(n).front());
    base::AlignedArray<Point> scratch(kernel->scratch());
    for (const std::size_t count : {1, 8, 21}) {
      const std::size_t from = n + 1, to = n + 2;
      const auto in = random_points<TypeParam>(count * from, 3);
      std::vector<Point> out(count * to, Point(9, 9)), line(n);
      kernel->run_many(Direction::inverse, in.data(), from, out.data(), to, count, scratch.data());
      ErrorsOfMany<TypeParam> errors(n);
      for (std::size_t i = 0; i < count; ++i) {
        const std::vector<Point> one(in.begin() + static_cast<std::ptrdiff_t>(i * from),
                                     in.begin() + static_cast<std::ptrdiff_t>(i * from + n));
        errors.add(relative_error(out.data() + i * to, 1, dft(one, true)), fmt::format("line {}", i));
        EXPECT_EQ(out[i * to + n], Point(9, 9));
      }
    }
  }
}

TYPED_TEST(FftMixed, TwoSteps) {
  this->check(*make_mixed_two_step<TypeParam>(64, 75));
  this->check(*make_mixed_two_step<TypeParam>(90, 100));
  this->check(*make_mixed_two_step<TypeParam>(63, 65));
}

TYPED_TEST(FftMixed, WrongRadicesAreRefused) {
  EXPECT_THROW(make_mixed<TypeParam>(12, {3, 3}), Error);
  EXPECT_THROW(make_mixed<TypeParam>(17, {17}), Error);
  EXPECT_THROW(make_mixed<TypeParam>(1, {}), Error);
  EXPECT_THROW(make_mixed_two_step<TypeParam>(17, 4), Error);
  EXPECT_TRUE(mixed_radices<TypeParam>(34).empty());
  EXPECT_FALSE(is_smooth(17 * 16));
  EXPECT_FALSE(is_smooth(0));
}

}  // namespace
}  // namespace ridge::fft
