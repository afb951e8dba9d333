// Tests grids whose cells repeat: a small grid has every cell of the large one's result, and every wrong cell is found.
#include "stencil/repeated_grid.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>
#include <ridge/stencil/problems.hpp>

#include "device_support.hpp"
#include "stencil/trials.hpp"
#include "support.hpp"

namespace ridge::stencil::test {
namespace {

using device_tests::accelerators;

// The cell of the small grid for each cell of the large one.
std::vector<std::size_t> sources(const Repetition& repetition) {
  std::vector<std::size_t> cells;
  const auto& [planes, rows, columns] = repetition.axes;
  for (std::size_t z = 0; z < planes.whole; ++z) {
    for (std::size_t y = 0; y < rows.whole; ++y) {
      for (std::size_t x = 0; x < columns.whole; ++x)
        cells.push_back((planes.source(z) * rows.small + rows.source(y)) * columns.small + columns.source(x));
    }
  }
  return cells;
}

void expect_repeats(const Update<float>& update, const std::vector<std::size_t>& shape, const Borders& borders,
                    std::size_t steps) {
  const Layout layout = resolve(update, Problem{.shape = shape, .borders = borders});
  Repetition repetition;
  std::vector<std::size_t> small_shape;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    repetition.axes[axis] =
        repeated_axis(layout.shape[axis], steps * static_cast<std::size_t>(layout.radius[axis]), 3 + 2 * axis);
    if (axis >= 3 - shape.size()) small_shape.push_back(repetition.axes[axis].small);
  }
  EXPECT_LT(repetition.small(), repetition.whole());
  Grid<float> small = random_grid<float>(small_shape, 1, 5), large(shape);
  repetition.repeat(small.all());
  const std::vector<std::size_t> from = sources(repetition);
  for (std::size_t i = 0; i < from.size(); ++i) large.all()[i] = small.all()[from[i]];
  reference(update, {.shape = small_shape, .borders = borders}, small, steps);
  reference(update, {.shape = shape, .borders = borders}, large, steps);
  for (std::size_t i = 0; i < from.size(); ++i)
    ASSERT_EQ(large.all()[i], small.all()[from[i]]) << layout.key() << ", cell " << i;
}

TEST(RepeatedGrid, ResultsRepeatWithEveryBorder) {
  const auto cubes = linear<float>(3, {{{0, 0, 0}, 0.4}, {{1, 0, 0}, 0.1}, {{0, -1, 0}, 0.2}, {{0, 0, 2}, 0.3}});
  for (const Border border : {Border::fixed, Border::mirror, Border::periodic}) {
    expect_repeats(linear<float>(1, {{{0, 0, 0}, 0.5}, {{0, 0, -1}, 0.2}, {{0, 0, 2}, 0.3}}), {151},
                   Borders::all(border), 5);
    expect_repeats(update<float>(2, heat_function()), {61, 94}, Borders::all(border), 4);
    expect_repeats(cubes, {29, 5, 60}, Borders::all(border), 3);  // rows too short to repeat
  }
}

TEST(RepeatedGridDevice, AWrongElementIsFound) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const Device& device : accelerators()) {
    for (const std::array<std::size_t, 3>& sides :
         {std::array<std::size_t, 3>{41, 30, 77}, {1, 1, 5000}, {1, 300, 9}, {3000, 1, 1}}) {
      const Repetition repetition{
          {repeated_axis(sides[0], 2, 5), repeated_axis(sides[1], 1, 7), repeated_axis(sides[2], 3, 11)}, 2};
      const RepeatedArrays arrays(device, repetition, "float");
      std::vector<float> small(repetition.small());
      for (std::size_t i = 0; i < small.size(); ++i) small[i] = static_cast<float>(i % 1009);
      small[1] = kNaN;
      repetition.repeat(std::span(small));
      Queue queue = device.queue();
      const Buffer from = device.buffer(small.size() * sizeof(float)), whole = device.buffer(repetition.whole() * 4);
      queue.upload(std::span<const float>(small), from);
      arrays.expand(queue, from, whole);
      EXPECT_EQ(arrays.compare(queue, whole, from).worst, 0) << device.id();
      std::vector<float> values(repetition.whole());
      queue.download(whole, std::span(values));
      queue.finish();
      std::vector<std::size_t> cells = sources(repetition);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float wanted = small[i / cells.size() * (small.size() / 2) + cells[i % cells.size()]];
        ASSERT_TRUE(values[i] == wanted || std::isnan(wanted)) << device.id() << ", element " << i;
      }
      for (const std::size_t place : {std::size_t{0}, values.size() / 2 + 3, values.size() - 1}) {
        for (const float wrong : {values[place] + 0.25f, kNaN, std::numeric_limits<float>::infinity()}) {
          queue.upload(&wrong, whole, sizeof(float), place * sizeof(float));
          const RepeatedArrays::Difference found = arrays.compare(queue, whole, from);
          queue.upload(&values[place], whole, sizeof(float), place * sizeof(float));
          queue.finish();
          EXPECT_EQ(found.place, place) << device.id();
          EXPECT_TRUE(std::isfinite(wrong) ? found.worst == 0.25 : std::isnan(found.worst)) << found.worst;
        }
      }
    }
  }
}

// The variant with one cell changed after the steps.
template <class T>
class WrongCell final : public PackedVariant<T> {
 public:
  WrongCell(std::shared_ptr<const Variant<T>> right, std::size_t cell, T value)
      : right_(std::dynamic_pointer_cast<const PackedVariant<T>>(right)), cell_(cell), value_(value) {}
  std::unique_ptr<Running<T>> start(const Grid<T>&, const Grid<T>*) const override { return nullptr; }
  std::unique_ptr<PackedRunning<T>> start_packed(const PackedCells& cells,
                                                 const PackedCells& coefficients) const override {
    return std::make_unique<Session>(*this, right_->start_packed(cells, coefficients));
  }

 private:
  struct Session final : PackedRunning<T> {
    Session(const WrongCell& of, std::unique_ptr<PackedRunning<T>> session) : of_(of), right_(std::move(session)) {}
    void run(std::size_t steps) override { right_->run(steps); }
    double change(Norm norm) override { return right_->change(norm); }
    void read(Grid<T>& grid) override { right_->read(grid); }
    void wait() override { right_->wait(); }
    void fill(const PackedCells& make) override { right_->fill(make); }
    void view(const PackedCells& use) override {
      right_->view([&](Queue& queue, const Buffer& packed) {
        queue.upload(&of_.value_, packed, sizeof(T), of_.cell_ * sizeof(T));
        use(queue, packed);
      });
    }
    const WrongCell& of_;
    std::unique_ptr<PackedRunning<T>> right_;
  };
  std::shared_ptr<const PackedVariant<T>> right_;
  std::size_t cell_;
  T value_;
};

template <class T>
void check_large(const Device& device, const Update<T>& update, const std::vector<std::size_t>& shape) {
  const Problem problem{.shape = shape};
  const Layout layout = resolve(update, problem);
  std::vector<Entry<T>> entries = list_variants(device, update, layout);
  std::erase_if(entries, [](const Entry<T>& entry) { return entry.candidate.variant != "base"; });
  Trials<T> trials(device, update, problem, layout, entries, 1);
  const auto base = entries.front().build();
  const planner::Comparison right = trials.compare(*base);
  EXPECT_TRUE(right.right()) << device.id() << ", " << layout.key() << ": " << right.text();
  EXPECT_GT(right.allowed, 0);
  const std::size_t last = layout.cells() * layout.fields - 1;
  for (const std::size_t cell : {std::size_t{0}, last / 2, last}) {
    const planner::Comparison wrong = trials.compare(WrongCell<T>(base, cell, T{7}));
    EXPECT_FALSE(wrong.right()) << device.id() << ", " << layout.key();
  }
}

TEST(RepeatedGridDevice, LargeGridsAreComparedInEveryCell) {
  for (const Device& device : accelerators()) {
    check_large(device, update<float>(2, heat_function()), {301, 500});
    if (device.limits().float64) check_large(device, maxwell<double>({.dt = 0.5}), {301, 500});
  }
}

}  // namespace
}  // namespace ridge::stencil::test
