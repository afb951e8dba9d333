// A new route for an axis on a device, added as HACKING describes: one file that defines its RouteFamily, and its line
// in the list of families.
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "device_support.hpp"
#include "fft/device/route.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::on_device {
namespace {

// The transform by definition: one work-item per value, with a table of roots only.
KernelSource sum_text(std::size_t n, Direction direction) {
  return {.name = "fft plain sum",
          .text = fmt::format("KERNEL WORK_GROUP(64, 1, 1) void plain_sum(GLOBAL const float2* in, GLOBAL float2* out, "
                              "GLOBAL const float2* roots, ulong in_offset, ulong out_offset, uint lines) {{\n"
                              "  const uint number = GLOBAL_ID(0);\n"
                              "  if (number >= lines * {0}u) return;\n"
                              "  GLOBAL const float2* from = in + (in_offset + (ulong)(number / {0}u) * {0}ul);\n"
                              "  float re = 0, im = 0;\n"
                              "  for (uint j = 0; j < {0}u; ++j) {{\n"
                              "    const float2 w = roots[j * (number % {0}u) % {0}u], x = from[j];\n"
                              "    re += x.x * w.x - x.y * {1} * w.y;\n"
                              "    im += x.x * {1} * w.y + x.y * w.x;\n"
                              "  }}\n"
                              "  out[out_offset + number] = make_float2(re, im);\n"
                              "}}\n",
                              n, direction == Direction::forward ? "1.0f" : "-1.0f")};
}

class CompiledSum final : public CompiledStep {
 public:
  CompiledSum(const Device& device, std::size_t n, Direction direction)
      : n_(n), kernel_(device.compile(sum_text(n, direction)).kernel("plain_sum")) {
    const auto exact = reference::roots_of_unity<double>(n, -1);
    std::vector<std::complex<float>> roots;
    for (const auto& root : exact) roots.emplace_back(static_cast<float>(root.re), static_cast<float>(root.im));
    roots_ = device.buffer(n * sizeof(roots[0]), {.name = "roots"});
    Queue queue = device.queue();
    queue.upload(std::span<const std::complex<float>>(roots), roots_);
    queue.finish();
  }
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override {
    queue.launch(kernel_, {.groups = {(lines * n_ + 63) / 64}, .items = {64}},
                 {in, out, roots_, in_offset, out_offset, static_cast<std::uint32_t>(lines)});
  }
  std::string describe() const override { return fmt::format("{} points by the definition", n_); }

 private:
  std::size_t n_;
  Kernel kernel_;
  Buffer roots_;
};

class SumStep final : public StepDesign {
 public:
  SumStep(std::size_t n, Direction direction) : n_(n), direction_(direction) {}
  std::vector<KernelSource> kernels() const override { return {sum_text(n_, direction_)}; }
  std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& /*step*/) const override {
    return std::make_unique<CompiledSum>(device, n_, direction_);
  }

 private:
  std::size_t n_;
  Direction direction_;
};

void list_plain_sum(const Device& /*device*/, const AxisProblem& problem, std::vector<Route>& routes) {
  const bool packed = problem.counts.size() == 1 && problem.in.point == 1 && problem.in.line[0] == problem.length &&
                      problem.out.point == 1 && problem.out.line[0] == problem.length;
  if (problem.kind == Kind::real || problem.float64 || problem.in_place || !packed) {
    routes.push_back(refused("plain_sum", "needs packed lines of complex float points"));
    return;
  }
  Route route;
  route.outer = problem.counts.back();
  route.steps.push_back({.design = std::make_shared<SumStep>(problem.length, problem.direction),
                         .from_stride = problem.length,
                         .to_stride = problem.length});
  route.candidate = described(problem, "plain_sum", route.steps, 0.01);
  routes.push_back(std::move(route));
}

}  // namespace

extern const RouteFamily kPlainSum{.variants = {"plain_sum"}, .list = list_plain_sum};

}  // namespace ridge::fft::on_device

