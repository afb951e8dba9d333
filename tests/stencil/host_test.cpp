// Tests that every host variant equals the reference for all borders, many sizes and all kinds of updates.
#include <algorithm>
#include <limits>
#include <set>
#include <thread>

#include <ridge/stencil/problems.hpp>

#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/host/row_variants/row_variant.hpp"
#include "support.hpp"

namespace ridge::stencil {
namespace {

using test::all_borders;
using test::check_host_variants;

template <class T>
void check_shapes(const Update<T>& update, const std::vector<std::vector<std::size_t>>& shapes,
                  const std::vector<std::size_t>& steps) {
  for (const auto& shape : shapes) {
    for (const Borders& borders : all_borders()) {
      for (const std::size_t count : steps) {
        EXPECT_GE(check_host_variants(update, {.shape = shape, .borders = borders}, count), 2u);
      }
    }
  }
}

TEST(Host, LinearStars2D) {
  check_shapes(linear<float>(2, weighted(von_neumann(2, 1), 0.2)), {{37, 53}, {5, 4}, {3, 130}, {130, 3}}, {1, 6});
  check_shapes(linear<double>(2, weighted(von_neumann(2, 2), 0.11)), {{29, 47}, {6, 5}}, {1, 5});
  check_shapes(linear<float>(2, weighted(von_neumann(2, 4), 0.06)), {{31, 71}, {9, 9}}, {3});
}

TEST(Host, LinearBoxesAndOddShapes) {
  check_shapes(linear<float>(2, weighted(moore(2, 1), 0.11)), {{33, 70}}, {5});
  check_shapes(linear<double>(2, weighted(moore(2, 3, false), 0.02)), {{33, 41}}, {3});
  check_shapes(linear<float>(3, weighted(moore(3, 1), 0.03)), {{7, 9, 21}}, {3});
  // Terms not in memory order and one-sided: no unrolled shape fits.
  check_shapes(linear<float>(2, {{{0, 1, 0}, 0.3}, {{0, 0, 0}, 0.25}, {{0, -2, 3}, 0.4}}), {{19, 37}}, {4});
  // A repeated point.
  check_shapes(linear<double>(1, {{{0, 0, 1}, 0.5}, {{0, 0, 1}, 0.25}}), {{37}}, {4});
}

TEST(Host, Linear1D) {
  check_shapes(linear<float>(1, weighted(von_neumann(1, 1), 0.33)), {{1000}, {3}, {17}}, {1, 9});
  check_shapes(linear<double>(1, weighted(von_neumann(1, 2), 0.2)), {{257}}, {4});
  check_shapes(linear<double>(1, weighted(von_neumann(1, 6), 0.07)), {{257}, {14}}, {4});
}

TEST(Host, Linear3D) {
  check_shapes(linear<float>(3, weighted(von_neumann(3, 1), 0.14)), {{11, 13, 37}, {3, 3, 5}, {20, 4, 3}}, {1, 5});
  check_shapes(linear<double>(3, weighted(von_neumann(3, 2), 0.07)), {{9, 8, 19}}, {3});
  // Different weights on both sides of each axis: a mirrored offset would be seen.
  check_shapes(linear<float>(3, {{{-1, 0, 0}, 0.4}, {{1, 0, 0}, 0.1}, {{0, -1, 0}, 0.3}, {{0, 0, 1}, 0.15}}),
               {{7, 5, 19}}, {2});
  check_shapes(linear<std::int32_t>(3, {{{-1, 0, 0}, 3}, {{1, 0, 0}, 1}, {{0, 1, -1}, 2}}), {{5, 4, 9}}, {2});
}

TEST(Host, FunctionsOfNeighbours) {
  check_shapes(update<float>(2, test::heat_function()), {{37, 53}, {4, 5}}, {1, 6});
  check_shapes(update<double>(2, test::every_word()), {{23, 45}}, {1, 5});
  check_shapes(update<float>(2, test::every_word()), {{23, 45}}, {5});
  check_shapes(update<float>(3, [](auto u) { return 0.5 * (u(1, 0, 0) * u(0, -1, 0)) + 0.25 * u(0, 0, 2); }),
               {{7, 8, 9}}, {4});
  check_shapes(update<double>(1, [](auto u) { return u(0) - 0.1 * u(0) * (u(1) - u(-1)); }), {{333}}, {7});
}

// Functions whose result does not use everything they read: rules without counts, constants, unused differences.
TEST(Host, ReadsThatTheResultDoesNotUse) {
  for (const char* rule : {"B/S", "B3/S", "B/S2", "B012345678/S012345678"}) {
    check_shapes(life<std::uint8_t>(rule), {{37, 53}, {4, 5}, {3, 1100}}, {1, 4});
    check_shapes(life<std::int32_t>(rule), {{23, 45}}, {3});
  }
  check_shapes(update<float>(2, [](auto) { return 0.25; }), {{19, 37}}, {1, 4});
  const auto unused = [](auto scale) {
    return [scale](auto u) {
      const auto flow = u.coefficient(0, 1, 0) * (u(2, 0) - u(-2, 0)) + u(0, 3);
      return scale == 0 ? 0.5 * u(0, 0) + 0.25 * u(0, 1) : u(0, 0) + scale * flow;
    };
  };
  check_shapes(update<float>(2, unused(0.0)), {{19, 37}, {130, 21}}, {1, 4});
  check_shapes(update<double>(2, unused(0.0)), {{19, 37}}, {4});
  check_shapes(update<float>(3,
                             [](auto u) {
                               [[maybe_unused]] const auto above = u(2, 0, 0) + u(0, -1, 0);
                               return 0.5 * u(0, 0, 0) + 0.25 * u(0, 0, 1);
                             }),
               {{9, 10, 21}}, {4});
}

TEST(Host, SystemsAndCoefficients) {
  check_shapes(update<float>(2, test::wave_function()), {{23, 45}, {3, 64}}, {1, 5});
  check_shapes(update<double>(1,
                              [](auto u) {
                                const auto flow =
                                    u.coefficient(0, 1) * (u(1) - u(0)) - u.coefficient(0, -1) * (u(0) - u(-1));
                                return u(0) + 0.1 * flow * u.coefficient(1, 0);
                              }),
               {{211}}, {5});
  // A linear system of three fields.
  check_shapes(linear<float>(2, {{{0, 0, 1}, 0.5, 0, 0},
                                 {{0, 0, 0}, 0.5, 1, 0},
                                 {{0, 1, 0}, 0.9, 2, 1},
                                 {{0, -1, -1}, 0.25, 0, 2},
                                 {{0, 0, 0}, 0.5, 2, 2}}),
               {{15, 33}}, {5});
}

// The new level overwrites the older one: single fields, pairs of fields, a velocity per cell, rows divided among
// threads.
TEST(Host, TimeLevelsInPlace) {
  const auto acoustic = [](auto u) {
    auto laplacian = -7.5 * u(0, 0, 0);
    for (const int k : {1, 2}) {
      laplacian +=
          (k == 1 ? 1.25 : -0.25) * (u(k, 0, 0) + u(-k, 0, 0) + u(0, k, 0) + u(0, -k, 0) + u(0, 0, k) + u(0, 0, -k));
    }
    return std::array{2.0 * u(0, 0, 0) - u.field(1, 0, 0, 0) + 0.05 * u.coefficient(0, 0, 0, 0) * laplacian,
                      u(0, 0, 0)};
  };
  check_shapes(update<float>(3, acoustic), {{9, 11, 37}, {5, 16, 37}}, {1, 4, 5});  // planes of 4 KiB get an extra row
  const auto linear_wave = linear<double>(
      1, {{{0, 0, -1}, 0.3}, {{0, 0, 0}, 1.4}, {{0, 0, 1}, 0.3}, {{0, 0, 0}, -1, 1, 0}, {{0, 0, 0}, 1, 0, 1}});
  check_shapes(linear_wave, {{3}, {50}}, {4});
  for (const Borders& borders : all_borders())
    EXPECT_GE(check_host_variants(linear_wave, {.shape = {20011}, .borders = borders, .threads = 3}, 3, "in_place"),
              2u);
  // The second field is half of the first one's old value, so it is no older level.
  check_shapes(
      linear<double>(1, {{{0, 0, -1}, 0.3}, {{0, 0, 0}, 0.4}, {{0, 0, 0}, -0.5, 1, 0}, {{0, 0, 0}, 0.5, 0, 1}}), {{50}},
      {4});
  // Two coupled waves, each overwriting its own older level.
  const auto coupled = [](auto u) {
    const auto one = 1.5 * u.field(0, 0, 0) - u.field(2, 0, 0) + 0.2 * (u.field(1, 0, 1) - u.field(1, -1, 0));
    const auto two = 1.5 * u.field(1, 0, 0) - u.field(3, 0, 0) + 0.1 * u.field(2, 0, 0) * u.field(0, 1, 0);
    return std::array{one, two, u.field(0, 0, 0), u.field(1, 0, 0)};
  };
  check_shapes(update<double>(2, coupled), {{19, 300}}, {2, 3});
}

// Stars of every radius in a medium, with and without damping, and without a medium: rows that end within a vector, are
// shorter than one, or are divided.
TEST(Host, WavesThroughMedia) {
  const auto check = [](const auto& update, const std::vector<std::size_t>& shape) {
    for (const Borders& borders : all_borders())
      EXPECT_GE(check_host_variants(update, {.shape = shape, .borders = borders, .threads = 3}, 5, "in_place"), 2u);
  };
  for (const std::size_t dimensions : {2u, 3u}) {
    const std::vector<double> spacing = dimensions == 2 ? std::vector{1.0, 1.25} : std::vector{1.0, 0.8, 1.25};
    const std::vector<std::size_t> large = dimensions == 2 ? std::vector<std::size_t>{23, 83}
                                                           : std::vector<std::size_t>{17, 10, 45},
                                   small = dimensions == 2 ? std::vector<std::size_t>{12, 10}
                                                           : std::vector<std::size_t>{9, 10, 12};
    for (const int accuracy : {2, 4, 6, 8}) {
      for (const bool absorbing : {false, true}) {
        const Acoustic medium{.dt = 0.2, .spacing = spacing, .accuracy = accuracy, .absorbing = absorbing};
        check(acoustic<float>(medium), large);
        check(acoustic<double>(medium), small);
      }
    }
    check(wave<float>({.dt = 0.4, .spacing = spacing}), large);
  }
  const auto across = acoustic<float>({.dt = 0.2, .spacing = {1.0, 1.0}, .accuracy = 8});
  EXPECT_GE(check_host_variants(across, {.shape = {9, 9001}, .threads = 3}, 4, "in_place"), 2u);
  // Rows so long that blocks of all heights coincide.
  const auto deep = acoustic<float>({.dt = 0.2, .spacing = {1.0, 1.0, 1.0}, .accuracy = 8});
  const Problem thin{.shape = {9, 10, 40000}, .threads = 2};
  std::set<std::string> names;
  for (const auto& entry : list_variants(host(), deep, resolve(deep, thin)))
    EXPECT_TRUE(names.insert(entry.candidate.name()).second) << entry.candidate.name();
}

TEST(Host, Integers) {
  check_shapes(update<std::uint8_t>(2, test::life_function()), {{37, 600}, {4, 5}}, {1, 6});
  check_shapes(update<std::int32_t>(2, test::life_function()), {{37, 53}}, {6});
  check_shapes(linear<std::int32_t>(2, weighted(moore(2, 1), 3)), {{21, 600}}, {5});  // wraps
  check_shapes(linear<std::uint8_t>(1, weighted(von_neumann(1, 2), 5)), {{700}}, {5});
}

TEST(Host, OneRowOneColumnOneCell) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  for (const Border border : {Border::mirror, Border::periodic}) {
    for (const auto& shape : std::vector<std::vector<std::size_t>>{{1, 100}, {100, 1}, {1, 1}, {2, 2}, {1, 7}}) {
      EXPECT_GE(check_host_variants(star, {.shape = shape, .borders = Borders::all(border)}, 5), 1u);
    }
  }
  const auto wide = linear<double>(2, weighted(von_neumann(2, 5), 0.04));  // the radius exceeds the grid
  for (const Border border : {Border::mirror, Border::periodic})
    EXPECT_GE(check_host_variants(wide, {.shape = {3, 2}, .borders = Borders::all(border)}, 4), 1u);
}

TEST(Host, LongRowsMatchTheReference) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  EXPECT_GE(check_host_variants(star, {.shape = {3, 70001}, .borders = Borders::all(Border::periodic)}, 3), 2u);
  EXPECT_GE(check_host_variants(star, {.shape = {40, 20011}}, 2), 2u);  // blocks along x
  const auto star3 = linear<float>(3, weighted(von_neumann(3, 1), 0.14));
  EXPECT_GE(check_host_variants(star3, {.shape = {5, 90, 301}, .borders = Borders::all(Border::mirror)}, 2), 2u);
}

