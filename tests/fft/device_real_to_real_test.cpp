// Cosine, sine and Hartley transforms on devices, against the host's in double.
#include <cstdlib>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <ridge/fft/device_tensor.hpp>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "fft/device/real_to_real/real_axis.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::on_device {
extern const RouteFamily kOnePass;
}

namespace ridge::fft::device_tests {
namespace {

constexpr std::array kKinds{RealKind::halfcomplex, RealKind::halfcomplex_inverse,
                            RealKind::hartley,     RealKind::dct1,
                            RealKind::dct2,        RealKind::dct3,
                            RealKind::dct4,        RealKind::dst1,
                            RealKind::dst2,        RealKind::dst3,
                            RealKind::dst4};

const planner::Options kQuick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};

std::size_t elements(const TensorProblem& problem, bool input) {
  std::size_t last = 0;
  for (const auto* dimensions : {&problem.axes, &problem.loops}) {
    for (const Dimension& d : *dimensions)
      last += (d.length - 1) * static_cast<std::size_t>(input ? d.input : d.output);
  }
  return last + 1;
}

// The specified limit for the length of the inner transforms, doubled for Rader and Bluestein, plus 0.6 epsilon per
// multiplication by a table.
double rotations(RealKind kind) {
  if (kind == RealKind::dct4 || kind == RealKind::dst4) return 2;
  return kind == RealKind::dct2 || kind == RealKind::dct3 || kind == RealKind::dst2 || kind == RealKind::dst3 ? 1 : 0;
}

template <class T>
void check(const Device& device, const TensorProblem& problem, const std::string& what) {
  const DeviceTensorPlan<T> plan(device, problem, kQuick);
  std::vector<double> wide(elements(problem, true)), expected(elements(problem, false), -7);
  std::mt19937 random(5);
  std::vector<T> in(wide.size()), out(expected.size(), T(-7));
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<T>(std::uniform_real_distribution<double>(-0.5, 0.5)(random));
    wide[i] = static_cast<double>(in[i]);
  }
  TensorProblem apart = problem;
  apart.in_place = false;
  TensorPlan<double>(host(), apart, kQuick).run(wide.data(), expected.data());
  plan.run(in, out);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double difference = static_cast<double>(out[i]) - expected[i];
    error += difference * difference;
    if (expected[i] != -7) size += expected[i] * expected[i];
  }
  std::size_t points = 1;
  double turned = 0;
  for (std::size_t axis = 0; axis < problem.axes.size(); ++axis) {
    points *= on_device::middle_of(problem.real_kinds[axis], problem.axes[axis].length).length;
    turned += rotations(problem.real_kinds[axis]);
  }
  const double gate = gate_of(plan, std::max<std::size_t>(points, 2)) +
                      0.6 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(turned);
  EXPECT_LE(std::sqrt(error / size), gate) << what;
  EXPECT_FALSE(std::isnan(error)) << what;
}

bool slow() { return std::getenv("RIDGE_SLOW") != nullptr; }

class RealToRealOnDevices : public OnDevices {};

TEST_F(RealToRealOnDevices, EveryKindOfEveryShortLength) {
  for (const Device& device : accelerators()) {
    for (const RealKind kind : kKinds) {
      // PoCL compiles one kernel per length slowly: a few lengths per kind, different ones.
      const bool quick = kind == RealKind::dct2 || kind == RealKind::dct3 || kind == RealKind::dst1;
      if (!slow() && !quick) continue;
      const std::size_t shift = static_cast<std::size_t>(kind) % 3;
      for (const std::size_t n : {std::size_t{2}, 3 + shift, 16 + shift}) {
        if (!slow() && n < 16) continue;
        const auto lines = static_cast<std::ptrdiff_t>(n);
        check<float>(
            device,
            {.kind = TensorKind::real_to_real, .axes = {{n, 1, 1}}, .loops = {{5, lines, lines}}, .real_kinds = {kind}},
            std::string(to_string(kind)) + " " + std::to_string(n));
      }
    }
  }
}

TEST_F(RealToRealOnDevices, PrimesOneAndDouble) {
  if (!slow()) GTEST_SKIP() << "RIDGE_SLOW=1 runs it: many kernels to compile";
  for (const Device& device : accelerators()) {
    for (const auto& [kind, n] : std::vector<std::pair<RealKind, std::size_t>>{{RealKind::dct2, 1},
                                                                               {RealKind::dct4, 1},
                                                                               {RealKind::dst1, 1},
                                                                               {RealKind::dct2, 101},
                                                                               {RealKind::dst4, 37},
                                                                               {RealKind::dst1, 1000}}) {
      const auto lines = static_cast<std::ptrdiff_t>(n);
      const TensorProblem problem{.kind = TensorKind::real_to_real,
                                  .axes = {{n, 1, 1}},
                                  .loops = {{3, lines, lines}},
                                  .real_kinds = {kind},
                                  .scale = 0.25};
      const std::string what = std::string(to_string(kind)) + " " + std::to_string(n);
      if (device.limits().float64) check<double>(device, problem, what);
    }
  }
}

TEST_F(RealToRealOnDevices, AxesLoopsAndStrides) {
  for (const Device& device : accelerators()) {
    if (slow())
      check<float>(device,
                   {.kind = TensorKind::real_to_real,
                    .axes = {{6, 200, 90}, {9, 12, 10}, {10, 1, 1}},
                    .loops = {{2, 1200, 540}},
                    .real_kinds = {RealKind::dct2, RealKind::dst1, RealKind::dct3}},
                   "three axes, a loop, padded rows");
    // Columns of a padded plane.
    check<float>(device,
                 {.kind = TensorKind::real_to_real,
                  .axes = {{12, 20, 17}},
                  .loops = {{15, 1, 1}},
                  .real_kinds = {RealKind::dct2}},
                 "columns");
  }
}

