// Tests type 3 and the derivatives of types 1 and 2 against direct sums in long double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "nufft/direct_sum.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::nufft {
namespace {

using test::kQuick;
using test::Points;
using test::random_points;
using test::random_values;
using test::Wide;
using testing::HasSubstr;

template <class T>
std::vector<std::span<const T>> spans_of(const Points<T>& points, std::size_t axes) {
  std::vector<std::span<const T>> spans;
  for (std::size_t i = 0; i < axes; ++i) spans.emplace_back(points.axis[i]);
  return spans;
}

template <class T>
std::vector<Wide> type3_sums(const Type3Problem& problem, const Points<T>& from, const Points<T>& to,
                             const std::vector<std::complex<T>>& strengths) {
  std::vector<Wide> values(problem.batch * to.count);
  for (std::size_t k = 0; k < to.count; ++k) {
    for (std::size_t j = 0; j < from.count; ++j) {
      long double phase = 0;
      for (std::size_t i = 0; i < problem.axes; ++i) {
        phase += static_cast<long double>(from.axis[i][j]) * static_cast<long double>(to.axis[i][k]);
      }
      const Wide factor(std::cos(phase), problem.sign * std::sin(phase));
      for (std::size_t set = 0; set < problem.batch; ++set) {
        values[set * to.count + k] += Wide(strengths[set * from.count + j]) * factor;
      }
    }
  }
  return values;
}

template <class T>
double type3_error(const Type3Problem& problem, const Points<T>& from, const Points<T>& to,
                   const Device& device = host()) {
  const auto strengths = random_values<T>(problem.batch * from.count);
  std::vector<std::complex<T>> values(problem.batch * to.count, std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
  Type3Plan<T> plan(device, problem);
  plan.set_points(spans_of(from, problem.axes), spans_of(to, problem.axes));
  plan.run(strengths, values);
  long double least = 0;
  for (const auto& value : strengths) least += std::norm(Wide(value));
  return test::error_of_answer(values, type3_sums(problem, from, to, strengths),
                               least * static_cast<long double>(to.count));
}

template <class T>
class TypeThree : public testing::Test {};
using Both = testing::Types<float, double>;
TYPED_TEST_SUITE(TypeThree, Both);

TYPED_TEST(TypeThree, ReachesEveryEpsilon) {
  using T = TypeParam;
  const double least = sizeof(T) == 8 ? 1e-12 : 3e-6;
  for (const std::size_t axes : {1, 2, 3}) {
    const double wide = axes == 1 ? 80 : axes == 2 ? 12 : 5;
    int sign = 1;
    for (double epsilon = 1e-1; epsilon >= 0.9 * least; epsilon /= 30) {
      sign = -sign;
      EXPECT_LE(type3_error<T>({.axes = axes, .epsilon = epsilon, .sign = sign}, random_points<T>(axes, 90, -2.0, 3.0),
                               random_points<T>(axes, 70, -wide, 1.5 * wide, 9)),
                epsilon)
          << axes << " axes";
    }
  }
}

TYPED_TEST(TypeThree, OfFarCentresOnePointAndNoExtent) {
  using T = TypeParam;
  const Type3Problem problem{.axes = 2, .epsilon = 1e-4, .batch = 2};
  EXPECT_LE(type3_error<T>(problem, random_points<T>(2, 40, 5, 9), random_points<T>(2, 30, 20, 30, 9)), 1e-4);
  EXPECT_LE(type3_error<T>(problem, random_points<T>(2, 1, 5, 9), random_points<T>(2, 30, -20, 30, 9)), 1e-4);
  EXPECT_LE(type3_error<T>(problem, random_points<T>(2, 30, 5, 9), random_points<T>(2, 1, -20, 30, 9)), 1e-4);
  EXPECT_LE(type3_error<T>(problem, random_points<T>(2, 7, 1, 1), random_points<T>(2, 5, 2, 2, 9)), 1e-4);
  EXPECT_LE(type3_error<T>(problem, random_points<T>(2, 30, -1e-6, 1e-6), random_points<T>(2, 20, -1e6, 1e6, 9)), 1e-4);
}

// Phases of 1e14 radians: the rounding error of a product in double is a hundredth of a radian.
TEST(TypeThreeInDouble, OfLargePhases) {
  const auto from = random_points<double>(1, 20, 1e7, 1e7 + 1e-3), to = random_points<double>(1, 15, 1e7, 1e7 + 100, 9);
  const auto strengths = random_values<double>(from.count);
  std::vector<Wide> expected(to.count);
  long double least = 0;
  for (const auto& value : strengths) least += std::norm(Wide(value)) * static_cast<long double>(to.count);
  for (std::size_t k = 0; k < to.count; ++k) {
    for (std::size_t j = 0; j < from.count; ++j) {
      const double x = from.axis[0][j], s = to.axis[0][k], phase = x * s, rest = std::fma(x, s, -phase);
      expected[k] += Wide(strengths[j]) * std::polar(1.0L, static_cast<long double>(phase)) *
                     std::polar(1.0L, static_cast<long double>(rest));
    }
  }
  std::vector<std::complex<double>> values(to.count);
  Type3Plan<double> plan(host(), {.axes = 1, .epsilon = 1e-10});
  plan.set_points(spans_of(from, 1), spans_of(to, 1));
  plan.run(strengths, values);
  EXPECT_LE(test::error_of_answer(values, expected, least), 1e-10);
}

template <class T>
void expect_type3_adjoint(const Device& device) {
  const auto from = random_points<T>(2, 40, -3.0, 2.0), to = random_points<T>(2, 30, -9.0, 12.0, 9);
  const auto c = random_values<T>(40, 3), f = random_values<T>(30, 4);
  std::vector<std::complex<T>> values(30), back(40);
  Type3Plan<T> plan(device, {.axes = 2, .epsilon = 1e-3});
  plan.set_points(spans_of(from, 2), spans_of(to, 2));
  plan.run(c, values);
  plan.adjoint(f, back);
  Wide left = 0, right = 0;
  for (std::size_t k = 0; k < 30; ++k) left += Wide(values[k]) * std::conj(Wide(f[k]));
  for (std::size_t j = 0; j < 40; ++j) right += Wide(c[j]) * std::conj(Wide(back[j]));
  EXPECT_LE(std::abs(left - right), 3000 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(TypeThree, HasAnAdjoint) { expect_type3_adjoint<TypeParam>(host()); }

class TypeThreeOnDevices : public ridge::test::NeedsAccelerator<> {
 protected:
  void SetUp() override {
    ridge::test::compile_quickly();
    NeedsAccelerator::SetUp();
  }
};

// 600 cells per axis in one dimension: with float angles the error would be 1e-5.
TEST_F(TypeThreeOnDevices, ReachEpsilon) {
  for (const Device& device : ridge::test::accelerators()) {
    for (const std::size_t axes : {1, 2, 3}) {
      const double wide = axes == 1 ? 200 : axes == 2 ? 12 : 4;
      const Type3Problem problem{.axes = axes, .epsilon = 4e-6, .sign = axes == 2 ? -1 : 1, .batch = 2};
      EXPECT_LE(type3_error<float>(problem, random_points<float>(axes, 90, -2.0, 3.0),
                                   random_points<float>(axes, 70, -wide, 1.5 * wide, 9), device),
                problem.epsilon)
          << device.id() << ", " << axes << " axes";
    }
    if (!device.limits().float64) continue;
    EXPECT_LE(type3_error<double>({.axes = 2, .epsilon = 1e-9}, random_points<double>(2, 90, -2.0, 3.0),
                                  random_points<double>(2, 70, -9.0, 14.0, 9), device),
              1e-9)
        << device.id();
  }
}

TEST_F(TypeThreeOnDevices, HaveAnAdjointAndTakeBuffers) {
  for (const Device& device : ridge::test::accelerators()) {
    expect_type3_adjoint<float>(device);
    const auto from = random_points<float>(2, 40, -3.0, 2.0), to = random_points<float>(2, 30, -9.0, 12.0, 9);
    const auto c = random_values<float>(40, 3);
    std::vector<std::complex<float>> expected(30), values(30);
    Type3Plan<float> plan(device, {.axes = 2, .epsilon = 1e-4});
    Queue queue = device.queue();
    const Buffer in = device.buffer(40 * sizeof(c[0])), out = device.buffer(30 * sizeof(c[0]));
    EXPECT_THAT(ridge::test::error_of([&] { plan.enqueue(queue, in, out); }, ErrorKind::invalid_argument),
                HasSubstr("set_points() first"));
    plan.set_points(spans_of(from, 2), spans_of(to, 2));
    plan.run(c, expected);
    queue.upload(c.data(), in, in.size());
    plan.enqueue(queue, in, out);
    queue.download(out, values.data(), out.size());
    queue.finish();
    EXPECT_LE(test::error_of_answer(values, {expected.begin(), expected.end()}), 1e-5);
    plan.set_points(spans_of(from, 2), {std::vector<float>{}, std::vector<float>{}});
    plan.run(c, {});
    plan.set_points({std::vector<float>{}, std::vector<float>{}}, spans_of(to, 2));
    values[3] = 1;
    plan.run({}, values);
    EXPECT_EQ(values[3], 0.0f);
  }
}

TEST(TypeThreePlan, RefusesUnsupportedProblems) {
  const auto refusal = [](const std::function<void()>& call, ErrorKind kind = ErrorKind::invalid_argument) {
    return ridge::test::error_of(call, kind);
  };
  EXPECT_THAT(refusal([] { Type3Plan<float>({.axes = 4}); }), HasSubstr("axes must be 1 to 3, got 4"));
  EXPECT_THAT(refusal([] { Type3Plan<float>({.epsilon = 1e-9}); }), HasSubstr("plan with double"));
  Type3Plan<double> plan({.axes = 1});
  std::vector<double> one{1.0}, nan{0.0, NAN}, far{-1e9, 1e9};
  std::vector<std::complex<double>> in(1), out(1);
  EXPECT_THAT(refusal([&] { plan.run(in, out); }), HasSubstr("set_points() first"));
  EXPECT_THAT(refusal([&] { plan.set_points({one}, {nan}); }), HasSubstr("finite frequencies, got nan of index 1"));
  EXPECT_THAT(refusal([&] { plan.set_points({one, one}, {one}); }), HasSubstr("1 arrays of points, got 2"));
  EXPECT_THAT(refusal([&] { plan.set_points({far}, {far}); }, ErrorKind::out_of_memory), HasSubstr("the machine has"));
  plan.set_points({one}, {std::vector<double>{}});
  plan.run(in, {});
  plan.set_points({std::vector<double>{}}, {one});
  out[0] = 1;
  plan.run({}, out);
  EXPECT_EQ(out[0], 0.0);
}

// Derivatives by each coordinate: i sign k times the phases.
template <class T>
void expect_slopes(Type type, std::size_t axes) {
  const std::vector<std::size_t> shapes[] = {{}, {40}, {14, 15}, {6, 9, 8}};
  const Problem problem{.type = type, .modes = shapes[axes], .epsilon = 1e-4, .sign = -1, .batch = 2};
  Problem direction = problem;  // in which the modes are evaluated
  direction.type = Type::to_points;
  direction.sign = type == Type::to_points ? -1 : 1;
  std::size_t modes = 1;
  for (const std::size_t n : problem.modes) modes *= n;
  const auto points = random_points<T>(axes, 50);
  const auto in = random_values<T>(2 * modes);
  std::vector<std::complex<T>> values(100), slopes(100 * axes);
  auto nufft = plan<T>(host(), problem, kQuick);
  points.give_to(nufft);
  nufft.slopes(in, values, slopes);
  EXPECT_LE(test::error_of_answer(values, test::direct_sum(direction, points, in)), 1e-4);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::vector<std::complex<T>> scaled = in;
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < axes; ++i) inner *= problem.modes[i];
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      const auto k = static_cast<T>(test::frequency(problem, axis, i / inner % problem.modes[axis]));
      scaled[i] *= std::complex<T>(0, static_cast<T>(direction.sign) * k);
    }
    const std::vector<std::complex<T>> got(slopes.begin() + static_cast<std::ptrdiff_t>(100 * axis),
                                           slopes.begin() + static_cast<std::ptrdiff_t>(100 * (axis + 1)));
    EXPECT_LE(test::error_of_answer(got, test::direct_sum(direction, points, scaled)), 1e-3) << "axis " << axis;
  }
}

TEST(NufftSlopes, AreTheDerivativesByTheCoordinates) {
  for (const std::size_t axes : {1, 2, 3}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      expect_slopes<float>(type, axes);
      expect_slopes<double>(type, axes);
    }
  }
}

}  // namespace
}  // namespace ridge::nufft
