// Device variants against direct sums, on PoCL and GPUs; their kernels compiled by NVRTC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/cuda/nvrtc.hpp"
#include "nufft/device/design.hpp"
#include "nufft/direct_sum.hpp"
#include "nufft/kernel.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::nufft {
namespace {

using test::direct_sum;
using test::kQuick;
using test::random_points;
using test::random_values;
using testing::HasSubstr;

planner::Options only(const std::string& variant) {
  planner::Options options = kQuick;
  options.variant = variant;
  return options;
}

template <class T>
double device_error(const Device& device, const Problem& problem, const std::string& variant,
                    const test::Points<T>& points) {
  std::size_t modes = 1;
  for (const std::size_t n : problem.modes) modes *= n;
  const bool to_modes = problem.type == Type::to_modes;
  const auto in = random_values<T>(problem.batch * (to_modes ? points.count : modes));
  std::vector<std::complex<T>> out(problem.batch * (to_modes ? modes : points.count),
                                   std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
  auto nufft = plan<T>(device, problem, only(variant));
  points.give_to(nufft);
  nufft.run(in, out);
  return test::error_of_answer(out, direct_sum(problem, points, in));
}

// Emulated products would spill: see docs/measurements/xeon-avx512.md.
TEST(NufftPlans, MatrixNeedsMatrixUnitsOnGpus) {
  const auto refusals = [](const char* device) {
    std::string all;
    for (const planner::Candidate& one : candidates<float>(ridge::device(device), {.modes = {64, 64}, .points = 1000}))
      if (one.variant == "matrix") all += one.refusal;
    return all;
  };
  EXPECT_THAT(refusals("recorded:mi300x"), HasSubstr("needs matrix units"));
  EXPECT_THAT(refusals("recorded:a100"), testing::Not(HasSubstr("needs matrix units")));
}

class NufftOnDevices : public ridge::test::NeedsAccelerator<> {
 protected:
  void SetUp() override {
    ridge::test::compile_quickly();
    NeedsAccelerator::SetUp();
  }
};

// Each kernel text is compiled once per shape: few shapes, several properties of the points in each.
TEST_F(NufftOnDevices, ReachEpsilonInEveryRankAndType) {
  const std::vector<std::size_t> shapes[] = {{}, {63}, {18, 21}, {8, 9, 10}};
  for (const Device& device : ridge::test::accelerators()) {
    for (const std::size_t axes : {1, 2, 3}) {
      const auto points = random_points<float>(axes, 150, -9.0, 9.0);
      for (const std::string variant : {"matrix", "window", "atomic"}) {
        if ((axes == 1) != (variant == "atomic")) continue;
        const double epsilon = variant == "matrix" ? 1e-6 : 1e-5;  // products of TF32 are split
        for (const Type type : {Type::to_modes, Type::to_points}) {
          const Problem problem{.type = type,
                                .modes = shapes[axes],
                                .points = 150,
                                .epsilon = epsilon,
                                .sign = axes == 2 ? -1 : 1,
                                .batch = 2,
                                .order = axes == 3 ? Order::fft : Order::centered,
                                .upsampling = 2};
          EXPECT_LE(device_error(device, problem, variant, points), epsilon)
              << device.id() << " " << variant << ", " << axes << " axes";
        }
      }
    }
  }
}

// A plan for many points sorts them by parts: the same modes as from a plan for few points, and the same refusal.
TEST_F(NufftOnDevices, SortManyPointsByParts) {
  const std::size_t count = DeviceDesign::kFewestByParts;
  auto points = random_points<float>(2, count, -9.0, 9.0);
  const auto strengths = random_values<float>(count);
  for (const Device& device : ridge::test::accelerators()) {
    std::vector<std::complex<float>> modes[2];
    for (const bool many : {false, true}) {
      auto nufft = plan<float>(
          device, {.modes = {64, 64}, .points = many ? count : 1000, .epsilon = 1e-5, .upsampling = 2}, only("window"));
      points.give_to(nufft);
      modes[many].resize(64 * 64);
      nufft.run(strengths, modes[many]);
      const float kept = std::exchange(points.axis[1][count - 5], std::numeric_limits<float>::quiet_NaN());
      EXPECT_THAT(ridge::test::error_of([&] { points.give_to(nufft); }, ErrorKind::invalid_argument),
                  HasSubstr(fmt::format("{}", count - 5)));
      points.axis[1][count - 5] = kept;
    }
    EXPECT_LE(test::error_of_answer(modes[1], std::vector<test::Wide>(modes[0].begin(), modes[0].end())), 1e-5);
  }
}

// Real strengths and values, of both signs, and the adjoint: against sums over complex numbers.
template <class T>
void expect_real(const Device& device, Problem problem, const std::string& variant, const test::Points<T>& points) {
  problem.real = true;
  std::size_t modes = problem.batch;
  for (const std::size_t n : problem.modes) modes *= n;
  const std::size_t count = problem.batch * points.count;
  const auto complex = random_values<T>(modes, 7), strengths = random_values<T>(count, 8);
  std::vector<T> given, values(count, std::numeric_limits<T>::quiet_NaN());
  for (const auto& strength : strengths) given.push_back(strength.real());
  std::vector<std::complex<T>> out(modes, std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
  auto nufft = plan<T>(device, problem, only(variant));
  points.give_to(nufft);
  const bool to_modes = problem.type == Type::to_modes;
  to_modes ? nufft.run_real(given, out) : nufft.adjoint_real(given, out);
  to_modes ? nufft.adjoint_real(complex, values) : nufft.run_real(complex, values);
  Problem first = problem, second = problem;  // types 1 and 2
  (to_modes ? second : first).sign = -problem.sign;
  first.type = Type::to_modes;
  second.type = Type::to_points;
  auto exact = direct_sum(second, points, complex);
  for (auto& value : exact) value = value.real();
  const std::string what = device.id() + " " + variant + fmt::format(", modes {}", fmt::join(problem.modes, "x"));
  EXPECT_LE(test::error_of_answer(std::vector<std::complex<T>>(values.begin(), values.end()), exact), problem.epsilon)
      << what;
  EXPECT_LE(
      test::error_of_answer(out, direct_sum(first, points, std::vector<std::complex<T>>(given.begin(), given.end()))),
      problem.epsilon)
      << what;
}

TEST(NufftReal, OnTheHost) {
  for (const std::vector<std::size_t>& modes :
       {std::vector<std::size_t>{1}, {2}, {63}, {64}, {1, 7}, {18, 21}, {21, 18}, {3, 1, 2}, {8, 9, 10}, {7, 6, 12}}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      const Problem problem{.type = type,
                            .modes = modes,
                            .epsilon = 1e-5,
                            .sign = modes.back() % 2 == 0 ? 1 : -1,
                            .batch = 2,
                            .order = modes[0] % 2 == 0 ? Order::fft : Order::centered};
      expect_real<float>(host(), problem, "tiles", random_points<float>(modes.size(), 90, -9.0, 9.0));
      Problem fine = problem;
      fine.epsilon = 1e-11;
      expect_real<double>(host(), fine, "tiles", random_points<double>(modes.size(), 90));
    }
  }
}

TEST(NufftReal, HasTheSameBitsForAnyNumberOfThreads) {
  const auto points = random_points<float>(2, 20000);
  std::vector<float> given;
  for (const auto& value : random_values<float>(20000)) given.push_back(value.real());
  std::vector<std::vector<std::complex<float>>> all;
  for (const std::size_t threads : {1, 2, 3}) {
    auto nufft = plan<float>(host(), {.modes = {50, 61}, .threads = threads, .real = true}, kQuick);
    points.give_to(nufft);
    nufft.run_real(given, all.emplace_back(50 * 61));
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(NufftReal, RefusesOtherCalls) {
  auto real = plan<float>(host(), {.modes = {8}, .real = true}, kQuick),
       complex = plan<float>(host(), {.modes = {8}}, kQuick);
  const std::vector<float> x{0.5f};
  std::vector<float> numbers(8);
  std::vector<std::complex<float>> values(8);
  real.set_points(x);
  complex.set_points(x);
  const auto message = [](const auto& call) { return ridge::test::error_of(call, ErrorKind::invalid_argument); };
  EXPECT_THAT(message([&] { real.run(values, values); }), HasSubstr("call run_real()"));
  EXPECT_THAT(message([&] { complex.run_real(numbers, values); }), HasSubstr("need a plan with Problem::real"));
  EXPECT_THAT(message([&] { real.run_real(values, numbers); }), HasSubstr("needs real strengths and complex modes"));
  EXPECT_THAT(message([&] { real.slopes(values, values, values); }), HasSubstr("needs complex values"));
}

TEST_F(NufftOnDevices, TakeRealStrengthsAndGiveRealValues) {
  const Device device = ridge::test::accelerators().front();
  expect_real<float>(device, {.modes = {63}, .epsilon = 1e-5, .sign = -1}, "atomic", random_points<float>(1, 90));
  expect_real<float>(device, {.modes = {18, 21}, .epsilon = 1e-5, .batch = 2}, "window", random_points<float>(2, 90));
  expect_real<float>(device, {.type = Type::to_points, .modes = {8, 9, 10}, .epsilon = 1e-5, .order = Order::fft},
                     "matrix", random_points<float>(3, 90));
  if (device.limits().float64) {
    expect_real<double>(device, {.modes = {15, 34}, .epsilon = 1e-10}, "matrix", random_points<double>(2, 90));
  }
}

TEST_F(NufftOnDevices, ReachEpsilonInDouble) {
  for (const Device& device : ridge::test::accelerators()) {
    if (!device.limits().float64) continue;
    const auto points = random_points<double>(2, 150);
    for (const Type type : {Type::to_modes, Type::to_points}) {
      const Problem problem{.type = type, .modes = {15, 34}, .epsilon = 1e-10, .upsampling = 2};
      for (const char* variant : {"matrix", "window"}) {
        EXPECT_LE(device_error(device, problem, variant, points), 1e-10) << device.id() << " " << variant;
      }
    }
  }
}

// One rounded product instead of three where its error stays below epsilon: not with little upsampling, which amplifies
// it.
TEST_F(NufftOnDevices, ReachEpsilonWithOneProduct) {
  const Device device = ridge::test::accelerators().front();
  const auto points = random_points<float>(3, 300);
  for (const double upsampling : {2.0, 1.25}) {
    for (const Type type : {Type::to_modes, Type::to_points}) {
      const Problem problem{.type = type, .modes = {8, 9, 10}, .epsilon = 1e-3, .upsampling = upsampling};
      EXPECT_LE(device_error(device, problem, "matrix", points), 1e-3) << upsampling;
    }
  }
}

TEST(NufftKernel, RoundedProductsNeedUpsampling) {
  EXPECT_LE(rounded_products_error(4, 2.0, 3), 1e-3);
  EXPECT_GT(rounded_products_error(6, 1.25, 3), 1e-2);  // measured on an H200: 1.3e-2
  EXPECT_GT(rounded_products_error(5, 1.5, 3), 1e-3);
}

// More points in one tile than a piece holds, all of them in few cells; and both ways to spread give the same modes.
TEST_F(NufftOnDevices, SpreadClustersInPieces) {
  for (const Device& device : ridge::test::accelerators()) {
    const auto points = random_points<float>(2, 2500, 3.0, 3.2);
    const Problem problem{.modes = {18, 21}, .epsilon = 1e-4, .upsampling = 2};
    for (const char* variant : {"matrix", "window", "atomic"}) {
      EXPECT_LE(device_error(device, problem, variant, points), 1e-4) << device.id() << " " << variant;
    }
  }
}

TEST_F(NufftOnDevices, TakeCoordinatesInBuffersAndRunOnQueues) {
  const Device device = ridge::test::accelerators().front();
  const Problem problem{.modes = {18, 21}, .epsilon = 1e-5, .sign = -1, .batch = 2, .upsampling = 2};
  const auto points = random_points<float>(2, 300);
  const auto in = random_values<float>(600);
  std::vector<std::complex<float>> out(2 * 18 * 21);
  auto nufft = plan<float>(device, problem, only("window"));
  Queue queue = device.queue();
  std::vector<Buffer> axes;
  for (std::size_t i = 0; i < 2; ++i) {
    axes.push_back(device.buffer(1200, {.name = "axis"}));
    queue.upload(points.axis[i].data(), axes[i], 1200);
  }
  const Buffer strengths = device.buffer(4800, {.name = "strengths"}), modes = device.buffer(8 * out.size());
  queue.upload(in.data(), strengths, 4800);
  nufft.set_points(queue, 300, axes);
  nufft.enqueue(queue, strengths, modes);
  queue.download(modes, out.data(), 8 * out.size());
  queue.finish();
  EXPECT_LE(test::error_of_answer(out, direct_sum(problem, points, in)), 1e-5);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  queue.upload(&nan, axes[1], 4, 4 * 123);
  EXPECT_THAT(ridge::test::error_of([&] { nufft.set_points(queue, 300, axes); }, ErrorKind::invalid_argument),
              HasSubstr("y[123] = nan"));
  auto bad = points;
  bad.axis[0][77] = 1e9f;
  EXPECT_THAT(ridge::test::error_of([&] { bad.give_to(nufft); }, ErrorKind::invalid_argument),
              HasSubstr("x[77] = 1000000000"));
  nufft.set_points({}, {});
  nufft.run({}, out);
  for (const auto& mode : out) ASSERT_EQ(mode, std::complex<float>(0));
}

TEST_F(NufftOnDevices, HaveSlopes) {
  const Device device = ridge::test::accelerators().front();
  const Problem problem{.type = Type::to_points, .modes = {18, 21}, .epsilon = 1e-5, .batch = 2, .upsampling = 2};
  const auto points = random_points<float>(2, 50);
  const auto in = random_values<float>(2 * 18 * 21);
  std::vector<std::complex<float>> values(100), slopes(200), host_values(100), host_slopes(200);
  auto nufft = plan<float>(device, problem, only("window"));
  auto expected = plan<float>(host(), problem, kQuick);
  points.give_to(nufft);
  points.give_to(expected);
  nufft.slopes(in, values, slopes);
  expected.slopes(in, host_values, host_slopes);
  const auto wide = [](const auto& given) { return std::vector<test::Wide>(given.begin(), given.end()); };
  EXPECT_LE(test::error_of_answer(values, wide(host_values)), 2e-5);
  EXPECT_LE(test::error_of_answer(slopes, wide(host_slopes)), 2e-4);
}

TEST(NufftKernels, CompileForCudaWithoutSpills) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const DeviceDesign designs[] = {
      {.spreading = Spreading::window, .axes = 3, .width = 10, .float64 = true},
      {.spreading = Spreading::matrix, .axes = 2, .width = 7},
      {.spreading = Spreading::matrix, .axes = 3, .width = 7},
      {.spreading = Spreading::matrix, .axes = 3, .width = 8},
      {.spreading = Spreading::matrix, .axes = 3, .width = 4, .products = 1},
      {.spreading = Spreading::matrix, .axes = 2, .width = 10, .float64 = true},
      {.spreading = Spreading::matrix, .axes = 3, .width = 12, .float64 = true},
  };
  for (DeviceDesign design : designs) {
    design.cells = {1, 1, 256};
    for (const auto& kernel : ridge::detail::resources_for(nonuniform_source(design), "sm_90")) {
      EXPECT_EQ(kernel.spilled_bytes, 0) << kernel.kernel << ", " << design.axes << " axes, width " << design.width;
    }
  }
}

TEST_F(NufftOnDevices, RefuseWhatTheyCannotDo) {
  const Device device = ridge::test::accelerators().front();
  const auto refusal_of = [&](const Problem& problem, const std::string& variant) {
    for (const planner::Candidate& candidate : candidates<double>(device, problem)) {
      if (candidate.variant == variant) return candidate.refusal;
    }
    return std::string("not listed");
  };
  EXPECT_THAT(refusal_of({.modes = {64}}, "window"), HasSubstr("two or three axes, got 1"));
  EXPECT_THAT(refusal_of({.modes = {8, 8, 8}, .epsilon = 1e-13}, "window"), HasSubstr("at most 13 cells, got"));
  EXPECT_THAT(refusal_of({.modes = {65536, 65536}}, "atomic"), HasSubstr("fewer than 2^31 cells"));
}

}  // namespace
}  // namespace ridge::nufft
