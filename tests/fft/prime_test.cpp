// Lengths with large prime factors: direct sums, Rader, Bluestein, two steps, and their number theory.
#include "fft/host/prime/prime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/host/mixed/mixed.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/host/prime/numbers.hpp"
#include "fft/plain_kernel.hpp"
#include "fft/reference.hpp"
#include "fft/support.hpp"

namespace ridge::fft {
namespace {

using namespace prime;
using reference::Plain;
using reference::random_points;
using reference::relative_error;

constexpr Direction kPrimeDirections[] = {Direction::forward, Direction::inverse};

template <class T>
std::unique_ptr<LineKernel<T>> inner(std::size_t n) {
  if (std::has_single_bit(n)) return default_power2<T>(n);
  if (is_smooth(n)) return std::make_unique<Plain<T>>(n);
  if (n % 2 == 1 && n <= kMaxDirect) return make_direct<T>(n);
  return make_bluestein<T>(n, std::bit_ceil(2 * n - 1), inner<T>);
}

template <class T>
double bound(std::size_t n) {
  return reference::error_gate<T>(n);
}

// Error over every `step`-th frequency, each by definition: the full reference takes too long for long primes.
template <class T>
double sampled_error(const std::vector<std::complex<T>>& in, const std::vector<std::complex<T>>& out, bool inverse,
                     std::size_t step) {
  using Real = reference::Wider<T>;
  const std::size_t n = in.size();
  const auto roots = reference::roots_of_unity<Real>(n, inverse ? 1 : -1);
  std::vector<reference::Point<Real>> expected;
  std::vector<std::complex<T>> actual;
  for (std::size_t k = 0; k < n; k += step) {
    reference::Point<Real> sum;
    for (std::size_t j = 0; j < n; ++j) {
      sum = sum + reference::Point<Real>{Real(in[j].real()), Real(in[j].imag())} * roots[j * k % n];
    }
    expected.push_back(sum);
    actual.push_back(out[k]);
  }
  return relative_error(actual.data(), 1, expected);
}

template <class T>
void expect_samples(const LineKernel<T>& kernel, std::size_t samples) {
  const std::size_t n = kernel.length();
  const auto in = random_points<T>(n, 4);
  base::AlignedArray<std::complex<T>> scratch(kernel.scratch());
  std::vector<std::complex<T>> out(n);
  for (const Direction direction : kPrimeDirections) {
    kernel.run(direction, in.data(), out.data(), scratch.data());
    EXPECT_LE(sampled_error(in, out, direction == Direction::inverse, n / samples), bound<T>(n)) << kernel.describe();
  }
}

template <class T>
class Prime : public testing::Test {
 public:
  using Complex = std::complex<T>;

  static void expect_lines(const LineKernel<T>& kernel) {
    const std::size_t n = kernel.length();
    base::AlignedArray<Complex> scratch(kernel.scratch());
    for (const Direction direction : kPrimeDirections) {
      ErrorsOfMany<T> errors(n);
      for (std::size_t input = 0; input < 1 + 512 / n; ++input) {
        const auto in = random_points<T>(n, static_cast<unsigned>(n + input));
        // Offset by one element, so that only the alignment of a complex number is guaranteed.
        std::vector<Complex> out(n + 2, Complex(7, 7));
        kernel.run(direction, in.data(), out.data() + 1, scratch.data());
        const auto expected = reference::dft(in, direction == Direction::inverse);
        errors.add(relative_error(out.data() + 1, 1, expected), kernel.describe());
        EXPECT_EQ(out.front(), Complex(7, 7)) << kernel.describe();
        EXPECT_EQ(out.back(), Complex(7, 7)) << kernel.describe();
        std::vector<Complex> place = in;
        kernel.run(direction, place.data(), place.data(), scratch.data());
        EXPECT_TRUE(std::equal(place.begin(), place.end(), out.begin() + 1)) << n << " in place " << kernel.describe();
      }
    }
  }

  static void expect_columns(const LineKernel<T>& kernel, std::size_t columns) {
    const std::size_t n = kernel.length(), stride = columns + 3;
    const auto in = random_points<T>(n * stride, 5);
    const double tolerance =
        bound<T>(n) * std::sqrt(static_cast<double>(n) / 6);  // limit of one point, derived from that of all
    base::AlignedArray<Complex> scratch(std::max(kernel.scratch(), kernel.scratch_columns()));
    for (const Direction direction : kPrimeDirections) {
      std::vector<Complex> out(n * (columns + 1), Complex(7, 7)), place = in, line(n), result(n);
      kernel.run_columns(direction, in.data(), stride, out.data(), columns + 1, columns, scratch.data());
      kernel.run_columns(direction, place.data(), stride, place.data(), stride, columns, scratch.data());
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t p = 0; p < n; ++p) line[p] = in[p * stride + c];
        kernel.run(direction, line.data(), result.data(), scratch.data());
        for (std::size_t p = 0; p < n; ++p) {
          ASSERT_LE(std::abs(out[p * (columns + 1) + c] - result[p]), 3 * tolerance)
              << kernel.describe() << " column " << c;
          ASSERT_EQ(place[p * stride + c], out[p * (columns + 1) + c]) << kernel.describe() << " column " << c;
        }
      }
      for (std::size_t p = 0; p < n; ++p) {
        EXPECT_EQ(out[p * (columns + 1) + columns], Complex(7, 7)) << "beside the columns";
        for (std::size_t c = columns; c < stride; ++c) EXPECT_EQ(place[p * stride + c], in[p * stride + c]);
      }
    }
  }

