// Real transforms of any length by every method: error limits, many rows, in place, NaN in one of two rows.
#include "fft/host/real/real.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/plain_kernel.hpp"
#include "fft/reference.hpp"
#include "fft/support.hpp"

namespace ridge::fft {
namespace {

using reference::error_gate;
using reference::relative_error;

template <class T>
std::shared_ptr<const LineKernel<T>> line(std::size_t n) {
  if (std::has_single_bit(n)) return default_power2<T>(n);
  return std::make_shared<reference::Plain<T>>(n);
}

template <class T>
class Real : public testing::Test {
 public:
  using Complex = std::complex<T>;
  using Expected = std::vector<reference::Point<reference::Wider<T>>>;

  static std::vector<T> random_samples(std::size_t n, unsigned seed) {
    std::vector<T> samples;
    for (const Complex& point : reference::random_points<T>(n, seed)) samples.push_back(point.real());
    return samples;
  }

  static Expected spectrum(const std::vector<T>& samples) {
    auto points = reference::dft(std::vector<Complex>(samples.begin(), samples.end()), false);
    points.resize(samples.size() / 2 + 1);
    return points;
  }

  // A spectrum with conjugate symmetry and its samples, unscaled.
  static std::vector<Complex> half_spectrum(std::size_t n, unsigned seed) {
    std::vector<Complex> points = reference::random_points<T>(n / 2 + 1, seed);
    points[0].imag(0);
    if (n % 2 == 0) points.back().imag(0);
    return points;
  }
  static Expected samples_of(const std::vector<Complex>& half, std::size_t n) {
    std::vector<Complex> whole(n);
    for (std::size_t k = 0; k < half.size(); ++k) {
      if (k > 0) whole[n - k] = std::conj(half[k]);
      whole[k] = half[k];
    }
    return reference::dft(whole, true);
  }

  static double sample_error(const std::vector<T>& actual, const Expected& expected) {
    return relative_error(std::vector<Complex>(actual.begin(), actual.end()).data(), 1, expected);
  }

  static void expect_edges(const Complex* spectrum, std::size_t n) {
    EXPECT_EQ(spectrum[0].imag(), T(0)) << n;
    if (n % 2 == 0) {
      EXPECT_EQ(spectrum[n / 2].imag(), T(0)) << n;
    }
  }

  static void expect_transform(const RealKernel<T>& kernel) {
    const std::size_t n = kernel.length(), half = n / 2 + 1;
    base::AlignedArray<Complex> scratch(kernel.scratch());
    const auto in = random_samples(n, static_cast<unsigned>(n));
    const auto expected = spectrum(in);
    std::vector<Complex> out(half + 2, Complex(7, 7));
    kernel.forward(in.data(), out.data() + 1, scratch.data());
    EXPECT_LE(relative_error(out.data() + 1, 1, expected), error_gate<T>(n)) << n << ' ' << kernel.describe();
    expect_edges(out.data() + 1, n);
    EXPECT_EQ(out.front(), Complex(7, 7)) << n;
    EXPECT_EQ(out.back(), Complex(7, 7)) << n;

    const auto points = half_spectrum(n, static_cast<unsigned>(n));
    const auto untouched = points;
    std::vector<T> samples(n + 2, T(7)), expected_samples(n);
    kernel.inverse(points.data(), samples.data() + 1, scratch.data());
    EXPECT_EQ(points, untouched) << n;
    EXPECT_EQ(samples.front(), T(7)) << n;
    EXPECT_EQ(samples.back(), T(7)) << n;
    samples.erase(samples.begin());
    samples.pop_back();
    EXPECT_LE(sample_error(samples, samples_of(points, n)), error_gate<T>(n)) << n << ' ' << kernel.describe();

    // In place, and as a round trip.
    std::vector<Complex> place(half);
    T* reals = reinterpret_cast<T*>(place.data());
    std::copy(in.begin(), in.end(), reals);
    kernel.forward(reals, place.data(), scratch.data());
    EXPECT_TRUE(std::equal(place.begin(), place.end(), out.begin() + 1)) << n << " in place";
    kernel.inverse(place.data(), reals, scratch.data());
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(reals[i] / static_cast<T>(n), in[i], 10 * error_gate<T>(n)) << n << " round trip";
    }
  }

