// Complex transforms on every accelerator of this machine: lengths, route families, layouts, errors.
#include "device_support.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass/text/codegen.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/split.hpp"
#include "fft/device/route.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::on_device {
extern const RouteFamily kOnePass;
}

namespace ridge::fft::device_tests {
namespace {

class DeviceLengths : public OnDevices, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(DeviceLengths, MatchTheReferenceInBothDirections) {
  const std::size_t n = GetParam();
  for (const Device& device : accelerators()) {
    EXPECT_LE(gated_error<float>(device, n, 5, "", false), 1) << n << " forward on " << device.id();
    EXPECT_LE(gated_error<float>(device, n, 5, "", true), 1) << n << " inverse on " << device.id();
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, DeviceLengths, ::testing::Values(1, 2, 3, 5, 8, 13, 16, 17, 60, 64, 143, 1000));

struct Family {
  const char* variant;
  std::size_t n;
};
class DeviceFamilies : public OnDevices, public ::testing::WithParamInterface<Family> {};

TEST_P(DeviceFamilies, MatchTheReferenceInBothDirections) {
  const auto [variant, n] = GetParam();
  for (const Device& device : accelerators()) {
    EXPECT_LE(gated_error<float>(device, n, 3, variant, false), 1) << variant << " forward on " << device.id();
    EXPECT_LE(gated_error<float>(device, n, 3, variant, true), 1) << variant << " inverse on " << device.id();
  }
}

INSTANTIATE_TEST_SUITE_P(Names, DeviceFamilies,
                         ::testing::Values(Family{"rader", 101}, Family{"bluestein", 74}, Family{"bluestein", 101},
                                           Family{"rader", 1009}, Family{"bluestein", 1019}, Family{"two_pass", 1024},
                                           Family{"two_pass", 1500}, Family{"long_bluestein", 1031},
                                           Family{"fused_bluestein", 1031}),
                         [](const auto& family) { return family.param.variant + std::to_string(family.param.n); });

using DeviceFft = OnDevices;

TEST_F(DeviceFft, DoubleKeepsItsPrecision) {
  for (const Device& device : accelerators()) {
    if (!device.limits().float64) continue;
    for (const std::size_t n : {16, 120, 101}) {
      for (const bool inverse : {false, true}) {
        EXPECT_LE(gated_error<double>(device, n, 3, "", inverse), 1)
            << n << (inverse ? " inverse" : "") << " on " << device.id();
      }
    }
  }
}

// The largest error over the lines of a packed batch by one route, relative to the limit.
double gated_error_of(const Device& device, const on_device::Route& route, std::size_t n, std::size_t batch,
                      bool inverse) {
  const on_device::CompiledRoute compiled(device, route, false);
  const auto points = reference::random_points<float>(n * batch, 3);
  std::vector<std::complex<float>> result(n * batch);
  Queue queue = device.queue();
  const Buffer in = device.buffer(n * batch * 8, {.name = "in"}), out = device.buffer(n * batch * 8, {.name = "out"});
  queue.upload(std::span<const std::complex<float>>(points), in);
  compiled.enqueue(queue, in, out);
  queue.download(out, std::span<std::complex<float>>(result));
  queue.finish();
  return error_of_lines(points, result, n, reference::error_gate<float>(n), inverse);
}

double gated_error_of(const Device& device, const on_device::PassDesign& design, std::size_t n, std::size_t batch,
                      bool inverse) {
  on_device::Route route;
  route.outer = batch;
  route.steps.push_back({.design = on_device::pass_step(design), .lines = 1, .from_stride = n, .to_stride = n});
  return gated_error_of(device, route, n, batch, inverse);
}

// Three passes are planned only for lengths too long for a test, so a short one is built here.
TEST_F(DeviceFft, ThreePassesMatchTheReference) {
  using namespace on_device;
  const std::size_t n = 4 * 6 * 10, batch = 3;
  for (const Device& device : accelerators()) {
    AxisProblem problem;
    problem.length = n;
    problem.counts = {batch};
    problem.in.line = problem.out.line = {n};
    Route route;
    route.outer = batch;
    route.at_once = 2;  // the last launch is shorter
    const SplitResult made = split_passes(device, problem, {.factors = {4, 6, 10}, .width = 8}, route.steps);
    ASSERT_EQ(made.refusal, "");
    ASSERT_EQ(route.steps.size(), 3u);
    route.scratch = made.between;
    EXPECT_LE(gated_error_of(device, route, n, batch, false), 1);
  }
}

// Lines too long for local memory are exchanged in parts. Here short ones are, with one and several butterflies per
// item.
TEST_F(DeviceFft, ExchangesInPartsMatchTheReference) {
  using namespace on_device;
  struct Shape {
    std::vector<std::size_t> radices;
    std::size_t threads, parts;
    Direction direction;
  };
  for (const Shape& shape :
       {Shape{{8, 8, 4}, 32, 2, Direction::forward}, Shape{{4, 4, 8}, 16, 4, Direction::inverse}}) {
    std::size_t n = 1;
    for (const std::size_t radix : shape.radices) n *= radix;
    for (const Device& device : accelerators()) {
      AxisProblem problem;
      problem.direction = shape.direction;
      problem.length = n;
      problem.counts = {3};
      problem.in.line = problem.out.line = {n};
      PassDesign design = plain_pass(problem);
      design.radices = shape.radices;
      design.threads = shape.threads;
      design.split = true;
      design.parts = shape.parts;
      EXPECT_LE(local_bytes_of(design), n * sizeof(float) / shape.parts * 5 / 4);
      EXPECT_LE(gated_error_of(device, design, n, 3, shape.direction == Direction::inverse), 1)
          << n << " in " << shape.parts << " on " << device.id();
    }
  }
}

// If sub-groups can shuffle, squares of points are exchanged without local memory.
TEST_F(DeviceFft, ExchangesByShufflesMatchTheReference) {
  using namespace on_device;
  std::size_t ran = 0;
  for (const Device& device : accelerators()) {
    for (const std::size_t n : {16, 64, 256, 1024}) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        AxisProblem problem;
        problem.direction = direction;
        problem.length = n;
        problem.counts = {37};
        problem.in.line = problem.out.line = {n};
        std::vector<Route> routes;
        kOnePass.list(device, problem, routes);
        for (const Route& route : routes) {
          if (route.steps.empty()) continue;
          const auto& design = *pass_of(route.steps.front());
          if (!design.shuffles) continue;
          EXPECT_EQ(local_bytes_of(design), 0u);
          EXPECT_LE(gated_error_of(device, design, n, 37, direction == Direction::inverse), 1)
              << n << " on " << device.id();
          ++ran;
        }
      }
    }
  }
  if (ran == 0) GTEST_SKIP() << "no device here has sub-groups that shuffle";
  EXPECT_EQ(ran % 8, 0u);
}

// A device with 48 KiB still holds 16384 points in registers.
TEST(Parts, AllowOnePassForTwiceTheLocalMemory) {
  using namespace on_device;
  auto pretended = std::make_shared<test::Hopper>();
  pretended->info.limits.local_memory = 48 << 10;
  const Device device(pretended);
  AxisProblem problem;
  problem.length = 16384;
  problem.counts = {64};
  problem.in.line = problem.out.line = {problem.length};
  std::vector<Route> routes;
  kOnePass.list(device, problem, routes);
  ASSERT_FALSE(routes.empty());
  ASSERT_EQ(routes.front().candidate.refusal, "");
  EXPECT_GT(pass_of(routes.front().steps.front())->parts, 1u);
}

TEST_F(DeviceFft, BuffersStayOnTheDevice) {
  const std::size_t n = 64, batch = 4;
  for (const Device& device : accelerators()) {
    const Plan<float> plan(device, {.shape = {n}, .batch = batch, .scale_inverse = 1.0 / n}, quick());
    Queue queue = device.queue();
    const Buffer a = device.buffer(n * batch * 8, {.name = "a"}), b = device.buffer(n * batch * 8, {.name = "b"});
    const auto points = reference::random_points<float>(n * batch, 5);
    std::vector<std::complex<float>> back(n * batch);
    queue.upload(std::span<const std::complex<float>>(points), a);
    plan.enqueue_forward(queue, a, b);
    plan.enqueue_inverse(queue, b, a);
    queue.download(a, std::span<std::complex<float>>(back));
    queue.finish();
    EXPECT_LE(distance(back, points), 2 * reference::error_gate<float>(n)) << device.id();
  }
}

TEST_F(DeviceFft, InPlaceIsTheSame) {
  for (const Device& device : accelerators()) {
    for (const std::size_t n : {8, 360}) {
      const auto points = reference::random_points<float>(n * 3, 7);
      const Plan<float> apart(device, {.shape = {n}, .batch = 3}, quick());
      const Plan<float> inside(device, {.shape = {n}, .batch = 3, .in_place = true}, quick());
      const auto expected = run(apart, points, false, n * 3);
      auto data = points;
      inside.forward(std::span<std::complex<float>>(data));
      EXPECT_LE(distance(data, expected), reference::error_gate<float>(n)) << n << " on " << device.id();
    }
  }
}

// Any strides between points and lines; the gaps stay unchanged.
TEST_F(DeviceFft, StridesKeepTheGaps) {
  const std::size_t n = 30, batch = 4;
  for (const Device& device : accelerators()) {
    const Problem problem{
        .shape = {n}, .batch = batch, .input = {.axes = {5}, .batch = 1}, .output = {.axes = {2}, .batch = 70}};
    const Plan<float> plan(device, problem, quick());
    const auto in = reference::random_points<float>(plan.input_size(), 9);
    const std::complex<float> mark(7, -7);
    std::vector<std::complex<float>> out(plan.output_size(), mark);
    plan.forward(std::span<const std::complex<float>>(in), std::span<std::complex<float>>(out));
    std::vector<bool> used(out.size());
    for (std::size_t line = 0; line < batch; ++line) {
      std::vector<std::complex<float>> points(n);
      for (std::size_t i = 0; i < n; ++i) points[i] = in[line + 5 * i];
      const auto expected = reference::dft(points, false);
      EXPECT_LE(reference::relative_error(out.data() + 70 * line, 2, expected), reference::error_gate<float>(n));
      for (std::size_t i = 0; i < n; ++i) used[70 * line + 2 * i] = true;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (used[i]) continue;
      ASSERT_EQ(out[i], mark) << "element " << i << " on " << device.id();
    }
  }
}

template <class T>
void check_shape(const Device& device, const std::vector<std::size_t>& shape, const std::string& variant = "") {
  const std::size_t batch = 2, points = product(shape);
  const Plan<T> plan(device, {.shape = shape, .batch = batch}, only(variant));
  const auto in = reference::random_points<T>(points * batch, 11);
  for (const bool inverse : {false, true}) {
    const auto out = run(plan, in, inverse, points * batch);
    for (std::size_t b = 0; b < batch; ++b) {
      EXPECT_LE(distance(part(out, b * points, points), nd_dft(wide(part(in, b * points, points)), shape, inverse)),
                gate_of(plan, points))
          << shape.size() << " axes" << (inverse ? ", inverse" : "") << " on " << device.id();
    }
  }
}

TEST_F(DeviceFft, SeveralAxesMatchTheReference) {
  for (const Device& device : accelerators()) {
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{12, 20}, {64, 32}, {6, 5, 8}, {1, 16, 1}}) {
      check_shape<float>(device, shape);
    }
    if (device.limits().float64) check_shape<double>(device, {6, 20});
  }
}

// Missing lines of a group must not read past the tables either; the checking mode of PoCL detects it.
TEST_F(DeviceFft, PartialGroupsStayInTheirTables) {
  for (const Device& device : accelerators()) {
    // The batch is the fastest dimension, so that the last one, which no modulo limits, indexes the columns.
    const std::size_t n = 1050, batch = 5;
    const Problem problem{
        .shape = {n}, .batch = batch, .input = {.axes = {batch}, .batch = 1}, .output = {.axes = {batch}, .batch = 1}};
    const Plan<float> plan(device, problem, only("two_pass"));
    const auto in = reference::random_points<float>(n * batch, 13);
    const auto out = run(plan, in, false, n * batch);
    LineErrors errors(n, gate_of(plan, n));
    for (std::size_t line = 0; line < batch; ++line) {
      std::vector<std::complex<float>> points(n);
      for (std::size_t i = 0; i < n; ++i) points[i] = in[line + batch * i];
      errors.add(reference::relative_error(out.data() + line, batch, reference::dft(points, false)));
    }
    EXPECT_LE(errors.value(), 1) << device.id();
    // A window over the whole shape with short rows moved as runs: the last row is at the end of its table.
    const std::vector<std::size_t> shape{7, 10};
    Problem windowed{.shape = shape};
    windowed.load_forward.window.resize(70);
    windowed.store_forward.multiply.resize(70);
    for (std::size_t i = 0; i < 70; ++i) {
      windowed.load_forward.window[i] = 0.5 + 0.01 * static_cast<double>(i);
      windowed.store_forward.multiply[i] = std::polar(1.0, 0.1 * static_cast<double>(i));
    }
    const Plan<float> shaped(device, windowed, quick());
    const auto points = reference::random_points<float>(70, 15);
    auto expected = wide(points);
    for (std::size_t i = 0; i < 70; ++i)
      expected[i] *= static_cast<double>(static_cast<float>(windowed.load_forward.window[i]));
    expected = nd_dft(expected, shape, false);
    for (std::size_t i = 0; i < 70; ++i) expected[i] *= windowed.store_forward.multiply[i];
    // One rounding by the window and one by the factors, besides the transform's own.
    const double factors = 0.6 * std::sqrt(2.0) * static_cast<double>(std::numeric_limits<float>::epsilon());
    EXPECT_LE(distance(run(shaped, points, false, 70), expected), gate_of(shaped, 70) + factors) << device.id();
  }
}

