// Pruned transforms equal the whole transform of the padded input, cropped; zooms equal their defining sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include <ridge/fft.hpp>
#include <ridge/fft/pruned.hpp>
#include <ridge/fft/zoom.hpp>

#include "support/error_of.hpp"

namespace ridge::fft {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<std::complex<T>> box_noise(std::size_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<std::complex<T>> values(count);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  return values;
}

// Offsets of the points of a box in the packed whole, for one transform.
std::vector<std::size_t> places(const std::vector<std::size_t>& shape, const Box& box) {
  std::vector<std::size_t> found{0};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::vector<std::size_t> next;
    for (const std::size_t before : found) {
      for (std::size_t p = 0; p < (box.count.empty() ? shape[i] : box.count[i]); ++p) {
        next.push_back(before * shape[i] + (p + (box.first.empty() ? 0 : box.first[i])) % shape[i]);
      }
    }
    found = next;
  }
  return found;
}

template <class T>
double distance(const std::vector<std::complex<T>>& got, const std::vector<std::complex<double>>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - expected[i]);
    norm += std::norm(expected[i]);
  }
  return std::sqrt(difference / norm);
}

template <class T>
void expect_pruned(const PrunedProblem& problem) {
  const PrunedPlan<T> plan(problem);
  std::size_t whole = 1;
  for (const std::size_t n : problem.shape) whole *= n;
  const auto given = places(problem.shape, problem.given), wanted = places(problem.shape, problem.wanted);
  ASSERT_EQ(plan.input_size(), problem.batch * given.size());
  ASSERT_EQ(plan.output_size(), problem.batch * wanted.size());
  const fft::Plan<double> reference(host(), {.shape = problem.shape, .batch = problem.batch},
                                    {.effort = Effort::quick});
  for (const bool inverse : {false, true}) {
    const auto& from = inverse ? wanted : given;
    const auto& to = inverse ? given : wanted;
    const auto in = box_noise<T>(problem.batch * from.size());
    std::vector<std::complex<T>> out(problem.batch * to.size(), std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
    std::vector<std::complex<double>> padded(problem.batch * whole), spectrum(padded.size()), expected;
    for (std::size_t b = 0; b < problem.batch; ++b) {
      for (std::size_t i = 0; i < from.size(); ++i)
        padded[b * whole + from[i]] = std::complex<double>(in[b * from.size() + i]);
    }
    inverse ? reference.inverse(padded, spectrum) : reference.forward(padded, spectrum);
    for (std::size_t b = 0; b < problem.batch; ++b) {
      for (const std::size_t at : to)
        expected.push_back(spectrum[b * whole + at] * (inverse ? problem.scale_inverse : problem.scale_forward));
    }
    inverse ? plan.inverse(in, out) : plan.forward(in, out);
    EXPECT_LE(distance(out, expected), 8 * std::numeric_limits<T>::epsilon()) << plan.explain();
  }
}

TEST(FftPruned, EqualsTheWholeTransform) {
  for (const std::size_t threads : {1, 3}) {
    expect_pruned<float>({.shape = {30}, .given = {.first = {25}, .count = {9}}, .threads = threads});
    expect_pruned<double>({.shape = {17, 20},
                           .given = {.count = {5, 20}},
                           .wanted = {.first = {10, 15}, .count = {9, 7}},
                           .batch = 3,
                           .scale_forward = 0.5,
                           .scale_inverse = 2,
                           .threads = threads});
    expect_pruned<float>({.shape = {8, 12, 18}, .given = {.count = {4, 6, 9}}, .threads = threads});
    expect_pruned<float>(
        {.shape = {8, 1, 40}, .wanted = {.first = {6, 0, 30}, .count = {4, 1, 20}}, .threads = threads});
    expect_pruned<double>({.shape = {3, 40, 5},
                           .given = {.first = {1, 0, 4}, .count = {1, 1, 1}},
                           .wanted = {.first = {2, 39, 0}, .count = {2, 2, 5}},
                           .threads = threads});
  }
}

TEST(FftPruned, TransformsFewerLines) {
  EXPECT_NEAR(PrunedPlan<float>({.shape = {64, 64}, .given = {.count = {32, 32}}}).share_of_lines(), 0.75, 1e-12);
  EXPECT_NEAR(PrunedPlan<float>({.shape = {16, 16, 16}, .given = {.count = {8, 8, 8}}}).share_of_lines(), 7.0 / 12,
              1e-12);
  EXPECT_NEAR(PrunedPlan<float>({.shape = {16, 16, 16}, .wanted = {.count = {8, 8, 8}}}).share_of_lines(), 7.0 / 12,
              1e-12);
}

TEST(FftPruned, RefusesBoxesOutsideTheShape) {
  const auto refusal = [](const PrunedProblem& problem) {
    return ridge::test::error_of([&] { PrunedPlan<float> plan(problem); }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal({}), HasSubstr("one to three axes"));
  EXPECT_THAT(refusal({.shape = {8, 0}}), HasSubstr("at least one point per axis, got 0"));
  EXPECT_THAT(refusal({.shape = {8}, .given = {.count = {9}}}),
              HasSubstr("1 to 8 points from 0 to 7 on axis 0, got 9 from 0"));
  EXPECT_THAT(refusal({.shape = {8}, .wanted = {.first = {8}, .count = {1}}}), HasSubstr("got 1 from 8"));
  EXPECT_THAT(refusal({.shape = {8, 8}, .given = {.count = {4}}}), HasSubstr("needs 2 firsts and counts"));
}

template <class T>
void expect_zoom(const ZoomProblem& problem) {
  const auto in = box_noise<T>(problem.batch * problem.samples);
  std::vector<std::complex<T>> out(problem.batch * problem.values);
  std::vector<std::complex<double>> expected;
  for (std::size_t b = 0; b < problem.batch; ++b) {
    for (std::size_t k = 0; k < problem.values; ++k) {
      std::complex<long double> sum = 0;
      for (std::size_t n = 0; n < problem.samples; ++n) {
        const long double cycle =
            (problem.from + static_cast<long double>(k) * problem.step) * static_cast<long double>(n);
        const long double phase = -2 * std::numbers::pi_v<long double> * (cycle - std::nearbyint(cycle));
        sum += std::complex<long double>(in[b * problem.samples + n]) *
               std::polar(std::pow(static_cast<long double>(problem.radius), -static_cast<long double>(n)), phase);
      }
      expected.emplace_back(sum);
    }
  }
  Zoom<T>(problem).run(in, out);
  EXPECT_LE(distance(out, expected), 8 * std::numeric_limits<T>::epsilon())
      << problem.samples << " to " << problem.values;
}

TEST(FftZoom, EqualsItsSums) {
  for (const std::size_t samples : {1, 2, 3, 31, 500}) {
    for (const std::size_t values : {1, 2, 7, 100}) {
      expect_zoom<float>({.samples = samples, .values = values, .from = 0.11, .step = 0.00037, .batch = 2});
      expect_zoom<double>({.samples = samples, .values = values, .from = -3.7, .step = 1.0 / 3, .threads = 1});
    }
  }
  expect_zoom<double>({.samples = 4000, .values = 20, .from = 0.25, .step = 1e-7});
  expect_zoom<double>({.samples = 60, .values = 40, .from = 0.2, .step = 0.01, .radius = 1.01});
}

TEST(FftZoom, RefusesWhatHasNoArc) {
  const auto refusal = [](const ZoomProblem& problem) {
    return ridge::test::error_of([&] { Zoom<float> zoom(problem); }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal({.samples = 0, .values = 4}), HasSubstr("needs 1 to 2^26 samples"));
  EXPECT_THAT(refusal({.samples = 4, .values = 4, .step = NAN}), HasSubstr("finite arc"));
  EXPECT_THAT(refusal({.samples = 4, .values = 4, .radius = 0}), HasSubstr("radius above 0"));
}

}  // namespace
}  // namespace ridge::fft
