// Tests the 2D row kernel by itself against the reference in double.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device_support.hpp"
#include "stencil/device/row_march/row_march_kernel.hpp"
#include "support/worst.hpp"

namespace ridge::stencil::device_tests {
namespace {

template <class T>
const char* real_name() {
  return sizeof(T) == 4 ? "float" : "double";
}

RowMarchPass make(const std::vector<Term>& terms, const Borders& borders, const char* real, const DeviceLayout& layout,
                  RowMarchOptions options, const Device& device, int rows) {
  const int lanes = static_cast<int>(device.limits().sub_group);
  options.shuffles = lanes != 0;
  options.march_rows = rows;
  if (lanes != 0) options.lanes = lanes;
  if (lanes == 0) options.sub_groups = 1;
  RowMarchKernel kernel{.weights = *weights_of(2, 1, terms), .borders = borders, .real = real, .options = options};
  kernel.aligned = layout.width() % 4 == 0;
  RowMarchPass pass{.interior = kernel, .frame = kernel, .interior_rows = rows, .frame_rows = rows};
  pass.frame.frame = true;
  pass.frame.options.march_rows = std::max(rows, kernel.reach_y());
  return pass;
}

void launch(Queue& queue, const ridge::Kernel& kernel, const Launch& shape, const Buffer& in, const Buffer& out,
            const std::vector<Argument>& scalars) {
  std::vector<Argument> arguments{in, out};
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  queue.launch(kernel, shape, arguments);
}

// Largest difference from the reference after `passes` launches.
template <class T>
double worst(const Device& device, const std::vector<std::size_t>& shape, const Borders& borders,
             const std::vector<Term>& terms, const RowMarchOptions& options, int passes = 1) {
  const DeviceLayout layout = padded_layout(shape, sizeof(T));
  const RowMarchPass pass = make(terms, borders, real_name<T>(), layout, options, device, 20);
  EXPECT_EQ(pass.refusal(layout), "");
  const ridge::Kernel frame = device.compile(pass.frame.source()).kernel(pass.frame.name());
  const ridge::Kernel interior = device.compile(pass.interior.source()).kernel(pass.interior.name());
  const std::vector<double> start = scattered(layout.cells());
  std::vector<double> rounded = start;
  for (double& value : rounded) value = static_cast<double>(static_cast<T>(value));
  const std::vector<double> expected = reference(rounded, shape, borders, terms, options.depth * passes);
  std::vector<T> field(layout.field, static_cast<T>(std::nan("")));  // NaN, so that wrong reads are noticed
  for (std::size_t y = 0; y < shape[0]; ++y) {
    for (std::size_t x = 0; x < shape[1]; ++x) {
      field[layout.origin + y * layout.pitch + x] = static_cast<T>(start[y * shape[1] + x]);
    }
  }
  Buffer a = device.buffer(field.size() * sizeof(T), {.name = "even"});
  Buffer b = device.buffer(field.size() * sizeof(T), {.name = "odd"});
  Queue queue = device.queue();
  queue.upload(std::span<const T>(field), a);
  queue.upload(std::span<const T>(field), b);
  for (int i = 0; i < passes; ++i) {
    launch(queue, frame, pass.frame_launch(layout), a, b, pass.frame_scalars(layout));
    if (pass.has_interior(layout)) {
      launch(queue, interior, pass.interior_launch(layout), a, b, pass.interior_scalars(layout));
    }
    std::swap(a, b);
  }
  queue.download(a, std::span<T>(field));
  queue.finish();
  ridge::test::Worst worst;
  for (std::size_t y = 0; y < shape[0]; ++y) {
    for (std::size_t x = 0; x < shape[1]; ++x)
      worst.add(
          std::abs(static_cast<double>(field[layout.origin + y * layout.pitch + x]) - expected[y * shape[1] + x]));
  }
  return worst.value();
}

class DeviceRowMarch : public ridge::test::NeedsAccelerator<> {};

using enum Border;

// Small strips: every kernel is compiled, and PoCL's compile time grows with the unrolled code.
constexpr RowMarchOptions kSmall{.depth = 2, .cells = 2, .prefetch = 1, .lanes = 12};

TEST_F(DeviceRowMarch, EveryBorderMatchesTheReference) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    for (const Borders& borders :
         {Borders::all(fixed), Borders::all(mirror), Borders::all(periodic), sides(mirror, fixed, fixed, mirror)}) {
      EXPECT_LT(worst<float>(device, {51, 77}, borders, star(2, 1), kSmall, 2), 1e-6) << to_string(borders.low[0]);
    }
  }
}

