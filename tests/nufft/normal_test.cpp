// The normal operator equals type 2, the weights and the adjoint of type 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nufft/direct_sum.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::nufft {
namespace {

template <class T>
void expect_normal(const std::vector<std::size_t>& modes, Order order, bool weighted, const Device& device = host()) {
  const Problem problem{.type = Type::to_points, .modes = modes, .epsilon = 1e-5, .sign = -1, .order = order};
  std::size_t count = 1;
  for (const std::size_t n : modes) count *= n;
  const auto points = test::random_points<T>(modes.size(), 60);
  const auto in = test::random_values<T>(count);
  std::vector<T> weights;
  for (std::size_t j = 0; weighted && j < 60; ++j) weights.push_back(T(1) + T(0.1) * static_cast<T>(j % 7));
  std::vector<test::Wide> values = test::direct_sum(problem, points, in);
  std::vector<std::complex<T>> narrow;
  for (std::size_t j = 0; j < 60; ++j) {
    if (weighted) values[j] *= static_cast<long double>(weights[j]);
    narrow.emplace_back(values[j]);
  }
  Problem adjoint = problem;
  adjoint.type = Type::to_modes;
  adjoint.sign = 1;
  std::vector<std::span<const T>> spans;
  for (std::size_t i = 0; i < modes.size(); ++i) spans.emplace_back(points.axis[i]);
  std::vector<std::complex<T>> out(count);
  const Normal<T> normal(device, problem, spans, weights);
  normal.run(in, out);
  EXPECT_LE(test::error_of_answer(out, test::direct_sum(adjoint, points, narrow)), 1e-5)
      << device.id() << ", " << modes.size() << " axes";
}

TEST(NufftNormal, IsTheAdjointOfTypeTwoAfterTypeTwo) {
  for (const Order order : {Order::centered, Order::fft}) {
    for (const bool weighted : {false, true}) {
      expect_normal<float>({31}, order, weighted);
      expect_normal<double>({8, 13}, order, weighted);
      expect_normal<double>({4, 1, 5}, order, weighted);
    }
  }
}

class NufftNormalOnDevices : public ridge::test::NeedsAccelerator<> {};

TEST_F(NufftNormalOnDevices, EqualsTheAdjointOfTypeTwoAfterTypeTwo) {
  ridge::test::compile_quickly();
  for (const Device& device : ridge::test::accelerators()) {
    expect_normal<float>({12, 9}, Order::centered, true, device);
    expect_normal<float>({12, 9}, Order::fft, true, device);
    expect_normal<float>({4, 1, 5}, Order::fft, false, device);
    if (device.limits().float64) expect_normal<double>({31}, Order::centered, true, device);
  }
}

TEST(NufftNormal, RefusesOtherSizes) {
  const std::vector<float> x{1, 2};
  const std::vector<float> weights{1};
  EXPECT_THAT(ridge::test::error_of([&] { Normal<float>({.modes = {4}}, {x}, weights); }, ErrorKind::invalid_argument),
              testing::HasSubstr("got 1 arrays and 1 weights"));
  EXPECT_THAT(ridge::test::error_of(
                  [&] {
                    Normal<float>({.modes = {4, 4}}, {x});
                  },
                  ErrorKind::invalid_argument),
              testing::HasSubstr("needs 2 arrays"));
}

}  // namespace
}  // namespace ridge::nufft
