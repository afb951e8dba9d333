// Tests that a grid divided into parts that exchange deep halos equals the whole grid bit for bit. All parts live in
// this process.
#include "stencil/decomposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <tuple>

#include <ridge/stencil/problems.hpp>

#include "stencil/reference.hpp"
#include "support/error_of.hpp"

namespace ridge::stencil {
namespace {

using testing::HasSubstr;

template <class T>
Grid<T> numbered(const std::vector<std::size_t>& shape, std::size_t fields) {
  Grid<T> grid(shape, fields);
  for (std::size_t i = 0; i < grid.all().size(); ++i) grid.all()[i] = static_cast<T>(i * 7919 % 1009) / T(64) + T(1);
  return grid;
}

// The cells of a box of a whole grid.
template <class T, class Use>
void for_cells(const std::array<std::size_t, 3>& shape, std::size_t fields, const Box& box, const Use& use) {
  for (std::size_t f = 0; f < fields; ++f)
    for (std::size_t z = 0; z < box.extent[0]; ++z)
      for (std::size_t y = 0; y < box.extent[1]; ++y)
        for (std::size_t x = 0; x < box.extent[2]; ++x) {
          const std::size_t row = (f * shape[0] + box.begin[0] + z) * shape[1] + box.begin[1] + y;
          use(row * shape[2] + box.begin[2] + x);
        }
}

template <class T>
void expect_equal_when_cut(const Update<T>& update, const Problem& problem, const Counts& processes, std::size_t depth,
                           std::size_t steps, const Speeds& speeds = {}) {
  const Layout layout = resolve(update, problem);
  const Grid<T> initial = numbered<T>(problem.shape, update.fields);
  const std::size_t ranks = processes[0] * processes[1] * processes[2];
  std::vector<Session<T>> sessions;
  std::vector<Part> parts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(part_of(layout, processes, depth, rank, speeds));
    const Plan<T> plan(host(), update, {.shape = parts.back().shape, .borders = parts.back().borders, .threads = 1},
                       {.effort = Effort::quick, .use_wisdom = false});
    Grid<T> grid(parts.back().shape, update.fields);
    std::fill(grid.all().begin(), grid.all().end(), T(77));  // halos must come from the neighbours
    sessions.push_back(plan.start(grid));
    std::vector<T> cells;
    for_cells<T>(layout.shape, update.fields, parts.back().global,
                 [&](std::size_t i) { cells.push_back(initial.all()[i]); });
    sessions.back().put(parts.back().owned, cells);
  }
  for (std::size_t left = steps; left > 0;) {
    std::map<std::tuple<std::size_t, std::size_t, int>, std::vector<T>> mail;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (const Exchange& exchange : exchanges(layout, processes, depth, rank, speeds)) {
        std::vector<T> cells(exchange.send.cells() * update.fields);
        sessions[rank].get(exchange.send, cells);
        ASSERT_TRUE(mail.emplace(std::tuple(rank, exchange.rank, exchange.send_tag), cells).second);
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (const Exchange& exchange : exchanges(layout, processes, depth, rank, speeds)) {
        const auto found = mail.extract(std::tuple(exchange.rank, rank, exchange.receive_tag));
        ASSERT_TRUE(found);
        ASSERT_EQ(found.mapped().size(), exchange.receive.cells() * update.fields);
        sessions[rank].put(exchange.receive, found.mapped());
      }
    }
    ASSERT_TRUE(mail.empty());
    const std::size_t now = std::min(left, depth);
    for (auto& session : sessions) session.run(now);
    left -= now;
  }
  Grid<T> expected = initial, result(problem.shape, update.fields);
  reference(update, problem, expected, steps);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<T> cells(parts[rank].owned.cells() * update.fields);
    sessions[rank].get(parts[rank].owned, cells);
    std::size_t at = 0;
    for_cells<T>(layout.shape, update.fields, parts[rank].global,
                 [&](std::size_t i) { result.all()[i] = cells[at++]; });
  }
  EXPECT_TRUE(std::equal(result.all().begin(), result.all().end(), expected.all().begin()))
      << processes_text(layout, processes) << " depth " << depth;
}

std::vector<Borders> borders_of_processes() {
  Borders mixed = Borders::all(Border::periodic);
  mixed.low[0] = Border::fixed;
  mixed.high[0] = Border::mirror;
  return {Borders::all(Border::fixed), Borders::all(Border::mirror), Borders::all(Border::periodic), mixed};
}

TEST(Decomposition, EqualsTheWholeIn2D) {
  const auto update = heat<float>({.alpha = 1, .dt = 0.2, .spacing = {1, 1}});
  for (const Borders& borders : borders_of_processes()) {
    for (const Counts& processes :
         {Counts{1, 1, 1}, Counts{1, 2, 1}, Counts{1, 1, 3}, Counts{1, 2, 2}, Counts{1, 3, 2}}) {
      for (const std::size_t depth : {1, 3}) {
        expect_equal_when_cut<float>(update, {.shape = {13, 17}, .borders = borders}, processes, depth, 7);
      }
    }
  }
}

