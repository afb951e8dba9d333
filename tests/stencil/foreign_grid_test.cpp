// Tests grids over a caller's memory: every layout of cells on every variant, without touching an element between them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/foreign.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/support.hpp"
#include "support/devices.hpp"

namespace ridge::stencil {
namespace {

constexpr float kGap = 12345;

// A caller's array: marker values in the gaps, cells by strides.
struct Caller {
  std::vector<float> memory;
  std::size_t first;  // index of cell 0 of field 0
  std::vector<std::size_t> shape;
  std::size_t fields;
  std::vector<std::ptrdiff_t> strides;  // fields, then the axes

  Caller(std::vector<std::size_t> sizes, std::size_t count, std::vector<std::ptrdiff_t> steps)
      : shape(std::move(sizes)), fields(count), strides(std::move(steps)) {
    std::ptrdiff_t low = 0, high = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      const auto reach = static_cast<std::ptrdiff_t>(length(axis) - 1) * strides[axis];
      (reach < 0 ? low : high) += reach;
    }
    memory.assign(static_cast<std::size_t>(high - low) + 9, kGap);
    first = static_cast<std::size_t>(4 - low);
  }
  std::size_t length(std::size_t axis) const { return axis == 0 ? fields : shape[axis - 1]; }
  Grid<float> grid() { return Grid<float>::over(memory.data() + first, shape, fields, strides); }

  // Copies values of a packed grid to the cells, using only the strides.
  void set(const Grid<float>& packed) {
    each([&](std::size_t index, float& cell) { cell = packed.all()[index]; });
  }
  Grid<float> get() {
    Grid<float> packed(shape, fields);
    each([&](std::size_t index, float& cell) { packed.all()[index] = cell; });
    return packed;
  }
  std::size_t gaps_left() const { return static_cast<std::size_t>(std::count(memory.begin(), memory.end(), kGap)); }

 private:
  template <class Visit>
  void each(const Visit& visit) {
    std::size_t count = 1;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) count *= length(axis);
    for (std::size_t index = 0; index < count; ++index) {
      std::size_t rest = index;
      auto at = static_cast<std::ptrdiff_t>(first);
      for (std::size_t axis = strides.size(); axis-- > 0; rest /= length(axis))
        at += static_cast<std::ptrdiff_t>(rest % length(axis)) * strides[axis];
      visit(index, memory[static_cast<std::size_t>(at)]);
    }
  }
};

// Packed, with a pitch, as structures, transposed, reversed, every second cell.
std::vector<Caller> layouts(const std::vector<std::size_t>& shape, std::size_t fields) {
  const auto f = static_cast<std::ptrdiff_t>(fields), x = static_cast<std::ptrdiff_t>(shape.back());
  if (shape.size() == 1) return {{shape, fields, {x, 1}}, {shape, fields, {1, f}}, {shape, fields, {-3 * x, -3}}};
  const auto y = static_cast<std::ptrdiff_t>(shape[shape.size() - 2]);
  if (shape.size() == 2)
    return {{shape, fields, {x * y, x, 1}},       {shape, fields, {(x + 5) * y + 3, x + 5, 1}},
            {shape, fields, {1, x * f, f}},       {shape, fields, {x * y, 1, y}},
            {shape, fields, {-x * y * 2, x, -1}}, {shape, fields, {4 * x * y, -4 * x, 2}}};
  const auto z = static_cast<std::ptrdiff_t>(shape[0]);
  return {{shape, fields, {x * y * z, x * y, x, 1}},
          {shape, fields, {(x + 2) * (y + 1) * z, (x + 2) * (y + 1), x + 2, 1}},
          {shape, fields, {1, x * y * f, x * f, f}},
          {shape, fields, {x * y * z, 1, z, -y * z}}};
}

bool close(const Grid<float>& a, const Grid<float>& b) { return test::largest_difference(a, b) <= 2e-5; }

