// Shapes of one to three axes, complex and real, packed and in place, multithreaded.
#include <gtest/gtest.h>

#include <ridge/fft.hpp>

#include "fft/nd_support.hpp"

namespace ridge::fft {
namespace {

using reference::random_points;

template <class T>
class FftShapes : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftShapes, Types);

// The last three have columns whose points share cache sets, in a complex grid and in a real one, and more columns than
// fill blocks.
const std::vector<std::vector<std::size_t>> kShapes = {
    {1, 7},    {7, 1},     {1, 1},     {4, 4},     {12, 10},   {17, 19},     {64, 48},   {3, 100},   {33, 2},
    {2, 3, 5}, {9, 15, 7}, {8, 16, 4}, {1, 13, 6}, {5, 1, 8},  {16, 16, 16}, {128, 160}, {1},        {2},
    {31},      {90},       {4, 1, 1},  {1, 1, 9},  {23, 3, 2}, {20, 24, 30}, {140, 128}, {130, 254}, {40, 32, 36},
};

std::vector<std::size_t> half_of(std::vector<std::size_t> shape) {
  shape.back() = shape.back() / 2 + 1;
  return shape;
}

template <class T>
double gate(const std::vector<std::size_t>& shape) {
  return reference::error_gate<T>(product(shape));
}

TYPED_TEST(FftShapes, ComplexInBatches) {
  using Complex = std::complex<TypeParam>;
  for (const auto& shape : kShapes) {
    const std::size_t points = product(shape);
    for (const std::size_t batch : {1, 3}) {
      const auto in = random_points<TypeParam>(points * batch, 1);
      const auto fft = plan<TypeParam>(host(), {.shape = shape, .batch = batch, .threads = 2}, quick());
      ASSERT_EQ(fft.input_size(), points * batch);
      std::vector<Complex> out(points * batch), back(points * batch);
      fft.forward(in, out);
      for (std::size_t b = 0; b < batch; ++b) {
        const auto from = in.begin() + static_cast<std::ptrdiff_t>(b * points);
        const auto to = out.begin() + static_cast<std::ptrdiff_t>(b * points);
        const auto expected = nd_dft(wide(std::vector(from, from + static_cast<std::ptrdiff_t>(points))), shape, false);
        EXPECT_LE(distance(std::vector(to, to + static_cast<std::ptrdiff_t>(points)), expected), gate<TypeParam>(shape))
            << fft.explain();
      }
      fft.inverse(out, back);
      for (auto& value : back) value /= static_cast<TypeParam>(points);
      EXPECT_LE(distance(back, in), 2 * gate<TypeParam>(shape)) << fft.explain();
      const auto here =
          plan<TypeParam>(host(), {.shape = shape, .batch = batch, .in_place = true, .threads = 2}, quick());
      auto data = in;
      here.forward(data);
      EXPECT_EQ(data, out) << fft.explain();
    }
  }
}

TYPED_TEST(FftShapes, RealInBatches) {
  using Complex = std::complex<TypeParam>;
  for (const auto& shape : kShapes) {
    const std::size_t points = product(shape), half = product(half_of(shape));
    for (const std::size_t batch : {1, 3}) {
      const auto random = random_points<TypeParam>(points * batch, 2);
      std::vector<TypeParam> in(points * batch), back(points * batch);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = random[i].real();
      const auto fft =
          plan<TypeParam>(host(), {.shape = shape, .batch = batch, .kind = Kind::real, .threads = 2}, quick());
      ASSERT_EQ(fft.output_size(), half * batch);
      std::vector<Complex> out(half * batch);
      fft.forward(in, out);
      for (std::size_t b = 0; b < batch; ++b) {
        std::vector<std::complex<double>> x(points);
        for (std::size_t i = 0; i < points; ++i) x[i] = in[b * points + i];
        const auto full = nd_dft(x, shape, false);
        std::vector<std::complex<double>> expected(half), actual(half);
        for (std::size_t i = 0; i < half; ++i) {
          expected[i] = full[element(i, half_of(shape), packed(shape))];
          actual[i] = out[b * half + i];
        }
        EXPECT_LE(distance(actual, expected), gate<TypeParam>(shape)) << fft.explain();
      }
      const auto kept = out;
      fft.inverse(out, back);
      EXPECT_EQ(out, kept);
      for (auto& value : back) value /= static_cast<TypeParam>(points);
      EXPECT_LE(distance(back, in), 4 * gate<TypeParam>(shape)) << fft.explain();

      // In place: rows of samples padded to those of the spectrum.
      const std::size_t n = shape.back(), row = 2 * (n / 2 + 1);
      const auto here = plan<TypeParam>(
          host(), {.shape = shape, .batch = batch, .kind = Kind::real, .in_place = true, .threads = 2}, quick());
      std::vector<Complex> data(half * batch);
      auto* const samples = reinterpret_cast<TypeParam*>(data.data());
      for (std::size_t i = 0; i < in.size(); ++i) samples[i / n * row + i % n] = in[i];
      here.forward(std::span<const TypeParam>(samples, 2 * data.size()), data);
      EXPECT_LE(distance(data, out), 2 * gate<TypeParam>(shape)) << here.explain();
      here.inverse(data, std::span<TypeParam>(samples, 2 * data.size()));
      std::vector<TypeParam> again(in.size());
      for (std::size_t i = 0; i < in.size(); ++i)
        again[i] = samples[i / n * row + i % n] / static_cast<TypeParam>(points);
      EXPECT_LE(distance(again, in), 4 * gate<TypeParam>(shape)) << here.explain();
    }
  }
}

}  // namespace
}  // namespace ridge::fft
