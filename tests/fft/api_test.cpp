// The public plan over every length: against the reference, in both directions, in place and in batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "fft/support.hpp"
#include "support/worst.hpp"

namespace ridge::fft {
namespace {

using namespace reference;

template <class T>
class FftApi : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftApi, Types);

TYPED_TEST(FftApi, EveryLengthInBothDirections) {
  using Complex = std::complex<TypeParam>;
  for (std::size_t n = 1; n <= longest_length(); ++n) {
    const auto in = random_points<TypeParam>(n, static_cast<unsigned>(n));
    const auto fft = plan<TypeParam>(host(), {.shape = {n}}, quick());
    std::vector<Complex> out(n);
    fft.forward(in, out);
    EXPECT_LE(relative_error(out.data(), 1, dft(in, false)), reference::error_gate<TypeParam>(n)) << fft.explain();
    fft.inverse(in, out);
    EXPECT_LE(relative_error(out.data(), 1, dft(in, true)), reference::error_gate<TypeParam>(n)) << fft.explain();
    const auto in_place = plan<TypeParam>(host(), {.shape = {n}, .in_place = true}, quick());
    auto data = in;
    in_place.inverse(data);
    EXPECT_EQ(data, out) << n;
  }
}

TYPED_TEST(FftApi, ImpulsesTonesLinearityParsevalShift) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t n : {8, 12, 30, 97, 128, 1000, 1155}) {
    const auto fft = plan<TypeParam>(host(), {.shape = {n}}, quick());
    const double gate = 4 * reference::error_gate<TypeParam>(n);
    std::vector<Complex> x(n), spectrum(n);
    x[1 % n] = 1;  // an impulse at 1 gives a tone in the spectrum
    fft.forward(x, spectrum);
    const auto circle_of = roots_of_unity<double>(n, -1);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(spectrum[k].real(), circle_of[k].re, gate) << n;
      EXPECT_NEAR(spectrum[k].imag(), circle_of[k].im, gate) << n;
    }
    for (std::size_t i = 0; i < n; ++i) {  // a tone on bin 3 gives a single value
      x[i] = Complex(static_cast<TypeParam>(circle_of[3 * i % n].re), -static_cast<TypeParam>(circle_of[3 * i % n].im));
    }
    fft.forward(x, spectrum);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(spectrum[k].real(), k == 3 ? static_cast<double>(n) : 0, gate * static_cast<double>(n))
          << n << ' ' << k;
    }
    const auto a = random_points<TypeParam>(n, 1), b = random_points<TypeParam>(n, 2);
    std::vector<Complex> sum(n), fa(n), fb(n), fsum(n), shifted(n), fshifted(n);
    for (std::size_t i = 0; i < n; ++i) sum[i] = a[i] + TypeParam(2) * b[i];
    for (std::size_t i = 0; i < n; ++i) shifted[i] = a[(i + 1) % n];
    fft.forward(a, fa);
    fft.forward(b, fb);
    fft.forward(sum, fsum);
    fft.forward(shifted, fshifted);
    double energy = 0, spectral = 0, linear = 0, shift = 0;
    for (std::size_t k = 0; k < n; ++k) {
      energy += std::norm(a[k]);
      spectral += std::norm(fa[k]);
      linear += std::norm(fsum[k] - fa[k] - TypeParam(2) * fb[k]);
      const Complex root(static_cast<TypeParam>(circle_of[k].re), -static_cast<TypeParam>(circle_of[k].im));
      shift += std::norm(fshifted[k] - fa[k] * root);
    }
    EXPECT_NEAR(spectral / (energy * static_cast<double>(n)), 1, gate) << n;
    EXPECT_LE(std::sqrt(linear / spectral), gate) << n;
    EXPECT_LE(std::sqrt(shift / spectral), gate) << n;
  }
}

TYPED_TEST(FftApi, ScalesMakeARoundTrip) {
  const std::size_t n = 60;
  const auto fft =
      plan<TypeParam>(host(), {.shape = {n}, .batch = 7, .scale_forward = 0.5, .scale_inverse = 2.0 / 60}, quick());
  const auto in = random_points<TypeParam>(n * 7, 5);
  std::vector<std::complex<TypeParam>> spectrum(n * 7), back(n * 7);
  fft.forward(in, spectrum);
  fft.inverse(spectrum, back);
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_LE(std::abs(in[i] - back[i]), 8 * reference::error_gate<TypeParam>(n));
  TypeParam sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += in[i].real();
  EXPECT_NEAR(spectrum[0].real(), sum / 2, 1e-5);
}

TYPED_TEST(FftApi, LongLinesOverThreads) {
  for (const std::size_t n : {std::size_t{1} << 16, std::size_t{100000}, std::size_t{1} << 18}) {
    const auto in = random_points<TypeParam>(2 * n, 3);
    const auto expected = dft(std::vector(in.begin() + static_cast<std::ptrdiff_t>(n), in.end()), false);
    auto options = quick();
    options.variant = "two_step";
    const auto fft = plan<TypeParam>(host(), {.shape = {n}, .batch = 2, .threads = 3}, options);
    std::vector<std::complex<TypeParam>> out(2 * n), back(2 * n);
    fft.forward(in, out);
    EXPECT_LE(relative_error(out.data() + n, 1, expected), reference::error_gate<TypeParam>(n)) << fft.explain();
    EXPECT_NE(fft.explain().find("two_step"), std::string::npos);
    fft.inverse(out, back);
    for (auto& value : back) value /= static_cast<TypeParam>(n);
    EXPECT_LE(test::largest_difference(back, in), 20 * reference::error_gate<TypeParam>(n));
  }
}

TYPED_TEST(FftApi, ManyCallersAtOnce) {
  const std::size_t n = 360, batch = 64;
  const auto fft = plan<TypeParam>(host(), {.shape = {n}, .batch = batch}, quick());
  const auto in = random_points<TypeParam>(n * batch, 9);
  std::vector<std::complex<TypeParam>> expected(n * batch);
  fft.forward(in, expected);
  std::vector<std::vector<std::complex<TypeParam>>> results(6);
  std::vector<std::thread> callers;
  for (auto& result : results) {
    callers.emplace_back([&] {
      result.resize(n * batch);
      for (int i = 0; i < 5; ++i) fft.forward(in, result);
    });
  }
  for (auto& caller : callers) caller.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TYPED_TEST(FftApi, MeasuredPlansAgreeWithQuickOnes) {
  for (const std::size_t n : {64, 120}) {
    const auto in = random_points<TypeParam>(n, 4);
    const auto fft = plan<TypeParam>(host(), {.shape = {n}});
    std::vector<std::complex<TypeParam>> out(n);
    fft.forward(in, out);
    EXPECT_LE(relative_error(out.data(), 1, dft(in, false)), reference::error_gate<TypeParam>(n));
    const std::string text = fft.explain();
    EXPECT_NE(text.find("fft line"), std::string::npos) << text;
    EXPECT_NE(text.find("flops executed"), std::string::npos) << text;
    ASSERT_EQ(fft.decisions().size(), 1u);
    // Every candidate can be requested by its name.
    auto all = candidates<TypeParam>(host(), n);
    std::erase_if(all, [](const planner::Candidate& one) { return !one.refusal.empty(); });
    ASSERT_FALSE(all.empty());
    auto options = quick();
    options.variant = all.back().name();
    const auto named = plan<TypeParam>(host(), {.shape = {n}}, options);
    EXPECT_EQ(named.decisions().front().trials[named.decisions().front().winner].name, all.back().name());
  }
}

}  // namespace
}  // namespace ridge::fft