TEST(Host, MoreThreadsThanRows) {
  const auto star = linear<double>(2, weighted(von_neumann(2, 1), 0.2));
  for (const std::size_t threads : {3u, 7u, 16u}) {
    for (const Borders& borders : all_borders())
      check_host_variants(star, {.shape = {9, 50}, .borders = borders, .threads = threads}, 4);
  }
  check_host_variants(linear<float>(3, weighted(von_neumann(3, 1), 0.14)), {.shape = {3, 5, 50}, .threads = 5}, 4);
}

TEST(Host, NanSpreadsByTheRadiusOnly) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  const Problem problem{.shape = {21, 40}, .borders = Borders::all(Border::periodic)};
  for (const Entry<float>& entry : list_variants(host(), star, resolve(star, problem))) {
    if (!entry.candidate.refusal.empty()) continue;
    Grid<float> grid({21, 40});
    grid(10, 20) = std::numeric_limits<float>::quiet_NaN();
    const auto variant = entry.build();
    const auto running = variant->start(grid, nullptr);
    running->run(3);
    running->read(grid);
    std::size_t count = 0;
    for (std::size_t y = 0; y < 21; ++y) {
      for (std::size_t x = 0; x < 40; ++x) {
        const auto distance = std::abs(static_cast<int>(y) - 10) + std::abs(static_cast<int>(x) - 20);
        EXPECT_EQ(std::isnan(grid(y, x)), distance <= 3) << entry.candidate.name();
        count += std::isnan(grid(y, x));
      }
    }
    EXPECT_EQ(count, 25u);
  }
}

