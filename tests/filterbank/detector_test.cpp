// Tests of power and Stokes parameters.
#include <gtest/gtest.h>

#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

const Problem kProblem{.channels = 4, .taps = 1, .stations = 2};

// [time][polarization][station][channel]
Spectra some(std::size_t times) {
  Spectra out(times * 16);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {static_cast<float>(static_cast<int>(i * 7 % 11) - 5),
              static_cast<float>(static_cast<int>(i * 5 % 13) - 6)};
  }
  return out;
}

TEST(Detector, StokesOfEveryChannel) {
  const Spectra in = some(1);
  Detector detector(kProblem, {.products = Products::stokes});
  std::vector<float> out(detector.row_size());
  ASSERT_EQ(detector.push(in, out), 1u);
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t k = 0; k < 4; ++k) {
      const std::complex<float> x = in[s * 4 + k], y = in[8 + s * 4 + k];
      const auto at = [&](std::size_t product) { return out[(s * 4 + product) * 4 + k]; };
      EXPECT_FLOAT_EQ(at(0), std::norm(x) + std::norm(y));
      EXPECT_FLOAT_EQ(at(1), std::norm(x) - std::norm(y));
      EXPECT_FLOAT_EQ(at(2), 2 * (x * std::conj(y)).real());
      EXPECT_FLOAT_EQ(at(3), -2 * (x * std::conj(y)).imag());
      EXPECT_NEAR(at(0) * at(0), at(1) * at(1) + at(2) * at(2) + at(3) * at(3),
                  1e-2);  // a single sample is fully polarized
    }
  }
}

TEST(Detector, MomentsAreSumsOfPowersAndOfTheirSquares) {
  const Spectra in = some(5);
  for (const std::size_t polarizations : {1, 2}) {
    Problem problem = kProblem;
    problem.polarizations = polarizations;
    Detector detector(problem, {.products = Products::moments, .times = 5, .channels = 2});
    const std::size_t each = 8 * polarizations;
    ASSERT_EQ(detector.products(), 2 * polarizations);
    std::vector<float> out(detector.row_size());
    ASSERT_EQ(detector.push(std::span(in).first(5 * each), out), 1u);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t k = i % 2, product = i / 2 % (2 * polarizations), s = i / 4 / polarizations;
      double sum = 0;
      for (std::size_t t = 0; t < 5; ++t) {
        for (std::size_t c = 2 * k; c < 2 * k + 2; ++c) {
          const double power = std::norm(in[t * each + (product % polarizations * 2 + s) * 4 + c]);
          sum += product < polarizations ? power : power * power;
        }
      }
      EXPECT_FLOAT_EQ(out[i], static_cast<float>(sum)) << i;
    }
  }
}

TEST(Detector, SumsOfTimesAndChannelsAreCarried) {
  const Spectra in = some(7);
  Detector whole(kProblem, {.products = Products::powers, .times = 3, .channels = 2});
  EXPECT_EQ(whole.channels(), 2u);
  EXPECT_EQ(whole.products(), 2u);
  std::vector<float> wanted(2 * whole.row_size());
  ASSERT_EQ(whole.due(7), 2u);
  ASSERT_EQ(whole.push(in, wanted), 2u);
  float sum = 0;
  for (std::size_t t = 0; t < 3; ++t) sum += std::norm(in[t * 16 + 2]) + std::norm(in[t * 16 + 3]);
  EXPECT_FLOAT_EQ(wanted[1], sum);  // station 0, X, channels 2 and 3
  for (std::size_t cut = 0; cut <= 7; ++cut) {
    Detector parts(kProblem, {.products = Products::powers, .times = 3, .channels = 2});
    std::vector<float> out(wanted.size());
    const std::size_t first = parts.push(std::span(in).first(cut * 16), out);
    parts.push(std::span(in).subspan(cut * 16), std::span(out).subspan(first * parts.row_size()));
    EXPECT_EQ(out, wanted) << cut;
  }
  Detector single(kProblem, {.products = Products::powers, .times = 3, .channels = 2});
  std::vector<float> out(wanted.size());
  std::size_t rows = 0;
  for (std::size_t t = 0; t < 7; ++t) {
    rows += single.push(std::span(in).subspan(t * 16, 16), std::span(out).subspan(rows * single.row_size()));
  }
  EXPECT_EQ(rows, 2u);
  EXPECT_EQ(out, wanted);
}

TEST(Detector, ThreadsChangeNothing) {
  for (const std::size_t stations : {1u, 3u}) {
    Problem problem{.channels = 96, .taps = 1, .stations = stations, .threads = 1};
    const std::size_t each = 2 * stations * problem.channels, times = (std::size_t{1} << 16) / each + 40;
    Spectra in(times * each);
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = {std::sin(static_cast<float>(i)), std::cos(0.7F * static_cast<float>(i))};
    }
    std::vector<float> wanted;
    for (const std::size_t threads : {1u, 2u, 5u, 8u}) {
      problem.threads = threads;
      Detector detector(problem, {.products = Products::stokes, .times = 7, .channels = 3});
      std::vector<float> out(detector.due(times) * detector.row_size());
      detector.push(std::span(in).first(5 * each), out);
      detector.push(std::span(in).subspan(5 * each), out);
      if (threads == 1) wanted = out;
      EXPECT_EQ(out, wanted) << threads << " threads, " << stations << " stations";
    }
  }
}

TEST(Detector, MistakesAreRefused) {
  EXPECT_THROW(Detector(kProblem, {.times = 0}), Error);
  EXPECT_THROW(Detector(kProblem, {.channels = 3}), Error);
  EXPECT_THROW(Detector({.channels = 12, .taps = 1}, {.channels = 4}), Error);  // the second sum joins both edges
  EXPECT_NO_THROW(Detector({.channels = 12, .taps = 1, .centred = true}, {.channels = 4}));
  EXPECT_THROW(Detector({.polarizations = 1}, {.products = Products::stokes}), Error);
  Detector detector(kProblem, {});
  const Spectra in = some(1);
  std::vector<float> out(3);
  EXPECT_THROW(detector.push(in, out), Error);
}

}  // namespace
}  // namespace ridge::filterbank::test
