// Convolution and correlation by FFT against sums by definition.
#include <gtest/gtest.h>

#include <bit>

#include <ridge/fft.hpp>

#include "fft/nd_support.hpp"

namespace ridge::fft {
namespace {

template <class Element>
std::vector<Element> random_values(std::size_t n, unsigned seed) {
  const auto points = reference::random_points<double>(n, seed);
  std::vector<Element> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<Element>) {
      values[i] = static_cast<Element>(points[i].real());
    } else {
      values[i] = Element(points[i]);
    }
  }
  return values;
}

template <class Element>
std::complex<double> widened(Element value) {
  return std::complex<double>(value);
}

template <class Element>
std::vector<std::complex<double>> direct(const std::vector<Element>& a, const std::vector<Element>& b) {
  std::vector<std::complex<double>> out(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) out[i + j] += widened(a[i]) * widened(b[j]);
  }
  return out;
}

template <class Element>
class FftConvolution : public testing::Test {
 public:
  static constexpr double kGate = sizeof(Element) / (std::is_floating_point_v<Element> ? 1 : 2) == 4 ? 5e-7 : 1e-15;
};
using Elements = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FftConvolution, Elements);

const std::pair<std::size_t, std::size_t> kSizes[] = {{1, 1},   {5, 1},    {1, 6},    {9, 12},   {17, 17},
                                                      {100, 7}, {13, 300}, {997, 64}, {3000, 33}};

TYPED_TEST(FftConvolution, LinearAndCircularMeetTheSum) {
  using In = std::span<const TypeParam>;
  for (const auto& [n, m] : kSizes) {
    const auto a = random_values<TypeParam>(n, 1), b = random_values<TypeParam>(m, 2);
    const auto expected = direct(a, b);
    const auto linear = convolve<TypeParam>(host(), In(a), In(b));
    ASSERT_EQ(linear.size(), n + m - 1);
    EXPECT_LE(distance(linear, expected), this->kGate) << n << ' ' << m;
    const std::size_t length = std::max(n, m);
    std::vector<std::complex<double>> wrapped(length);
    for (std::size_t i = 0; i < expected.size(); ++i) wrapped[i % length] += expected[i];
    const auto circular = convolve<TypeParam>(host(), In(a), In(b), ConvolutionKind::circular);
    ASSERT_EQ(circular.size(), length);
    EXPECT_LE(distance(circular, wrapped), this->kGate) << n << ' ' << m;
  }
}

TYPED_TEST(FftConvolution, CorrelationFindsTheLag) {
  using In = std::span<const TypeParam>;
  for (const auto& [n, m] : kSizes) {
    const auto a = random_values<TypeParam>(n, 3), b = random_values<TypeParam>(m, 4);
    const auto linear = correlate<TypeParam>(host(), In(a), In(b));
    const std::size_t length = std::max(n, m);
    const auto circular = correlate<TypeParam>(host(), In(a), In(b), ConvolutionKind::circular);
    std::vector<std::complex<double>> expected(n + m - 1), wrapped(length);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        const auto product = widened(a[i]) * std::conj(widened(b[j]));
        expected[i + (m - 1) - j] += product;
        wrapped[(i + length - j) % length] += product;
      }
    }
    EXPECT_LE(distance(linear, expected), this->kGate) << n << ' ' << m;
    EXPECT_LE(distance(circular, wrapped), this->kGate) << n << ' ' << m;
  }
}

TYPED_TEST(FftConvolution, OverlapSaveForLongSignals) {
  const auto filter = random_values<TypeParam>(31, 5);
  for (const std::size_t block : {0, 31, 32, 60, 64, 128}) {
    const Convolution<TypeParam> convolution(host(), filter, {.block = block, .threads = 3});
    EXPECT_EQ(convolution.filter_size(), 31u);
    for (const std::size_t size : {1, 20, 34, 500, 2000}) {
      const auto signal = random_values<TypeParam>(size, 6);
      std::vector<TypeParam> out(size + 30 + 1, TypeParam(7));
      convolution.run(signal, out);
      EXPECT_EQ(out.back(), TypeParam(7));
      out.pop_back();
      EXPECT_LE(distance(out, direct(signal, filter)), 2 * this->kGate) << block << ' ' << size;
    }
    EXPECT_NE(convolution.explain().find("overlap-save"), std::string::npos);
  }
}

TYPED_TEST(FftConvolution, ShortSignalsTakeOneShortBlock) {
  for (const auto& [n, m] : kSizes) {
    const auto signal = random_values<TypeParam>(n, 7), filter = random_values<TypeParam>(m, 8);
    const Convolution<TypeParam> convolution(host(), filter, {.signal = n, .threads = 2});
    EXPECT_LE(convolution.block(), 2 * std::bit_ceil(n + m - 1)) << n << ' ' << m;
    for (const std::size_t size : {n, 5 * n + 3, (n + 1) / 2}) {  // also longer and shorter ones
      const auto other = random_values<TypeParam>(size, 9);
      std::vector<TypeParam> out(size + m - 1);
      convolution.run(other, out);
      EXPECT_LE(distance(out, direct(other, filter)), 2 * this->kGate) << n << ' ' << m << ' ' << size;
    }
    std::vector<TypeParam> out(n + m - 1), back(n);
    convolution.run(signal, out);
    convolution.adjoint().run(out, back);
    std::complex<double> left = 0, right = 0;
    for (std::size_t i = 0; i < out.size(); ++i) left += std::conj(widened(out[i])) * widened(out[i]);
    for (std::size_t i = 0; i < n; ++i) right += std::conj(widened(signal[i])) * widened(back[i]);
    EXPECT_LE(std::abs(left - right), 20 * this->kGate * std::abs(left)) << n << ' ' << m;
  }
}

TYPED_TEST(FftConvolution, BadInputIsRefused) {
  using In = std::span<const TypeParam>;
  std::vector<TypeParam> a(8), out(20);
  EXPECT_THROW(convolve<TypeParam>(host(), In(), In(a)), Error);
  EXPECT_THROW(correlate<TypeParam>(host(), In(a), In()), Error);
  EXPECT_THROW(Convolution<TypeParam>(host(), In()), Error);
  EXPECT_THROW(Convolution<TypeParam>(host(), In(a), {.block = 7}), Error);
  const Convolution<TypeParam> convolution(host(), a);
  EXPECT_THROW(convolution.run(In(), out), Error);
  EXPECT_THROW(convolution.run(In(out).first(14), out), Error);  // both too short and overlapping
  EXPECT_THROW(convolution.run(In(a), std::span(out).first(14)), Error);
}

}  // namespace
}  // namespace ridge::fft