// Streaming stores are refused for grids as small as in tests, so the kernels are called directly.
template <class T>
void check_streaming(const std::vector<Offset>& offsets, std::size_t dimensions) {
  const auto made = linear<T>(dimensions, weighted(offsets, 0.15));
  const auto streaming = linear_rows<T>(*made.linear, made.radius, 1, true);
  const std::size_t planes = 2 * static_cast<std::size_t>(made.radius[0]) + 1, width = 400;
  for (const std::size_t count : {1u, 2u, 4u}) {
    const std::size_t table = planes * (2 * static_cast<std::size_t>(made.radius[1]) + count);
    const Grid<T> cells = test::random_grid<T>({table, width});
    for (const auto& [begin, end] :
         std::vector<std::pair<std::size_t, std::size_t>>{{8, 390}, {13, 301}, {9, 12}, {7, 47}}) {
      Grid<T> plain({count, width}), round({count, width});
      std::vector<const T*> in;
      std::vector<T*> out, out_round;
      for (std::size_t r = 0; r < table; ++r) in.push_back(&cells(r, 0));
      for (std::size_t r = 0; r < count; ++r) out.push_back(&plain(r, 0)), out_round.push_back(&round(r, 0));
      made.row({.in = in.data(), .out = out.data(), .count = count, .begin = begin, .end = end});
      streaming({.in = in.data(), .out = out_round.data(), .count = count, .begin = begin, .end = end});
      streaming_fence();
      EXPECT_TRUE(test::same_bits(plain, round)) << count << " rows, " << begin << " to " << end;
      EXPECT_EQ(round(0, begin - 1), T{0});  // nothing outside the range is written
      EXPECT_EQ(round(0, end), T{0});
    }
  }
}