TEST(GridOver, EveryHostVariantStepsInTheCallersMemory) {
  for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{40}, {11, 34}, {5, 7, 18}}) {
    for (const std::size_t fields : {1, 2}) {
      const Update<float> update =
          fields == 1 ? heat<float>({.alpha = 1, .dt = 0.1, .spacing = std::vector<double>(shape.size(), 1.0)})
                      : wave<float>({.speed = 1, .dt = 0.3, .spacing = std::vector<double>(shape.size(), 1.0)});
      const Problem problem{.shape = shape, .borders = Borders::all(Border::mirror), .threads = 2};
      const Grid<float> start = test::random_grid<float>(shape, fields);
      Grid<float> expected = start;
      reference(update, problem, expected, 3);
      std::size_t ran = 0;
      for (const auto& candidate : candidates(host(), update, problem)) {
        if (!candidate.refusal.empty()) continue;
        const Plan<float> plan(host(), update, problem,
                               {.effort = Effort::quick, .use_wisdom = false, .variant = candidate.name()});
        for (Caller& caller : layouts(shape, fields)) {
          const std::size_t gaps = caller.gaps_left() - start.all().size();
          caller.set(start);
          Grid<float> grid = caller.grid();
          plan.run(grid, 3);
          ASSERT_EQ(grid.data(), caller.memory.data() + caller.first);
          ASSERT_TRUE(close(caller.get(), expected)) << candidate.name() << " stride " << caller.strides[1];
          ASSERT_EQ(caller.gaps_left(), gaps) << candidate.name();
          ++ran;
        }
      }
      ASSERT_GT(ran, 0u);
    }
  }
}

TEST(GridOver, SessionsNormsLeapsAndSteadyStatesUseTheCallersMemory) {
  const Update<float> update = heat<float>({.alpha = 1, .dt = 0.2, .spacing = {1, 1}});
  const std::vector<std::size_t> shape{12, 20};
  const Grid<float> start = test::random_grid<float>(shape);
  for (const LeapUse leap : {LeapUse::never, LeapUse::always}) {
    const Problem problem{.shape = shape, .leap = leap};
    const Plan<float> plan(host(), update, problem, {.effort = Effort::quick});
    for (Caller& caller : layouts(shape, 1)) {
      Grid<float> expected = start, steady = start;
      reference(update, problem, expected, 9);
      caller.set(start);
      Grid<float> grid = caller.grid();
      plan.run(grid, 9);
      EXPECT_TRUE(close(caller.get(), expected));
      caller.set(start);
      Session<float> session = plan.start(grid);
      session.run(9);
      session.read(grid);
      EXPECT_TRUE(close(caller.get(), expected));
      plan.steady(steady);
      caller.set(start);
      plan.steady(grid);
      EXPECT_TRUE(close(caller.get(), steady));
      caller.set(start);
      EXPECT_TRUE(plan.run_until(grid, 1e-6).converged);
      EXPECT_LE(test::largest_difference(caller.get(), steady), 1e-3);
      EXPECT_EQ(caller.gaps_left(), caller.memory.size() - start.all().size());
    }
  }
}

TEST(GridOver, CoefficientsAreReadInTheCallersMemory) {
  const Update<float> update =
      stencil::update<float>(2, [](auto u) { return u(0, 0) + u.coefficient(0, 0, 0) * (u(0, 1) - u(0, 0)); });
  const Problem problem{.shape = {6, 19}, .borders = Borders::all(Border::periodic)};
  const Grid<float> start = test::random_grid<float>({6, 19}), weights = test::random_grid<float>({6, 19}, 1, 2);
  Grid<float> expected = start;
  reference(update, problem, expected, 2, &weights);
  const Plan<float> plan(host(), update, problem, {.effort = Effort::quick});
  for (Caller& caller : layouts({6, 19}, 1)) {
    caller.set(weights);
    const Grid<float> given = caller.grid();
    Grid<float> grid = start;
    plan.run(grid, 2, &given);
    EXPECT_TRUE(close(grid, expected));
  }
}

