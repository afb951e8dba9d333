// The error of every type, rank, sign and precision is at most the epsilon asked for.
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "nufft/direct_sum.hpp"

namespace ridge::nufft {
namespace {

using test::direct_sum;
using test::kQuick;
using test::Points;
using test::random_points;
using test::random_values;

template <class T>
std::vector<std::complex<T>> transform(const Problem& problem, const Points<T>& points,
                                       const std::vector<std::complex<T>>& in) {
  auto nufft = plan<T>(host(), problem, kQuick);
  points.give_to(nufft);
  std::size_t modes = problem.batch;
  for (const std::size_t n : problem.modes) modes *= n;
  std::vector<std::complex<T>> out(problem.type == Type::to_modes ? modes : problem.batch * points.count,
                                   std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
  nufft.run(in, out);
  return out;
}

std::string text_of(const Problem& problem, const char* number) {
  std::string text = std::string(number) + " type " + std::to_string(static_cast<int>(problem.type)) + " modes";
  for (const std::size_t n : problem.modes) text += " " + std::to_string(n);
  return text + " sign " + std::to_string(problem.sign) + " epsilon " + std::to_string(std::log10(problem.epsilon)) +
         " upsampling " + std::to_string(problem.upsampling);
}

// Divisor of the error.
enum class Norm {
  answer,  // the norm of the exact answer
  random,  // at least the norm that random points give: for few outputs, whose sum may happen to be small
};

template <class T>
double measured_error(const Problem& problem, const Points<T>& points, Norm by) {
  std::size_t modes = 1;
  for (const std::size_t n : problem.modes) modes *= n;
  const bool to_modes = problem.type == Type::to_modes;
  const auto in = random_values<T>(problem.batch * (to_modes ? points.count : modes));
  const auto exact = direct_sum(problem, points, in);
  long double least = 0;
  for (const auto& value : in) least += std::norm(test::Wide(value));
  least *= static_cast<long double>(to_modes ? modes : points.count);
  return test::error_of_answer(transform(problem, points, in), exact, by == Norm::random ? least : 0);
}

template <class T>
void expect_accurate(const Problem& problem, const Points<T>& points, Norm by = Norm::answer) {
  EXPECT_LE(measured_error(problem, points, by), problem.epsilon)
      << text_of(problem, sizeof(T) == 8 ? "double" : "float");
}

std::vector<std::size_t> shape_of(std::size_t axes) {
  return axes == 1   ? std::vector<std::size_t>{63}
         : axes == 2 ? std::vector<std::size_t>{18, 21}
                     : std::vector<std::size_t>{8, 9, 10};
}

template <class T>
class Accuracy : public testing::Test {};
using Both = testing::Types<float, double>;
TYPED_TEST_SUITE(Accuracy, Both);

TYPED_TEST(Accuracy, OfEveryTypeRankSignAndEpsilon) {
  using T = TypeParam;
  const double least = sizeof(T) == 8 ? 1e-14 : 1e-6;
  for (const std::size_t axes : {1, 2, 3}) {
    const auto points = random_points<T>(axes, 130);
    for (const Type type : {Type::to_modes, Type::to_points}) {
      int sign = 1;
      for (double epsilon = 1e-1; epsilon >= 0.9 * least; epsilon /= 10) {
        sign = -sign;
        expect_accurate<T>({.type = type, .modes = shape_of(axes), .points = 130, .epsilon = epsilon, .sign = sign},
                           points);
      }
    }
  }
}

TYPED_TEST(Accuracy, OfTheLeastEpsilon) {
  using T = TypeParam;
  for (const std::size_t axes : {1, 2, 3}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      expect_accurate<T>({.type = type, .modes = shape_of(axes), .epsilon = least_epsilon<T>(axes)},
                         random_points<T>(axes, 200));
    }
  }
}

TYPED_TEST(Accuracy, OfEveryUpsampling) {
  using T = TypeParam;
  for (const double upsampling : {2.25, 2.0, 1.5, 1.25}) {
    for (const double epsilon : {1e-2, 1e-4, sizeof(T) == 8 ? 1e-9 : 1e-3}) {
      for (const Type type : {Type::to_modes, Type::to_points}) {
        expect_accurate<T>({.type = type, .modes = {20, 33}, .epsilon = epsilon, .upsampling = upsampling},
                           random_points<T>(2, 100));
      }
    }
  }
}

// Float coordinates are not rounded again when they are placed: the error does not grow with the number of modes.
TYPED_TEST(Accuracy, OfLongAxes) {
  using T = TypeParam;
  const double epsilon = sizeof(T) == 8 ? 1e-13 : 1e-6;
  for (const Type type : {Type::to_modes, Type::to_points}) {
    expect_accurate<T>({.type = type, .modes = {40000}, .points = 20, .epsilon = epsilon}, random_points<T>(1, 20));
    expect_accurate<T>({.type = type, .modes = {3, 2500}, .points = 20, .epsilon = epsilon}, random_points<T>(2, 20));
  }
}

TYPED_TEST(Accuracy, OfClusteredPoints) {
  using T = TypeParam;
  for (const std::size_t axes : {1, 2, 3}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      expect_accurate<T>({.type = type, .modes = shape_of(axes), .epsilon = 1e-5},
                         random_points<T>(axes, 400, 1.0, 1.0001), Norm::random);
    }
  }
}

TYPED_TEST(Accuracy, OfPointsOnThePeriodsEdge) {
  using T = TypeParam;
  const T pi = std::numbers::pi_v<T>;
  Points<T> points{.axis = {}, .count = 6};
  points.axis[0] = {-pi, pi, std::nextafter(pi, T(0)), std::nextafter(-pi, T(0)), T(0), -T(0)};
  points.axis[1] = {pi, pi, -pi, T(0), -pi, std::nextafter(T(0), T(-1))};
  points.axis[2] = {-pi, T(0), pi, pi, std::nextafter(pi, T(9)), -pi};
  for (const std::size_t axes : {1, 2, 3}) {
    Points<T> some = points;
    for (std::size_t i = axes; i < 3; ++i) some.axis[i].clear();
    for (const Type type : {Type::to_modes, Type::to_points}) {
      expect_accurate<T>({.type = type, .modes = shape_of(axes), .epsilon = 1e-5}, some, Norm::random);
    }
  }
}

TYPED_TEST(Accuracy, OfPointsOutsideThePeriod) {
  using T = TypeParam;
  for (const Type type : {Type::to_modes, Type::to_points}) {
    expect_accurate<T>({.type = type, .modes = {15, 16}, .epsilon = 1e-5}, random_points<T>(2, 60, -1000.0, 1000.0),
                       Norm::random);
  }
}

TYPED_TEST(Accuracy, OfOneModeAndOfShortAxes) {
  using T = TypeParam;
  for (const std::vector<std::size_t>& modes :
       {std::vector<std::size_t>{1}, {2}, {1, 1}, {1, 7}, {5, 1}, {2, 3}, {1, 1, 1}, {1, 6, 1}, {4, 1, 3}}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      expect_accurate<T>({.type = type, .modes = modes, .epsilon = 1e-5}, random_points<T>(modes.size(), 20),
                         Norm::random);
      expect_accurate<T>({.type = type, .modes = modes, .epsilon = 1e-5, .order = Order::fft},
                         random_points<T>(modes.size(), 20), Norm::random);
    }
  }
}

