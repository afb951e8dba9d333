// Every plan has the same member functions: compiles the same calls for all workloads.
#include <gtest/gtest.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/fft/hybrid.hpp>
#include <ridge/fft/tensor.hpp>
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/nufft.hpp>
#include <ridge/sar.hpp>
#include <ridge/search.hpp>
#include <ridge/stencil.hpp>
#include <ridge/transpose.hpp>

#include "support/devices.hpp"

namespace ridge {
namespace {

template <class P, class Problem>
concept Plan = std::copyable<P> && requires(const P& plan) {
  { plan.explain() } -> std::same_as<std::string>;
  { plan.decisions() } -> std::same_as<const std::vector<planner::Decision>&>;
  { plan.kernels() } -> std::convertible_to<std::vector<KernelSource>>;
  { plan.device() } -> std::same_as<const Device&>;
  { plan.problem() } -> std::same_as<const Problem&>;
  { plan.flops() } -> std::same_as<double>;
  { plan.bytes() } -> std::same_as<double>;
};

// plan(device, problem, options); a stencil's update precedes the problem.
template <class P, class... Asked>
concept MadeFrom = std::constructible_from<P, const Device&, const Asked&..., const planner::Options&>;

template <class P, class In, class Out, class... More>
concept Runs = requires(const P& plan, In in, Out out, More... more) {
  plan.run(in, out, more...);
};

template <class P, class... Memory>
concept Enqueues = requires(const P& plan, Queue& queue, const Memory&... memory) {
  plan.enqueue(queue, memory...);
};

using Complex = std::complex<float>;
using In = std::span<const Complex>;
using Out = std::span<Complex>;

using Fft = fft::Plan<float>;
static_assert(Plan<Fft, fft::Problem> && MadeFrom<Fft, fft::Problem>);
static_assert(requires(const Fft& plan, In in, Out out, Queue& queue, const Buffer& buffer) {
  plan.forward(in, out);
  plan.inverse(in, out);
  plan.enqueue_forward(queue, buffer, buffer);
  plan.enqueue_inverse(queue, buffer, buffer);
});

using Tensor = fft::TensorPlan<double>;
static_assert(Plan<Tensor, fft::TensorProblem> && MadeFrom<Tensor, fft::TensorProblem>);
static_assert(Runs<Tensor, const void*, void*>);

using Transpose = transpose::Plan<Complex>;
static_assert(Plan<Transpose, transpose::Problem> && MadeFrom<Transpose, transpose::Problem>);
static_assert(Runs<Transpose, In, Out> && Enqueues<Transpose, Buffer, Buffer>);

using Bank = filterbank::Plan;
static_assert(Plan<Bank, filterbank::Problem> && MadeFrom<Bank, filterbank::Problem>);
static_assert(Runs<Bank, std::span<const std::byte>, Out> && Enqueues<Bank, filterbank::Resident>);

using Stencil = stencil::Plan<float>;
static_assert(Plan<Stencil, stencil::Problem> && MadeFrom<Stencil, stencil::Update<float>, stencil::Problem>);
static_assert(Runs<Stencil, stencil::Grid<float>&, std::size_t> && Enqueues<Stencil, Buffer, Buffer, std::size_t>);

using image::Image;
static_assert(Plan<image::FlowPlan, image::FlowProblem> && MadeFrom<image::FlowPlan, image::FlowProblem>);
static_assert(Runs<image::FlowPlan, Image, Image, Image&> && Enqueues<image::FlowPlan, Image, Image, Image>);
static_assert(Plan<image::VariancePlan, image::VarianceProblem> &&
              MadeFrom<image::VariancePlan, image::VarianceProblem>);
static_assert(Runs<image::VariancePlan, Image, Image&> && Enqueues<image::VariancePlan, Image, Image>);
static_assert(Plan<image::OperatorPlan, image::OperatorProblem> &&
              MadeFrom<image::OperatorPlan, image::OperatorProblem>);
static_assert(Runs<image::OperatorPlan, Image, Image&> && Enqueues<image::OperatorPlan, Image, Image>);

using Nufft = nufft::Plan<float>;
static_assert(Plan<Nufft, nufft::Problem> && MadeFrom<Nufft, nufft::Problem>);
static_assert(Runs<Nufft, In, Out> && Enqueues<Nufft, Buffer, Buffer>);

static_assert(Plan<search::Plan, search::Problem> && MadeFrom<search::Plan, search::Problem>);
static_assert(Runs<search::Plan, std::span<const std::uint8_t>, std::span<float>> &&
              Enqueues<search::Plan, Buffer, Buffer>);

static_assert(Plan<sar::Plan, sar::Problem> && MadeFrom<sar::Plan, sar::Problem>);
static_assert(Runs<sar::Plan, In, Out> && Enqueues<sar::Plan, Buffer, Buffer>);

// A plan for several devices has neither a single device nor a single decision.
using Hybrid = fft::HybridPlan<float>;
static_assert(!Plan<Hybrid, fft::Problem>);
static_assert(requires(const Hybrid& plan) {
  { plan.problem() } -> std::same_as<const fft::Problem&>;
  { plan.devices() } -> std::same_as<const std::vector<Device>&>;
  { plan.flops() } -> std::same_as<double>;
  { plan.bytes() } -> std::same_as<double>;
  { plan.explain() } -> std::same_as<std::string>;
});

// Names with the same meaning are the same type.
static_assert(std::same_as<fft::Samples, filterbank::Samples>);
static_assert(std::same_as<sar::Window, filterbank::Window>);

// The same assertions about a host plan of any workload.
template <class P>
void expect_words(const P& plan, const std::string& workload) {
  SCOPED_TRACE(workload);
  EXPECT_TRUE(plan.device().is_host());
  EXPECT_TRUE(plan.kernels().empty()) << "the host compiles nothing";
  EXPECT_FALSE(plan.explain().empty());
  EXPECT_GE(plan.flops(), 0);
  EXPECT_GT(plan.bytes(), 0);
  EXPECT_FALSE(plan.decisions().empty());
  for (const planner::Decision& decision : plan.decisions()) {
    EXPECT_LT(decision.winner, decision.trials.size());
    EXPECT_FALSE(decision.problem.workload.empty());
  }
}

TEST(Face, EveryPlanHasTheSameMembers) {
  const planner::Options quick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  const Device device = host();
  expect_words(fft::plan<float>(device, {.shape = {96}, .batch = 3}, quick), "fft");
  expect_words(fft::tensor_plan<double>(device, {.axes = {{.length = 30, .input = 1, .output = 1}}}, quick), "tensor");
  expect_words(transpose::plan<Complex>(device, {.rows = 30, .columns = 20}, quick), "transpose");
  expect_words(filterbank::plan(device, {.channels = 16, .taps = 4}, quick), "filterbank");
  const auto mean = stencil::update<float>(1, [](auto u) { return 0.5f * (u(-1) + u(1)); });
  expect_words(stencil::plan(device, mean, {.shape = {100}}, quick), "stencil");
  expect_words(image::plan(device, image::FlowProblem{.rows = 40, .columns = 50}, quick), "flow");
  expect_words(image::plan(device, image::VarianceProblem{.rows = 40, .columns = 50}, quick), "variance");
  expect_words(
      image::plan(device, image::OperatorProblem{.input = {.rows = 40, .columns = 50}, .chain = {image::Gauss{1}}},
                  quick),
      "operators");
  expect_words(nufft::plan<float>(device, {.modes = {30, 20}}, quick), "nufft");
  expect_words(
      search::plan(
          device,
          {.band = {.channels = 8, .first_mhz = 1500, .step_mhz = -1, .interval = 1e-3}, .dms = {0, 10}, .times = 100},
          quick),
      "search");
  sar::Problem frame;
  frame.pulses = frame.samples = 256;
  frame.radar.pulse_s = 1e-6;
  frame.radar.beam_rad = 0.03;
  expect_words(sar::plan(device, frame, quick), "sar");
}

// The least traffic of a transform: input and output once each.
TEST(Face, LeastBytesOfATensor) {
  using fft::TensorKind;
  const auto bytes = [](TensorKind kind, std::vector<fft::RealKind> kinds) {
    return fft::tensor_plan<float>(
               host(),
               {.kind = kind,
                .axes = {{.length = 5, .input = 100, .output = 100}, {.length = 9, .input = 1, .output = 1}},
                .loops = {{.length = 2, .input = 1000, .output = 1000}},
                .real_kinds = std::move(kinds)},
               {.effort = Effort::quick})
        .bytes();
  };
  EXPECT_EQ(bytes(TensorKind::complex_forward, {}), 2 * 5 * 9 * 2 * 8);
  EXPECT_EQ(bytes(TensorKind::real_forward, {}), 2 * 5 * (9 * 4 + 5 * 8));
  EXPECT_EQ(bytes(TensorKind::real_inverse, {}), 2 * 5 * (9 * 4 + 5 * 8));
  EXPECT_EQ(bytes(TensorKind::real_to_real, {fft::RealKind::dct2, fft::RealKind::dct2}), 2 * 5 * 9 * 2 * 4);
}

TEST(Face, TensorPlansOfDevicesAreRefused) {
  for (const Device& device : test::accelerators()) {
    EXPECT_THROW(fft::tensor_plan<float>(device, {.axes = {{.length = 4, .input = 1, .output = 1}}}), Error);
  }
}

TEST(Face, UnsupportedSampleTypesAreRefused) {
  for (const Samples samples : {Samples::int4, Samples::float32}) {
    EXPECT_THROW(fft::plan<float>(host(), {.shape = {8}, .load_forward = {.samples = samples}}), Error);
  }
}

}  // namespace
}  // namespace ridge