TEST(GridOver, DevicesReadAndWriteTheCallersMemory) {
  const Update<float> update = wave<float>({.speed = 1, .dt = 0.3, .spacing = {1, 1}});
  const Problem problem{.shape = {11, 34}, .borders = Borders::all(Border::periodic)};
  const Grid<float> start = test::random_grid<float>({11, 34}, 2);
  Grid<float> expected = start;
  reference(update, problem, expected, 3);
  std::size_t ran = 0;
  for (const Device& device : devices().devices) {
    if (device.is_host()) continue;
    const Plan<float> plan(device, update, problem, {.effort = Effort::quick});
    for (Caller& caller : layouts({11, 34}, 2)) {
      caller.set(start);
      Grid<float> grid = caller.grid();
      plan.run(grid, 3);
      EXPECT_TRUE(close(caller.get(), expected)) << device.id();
      EXPECT_EQ(caller.gaps_left(), caller.memory.size() - start.all().size());
    }
    ++ran;
    if (device.info().backend != Backend::cuda) continue;
    // Device memory of another library: a buffer that is known by its address only.
    const Buffer theirs = device.buffer(start.all().size_bytes());
    Queue queue = device.queue();
    queue.upload(start.all(), theirs);
    const Buffer cells = buffer_over(device, theirs.native(), theirs.size());
    plan.enqueue(queue, cells, cells, 3);
    Grid<float> back(start.shape(), 2);
    queue.download(theirs, back.all());
    queue.finish();
    EXPECT_TRUE(close(back, expected));
  }
  if (ran == 0) GTEST_SKIP() << "no device beside the host";
}

TEST(GridOver, CopiesMovesAndOwners) {
  auto owner = std::make_shared<std::vector<double>>(40, 1.0);
  const std::weak_ptr<std::vector<double>> alive = owner;
  double* const cells = owner->data();
  {
    Grid<double> grid = Grid<double>::over(cells, {3, 4}, 1, {0, 10, 2}, std::move(owner));
    EXPECT_FALSE(grid.packed());
    EXPECT_THROW(grid.all(), Error);
    EXPECT_THROW(grid.field(), Error);
    grid(2, 3) = 7;
    EXPECT_EQ(cells[26], 7);
    Grid<double> copy = grid;  // has its own memory
    EXPECT_TRUE(copy.packed());
    EXPECT_EQ(copy(2, 3), 7);
    copy(0, 1) = 5;
    EXPECT_EQ(cells[2], 1);
    grid.copy(copy);
    EXPECT_EQ(cells[2], 5);
    EXPECT_EQ(cells[3], 1);
    std::vector<double> turned(12, 3.0);
    grid.from_structures(turned);
    EXPECT_EQ(cells[26], 3);
    grid.to_structures(turned);
    EXPECT_EQ(turned.back(), 3);
    const Grid<double> moved = std::move(grid);
    EXPECT_EQ(moved.data(), cells);
    EXPECT_FALSE(alive.expired());
    EXPECT_THROW(copy.copy(Grid<double>({3, 5})), Error);
  }
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(Grid<double>::over(cells, {7, 1}, 1, {99, 1, 0}).all().size(),
            7u);  // an axis of one cell may have any stride
}

TEST(GridOver, BadMemoryIsRefused) {
  float there[64] = {};
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
  const auto refused = [&](float* cells, const std::vector<std::size_t>& shape, std::size_t fields,
                           const std::vector<std::ptrdiff_t>& strides) {
    try {
      static_cast<void>(Grid<float>::over(cells, shape, fields, strides));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused(nullptr, {4, 4}, 1, {}));
  EXPECT_TRUE(refused(there, {4, 4}, 1, {4, 1}));     // an axis without a stride
  EXPECT_TRUE(refused(there, {4, 4}, 1, {0, 0, 1}));  // overlapping rows
  EXPECT_TRUE(refused(there, {4, 4}, 1, {0, 3, 1}));  // the end of a row is the start of the next
  EXPECT_TRUE(refused(there, {4, 4}, 2, {8, 4, 1}));  // fields that share cells
  EXPECT_TRUE(refused(there, {4, 4}, 1, {0, -2, -1}));
  EXPECT_TRUE(refused(there, {4, 4}, 1, {0, kMost, 1}));
  EXPECT_TRUE(refused(there, {4, 4}, 1, {0, -kMost - 1, 1}));
  EXPECT_TRUE(refused(there, {4, 0}, 1, {}));
  EXPECT_TRUE(refused(there, {2, 2, 2, 2}, 1, {}));
  EXPECT_FALSE(refused(there, {4, 4}, 1, {0, -5, -1}));
}

}  // namespace
}  // namespace ridge::stencil