TEST_F(RealToRealOnDevices, AdjointsWithFactorsOfTheEnds) {
  for (const Device& device : accelerators()) {
    const TensorProblem rows{.kind = TensorKind::real_to_real,
                             .axes = {{4, 16, 16}, {16, 1, 1}},
                             .loops = {{3, 64, 64}},
                             .real_kinds = {RealKind::dst3, RealKind::dct2},
                             .scale = 0.5};
    check<float>(device, adjoint(rows), "dst3 and dct2, transposed");
    TensorProblem one{.kind = TensorKind::real_to_real,
                      .axes = {{5, 1, 1}},
                      .loops = {{3, 5, 5}},
                      .real_kinds = {RealKind::dct1},
                      .in_place = true};
    check<float>(device, adjoint(one), "dct1 in place, transposed");
    one.in_place = false;
    one.store = {{1, 1, 2, 1, 1}};
    EXPECT_THROW(DeviceTensorPlan<float>(device, one, kQuick), Error) << "a factor inside the axis";
    one.store = {{1, 1, 1, 1, 2}};
    one.loops[0].output = 6;
    EXPECT_THROW(DeviceTensorPlan<float>(device, one, kQuick), Error) << "padded rows";
  }
}

TEST_F(RealToRealOnDevices, WrongCallsAreRefused) {
  const Device device = accelerators().front();
  const TensorProblem good{.kind = TensorKind::real_to_real, .axes = {{8, 1, 1}}, .real_kinds = {RealKind::dct2}};
  TensorProblem bad = good;
  bad.axes[0].input = -1;
  EXPECT_THROW(DeviceTensorPlan<float>(device, bad, kQuick), Error);
  bad = good;
  bad.kind = TensorKind::complex_forward;
  EXPECT_THROW(DeviceTensorPlan<float>(device, bad, kQuick), Error);
  bad = good;
  bad.real_kinds[0] = RealKind::dct1;
  bad.axes[0].length = 1;
  EXPECT_THROW(DeviceTensorPlan<float>(device, bad, kQuick), Error);
  bad = good;
  bad.axes.resize(4, {2, 8, 8});
  bad.real_kinds.resize(4, RealKind::dct2);
  EXPECT_THROW(DeviceTensorPlan<float>(device, bad, kQuick), Error);
  const DeviceTensorPlan<float> plan(device, good, kQuick);
  std::vector<float> in(7), out(8);
  EXPECT_THROW(plan.run(in, out), Error);
}

TEST_F(RealToRealOnDevices, OnePassMovesSamplesInPlace) {
  for (const Device& device : accelerators()) {
    const auto run = [&](RealKind kind, std::size_t n, std::ptrdiff_t row, bool in_place) {
      const TensorProblem problem{.kind = TensorKind::real_to_real,
                                  .axes = {{n, 1, 1}},
                                  .loops = {{7, row, row}},
                                  .real_kinds = {kind},
                                  .in_place = in_place,
                                  .scale = 0.5};
      EXPECT_EQ(DeviceTensorPlan<float>(device, problem, kQuick).kernels().size(), 1u) << "one pass";
      check<float>(device, problem, fmt::format("{} of {}, rows {} apart", to_string(kind), n, row));
    };
    run(RealKind::dct2, 40, 40, true);   // four samples per access
    run(RealKind::dst2, 24, 27, false);  // values through local memory, one per access
    run(RealKind::dst3, 40, 41, false);  // through local memory, one per access
    run(RealKind::dct3, 22, 22, false);  // pairs across the middle
    if (!slow()) continue;
    run(RealKind::dst2, 15, 15, false);
    run(RealKind::dct4, 16, 16, false);
    check<float>(
        device,
        {.kind = TensorKind::real_to_real, .axes = {{24, 9, 9}}, .loops = {{9, 1, 1}}, .real_kinds = {RealKind::dct3}},
        "columns");
  }
}

TEST(RealToRealText, CompilesForHopper) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const RealKind kind : kKinds) {
    for (const std::size_t n : {64u, 63u}) {
      for (const bool columns : {false, true}) {
        if (columns != ((static_cast<std::size_t>(kind) + n) % 2 == 1)) continue;  // each kind in both directions
        on_device::RealAxisProblem problem{.float64 = n % 2 == 1, .kind = kind, .length = n, .counts = {10, 3}};
        problem.in = problem.out = columns ? on_device::Address{10, {1, 10 * n}} : on_device::Address{1, {n, 10 * n}};
        const KernelSource source = on_device::real_axis_text(problem).source;
        EXPECT_NO_THROW({ EXPECT_FALSE(ridge::detail::compile_for(source, "sm_90").empty()); }) << source.text;
        const std::optional<on_device::AxisProblem> whole = on_device::one_pass_problem(problem);
        if (!whole) continue;
        std::vector<on_device::Route> routes;
        on_device::kOnePass.list(test::hopper(), *whole, routes);
        ASSERT_TRUE(routes.front().candidate.refusal.empty()) << routes.front().candidate.refusal;
        for (const KernelSource& pass : on_device::kernels_of(routes.front())) {
          EXPECT_NO_THROW({ EXPECT_FALSE(ridge::detail::compile_for(pass, "sm_90").empty()); }) << pass.text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests
