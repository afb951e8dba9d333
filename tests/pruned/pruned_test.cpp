// Transforms of boxes equal the whole transform of the padded input, cropped; zooms equal their defining sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include <ridge/fft.hpp>
#include <ridge/fft/dealias.hpp>
#include <ridge/fft/zoom.hpp>

#include "pruned/box_support.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::fft {
namespace {

using testing::HasSubstr;

// Compares with the whole transform in double of the padded array. Windows apply to the points of the boxes.
template <class T, class In, class Out>
void expect_box(const Device& device, Problem problem, bool inverse, const char* variant = "",
                const char* explained = "") {
  problem.directions = inverse ? Directions::inverse : Directions::forward;
  planner::Options options = kBoxQuick;
  options.variant = variant;
  const fft::Plan<T> plan(device, problem, options);
  EXPECT_THAT(plan.explain(), HasSubstr(explained));
  const bool real = problem.kind == Kind::real;
  std::vector<std::size_t> half = problem.shape;
  if (real) half.back() = half.back() / 2 + 1;
  const auto given = places(problem.shape, problem.given), wanted = places(half, problem.wanted);
  const auto& from = inverse ? wanted : given;
  const auto& to = inverse ? given : wanted;
  ASSERT_EQ(plan.input_size(), problem.batch * given.size());
  ASSERT_EQ(plan.output_size(), problem.batch * wanted.size());
  std::size_t samples = 1, spectrum = 1;
  for (const std::size_t n : problem.shape) samples *= n;
  for (const std::size_t n : half) spectrum *= n;
  const auto noise = box_noise<T>(problem.batch * from.size());
  std::vector<In> in(noise.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if constexpr (std::is_same_v<In, T>) {
      in[i] = noise[i].real();
    } else {
      in[i] = noise[i];
    }
  }
  const Problem whole{.shape = problem.shape, .batch = problem.batch, .kind = problem.kind};
  const fft::Plan<double> reference(host(), whole, kBoxQuick);
  using Wide = std::conditional_t<std::is_same_v<In, T>, double, std::complex<double>>;
  using WideOut = std::conditional_t<std::is_same_v<Out, T>, double, std::complex<double>>;
  const std::size_t in_points = inverse ? spectrum : samples, out_points = inverse ? samples : spectrum;
  std::vector<Wide> padded(problem.batch * in_points);
  std::vector<WideOut> answer(problem.batch * out_points);
  const std::vector<double>& load = inverse ? problem.load_inverse.window : problem.load_forward.window;
  const std::vector<double>& store = inverse ? problem.store_inverse.window : problem.store_forward.window;
  for (std::size_t b = 0; b < problem.batch; ++b) {
    for (std::size_t i = 0; i < from.size(); ++i)
      padded[b * in_points + from[i]] = static_cast<Wide>(in[b * from.size() + i]) * (load.empty() ? 1.0 : load[i]);
  }
  if constexpr (!std::is_same_v<Out, T>) {
    if (!inverse) reference.forward(std::span<const Wide>(padded), std::span<WideOut>(answer));
  }
  if constexpr (!std::is_same_v<In, T>) {
    if (inverse) reference.inverse(std::span<const Wide>(padded), std::span<WideOut>(answer));
  }
  std::vector<std::complex<double>> expected;
  for (std::size_t b = 0; b < problem.batch; ++b) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      expected.push_back(std::complex<double>(answer[b * out_points + to[i]]) * (store.empty() ? 1.0 : store[i]) *
                         (inverse ? problem.scale_inverse : problem.scale_forward));
    }
  }
  std::vector<Out> out(problem.batch * to.size(), Out(std::numeric_limits<T>::quiet_NaN()));
  if constexpr (!std::is_same_v<Out, T>) {
    if (!inverse) plan.forward(std::span<const In>(in), std::span<Out>(out));
  }
  if constexpr (!std::is_same_v<In, T>) {
    if (inverse) plan.inverse(std::span<const In>(in), std::span<Out>(out));
  }
  EXPECT_LE(distance(out, expected), 8 * std::numeric_limits<T>::epsilon()) << plan.explain();
}

template <class T>
void expect_boxes(const Device& device, Problem problem) {
  using Complex = std::complex<T>;
  expect_box<T, Complex, Complex>(device, problem, false);
  expect_box<T, Complex, Complex>(device, problem, true);
  // The same as a real problem, whose boxes of the spectrum do not wrap along the last axis.
  problem.kind = Kind::real;
  if (!problem.wanted.whole()) {
    const std::size_t most = problem.shape.back() / 2 + 1;
    std::size_t& count = problem.wanted.count.back();
    count = std::min(count, most);
    if (!problem.wanted.first.empty())
      problem.wanted.first.back() = std::min(problem.wanted.first.back(), most - count);
  }
  expect_box<T, T, Complex>(device, problem, false);
  expect_box<T, Complex, T>(device, problem, true);
}