  static void expect_many(const RealKernel<T>& kernel, std::size_t count, std::size_t padding) {
    const std::size_t n = kernel.length(), half = n / 2 + 1;
    const std::size_t samples = n + padding, points = half + padding;
    base::AlignedArray<Complex> scratch(kernel.scratch());
    const auto in = random_samples(samples * count, 8);
    std::vector<Complex> out(points * count, Complex(7, 7)), one(half);
    kernel.forward_many(in.data(), samples, out.data(), points, count, scratch.data());
    std::vector<T> back(samples * count, T(7)), one_back(n);
    ErrorsOfMany<T> errors(n);
    kernel.inverse_many(out.data(), points, back.data(), samples, count, scratch.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<T> row(in.begin() + static_cast<std::ptrdiff_t>(i * samples),
                               in.begin() + static_cast<std::ptrdiff_t>(i * samples + n));
      errors.add(relative_error(out.data() + i * points, 1, spectrum(row)), fmt::format("row {}", i));
      expect_edges(out.data() + i * points, n);
      for (std::size_t j = 0; j < n; ++j) {
        ASSERT_NEAR(back[i * samples + j] / static_cast<T>(n), row[j], 10 * error_gate<T>(n)) << n << " row " << i;
      }
      for (std::size_t j = 0; j < padding; ++j) {
        EXPECT_EQ(out[i * points + half + j], Complex(7, 7)) << n << " row " << i;
        EXPECT_EQ(back[i * samples + n + j], T(7)) << n << " row " << i;
      }
    }
    // In place: rows of 2 (n/2 + 1) samples.
    std::vector<Complex> place(half * count);
    T* reals = reinterpret_cast<T*>(place.data());
    for (std::size_t i = 0; i < count; ++i) std::copy_n(in.data() + i * samples, n, reals + 2 * half * i);
    kernel.forward_many(reals, 2 * half, place.data(), half, count, scratch.data());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < half; ++k) {
        ASSERT_NEAR(std::abs(place[i * half + k] - out[i * points + k]), 0,
                    10 * error_gate<T>(n) * std::sqrt(static_cast<double>(n)));
      }
    }
    kernel.inverse_many(place.data(), half, reals, 2 * half, count, scratch.data());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        ASSERT_NEAR(reals[i * 2 * half + j] / static_cast<T>(n), in[i * samples + j], 10 * error_gate<T>(n));
      }
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Real, Types);

TYPED_TEST(Real, EveryShortLengthMeetsTheErrorGate) {
  for (std::size_t n = 1; n <= 300; ++n) this->expect_transform(*make_real<TypeParam>(n, line<TypeParam>));
}

TYPED_TEST(Real, LongerLengthsMeetTheErrorGate) {
  for (const std::size_t n : {512, 1000, 1001, 1024, 2048, 4095, 4096, 10000, 16384, 59049, 65536, 100000}) {
    this->expect_transform(*make_real<TypeParam>(n, line<TypeParam>));
  }
}

TYPED_TEST(Real, PairsOfRowsMeetTheErrorGateForDirectSumLengths) {
  for (std::size_t n = 1; n <= kMaxDirectReal; n += 2) {
    this->expect_transform(*make_real_paired<TypeParam>(line<TypeParam>(n)));
  }
}

TYPED_TEST(Real, OddLengthsByRealColumnsMeetTheErrorGate) {
  std::size_t done = 0;
  for (std::size_t n = 9; n <= 400; n += 2) {
    if (real_odd_factor(n) == 0) continue;
    this->expect_transform(*make_real_odd<TypeParam>(n, line<TypeParam>));
    ++done;
  }
  EXPECT_GT(done, 100u);
  for (const std::size_t n : {1001, 1309, 2187, 3 * 1009, 13 * 13 * 13}) {
    this->expect_transform(*make_real_odd<TypeParam>(n, line<TypeParam>));
  }
  EXPECT_THROW(make_real_odd<TypeParam>(16, line<TypeParam>), Error);
  EXPECT_THROW(make_real_odd<TypeParam>(17 * 19, line<TypeParam>), Error);
}

TYPED_TEST(Real, GeneralMethodsMeetTheErrorGateForCodeletLengths) {
  for (std::size_t n = 1; n <= kMaxShortReal; ++n) {
    this->expect_transform(n % 2 == 0 ? *make_real_even<TypeParam>(line<TypeParam>(n / 2))
                                      : *make_real_direct<TypeParam>(n));
  }
}

TYPED_TEST(Real, ManyRowsAtAnyDistance) {
  for (const std::size_t n :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 21, 32, 64, 65, 77, 128, 255, 256, 1024}) {
    const auto kernel = make_real<TypeParam>(n, line<TypeParam>);
    for (const std::size_t count : {1, 2, 5, 70}) {
      if (n * count > 10000) continue;
      for (const std::size_t padding : {0, 1, 2}) this->expect_many(*kernel, count, padding);
    }
  }
}