// Columns too long for an artificially small work-group: two passes with interleaved columns.
TEST_F(DeviceFft, LongColumnsTakeTwoPasses) {
  for (const Device& device : accelerators()) {
    const std::vector<std::size_t> shape{1024, 6};
    check_shape<float>(device, shape, "two_pass");
    const Plan<float> plan(device, {.shape = shape}, only("two_pass"));
    EXPECT_NE(plan.explain().find("two_pass(factors="), std::string::npos);
  }
}

TEST_F(DeviceFft, RefusesInvalidBuffers) {
  for (const Device& device : accelerators()) {
    const Plan<float> plan(device, {.shape = {16}}, quick());
    Queue queue = device.queue();
    const Buffer a = device.buffer(16 * 8, {.name = "a"}), small = device.buffer(15 * 8, {.name = "small"});
    EXPECT_THROW(plan.enqueue_forward(queue, a, small), Error);
    EXPECT_THROW(plan.enqueue_forward(queue, small, a), Error);
    EXPECT_THROW(plan.enqueue_forward(queue, a, a), Error) << "not planned in place";
    EXPECT_THROW(plan.enqueue_forward(queue, a, Buffer()), Error);
    std::vector<std::complex<float>> line(15);
    EXPECT_THROW(plan.forward(std::span<const std::complex<float>>(line), std::span<std::complex<float>>(line)), Error);
  }
  const Plan<float> on_host(host(), {.shape = {16}}, quick());
  Queue queue = host().queue();
  const Buffer a = host().buffer(128), b = host().buffer(128);
  EXPECT_THROW(on_host.enqueue_forward(queue, a, b), Error) << "the host needs spans";
}

TEST_F(DeviceFft, ChoosesByMeasurementAndExplains) {
  const Device device = accelerators().front();
  const Plan<float> plan(device, {.shape = {64}, .batch = 8},
                         {.most_trials = 2, .use_wisdom = false, .save_wisdom = false});
  ASSERT_EQ(plan.decisions().size(), 1u);
  EXPECT_EQ(plan.decisions()[0].source, planner::Source::measurement);
  const std::string text = plan.explain();
  for (const char* word : {"one_pass(radices=", "needs at least 1024 points, got 64", "measured"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  }
}

TEST_F(DeviceFft, ShowsTheKernelsItRuns) {
  const Plan<float> plan(accelerators().front(), {.shape = {60}, .batch = 8}, quick());
  ASSERT_EQ(plan.kernels().size(), 1u);
  EXPECT_NE(plan.kernels()[0].text.find("// 60 points, forward"), std::string::npos);
  EXPECT_TRUE((Plan<float>(host(), {.shape = {60}}, quick()).kernels().empty()));
}

TEST_F(DeviceFft, UnknownVariantsAreErrors) {
  EXPECT_THROW((Plan<float>(accelerators().front(), {.shape = {64}}, only("nine_pass"))), Error);
  EXPECT_THROW((Plan<float>(accelerators().front(), {.shape = {64}}, only("rader"))), Error) << "64 is not a prime";
}

}  // namespace
}  // namespace ridge::fft::device_tests