TYPED_TEST(Accuracy, OfBothOrdersAndOfBatches) {
  using T = TypeParam;
  for (const std::size_t axes : {1, 2, 3}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      expect_accurate<T>({.type = type, .modes = shape_of(axes), .epsilon = 1e-5, .batch = 3, .order = Order::fft},
                         random_points<T>(axes, 50));
    }
  }
}

// Many tiles per axis, with a remainder, and more points than one block of the kernels.
TYPED_TEST(Accuracy, OfManyTiles) {
  using T = TypeParam;
  for (const Type type : {Type::to_modes, Type::to_points}) {
    expect_accurate<T>({.type = type, .modes = {53, 81}, .epsilon = 1e-6}, random_points<T>(2, 300));
    expect_accurate<T>({.type = type, .modes = {21, 20, 25}, .epsilon = 1e-6}, random_points<T>(3, 100));
  }
}

template <class T>
std::complex<long double> inner(const std::vector<std::complex<T>>& a, const std::vector<std::complex<T>>& b) {
  std::complex<long double> sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += test::Wide(a[i]) * std::conj(test::Wide(b[i]));
  return sum;
}

// <A c, f> = <c, A* f> to rounding: both directions use the same kernel values.
TYPED_TEST(Accuracy, OfTheAdjoint) {
  using T = TypeParam;
  for (const std::size_t axes : {1, 2, 3}) {
    const Problem problem{.modes = shape_of(axes), .epsilon = 1e-3};
    const auto points = random_points<T>(axes, 70);
    std::size_t modes = 1;
    for (const std::size_t n : problem.modes) modes *= n;
    const auto strengths = random_values<T>(70, 3), given = random_values<T>(modes, 4);
    std::vector<std::complex<T>> out(modes), back(70), again(70);
    auto nufft = plan<T>(host(), problem, kQuick);
    points.give_to(nufft);
    nufft.run(strengths, out);
    nufft.adjoint(given, back);
    const auto left = inner(out, given), right = inner(strengths, back);
    EXPECT_LE(std::abs(left - right),
              50 * std::numeric_limits<T>::epsilon() * std::sqrt(std::abs(inner(out, out) * inner(given, given))));
    auto other =
        plan<T>(host(), {.type = Type::to_points, .modes = problem.modes, .epsilon = 1e-3, .sign = -1}, kQuick);
    points.give_to(other);
    other.run(given, again);
    EXPECT_LE(test::error_of_answer(back, std::vector<test::Wide>(again.begin(), again.end())), 2e-3);
  }
}

}  // namespace
}  // namespace ridge::nufft
