// Fused loads and stores against the same operations done separately.
#include <gtest/gtest.h>

#include <ridge/fft.hpp>

#include "fft/nd_support.hpp"

namespace ridge::fft {
namespace {

using reference::random_points;
using Points = std::vector<std::complex<double>>;

template <class T>
class FftOperators : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftOperators, Types);

std::vector<double> some_window(std::size_t n) {
  std::vector<double> window(n);
  for (std::size_t i = 0; i < n; ++i) window[i] = 0.5 + static_cast<double>(i % 5) / 4;
  return window;
}

const std::vector<std::vector<std::size_t>> kOperatorShapes = {{24}, {17}, {100}, {6, 10}, {4, 3, 5}, {40, 36}};

TYPED_TEST(FftOperators, ComplexWindowAndMultiplyInBothDirections) {
  for (const auto& shape : kOperatorShapes) {
    const std::size_t points = product(shape), batch = 3;
    Problem problem{.shape = shape, .batch = batch, .scale_forward = 0.5, .scale_inverse = 0.25};
    problem.load_forward.window = some_window(points);
    problem.load_forward.multiply = random_points<double>(points, 1);
    problem.store_forward.window = some_window(points);
    problem.store_forward.multiply = random_points<double>(points, 2);
    problem.load_inverse.multiply = random_points<double>(points, 3);
    problem.store_inverse.window = some_window(points);
    const auto fft = plan<TypeParam>(host(), problem, quick());
    const auto in = random_points<TypeParam>(points * batch, 4);
    std::vector<std::complex<TypeParam>> out(points * batch), back(points * batch);
    fft.forward(in, out);
    fft.inverse(in, back);
    for (std::size_t b = 0; b < batch; ++b) {
      Points x(points), y(points), actual(points), actual_back(points);
      for (std::size_t i = 0; i < points; ++i) {
        const std::complex<double> value = in[b * points + i];
        x[i] = value * problem.load_forward.window[i] * problem.load_forward.multiply[i];
        y[i] = value * problem.load_inverse.multiply[i];
        actual[i] = out[b * points + i];
        actual_back[i] = back[b * points + i];
      }
      x = nd_dft(x, shape, false);
      y = nd_dft(y, shape, true);
      for (std::size_t i = 0; i < points; ++i) {
        x[i] *= 0.5 * problem.store_forward.window[i] * problem.store_forward.multiply[i];
        y[i] *= 0.25 * problem.store_inverse.window[i];
      }
      EXPECT_LE(distance(actual, x), 4 * reference::error_gate<TypeParam>(points)) << fft.explain();
      EXPECT_LE(distance(actual_back, y), 4 * reference::error_gate<TypeParam>(points)) << fft.explain();
    }
  }
}

TYPED_TEST(FftOperators, RealWindowAndMultiplyInBothDirections) {
  for (const auto& shape : kOperatorShapes) {
    auto half_shape = shape;
    half_shape.back() = shape.back() / 2 + 1;
    const std::size_t points = product(shape), half = product(half_shape), batch = 2;
    Problem problem{.shape = shape, .batch = batch, .kind = Kind::real, .scale_forward = 3};
    problem.load_forward.window = some_window(points);
    problem.store_forward.multiply = random_points<double>(half, 2);
    problem.load_inverse.window = some_window(half);
    problem.store_inverse.window = some_window(points);
    problem.scale_inverse = 1.0 / static_cast<double>(points);
    const auto fft = plan<TypeParam>(host(), problem, quick());
    const auto random = random_points<TypeParam>(points * batch, 4);
    std::vector<TypeParam> in(points * batch), back(points * batch);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = random[i].real();
    std::vector<std::complex<TypeParam>> out(half * batch), spectrum(half * batch);
    fft.forward(in, out);
    for (std::size_t b = 0; b < batch; ++b) {
      Points x(points), expected(half), actual(half);
      for (std::size_t i = 0; i < points; ++i) x[i] = in[b * points + i] * problem.load_forward.window[i];
      x = nd_dft(x, shape, false);
      // The plain spectrum divided by the window that the inverse applies.
      const auto from = in.begin() + static_cast<std::ptrdiff_t>(b * points);
      const auto plain = nd_dft(Points(from, from + static_cast<std::ptrdiff_t>(points)), shape, false);
      for (std::size_t i = 0; i < half; ++i) {
        const std::size_t at = element(i, half_shape, packed(shape));
        expected[i] = 3.0 * problem.store_forward.multiply[i] * x[at];
        actual[i] = out[b * half + i];
        spectrum[b * half + i] = std::complex<TypeParam>(plain[at] / problem.load_inverse.window[i]);
      }
      EXPECT_LE(distance(actual, expected), 4 * reference::error_gate<TypeParam>(points)) << fft.explain();
    }
    fft.inverse(spectrum, back);
    std::vector<double> expected(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) expected[i] = in[i] * problem.store_inverse.window[i % points];
    EXPECT_LE(distance(back, expected), 6 * reference::error_gate<TypeParam>(points)) << fft.explain();
  }
}

template <class T, class Integer>
void check_integers(Samples samples, Kind kind, const std::vector<std::size_t>& strides, std::size_t batch_distance) {
  const std::size_t n = 20, batch = 4, each = kind == Kind::complex ? 2 : 1;
  Problem problem{.shape = {n}, .batch = batch, .kind = kind, .input = {strides, batch_distance}};
  problem.load_forward.samples = samples;
  problem.load_forward.window = some_window(n);
  const auto fft = plan<T>(host(), problem, quick());
  std::vector<Integer> in(fft.input_size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<Integer>(static_cast<int>(i * 37 % 251) - 125);
  const std::size_t half = kind == Kind::complex ? n : n / 2 + 1;
  std::vector<std::complex<T>> out(fft.output_size());
  fft.forward(std::span<const Integer>(in), out);
  for (std::size_t b = 0; b < batch; ++b) {
    Points x(n), actual(half);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = each * (b * batch_distance + i * strides[0]);
      x[i] = std::complex<double>(in[at], each == 2 ? in[at + 1] : 0) * problem.load_forward.window[i];
    }
    x = nd_dft(x, {n}, false);
    x.resize(half);
    for (std::size_t i = 0; i < half; ++i) actual[i] = out[b * half + i];
    EXPECT_LE(distance(actual, x), 2 * reference::error_gate<T>(n)) << fft.explain();
  }
}

TYPED_TEST(FftOperators, IntegerSamples) {
  for (const Kind kind : {Kind::complex, Kind::real}) {
    check_integers<TypeParam, std::int8_t>(Samples::int8, kind, {1}, 20);
    check_integers<TypeParam, std::int16_t>(Samples::int16, kind, {1}, 21);
    check_integers<TypeParam, std::int16_t>(Samples::int16, kind, {4}, 1);
  }
}

// Columns in and columns out with factors use a separate code path.
TYPED_TEST(FftOperators, ColumnsWithFactors) {
  const std::size_t n = 24, batch = 70;
  Problem problem{.shape = {n}, .batch = batch, .input = {{batch}, 1}, .output = {{batch}, 1}, .scale_forward = 2};
  problem.load_forward.window = some_window(n);
  problem.store_forward.multiply = random_points<double>(n, 2);
  const auto fft = plan<TypeParam>(host(), problem, quick());
  const auto in = random_points<TypeParam>(n * batch, 4);
  std::vector<std::complex<TypeParam>> out(n * batch);
  fft.forward(in, out);
  for (std::size_t b = 0; b < batch; ++b) {
    Points x(n), actual(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::complex<double>(in[i * batch + b]) * problem.load_forward.window[i];
    x = nd_dft(x, {n}, false);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] *= 2.0 * problem.store_forward.multiply[i];
      actual[i] = out[i * batch + b];
    }
    EXPECT_LE(distance(actual, x), 4 * reference::error_gate<TypeParam>(n)) << b;
  }
}

}  // namespace
}  // namespace ridge::fft