namespace ridge::fft::device_tests {
namespace {

using namespace on_device;

std::vector<const RouteFamily*> with_one_more() {
  std::vector<const RouteFamily*> list(route_families().begin(), route_families().end());
  list.push_back(&kPlainSum);
  return list;
}

TEST(NewFamily, IsListedBesideTheOthersAndFoundByItsName) {
  const Device hopper = test::hopper();
  AxisProblem problem;
  problem.length = 12;
  problem.counts = {5};
  problem.in.line = problem.out.line = {12};
  const auto families = with_one_more();
  const auto routes = list_routes(hopper, problem, {}, families);
  EXPECT_GT(routes.size(), 1u);
  EXPECT_EQ(routes.back().candidate.variant, "plain_sum");
  const auto found = route_named(hopper, problem, routes.back().candidate.name(), families);
  ASSERT_TRUE(found);
  EXPECT_EQ(kernels_of(*found).at(0).text, kernels_of(routes.back()).at(0).text);
  EXPECT_FALSE(route_named(hopper, problem, routes.back().candidate.name()))
      << "the library's registry does not list it";
}

class NewFamilyOnDevices : public OnDevices {};

TEST_F(NewFamilyOnDevices, RunsLikeAnyRoute) {
  const std::size_t n = 12, batch = 5;
  for (const Device& device : accelerators()) {
    for (const bool inverse : {false, true}) {
      AxisProblem problem;
      problem.direction = inverse ? Direction::inverse : Direction::forward;
      problem.length = n;
      problem.counts = {batch};
      problem.in.line = problem.out.line = {n};
      const Route route = list_routes(device, problem, {}, with_one_more()).back();
      ASSERT_EQ(route.candidate.variant, "plain_sum");
      const CompiledRoute compiled(device, route, false);
      EXPECT_EQ(compiled.describe(), "12 points by the definition");
      const auto points = reference::random_points<float>(n * batch, 3);
      std::vector<std::complex<float>> result(n * batch);
      Queue queue = device.queue();
      const Buffer in = device.buffer(n * batch * 8, {.name = "in"}),
                   out = device.buffer(n * batch * 8, {.name = "out"});
      queue.upload(std::span<const std::complex<float>>(points), in);
      compiled.enqueue(queue, in, out);
      queue.download(out, std::span<std::complex<float>>(result));
      queue.finish();
      LineErrors errors(n, 2 * reference::error_gate<float>(n));  // a direct sum is less accurate than an FFT
      for (std::size_t line = 0; line < batch; ++line) {
        const auto expected = reference::dft(part(points, line * n, n), inverse);
        errors.add(reference::relative_error(result.data() + line * n, 1, expected));
      }
      EXPECT_LE(errors.value(), 1) << device.id();
    }
  }
}

// No two families share a name, and every route has its family's name.
TEST(RouteFamilies, NamesStartWithTheirFamily) {
  const Device hopper = test::hopper();
  std::set<std::string_view> names;
  for (const RouteFamily* family : route_families()) {
    for (const std::string_view name : family->variants) {
      if (!name.empty()) {
        EXPECT_TRUE(names.insert(name).second) << name;
      }
    }
  }
  for (const std::size_t n : {16, 101, 1031, 4096, 65536, 1 << 20}) {
    AxisProblem problem;
    problem.length = n;
    problem.counts = {64};
    problem.in.line = problem.out.line = {n};
    for (const Route& route : list_routes(hopper, problem)) {
      EXPECT_TRUE(names.contains(route.candidate.variant)) << route.candidate.variant;
      if (!route.candidate.refusal.empty()) continue;
      const auto again = route_named(hopper, problem, route.candidate.name());
      ASSERT_TRUE(again) << route.candidate.name();
      EXPECT_EQ(again->candidate.name(), route.candidate.name());
    }
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests
