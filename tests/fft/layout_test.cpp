// Strides: every access pattern of a stage, with the gaps between points unchanged.
#include <gtest/gtest.h>

#include <ridge/fft.hpp>

#include "fft/nd_support.hpp"

namespace ridge::fft {
namespace {

using reference::random_points;

struct Case {
  std::vector<std::size_t> shape, in, out;
  std::size_t batch, in_batch, out_batch;
};

const std::vector<Case> kCases = {
    {{12}, {1}, {1}, 5, 15, 13},           // rows with gaps
    {{12}, {5}, {5}, 5, 1, 1},             // interleaved channels: columns
    {{60}, {40}, {41}, 40, 1, 1},          // more columns than one unit of work
    {{12}, {5}, {1}, 5, 1, 12},            // columns to rows
    {{12}, {1}, {5}, 5, 12, 1},            // rows to columns
    {{9}, {2}, {3}, 4, 20, 30},            // nothing contiguous
    {{7}, {3}, {1}, 1, 0, 0},              // one strided line
    {{10, 6}, {6, 1}, {8, 1}, 2, 60, 80},  // padded rows
    {{10, 6}, {1, 10}, {6, 1}, 1, 0, 0},   // transposed input
    {{10, 6}, {1, 10}, {1, 10}, 2, 60, 70},
    {{10, 6}, {12, 2}, {18, 3}, 2, 121, 181},
    {{4, 5, 6}, {30, 6, 1}, {1, 4, 20}, 2, 120, 120},  // axes reversed
    {{4, 5, 6}, {60, 12, 2}, {60, 12, 2}, 2, 1, 1},    // two interleaved volumes
    {{2, 2}, {3, 2}, {3, 2}, 1, 0, 0},                 // not nested, yet no two points share an element
};

template <class T>
class FftStrides : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftStrides, Types);

TYPED_TEST(FftStrides, EveryAccessPatternKeepsTheGaps) {
  using Complex = std::complex<TypeParam>;
  for (const Case& one : kCases) {
    const std::size_t points = product(one.shape);
    const auto fft = plan<TypeParam>(
        host(),
        {.shape = one.shape, .batch = one.batch, .input = {one.in, one.in_batch}, .output = {one.out, one.out_batch}},
        quick());
    const auto in = random_points<TypeParam>(fft.input_size(), 7);
    const Complex untouched(42, 42);
    std::vector<Complex> out(fft.output_size() + 1, untouched), expected_memory = out;
    fft.forward(in, out);
    for (std::size_t b = 0; b < one.batch; ++b) {
      std::vector<std::complex<double>> x(points), y(points);
      for (std::size_t i = 0; i < points; ++i) {
        x[i] = in[b * one.in_batch + element(i, one.shape, one.in)];
        const std::size_t at = b * one.out_batch + element(i, one.shape, one.out);
        y[i] = out[at];
        expected_memory[at] = out[at];
      }
      EXPECT_LE(distance(y, nd_dft(x, one.shape, false)), reference::error_gate<TypeParam>(points)) << fft.explain();
    }
    EXPECT_EQ(out, expected_memory) << fft.explain();
    std::vector<Complex> back(fft.input_size() + 1, untouched);
    fft.inverse(out, back);
    std::vector<bool> written(back.size());
    for (std::size_t b = 0; b < one.batch; ++b) {
      for (std::size_t i = 0; i < points; ++i) {
        const std::size_t at = b * one.in_batch + element(i, one.shape, one.in);
        written[at] = true;
        EXPECT_LE(std::abs(back[at] / static_cast<TypeParam>(points) - in[at]),
                  20 * reference::error_gate<TypeParam>(points));
      }
    }
    for (std::size_t i = 0; i < back.size(); ++i) {
      if (!written[i]) {
        EXPECT_EQ(back[i], untouched);
      }
    }
    if (one.in == one.out && one.in_batch == one.out_batch) {
      const auto here = plan<TypeParam>(host(),
                                        {.shape = one.shape,
                                         .batch = one.batch,
                                         .input = {one.in, one.in_batch},
                                         .output = {one.out, one.out_batch},
                                         .in_place = true},
                                        quick());
      auto data = in;
      here.forward(data);
      for (std::size_t i = 0; i < data.size(); ++i) {
        if (out[i] != untouched) {
          EXPECT_EQ(data[i], out[i]);
        }
      }
    }
  }
}

TYPED_TEST(FftStrides, OverlappingFramesAreReadForward) {
  using Complex = std::complex<TypeParam>;
  const std::size_t n = 32, hop = 8, frames = 6;
  const auto fft = plan<TypeParam>(host(), {.shape = {n}, .batch = frames, .input = {{1}, hop}}, quick());
  ASSERT_EQ(fft.input_size(), n + (frames - 1) * hop);
  const auto in = random_points<TypeParam>(fft.input_size(), 3);
  std::vector<Complex> out(n * frames), whole(in.size());
  fft.forward(in, out);
  for (std::size_t f = 0; f < frames; ++f) {
    const std::vector<std::complex<double>> x(in.begin() + static_cast<std::ptrdiff_t>(f * hop),
                                              in.begin() + static_cast<std::ptrdiff_t>(f * hop + n));
    const std::vector<std::complex<double>> y(out.begin() + static_cast<std::ptrdiff_t>(f * n),
                                              out.begin() + static_cast<std::ptrdiff_t>(f * n + n));
    EXPECT_LE(distance(y, nd_dft(x, {n}, false)), reference::error_gate<TypeParam>(n));
  }
  EXPECT_THROW(fft.inverse(out, whole), Error);
}

TYPED_TEST(FftStrides, RealRowsAndColumns) {
  using Complex = std::complex<TypeParam>;
  const std::size_t n = 30, half = 16, batch = 5;
  const struct {
    std::size_t stride, distance, out_stride, out_distance;
  } cases[] = {{1, 33, 1, 17}, {5, 1, 1, 16}, {5, 1, 5, 1}, {2, 61, 3, 50}};
  for (const auto& one : cases) {
    const auto fft = plan<TypeParam>(host(),
                                     {.shape = {n},
                                      .batch = batch,
                                      .kind = Kind::real,
                                      .input = {{one.stride}, one.distance},
                                      .output = {{one.out_stride}, one.out_distance}},
                                     quick());
    const auto random = random_points<TypeParam>(fft.input_size(), 8);
    std::vector<TypeParam> in(fft.input_size()), back(fft.input_size(), TypeParam(9));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = random[i].imag();
    std::vector<Complex> out(fft.output_size());
    fft.forward(in, out);
    for (std::size_t b = 0; b < batch; ++b) {
      std::vector<std::complex<double>> x(n), y(half);
      for (std::size_t i = 0; i < n; ++i) x[i] = in[b * one.distance + i * one.stride];
      for (std::size_t i = 0; i < half; ++i) y[i] = out[b * one.out_distance + i * one.out_stride];
      auto expected = nd_dft(x, {n}, false);
      expected.resize(half);
      EXPECT_LE(distance(y, expected), reference::error_gate<TypeParam>(n)) << fft.explain();
    }
    fft.inverse(out, back);
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = b * one.distance + i * one.stride;
        EXPECT_NEAR(back[at] / static_cast<TypeParam>(n), in[at], 20 * reference::error_gate<TypeParam>(n));
      }
    }
  }
}

}  // namespace
}  // namespace ridge::fft
