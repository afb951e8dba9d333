// Filters of boxes equal the transforms of the padded array around a product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include <ridge/fft.hpp>
#include <ridge/fft/box_filter.hpp>

#include "pruned/box_support.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::fft {
namespace {

using testing::HasSubstr;
using Double = std::complex<double>;

template <class T>
void expect_filter(const Device& device, const std::vector<std::size_t>& shape, const Box& box, const char* shown) {
  const auto inside = places(shape, box);
  std::size_t points = 1;
  for (const std::size_t n : shape) points *= n;
  const auto spectrum = box_noise<T>(points), in = box_noise<T>(inside.size());
  const fft::Plan<double> whole(host(), {.shape = shape}, kBoxQuick);
  std::vector<Double> padded(points), expected;
  for (std::size_t i = 0; i < inside.size(); ++i) padded[inside[i]] = in[i];
  std::vector<Double> values(points);
  whole.forward(std::span<const Double>(padded), std::span(values));
  for (std::size_t i = 0; i < points; ++i) values[i] *= Double(spectrum[i]) / static_cast<double>(points);
  whole.inverse(std::span<const Double>(values), std::span(padded));
  for (const std::size_t place : inside) expected.push_back(padded[place]);
  const BoxFilter<T> filter(device, {.shape = shape, .box = box}, spectrum, kBoxQuick);
  ASSERT_EQ(filter.size(), inside.size());
  std::vector<std::complex<T>> out(inside.size(), std::numeric_limits<T>::quiet_NaN());
  filter.run(in, out);
  EXPECT_LE(distance(out, expected), 16 * std::numeric_limits<T>::epsilon()) << filter.explain();
  EXPECT_THAT(filter.explain(), HasSubstr(shown));
}

TEST(FftBoxFilter, EqualsTransformsAroundAProduct) {
  std::vector<Device> devices = ridge::test::accelerators();
  devices.push_back(host());
  for (const Device& device : devices) {
    const char* fused = device.is_host() ? "fft" : "multiplied by a filter";
    expect_filter<float>(device, {24}, {.first = {20}, .count = {9}}, fused);
    expect_filter<float>(device, {1}, {.count = {1}}, "");
    expect_filter<float>(device, {12, 20}, {.count = {5, 10}}, fused);
    expect_filter<float>(device, {6, 8, 10}, {.first = {5, 1, 7}, .count = {3, 4, 6}}, fused);
    expect_filter<float>(device, {4, 1, 10}, {.count = {4, 1, 6}}, fused);
    expect_filter<float>(device, {1, 8, 6}, {}, fused);
    // Lines of a large prime: two transforms and a product.
    expect_filter<float>(device, {4, 37}, {.count = {2, 20}}, device.is_host() ? "fft" : "not in one kernel");
    if (device.is_host() || device.limits().float64)
      expect_filter<double>(device, {6, 8, 10}, {.count = {3, 4, 5}}, fused);
  }
}

TEST(FftBoxFilter, RefusesOtherSizes) {
  const BoxFilterProblem problem{.shape = {8, 8}, .box = {.count = {4, 4}}};
  EXPECT_THAT(ridge::test::error_of([&] { const BoxFilter<float> filter(host(), problem, box_noise<float>(63)); },
                                    ErrorKind::invalid_argument),
              HasSubstr("spectrum"));
  const BoxFilter<float> filter(host(), problem, box_noise<float>(64));
  std::vector<std::complex<float>> out(15);
  EXPECT_THAT(ridge::test::error_of([&] { filter.run(box_noise<float>(16), out); }, ErrorKind::invalid_argument),
              HasSubstr("output"));
}

}  // namespace
}  // namespace ridge::fft