  static void expect_many(const LineKernel<T>& kernel, std::size_t count) {
    const std::size_t n = kernel.length(), distance = n + 5;
    const auto in = random_points<T>(distance * count, 6);
    base::AlignedArray<Complex> scratch(kernel.scratch());
    std::vector<Complex> out(distance * count), one(n);
    kernel.run_many(Direction::forward, in.data(), distance, out.data(), distance, count, scratch.data());
    for (std::size_t i = 0; i < count; ++i) {
      kernel.run(Direction::forward, in.data() + i * distance, one.data(), scratch.data());
      EXPECT_TRUE(std::equal(one.begin(), one.end(), out.begin() + static_cast<std::ptrdiff_t>(i * distance)));
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Prime, Types);

TYPED_TEST(Prime, DirectSumsHoldTheBound) {
  for (std::size_t n = 17; n <= kMaxDirect; n += 2) {
    if (n < 64 || is_prime(n)) this->expect_lines(*make_direct<TypeParam>(n));
  }
}

TYPED_TEST(Prime, RaderHoldsTheBound) {
  for (const std::size_t p : {3, 5, 17, 29, 97, 257, 337, 521, 601, 1009, 1801}) {
    this->expect_lines(*make_rader<TypeParam>(p, inner<TypeParam>));
  }
}

TYPED_TEST(Prime, BluesteinHoldsTheBoundForAnyLength) {
  for (std::size_t n = 1; n < 40; ++n) {
    this->expect_lines(*make_bluestein<TypeParam>(n, std::bit_ceil(2 * n - 1), inner<TypeParam>));
  }
  for (const std::size_t n : {127, 263, 499, 512, 787, 1009, 1367, 1999, 2018, 2048}) {
    this->expect_lines(*make_bluestein<TypeParam>(n, std::bit_ceil(2 * n - 1), inner<TypeParam>));
  }
  // Inner lengths that plans use: divisible by 81, whose rounding leaves no margin for the filter.
  for (const std::size_t n : {1289, 2591}) {
    this->expect_lines(*make_bluestein<TypeParam>(n, smooth_length(2 * n - 1), inner<TypeParam>));
  }
  // Filters of odd length, and longer than needed.
  this->expect_lines(*make_bluestein<TypeParam>(23, 45, inner<TypeParam>));
  this->expect_lines(*make_bluestein<TypeParam>(23, 101, inner<TypeParam>));
}

TYPED_TEST(Prime, TwoStepsHoldTheBound) {
  const std::pair<std::size_t, std::size_t> cases[] = {{34, 17},     {51, 17},        {51, 3},      {17 * 64, 64},
                                                       {272, 17},    {17 * 19, 19},   {2018, 1009}, {1020, 17},
                                                       {8 * 37, 37}, {1009 * 8, 1009}};
  for (const auto& [n, row] : cases) this->expect_lines(*make_columns_then_rows<TypeParam>(n, row, inner<TypeParam>));
}

TYPED_TEST(Prime, LongLengthsMeetTheErrorGate) {
  expect_samples(*make_bluestein<TypeParam>(10007, 32768, inner<TypeParam>), 150);
  expect_samples(*make_columns_then_rows<TypeParam>(3 * 10007, 10007, inner<TypeParam>), 50);
  expect_samples(*make_rader<TypeParam>(65537, inner<TypeParam>), 30);
}

TYPED_TEST(Prime, ColumnsEqualLines) {
  for (const std::size_t columns : {1, 7, 16, 37}) {
    for (const std::size_t n : {17, 19, 31, 101}) this->expect_columns(*make_direct<TypeParam>(n), columns);
    this->expect_columns(*make_rader<TypeParam>(257, inner<TypeParam>), columns);
    this->expect_columns(*make_bluestein<TypeParam>(83, 256, inner<TypeParam>), columns);
    this->expect_columns(*make_columns_then_rows<TypeParam>(68, 17, inner<TypeParam>), columns);
  }
}

TYPED_TEST(Prime, ManyEqualOneByOne) {
  this->expect_many(*make_direct<TypeParam>(31), 5);
  this->expect_many(*make_rader<TypeParam>(257, inner<TypeParam>), 3);
  this->expect_many(*make_columns_then_rows<TypeParam>(34, 17, inner<TypeParam>), 3);
}

TYPED_TEST(Prime, ListsOnlyWhatWorks) {
  for (std::size_t n = 1; n <= 600; ++n) {
    std::vector<LineChoice<TypeParam>> choices;
    list_prime<TypeParam>(n, inner<TypeParam>, choices);
    EXPECT_EQ(choices.empty(), is_smooth(n)) << n;
    if (n > 120 && n % 7 != 0) continue;
    const auto in = random_points<TypeParam>(n, 3);
    const auto expected = reference::dft(in, false);
    for (const auto& choice : choices) {
      const auto kernel = choice.make();
      ASSERT_EQ(kernel->length(), n) << choice.name;
      EXPECT_EQ(choice.refusal, "");
      EXPECT_GT(choice.flops, 0);
      std::vector<std::complex<TypeParam>> out(n);
      base::AlignedArray<std::complex<TypeParam>> scratch(kernel->scratch());
      kernel->run(Direction::forward, in.data(), out.data(), scratch.data());
      EXPECT_LE(relative_error(out.data(), 1, expected), bound<TypeParam>(n)) << n << ' ' << choice.name;
    }
  }
}

TYPED_TEST(Prime, RefusesLengthsThatDoNotSuit) {
  EXPECT_THROW(make_direct<TypeParam>(18), Error);
  EXPECT_THROW(make_direct<TypeParam>(kMaxDirect + 2), Error);
  EXPECT_THROW(make_rader<TypeParam>(15, inner<TypeParam>), Error);
  EXPECT_THROW(make_rader<TypeParam>(2, inner<TypeParam>), Error);
  EXPECT_THROW(make_bluestein<TypeParam>(0, 16, inner<TypeParam>), Error);
  EXPECT_THROW(make_bluestein<TypeParam>(17, 32, inner<TypeParam>), Error);
  EXPECT_THROW(make_columns_then_rows<TypeParam>(35, 6, inner<TypeParam>), Error);
  EXPECT_THROW(make_columns_then_rows<TypeParam>(17, 17, inner<TypeParam>), Error);
}

TEST(PrimeNumbers, GeneratorsVisitEveryResidue) {
  for (const std::size_t p : {3, 5, 7, 17, 41, 191, 409, 1009}) {
    const std::size_t g = primitive_root(p);
    std::vector<bool> seen(p);
    for (std::size_t q = 0, a = 1; q + 1 < p; ++q, a = a * g % p) {
      EXPECT_FALSE(seen[a]);
      seen[a] = true;
    }
    EXPECT_EQ(power_modulo(g, p - 1, p), 1u);
  }
}

TEST(PrimeNumbers, FactorsMultiplyToTheNumber) {
  for (std::size_t n = 1; n < 2000; ++n) {
    std::size_t product = 1;
    bool smooth = true;
    for (const std::size_t p : prime_factors(n)) {
      EXPECT_TRUE(is_prime(p));
      product *= p;
      smooth = smooth && p <= 13;
    }
    EXPECT_EQ(product, n);
    EXPECT_EQ(is_smooth(n), smooth);
    EXPECT_EQ(is_prime(n), n > 1 && prime_factors(n).size() == 1);
  }
}

TEST(PrimeNumbers, SmoothLengthsAreSmoothAndLongEnough) {
  for (std::size_t n = 1; n < 100000; n += 97) {
    const std::size_t length = smooth_length(n);
    EXPECT_GE(length, n);
    EXPECT_LE(length, std::bit_ceil(n));
    EXPECT_TRUE(is_smooth(length));
    EXPECT_LE(transform_cost(length), transform_cost(std::bit_ceil(n)));
  }
}

}  // namespace
}  // namespace ridge::fft