std::vector<Problem> box_problems() {
  return {{.shape = {30}, .given = {.first = {25}, .count = {9}}},
          {.shape = {1}, .given = {.count = {1}}, .wanted = {.first = {0}, .count = {1}}},
          {.shape = {13}, .batch = 5, .given = {.first = {3}, .count = {13}}, .wanted = {.count = {4}}},
          {.shape = {17, 20},
           .batch = 3,
           .scale_forward = 0.5,
           .scale_inverse = 2,
           .given = {.count = {5, 20}},
           .wanted = {.first = {10, 15}, .count = {9, 7}}},
          {.shape = {8, 12, 18}, .given = {.count = {4, 6, 9}}},
          {.shape = {8, 1, 40}, .wanted = {.first = {6, 0, 30}, .count = {4, 1, 20}}},
          {.shape = {3, 40, 5},
           .given = {.first = {1, 0, 4}, .count = {1, 1, 1}},
           .wanted = {.first = {2, 39, 0}, .count = {2, 2, 5}}}};
}

TEST(FftBoxes, EqualTheWholeTransform) {
  for (Problem problem : box_problems()) {
    for (const std::size_t threads : {1, 3}) {
      problem.threads = threads;
      expect_boxes<float>(host(), problem);
      expect_boxes<double>(host(), problem);
    }
  }
  // Planes of many blocks, and results large enough for non-temporal stores.
  expect_boxes<float>(host(), {.shape = {6, 96, 80}, .threads = 2, .given = {.count = {3, 48, 40}}});
  expect_box<float, std::complex<float>, std::complex<float>>(
      host(), {.shape = {1024, 700}, .threads = 1, .given = {.first = {600, 5}, .count = {512, 300}}}, false);
}

TEST(FftBoxes, FactorsApplyToTheirPoints) {
  Problem problem{.shape = {6, 10}, .given = {.first = {4, 1}, .count = {3, 5}}, .wanted = {.count = {6, 2}}};
  for (std::size_t i = 0; i < 15; ++i) problem.load_forward.window.push_back(0.5 + static_cast<double>(i));
  for (std::size_t i = 0; i < 12; ++i) problem.store_forward.window.push_back(2.0 - static_cast<double>(i));
  expect_boxes<double>(host(), problem);
}

TEST(FftBoxes, ExplainGivesTheShareOfPoints) {
  const auto text = [](const Problem& problem) { return fft::Plan<float>(host(), problem, kBoxQuick).explain(); };
  EXPECT_THAT(text({.shape = {64, 64}, .given = {.count = {32, 32}}}), HasSubstr("0.750 of the points"));
  EXPECT_THAT(text({.shape = {16, 16, 16}, .given = {.count = {8, 8, 8}}}), HasSubstr("0.583 of the points"));
  EXPECT_THAT(text({.shape = {16, 16, 16}, .wanted = {.count = {8, 8, 8}}}), HasSubstr("0.583 of the points"));
}

// <A x, y> = <x, A^H y> for complex and half spectra.
TEST(FftBoxes, HaveAdjoints) {
  const Problem problem{.shape = {5, 12},
                        .kind = Kind::real,
                        .given = {.first = {3, 2}, .count = {3, 7}},
                        .wanted = {.first = {4, 2}, .count = {2, 5}}};
  const fft::Plan<double> plan(host(), problem, kBoxQuick), adjoint = plan.adjoint(kBoxQuick);
  const auto noise = box_noise<double>(plan.input_size()), y = box_noise<double>(plan.output_size());
  std::vector<double> x, back(x.size());
  for (const auto& value : noise) x.push_back(value.real());
  back.resize(x.size());
  std::vector<std::complex<double>> forward(y.size());
  plan.forward(std::span<const double>(x), std::span(forward));
  adjoint.inverse(std::span<const std::complex<double>>(y), std::span(back));
  double left = 0, right = 0;
  for (std::size_t i = 0; i < y.size(); ++i) left += (std::conj(forward[i]) * y[i]).real();
  for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * back[i];
  EXPECT_NEAR(left, right, 1e-13 * static_cast<double>(x.size() * y.size()));
}

TEST(FftBoxes, RunOnDevices) {
  for (const Device& device : ridge::test::accelerators()) {
    const std::vector<Problem> problems = box_problems();
    // The prime length 17 is padded and cropped by copies.
    for (const std::size_t i : {0, 3}) expect_boxes<float>(device, problems[i]);
    expect_box<float, std::complex<float>, std::complex<float>>(device, problems[4], false);
  }
}