TYPED_TEST(Real, EqualsTheComplexTransform) {
  using Point = std::complex<TypeParam>;
  for (const std::size_t n : {16, 256, 4096}) {
    const auto samples = this->random_samples(n, 9);
    const std::vector<Point> in(samples.begin(), samples.end());
    const auto complex = default_power2<TypeParam>(n);
    const auto kernel = make_real<TypeParam>(n, line<TypeParam>);
    base::AlignedArray<Point> scratch(std::max(complex->scratch(), kernel->scratch()));
    std::vector<Point> expected(n), out(n / 2 + 1);
    complex->run(Direction::forward, in.data(), expected.data(), scratch.data());
    kernel->forward(samples.data(), out.data(), scratch.data());
    double difference = 0, norm = 0;
    for (std::size_t k = 0; k <= n / 2; ++k) {
      difference += std::norm(out[k] - expected[k]);
      norm += std::norm(expected[k]);
    }
    EXPECT_LE(std::sqrt(difference / norm), 2 * error_gate<TypeParam>(n)) << n;
  }
}

TYPED_TEST(Real, TheInverseIgnoresImaginaryPartsThatNoRealSamplesHave) {
  using Point = std::complex<TypeParam>;
  for (const std::size_t n : {1, 2, 9, 16, 30, 75}) {
    const auto kernel = make_real<TypeParam>(n, line<TypeParam>);
    base::AlignedArray<Point> scratch(kernel->scratch());
    auto points = this->half_spectrum(n, 10);
    std::vector<TypeParam> clean(n), disturbed(n);
    kernel->inverse(points.data(), clean.data(), scratch.data());
    points[0].imag(3);
    if (n % 2 == 0) points.back().imag(-2);
    kernel->inverse(points.data(), disturbed.data(), scratch.data());
    EXPECT_EQ(clean, disturbed) << n;
  }
}

TYPED_TEST(Real, RequestsAnInnerLineOfThePredictedLength) {
  for (std::size_t n = 1; n <= 200; ++n) {
    std::vector<std::size_t> asked;
    make_real<TypeParam>(n, [&](std::size_t length) {
      asked.push_back(length);
      return line<TypeParam>(length);
    });
    const std::size_t expected = real_line_length(n);
    EXPECT_EQ(asked.empty(), expected == 0) << n;
    if (expected != 0) {
      EXPECT_NE(std::find(asked.begin(), asked.end(), expected), asked.end()) << n;
    }
  }
  EXPECT_THROW(make_real<TypeParam>(0, line<TypeParam>), Error);
  EXPECT_THROW(make_real_short<TypeParam>(kMaxShortReal + 1), Error);
  EXPECT_THROW(make_real_short<TypeParam>(0), Error);
  EXPECT_THROW(make_real_direct<TypeParam>(8), Error);
  EXPECT_THROW(make_real_direct<TypeParam>(kMaxDirectReal + 2), Error);
}

// Odd rows are transformed in pairs; NaN in one must not reach the other.
TYPED_TEST(Real, NaNInARowDoesNotAffectItsPartner) {
  using T = TypeParam;
  constexpr std::size_t n = 67, half = n / 2 + 1, count = 5;
  const auto kernel = make_real_paired<T>(line<T>(n));
  base::AlignedArray<std::complex<T>> scratch(kernel->scratch());
  for (const T odd : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (std::size_t bad = 0; bad < count; ++bad) {
      std::vector<T> samples = this->random_samples(count * n, 1), back(count * n);
      std::vector<std::complex<T>> spectrum(count * half), whole(count * half);
      kernel->forward_many(samples.data(), n, whole.data(), half, count, scratch.data());
      samples[bad * n + 40] = odd;
      kernel->forward_many(samples.data(), n, spectrum.data(), half, count, scratch.data());
      for (std::size_t row = 0; row < count; ++row) {
        for (std::size_t k = 0; k < half; ++k) {
          const std::complex<T> got = spectrum[row * half + k], expected = whole[row * half + k];
          if (row == bad) {
            EXPECT_FALSE(std::isfinite(std::abs(got))) << row << " " << k;
          } else {
            EXPECT_LE(std::abs(got - expected), 100 * std::numeric_limits<T>::epsilon()) << row << " " << k;
          }
        }
      }
      whole[bad * half + 3].imag(odd);
      kernel->inverse_many(whole.data(), half, back.data(), n, count, scratch.data());
      for (std::size_t row = 0; row < count; ++row) {
        for (std::size_t i = 0; row != bad && i < n; ++i)
          EXPECT_LE(std::abs(back[row * n + i] / T(n) - samples[row * n + i]), 100 * std::numeric_limits<T>::epsilon());
      }
    }
  }
}

}  // namespace
}  // namespace ridge::fft