TEST(Host, StreamingKernels) {
  check_streaming<float>(von_neumann(2, 1), 2);
  check_streaming<double>(von_neumann(2, 1), 2);
  check_streaming<float>(moore(2, 2), 2);
  check_streaming<double>(von_neumann(3, 1), 3);
}

// Planners use dynamic blocks only for streaming loops with many threads, so the loops are built by hand.
TEST(Host, DynamicSchedulingOfRowBlocks) {
  const auto star = linear<float>(3, weighted(von_neumann(3, 1), 0.14));
  const Grid<float> start = test::random_grid<float>({7, 23, 45});
  for (const Borders& borders : all_borders()) {
    const Problem problem{.shape = start.shape(), .borders = borders};
    const Layout layout = resolve(star, problem);
    Grid<float> expected = start, result = start;
    reference<float>(star, problem, expected, 5, nullptr);
    for (const bool streams : {false, true}) {
      for (const std::size_t threads : {1u, 6u}) {
        for (const std::size_t pieces : {1u, 3u, 50u}) {  // the last is more than the number of rows
          const RowVariant<float> variant(layout, linear_rows<float>(*star.linear, star.radius, 1, streams),
                                          {.rows = 2, .threads = threads, .fence = streams, .pieces = pieces});
          Levels<float> levels(layout, start, nullptr);
          variant.steps(levels, 5);
          levels.read(result);
          EXPECT_TRUE(test::same_bits(result, expected)) << layout.key() << ", " << threads << " threads, " << pieces;
        }
      }
    }
  }
}

TEST(Host, ShortRowsAreOfferedAsOneLongRow) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  const auto flat = [&](std::size_t width) {
    const auto all = candidates(host(), star, {.shape = {64, width}});
    return std::any_of(all.begin(), all.end(),
                       [](const auto& one) { return one.name().find("flat=1") != std::string::npos; });
  };
  EXPECT_TRUE(flat(512));
  EXPECT_FALSE(flat(5000));
}

TEST(Host, StreamingIsRefusedInCacheOnly) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  const auto allowed = [&](std::size_t side) {
    for (const auto& candidate : candidates(host(), star, {.shape = {side, side}})) {
      if (candidate.variant == "streaming" && candidate.refusal.empty()) return true;
    }
    return false;
  };
  EXPECT_FALSE(allowed(64));
  EXPECT_TRUE(allowed(std::size_t{1} << 15));
}

}  // namespace
}  // namespace ridge::stencil