// Long lines in two passes load and store boxes that begin at 0 or divide evenly.
TEST(FftBoxes, OfLongLines) {
  using Complex = std::complex<float>;
  for (const Device& device : ridge::test::accelerators()) {
    for (const auto& [given, wanted] :
         std::vector<std::pair<Box, Box>>{{{.count = {8192}}, {}},
                                          {{.count = {5000}}, {.count = {777}}},
                                          {{.first = {12288}, .count = {8192}}, {.first = {8192}, .count = {4096}}}}) {
      const Problem problem{.shape = {16384}, .batch = 3, .given = given, .wanted = wanted};
      expect_box<float, Complex, Complex>(device, problem, false, "two_pass", "two_pass");
    }
  }
}

TEST(FftBoxes, RefuseBoxesOutsideTheShape) {
  const auto refusal = [](const Problem& problem) {
    return ridge::test::error_of([&] { fft::Plan<float> plan(host(), problem); }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal({.shape = {8}, .in_place = true, .given = {.count = {4}}}), HasSubstr("out-of-place"));
  EXPECT_THAT(refusal({.shape = {8}, .kind = Kind::real, .wanted = {.first = {3}, .count = {3}}}),
              HasSubstr("half spectrum of 5 values"));
  EXPECT_THAT(refusal({.shape = {8}, .given = {.count = {9}}}),
              HasSubstr("1 to 8 points from 0 to 7 on axis 0, got 9 from 0"));
  EXPECT_THAT(refusal({.shape = {8}, .wanted = {.first = {8}, .count = {1}}}), HasSubstr("got 1 from 8"));
  EXPECT_THAT(refusal({.shape = {8, 8}, .given = {.count = {4}}}), HasSubstr("needs 2 firsts and counts"));
}

// Sums over all pairs of modes, in double; nothing wraps.
TEST(FftDealiased, ProductsAreConvolutions) {
  for (const std::size_t n : {1, 2, 3, 7, 8}) {
    const DealiasedProduct<float> product({.modes = {3, n}, .threads = 1});
    ASSERT_EQ(product.size(), 3 * n);
    auto a = box_noise<float>(3 * n);
    const auto b = a;
    std::vector<std::complex<double>> expected(3 * n);
    const auto at = [](std::size_t i, std::size_t count) {
      return static_cast<long>(i) - static_cast<long>(count / 2);
    };
    for (std::size_t p = 0; p < 9 * n * n; ++p) {
      const std::size_t i = p / (3 * n), j = p % (3 * n);
      const long row = at(i / n, 3) + at(j / n, 3), column = at(i % n, n) + at(j % n, n);
      const long r = row + 1, c = column + static_cast<long>(n / 2);
      if (r < 0 || r > 2 || c < 0 || c >= static_cast<long>(n)) continue;
      expected[static_cast<std::size_t>(r) * n + static_cast<std::size_t>(c)] +=
          std::complex<double>(a[i]) * std::complex<double>(b[j]);
    }
    product.run(a, b, a);  // the product overwrites a factor
    EXPECT_LE(distance(a, expected), 8 * std::numeric_limits<float>::epsilon()) << product.explain();
  }
  // Real fields: negative frequencies are conjugates.
  const std::size_t n = 9;
  const DealiasedProduct<double> product({.modes = {n}, .kind = Kind::real});
  auto a = box_noise<double>(n), out = a;
  a[0] = a[0].real();
  std::vector<std::complex<double>> expected(n);
  const auto mode = [&](long k) {
    return k < 0 ? std::conj(a[static_cast<std::size_t>(-k)]) : a[static_cast<std::size_t>(k)];
  };
  for (long k = 0; k < static_cast<long>(n); ++k) {
    for (long p = k - static_cast<long>(n) + 1; p < static_cast<long>(n); ++p) {
      expected[static_cast<std::size_t>(k)] += mode(p) * mode(k - p);
    }
  }
  product.run(a, a, out);
  EXPECT_LE(distance(out, expected), 1e-14);
  EXPECT_THAT(ridge::test::error_of(
                  [] {
                    DealiasedProduct<float> none({.modes = {4, 0}});
                  },
                  ErrorKind::invalid_argument),
              HasSubstr("at least one mode"));
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

TEST(FftZoom, RefusesInvalidArcs) {
  const auto refusal = [](const ZoomProblem& problem) {
    return ridge::test::error_of([&] { Zoom<float> zoom(problem); }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal({.samples = 0, .values = 4}), HasSubstr("needs 1 to 2^26 samples"));
  EXPECT_THAT(refusal({.samples = 4, .values = 4, .step = NAN}), HasSubstr("finite arc"));
  EXPECT_THAT(refusal({.samples = 4, .values = 4, .radius = 0}), HasSubstr("radius above 0"));
}

}  // namespace
}  // namespace ridge::fft
