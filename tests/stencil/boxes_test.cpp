// Tests reading and writing parts of a grid that lives in a session.
#include <gtest/gtest.h>

#include <cmath>

#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/reference.hpp"

namespace ridge::stencil {
namespace {

Grid<float> whole_numbers(const std::vector<std::size_t>& shape, std::size_t fields) {
  Grid<float> grid(shape, fields);
  for (std::size_t i = 0; i < grid.all().size(); ++i) grid.all()[i] = static_cast<float>(i * 37 % 101);
  return grid;
}

// Variants may sum neighbours in another order; a misplaced box differs by whole numbers.
bool nearly(float a, float b) { return std::abs(a - b) <= 1e-3f; }

// Writing a box and stepping equals stepping a grid changed by hand, on every variant and border.
TEST(Boxes, WrittenBoxesTakeEffectFromTheNextStep) {
  const std::vector<std::size_t> shape{5, 9, 14};
  for (const Border border : {Border::fixed, Border::mirror, Border::periodic}) {
    const Update<float> update = wave<float>({.speed = 1, .dt = 0.4, .spacing = {1, 1, 1}});
    const Problem problem{.shape = shape, .borders = Borders::all(border), .threads = 2};
    for (const auto& candidate : candidates(host(), update, problem)) {
      if (!candidate.refusal.empty()) continue;
      const Plan<float> plan(host(), update, problem,
                             {.effort = Effort::quick, .use_wisdom = false, .variant = candidate.name()});
      Grid<float> expected = whole_numbers(shape, 2), result(shape, 2);
      Session<float> session = plan.start(expected);
      for (const Box& box : {Box{{0, 0, 0}, {5, 9, 2}}, Box{{0, 0, 12}, {5, 9, 2}}, Box{{2, 3, 4}, {1, 2, 3}},
                             Box{{0, 0, 0}, {1, 9, 14}}, Box{{0, 8, 0}, {5, 1, 14}}, Box{{0, 0, 0}, {5, 9, 14}}}) {
        session.run(3);
        reference(update, problem, expected, 3);
        std::vector<float> cells(2 * box.cells()), had(cells.size());
        session.get(box, had);
        std::size_t at = 0;
        for (std::size_t field = 0; field < 2; ++field) {
          for (std::size_t z = box.begin[0]; z < box.begin[0] + box.extent[0]; ++z) {
            for (std::size_t y = box.begin[1]; y < box.begin[1] + box.extent[1]; ++y) {
              for (std::size_t x = box.begin[2]; x < box.begin[2] + box.extent[2]; ++x, ++at) {
                float& cell = expected.field(field)[(z * 9 + y) * 14 + x];
                ASSERT_TRUE(nearly(had[at], cell)) << candidate.name() << ": " << had[at] << ", not " << cell;
                cells[at] = cell = static_cast<float>(at % 19) - 3;
              }
            }
          }
        }
        session.put(box, cells);
      }
      session.run(4);
      reference(update, problem, expected, 4);
      session.read(result);
      ASSERT_TRUE(std::equal(result.all().begin(), result.all().end(), expected.all().begin(), nearly))
          << candidate.name() << " " << to_string(border);
    }
  }
}

// A source and its receivers give the same as changing and reading the grid by hand after every step.
TEST(Boxes, SourcesAndReceivers) {
  const std::vector<std::size_t> shape{7, 11};
  const Update<float> update = wave<float>({.speed = 1, .dt = 0.4, .spacing = {1, 1}});
  const Problem problem{.shape = shape, .threads = 2};
  for (const auto& candidate : candidates(host(), update, problem)) {
    if (!candidate.refusal.empty()) continue;
    const Plan<float> plan(host(), update, problem,
                           {.effort = Effort::quick, .use_wisdom = false, .variant = candidate.name()});
    Grid<float> expected = whole_numbers(shape, 2);
    Session<float> session = plan.start(expected);
    std::vector<float> heard;
    for (int step = 0; step < 5; ++step) {
      session.add({0, 3, 4}, 0, 2.5f);
      session.add({0, 0, 1}, 1, -1.5f);  // on a fixed side, in the older level
      expected.field(0)[3 * 11 + 4] += 2.5f;
      expected.field(1)[1] -= 1.5f;
      session.run(2);
      reference(update, problem, expected, 2);
      session.keep({{0, 2, 0}, {1, 1, 11}});
      for (std::size_t field = 0; field < 2; ++field) {
        const float* const row = expected.field(field).data() + 2 * 11;
        heard.insert(heard.end(), row, row + 11);
      }
    }
    const std::vector<float> kept = session.kept();
    ASSERT_EQ(kept.size(), heard.size());
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), heard.begin(), nearly)) << candidate.name();
    EXPECT_TRUE(session.kept().empty());
    Grid<float> result(shape, 2);
    session.read(result);
    EXPECT_TRUE(std::equal(result.all().begin(), result.all().end(), expected.all().begin(), nearly));
  }
}

TEST(Boxes, OutsideTheGridIsRefused) {
  const Plan<float> plan(host(), heat<float>({.dt = 0.1, .spacing = {1, 1}}), {.shape = {8, 9}},
                         {.effort = Effort::quick});
  Session<float> session = plan.start(Grid<float>({8, 9}));
  std::vector<float> cells(9);
  EXPECT_NO_THROW(session.get({{0, 7, 0}, {1, 1, 9}}, cells));
  EXPECT_THROW(session.get({{0, 8, 0}, {1, 1, 9}}, cells), Error);
  EXPECT_THROW(session.put({{0, 0, 1}, {1, 1, 9}}, cells), Error);
  EXPECT_THROW(session.get({{1, 0, 0}, {1, 1, 9}}, cells), Error);
  EXPECT_THROW(session.get({{0, 0, 0}, {1, 1, 8}}, cells), Error);
  EXPECT_THROW(session.get({{0, 0, ~std::size_t{0}}, {1, 1, 2}}, cells), Error);
  EXPECT_THROW(session.keep({{0, 8, 0}, {1, 1, 9}}), Error);
  EXPECT_THROW(session.add({0, 0, 9}, 0, 1), Error);
  EXPECT_THROW(session.add({0, 0, 0}, 1, 1), Error);
  EXPECT_TRUE(session.kept().empty());
}

}  // namespace
}  // namespace ridge::stencil