// Prefetched rows in registers, or in local memory with lanes that hold more than a vector.
TEST_F(DeviceRowMarch, PrefetchedRowsInRegistersOrLocalMemory) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    RowMarchOptions options = kSmall;
    options.ring = false;
    EXPECT_LT(worst<double>(device, {33, 60}, sides(fixed, mirror, periodic, periodic), star(2, 1), options), 1e-14);
    options = {.depth = 3, .cells = 4, .prefetch = 2, .lanes = 8};
    EXPECT_LT(worst<double>(device, {41, 60}, sides(fixed, fixed, mirror, mirror), star(2, 1), options), 1e-14);
  }
}

TEST_F(DeviceRowMarch, BoxesAndWideStars) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    EXPECT_LT(worst<float>(device, {35, 61}, sides(mirror, mirror, fixed, mirror), box(2, 1), kSmall), 1e-6);
    const RowMarchOptions wide{.depth = 1, .cells = 4, .prefetch = 1, .lanes = 8};
    EXPECT_LT(worst<float>(device, {35, 61}, sides(mirror, fixed, mirror, fixed), star(2, 3), wide, 2), 2e-6);
  }
}

// The depths that variants offer, by the same kernels without sub-groups on PoCL; the grid has an interior for each. A
// GPU runs every kernel of a variant in device_variants_test.
TEST_F(DeviceRowMarch, EveryDepthMatchesTheReference) {
  struct Case {
    RowMarchOptions options;
    bool float64;
  };
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    for (const Case& one : {Case{{.depth = 4, .cells = 4, .prefetch = 2, .lanes = 8}, false},
                            {{.depth = 8, .cells = 2, .prefetch = 1, .lanes = 16}, true},
                            {{.depth = 12, .cells = 4, .prefetch = 1, .lanes = 12}, false}}) {
      // PoCL compiles the deepest kernel for ten seconds.
      if (one.options.depth == 12 && device.limits().sub_group == 0 && std::getenv("RIDGE_SLOW") == nullptr) continue;
      const Borders borders = one.options.depth == 8 ? sides(mirror, fixed, periodic, periodic) : Borders::all(fixed);
      if (one.float64) {
        EXPECT_LT(worst<double>(device, {70, 131}, borders, star(2, 1), one.options, 2), 1e-14) << one.options.depth;
      } else {
        EXPECT_LT(worst<float>(device, {70, 132}, borders, star(2, 1), one.options, 2), 4e-6) << one.options.depth;
      }
    }
  }
}

// The row ends within a lane next to the stored cells.
TEST_F(DeviceRowMarch, RowsThatEndWithinALane) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const RowMarchOptions options{.depth = 1, .cells = 4, .prefetch = 1, .lanes = 8};
    for (const std::size_t width : {41u, 42u, 43u}) {
      EXPECT_LT(worst<float>(device, {9, width}, sides(fixed, mirror, fixed, fixed), star(2, 1), options, 2), 1e-6)
          << width;
    }
  }
}

// If the interior is empty, the frame covers the whole grid.
TEST_F(DeviceRowMarch, GridsWithoutInterior) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    EXPECT_LT(worst<float>(device, {4, 17}, Borders::all(periodic), star(2, 1), kSmall, 2), 1e-6);
  }
}

TEST(RowMarchPass, RefusesUnsupportedProblems) {
  const RowMarchKernel kernel{
      .weights = *weights_of(2, 1, star(2, 3)), .borders = {}, .real = "float", .options = {.depth = 2, .cells = 2}};
  RowMarchPass pass{.interior = kernel, .frame = kernel};
  EXPECT_NE(pass.refusal(padded_layout({100, 100}, 4)).find("radius 3"), std::string::npos);
  pass.interior.options.cells = pass.frame.options.cells = 4;
  EXPECT_EQ(pass.refusal(padded_layout({100, 100}, 4)), "");
  EXPECT_NE(pass.refusal(padded_layout({100, 20}, 4)).find("shorter than"), std::string::npos);
  EXPECT_NE(pass.refusal(padded_layout({5, 100}, 4)).find("fewer than"), std::string::npos);
}

// Dividing by a weight must leave enough range for ordinary fields.
TEST(Scaling, StaysInRange) {
  const auto heat = *weights_of(2, 1, star(2, 1));
  EXPECT_TRUE(scaling_of(heat, 12, 38).late_first);
  const auto faint = *weights_of(2, 1, std::vector<Term>{{{0, -1, 0}, 1e-9}, {{0, 1, 0}, 1e-9}, {{0, -1, 1}, 1}});
  EXPECT_EQ(scaling_of(faint, 8, 38).unit, -1);
}

}  // namespace
}  // namespace ridge::stencil::device_tests
