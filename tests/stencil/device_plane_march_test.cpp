// Tests the 3D plane kernel by itself, with small tiles, against the reference in double.
#include <gtest/gtest.h>

#include "device_support.hpp"
#include "stencil/device/plane_march/plane_march_kernel.hpp"
#include "support/worst.hpp"

namespace ridge::stencil::device_tests {
namespace {

template <class T>
double worst(const Device& device, const std::vector<std::size_t>& shape, const Borders& borders,
             PlaneMarchOptions options, int passes, const std::vector<Term>& terms = star(3, 1)) {
  const DeviceLayout place = padded_layout(shape, sizeof(T));
  const int lanes = static_cast<int>(device.limits().sub_group);
  options.shuffles = lanes != 0;
  if (lanes != 0) options.lanes = std::max(options.lanes, lanes / 2);  // two lines per sub-group
  options.march_planes = 9;
  const PlaneMarchKernel kernel{.weights = *weights_of(3, 1, terms),
                                .borders = borders,
                                .real = sizeof(T) == 4 ? "float" : "double",
                                .aligned = shape[2] % 4 == 0,
                                .options = options,
                                .chunk_planes = 9,
                                .side_planes = 5};
  EXPECT_EQ(kernel.refusal(place, device.limits()), "");
  const ridge::Kernel compiled = device.compile(kernel.source()).kernel("plane_march");
  std::vector<double> start = scattered(place.cells());
  for (double& value : start) value = static_cast<double>(static_cast<T>(value));
  const std::vector<double> expected = reference(start, shape, borders, terms, options.depth * passes);
  std::vector<T> field(place.field, static_cast<T>(std::nan("")));
  const auto at = [&](std::size_t row, std::size_t x) { return place.origin + row * place.pitch + x; };
  for (std::size_t row = 0; row < shape[0] * shape[1]; ++row) {
    for (std::size_t x = 0; x < shape[2]; ++x) field[at(row, x)] = static_cast<T>(start[row * shape[2] + x]);
  }
  Buffer a = device.buffer(field.size() * sizeof(T), {.name = "even"});
  Buffer b = device.buffer(field.size() * sizeof(T), {.name = "odd"});
  Queue queue = device.queue();
  queue.upload(std::span<const T>(field), a);
  queue.upload(std::span<const T>(field), b);
  for (int i = 0; i < passes; ++i) {
    std::vector<Argument> arguments{a, b};
    for (const Argument& scalar : kernel.scalars(place)) arguments.push_back(scalar);
    queue.launch(compiled, kernel.launch(place), arguments);
    std::swap(a, b);
  }
  queue.download(a, std::span<T>(field));
  queue.finish();
  ridge::test::Worst worst;
  for (std::size_t row = 0; row < shape[0] * shape[1]; ++row) {
    for (std::size_t x = 0; x < shape[2]; ++x)
      worst.add(std::abs(static_cast<double>(field[at(row, x)]) - expected[row * shape[2] + x]));
  }
  return worst.value();
}

class DevicePlaneMarch : public ridge::test::NeedsAccelerator<> {};

TEST_F(DevicePlaneMarch, EveryBorderMatchesTheReference) {
  using enum Border;
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const PlaneMarchOptions small{.depth = 2, .cells = 2, .rows = 1, .lines = 8, .lanes = 8};
    const PlaneMarchOptions patches{.depth = 2, .cells = 4, .rows = 2, .lines = 4, .lanes = 8};
    EXPECT_LT(worst<float>(device, {14, 17, 27}, Borders::all(fixed), small, 1), 1e-6);
    const Borders mixed{.low = {mirror, fixed, periodic}, .high = {fixed, mirror, periodic}};
    EXPECT_LT(worst<float>(device, {13, 18, 44}, mixed, patches, 2), 1e-6);
    const Borders other{.low = {periodic, mirror, mirror}, .high = {periodic, fixed, fixed}};
    EXPECT_LT(worst<double>(device, {11, 15, 27}, other, small, 1), 1e-14);
    const Borders third{.low = {mirror, periodic, fixed}, .high = {mirror, periodic, mirror}};
    EXPECT_LT(worst<double>(device, {11, 15, 27}, third, small, 1), 1e-14);
    // The row ends within a lane next to the stored cells.
    const PlaneMarchOptions shallow{.depth = 1, .cells = 4, .rows = 1, .lines = 4, .lanes = 8};
    for (const std::size_t width : {41u, 43u}) {
      EXPECT_LT(worst<float>(device, {6, 9, width}, Borders::all(fixed), shallow, 2), 1e-6) << width;
    }
  }
}

// The depths that variants offer; every kernel of a variant runs on a GPU in device_variants_test.
TEST_F(DevicePlaneMarch, EveryDepthMatchesTheReference) {
  using enum Border;
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const PlaneMarchOptions three{.depth = 3, .cells = 4, .rows = 4, .lines = 8, .lanes = 8};
    EXPECT_LT(worst<float>(device, {19, 39, 44}, Borders::all(fixed), three, 2), 2e-6);
    const PlaneMarchOptions four{.depth = 4, .cells = 2, .rows = 4, .lines = 8, .lanes = 16};
    const Borders mixed{.low = {mirror, fixed, periodic}, .high = {fixed, mirror, periodic}};
    EXPECT_LT(worst<double>(device, {19, 41, 43}, mixed, four, 2), 1e-14);
  }
}

// Six neighbours of equal weight are summed before they are multiplied.
TEST_F(DevicePlaneMarch, EvenWeightsMatchTheReference) {
  using enum Border;
  std::vector<Term> even;
  for (const Offset& offset : von_neumann(3, 1)) even.push_back({offset, offset == Offset{} ? 0.4 : 0.1});
  PlaneMarchKernel kernel{.weights = *weights_of(3, 1, even), .borders = {}, .real = "float", .options = {}};
  EXPECT_TRUE(kernel.even());
  kernel.weights = *weights_of(3, 1, star(3, 1));
  EXPECT_FALSE(kernel.even());
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const PlaneMarchOptions small{.depth = 2, .cells = 2, .rows = 1, .lines = 8, .lanes = 8};
    const PlaneMarchOptions patches{.depth = 2, .cells = 4, .rows = 2, .lines = 4, .lanes = 8};
    EXPECT_LT(worst<double>(device, {14, 17, 27}, Borders::all(fixed), small, 2, even), 1e-14);
    const Borders mixed{.low = {mirror, fixed, periodic}, .high = {mirror, mirror, periodic}};
    EXPECT_LT(worst<float>(device, {13, 18, 44}, mixed, patches, 2, even), 1e-6);
  }
}

}  // namespace
}  // namespace ridge::stencil::device_tests