TEST(Decomposition, EqualsTheWholeIn1DAnd3D) {
  const auto line = heat<double>({.alpha = 1, .dt = 0.2, .spacing = {1}});
  const auto cube = wave<float>({.speed = 1, .dt = 0.5, .spacing = {1, 1, 1}});
  for (const Borders& borders : borders_of_processes()) {
    expect_equal_when_cut<double>(line, {.shape = {29}, .borders = borders}, {1, 1, 4}, 5, 12);
    expect_equal_when_cut<float>(cube, {.shape = {7, 8, 9}, .borders = borders}, {2, 1, 2}, 2, 5);
    expect_equal_when_cut<float>(cube, {.shape = {7, 8, 9}, .borders = borders}, {2, 2, 2}, 3, 5);
  }
}

TEST(Decomposition, WideStencilsAndIntegersToo) {
  const auto wide = heat<float>({.alpha = 1, .dt = 0.1, .spacing = {1, 1}, .accuracy = 6});
  const auto cells = life<std::uint8_t>();
  for (const Borders& borders : borders_of_processes()) {
    expect_equal_when_cut<float>(wide, {.shape = {24, 30}, .borders = borders}, {1, 2, 2}, 3, 5);
    expect_equal_when_cut<std::uint8_t>(cells, {.shape = {24, 30}, .borders = borders}, {1, 2, 3}, 4, 9);
  }
}

Layout plane(std::size_t y, std::size_t x) {
  return resolve(heat<float>({.alpha = 1, .dt = 0.2, .spacing = {1, 1}}), {.shape = {y, x}});
}

TEST(Decomposition, PartsCoverTheGridOnce) {
  const Layout layout = plane(101, 53);
  for (const std::size_t ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}) {
    const Counts counts = choose_processes(layout, ranks);
    EXPECT_EQ(counts[0] * counts[1] * counts[2], ranks);
    std::vector<int> covered(101 * 53);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for_cells<float>(layout.shape, 1, part_of(layout, counts, 2, rank).global, [&](std::size_t i) { ++covered[i]; });
    }
    EXPECT_THAT(covered, testing::Each(1)) << ranks;
  }
}

TEST(Decomposition, PartsAsLargeAsProcessesAreFast) {
  const auto update = heat<float>({.alpha = 1, .dt = 0.2, .spacing = {1, 1}});
  expect_equal_when_cut<float>(update, {.shape = {40, 23}}, {1, 3, 1}, 3, 10, {1, 4, 2});
  Borders around;
  around.low = around.high = {Border::periodic, Border::periodic, Border::periodic};
  expect_equal_when_cut<float>(update, {.shape = {31, 40}, .borders = around}, {1, 2, 2}, 4, 9, {1, 1, 5, 2});
  const Layout layout = plane(1600, 100);
  const Speeds speeds{1,    1, 0.5, 1,
                      1e-9, 1, 1,   1};  // a nearly stopped process still gets what its neighbours' halos need
  std::size_t end = 0;
  std::vector<std::size_t> rows;
  for (std::size_t rank = 0; rank < 8; ++rank) {
    const Box box = part_of(layout, {1, 8, 1}, 16, rank, speeds).global;
    EXPECT_EQ(box.begin[1], end);
    end += box.extent[1];
    rows.push_back(box.extent[1]);
  }
  EXPECT_EQ(end, 1600u);
  EXPECT_EQ(rows[4], 16u);
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_NEAR(static_cast<double>(rows[2]), 0.5 * static_cast<double>(rows[1]), 1);
  // Too thin for anything but equal parts.
  EXPECT_EQ(part_of(plane(64, 64), {1, 4, 1}, 16, 1, {1, 9, 1, 1}).global.extent[1], 16u);
}

TEST(Decomposition, ChoosesSensibly) {
  EXPECT_EQ(choose_processes(plane(1000, 1000), 2), (Counts{1, 2, 1}));
  EXPECT_EQ(choose_processes(plane(10000, 1000), 4), (Counts{1, 4, 1}));
  EXPECT_EQ(choose_processes(plane(100, 10000), 4), (Counts{1, 1, 4}));
  EXPECT_EQ(choose_processes(plane(8192, 8192), 16), (Counts{1, 8, 2}));
  EXPECT_EQ(choose_depth(plane(8192, 8192), {1, 4, 1}, 16), 16u);
  EXPECT_EQ(choose_depth(plane(64, 64), {1, 4, 1}, 16), 1u);
  EXPECT_EQ(choose_depth(plane(64, 64), {1, 1, 1}, 16), 16u);
  EXPECT_EQ(deepest(plane(64, 64), {1, 4, 1}), 16u);
}

TEST(Decomposition, ErrorsNameTheFault) {
  const auto complaint = [](const std::function<void()>& call) -> std::string {
    return ridge::test::error_of(call, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(complaint([] { choose_processes(plane(3, 3), 4); }), HasSubstr("too small for 4"));
  EXPECT_EQ(parse_processes("2x3", plane(50, 50), 6), (Counts{1, 2, 3}));
  for (const char* bad : {"", "x", "2", "2x2", "2x3x1", "0x6", "6x1x1", "-2x-3", "2x3 ", "18446744073709551615x2"}) {
    EXPECT_THAT(complaint([&] { parse_processes(bad, plane(50, 50), 6); }), HasSubstr("--processes")) << bad;
  }
  EXPECT_THAT(complaint([] { parse_processes("6x1", plane(10, 50), 6); }), HasSubstr("thinner"));
}

}  // namespace
}  // namespace ridge::stencil
