// Tests that temporal blocking on the host equals the reference bit for bit: shapes, borders, depths, tiles small
// enough for many seams, step counts and threads.
#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <limits>
#include <thread>

#include "stencil/host/kernels/sweep_kernels.hpp"
#include "stencil/host/kernels/sweep_simd.hpp"
#include "support.hpp"

namespace ridge::stencil::test {
namespace {

// Distinct weights, so that a wrong neighbour is noticed.
std::vector<Term> uneven(const std::vector<Offset>& offsets) {
  std::vector<Term> terms;
  double weight = 0.5;
  for (const Offset& offset : offsets) {
    terms.push_back({.offset = offset, .weight = weight / static_cast<double>(offsets.size())});
    weight += 0.37 / static_cast<double>(offsets.size());
  }
  return terms;
}

std::string words(const TimeTiling& tiling) {
  return "depth " + std::to_string(tiling.depth) + " width " + std::to_string(tiling.width) + " height " +
         std::to_string(tiling.height) + " length " + std::to_string(tiling.length) + " tick " +
         std::to_string(tiling.tick) + " rows " + std::to_string(tiling.rows) + " threads " +
         std::to_string(tiling.threads);
}

// Computes the reference once and compares any number of sweeps with it.
template <class T>
class Comparison {
 public:
  Comparison(const Update<T>& update, const Problem& problem, std::size_t steps)
      : update_(update),
        layout_(resolve(update, problem)),
        steps_(steps),
        start_(random_grid<T>(problem.shape, update.fields, 7)),
        coefficients_(random_grid<T>(problem.shape, std::max<std::size_t>(update.coefficients, 1), 8)),
        expected_(start_) {
    reference(update, problem, expected_, steps, given());
  }
  void expect(const TimeTiling& tiling, const SweepKernels<T>& kernels) const {
    const TimeSweep<T> sweep(layout_, tiling, kernels);
    Levels<T> levels(layout_, start_, given());
    sweep.steps(levels, steps_);
    Grid<T> result(start_.shape(), start_.fields());
    levels.read(result);
    EXPECT_TRUE(same_bits(result, expected_)) << layout_.key() << ", " << steps_ << " steps, " << words(tiling)
                                              << ": off by " << largest_difference(result, expected_);
  }

 private:
  const Grid<T>* given() const { return update_.coefficients > 0 ? &coefficients_ : nullptr; }
  Update<T> update_;
  Layout layout_;
  std::size_t steps_;
  Grid<T> start_, coefficients_, expected_;
};

// Every pair of kinds along the last axis with every pair along the one before it.
std::vector<Borders> pairs_of_borders(std::size_t dimensions) {
  using Sides = std::pair<Border, Border>;
  const std::vector<Sides> kinds{{Border::fixed, Border::fixed},
                                 {Border::mirror, Border::mirror},
                                 {Border::periodic, Border::periodic},
                                 {Border::fixed, Border::mirror},
                                 {Border::mirror, Border::fixed}};
  std::vector<Borders> all;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = 0; j < (dimensions > 1 ? kinds.size() : 1); ++j) {
      const std::vector<Sides> axes{kinds[i], kinds[j], kinds[(i + 2 * j + 1) % kinds.size()]};
      Borders borders;
      for (std::size_t axis = 0; axis < dimensions; ++axis) {
        borders.low[axis] = axes[dimensions - 1 - axis].first;
        borders.high[axis] = axes[dimensions - 1 - axis].second;
      }
      all.push_back(borders);
    }
  }
  return all;
}

TEST(TimeTiling, TwoDimensions) {
  for (const bool box : {false, true}) {
    for (const int order : {1, 2}) {
      const auto update = linear<float>(2, uneven(box ? moore(2, order) : von_neumann(2, order)));
      const auto general = general_sweep_kernels(update), simd = linear_sweep_kernels(update, {.streaming = true});
      for (const Borders& borders : pairs_of_borders(2)) {
        const Comparison<float> compare(update, {.shape = {23, 53}, .borders = borders, .threads = 1}, 7);
        for (const std::size_t depth : {1u, 2u, 3u, 8u}) {
          for (const std::size_t tick : {1u, 2u, 4u, 8u}) {
            const TimeTiling tiling{.depth = depth, .width = 16, .length = 9, .tick = tick, .rows = 4, .threads = 1};
            compare.expect(tiling, simd);
            if (tick == 4) compare.expect(tiling, general);
          }
        }
      }
    }
  }
}

TEST(TimeTiling, OneDimension) {
  for (const int order : {1, 2, 5}) {
    const auto update = linear<double>(1, uneven(von_neumann(1, order)));
    const auto simd = linear_sweep_kernels(update, {});
    for (const Borders& borders : pairs_of_borders(1)) {
      for (const std::size_t size : {11u, 64u, 257u}) {
        const Comparison<double> compare(update, {.shape = {size}, .borders = borders, .threads = 1}, 37);
        for (const std::size_t depth : {1u, 4u, 16u, 64u}) {
          for (const std::size_t width : {0u, 16u, 24u, 100u})
            compare.expect({.depth = depth, .width = width, .threads = 1}, simd);
        }
      }
    }
  }
}

TEST(TimeTiling, ThreeDimensions) {
  for (const bool box : {false, true}) {
    for (const int order : {1, 2}) {
      const auto update = linear<float>(3, uneven(box ? moore(3, order) : von_neumann(3, order)));
      const auto simd = linear_sweep_kernels(update, {}),
                 planes = linear_sweep_kernels(update, {.planes = 2, .rows = 2});
      for (const Borders& borders : pairs_of_borders(3)) {
        const Comparison<float> compare(update, {.shape = {7, 11, 35}, .borders = borders, .threads = 1}, 5);
        for (const std::size_t depth : {1u, 3u, 4u}) {
          TimeTiling tiling{.depth = depth, .width = 16, .height = 5, .length = 4, .rows = 4, .threads = 1};
          for (const std::size_t tick : {1u, 2u}) {
            tiling.tick = tick;
            compare.expect(tiling, simd);
          }
          tiling.rows = tiling.planes = 2;
          compare.expect(tiling, planes);
          tiling.tick = 4;
          compare.expect(tiling, planes);
          tiling.width = 0;
          for (const std::size_t together : {1u, 2u}) {
            tiling.planes = together;
            tiling.within = together == 2;
            compare.expect(tiling, linear_sweep_kernels(update, {.planes = together, .rows = 2, .flat = true}));
          }
          tiling.height = tiling.length = 0;
          compare.expect(tiling, planes);
          compare.expect(tiling,
                         linear_sweep_kernels(update, {.planes = 2, .rows = 2, .flat = true, .streaming = true}));
        }
      }
    }
  }
}

TEST(TimeTiling, GridsSmallerThanTheStencil) {
  const auto check = [](std::size_t dimensions, int order, const std::vector<std::size_t>& shape) {
    const auto update = linear<float>(dimensions, uneven(moore(dimensions, order)));
    const auto simd = linear_sweep_kernels(update, {.planes = 2, .rows = 2});
    for (const Border border : {Border::mirror, Border::periodic}) {
      const Comparison<float> compare(update, {.shape = shape, .borders = Borders::all(border), .threads = 1}, 9);
      for (const std::size_t depth : {1u, 4u, 9u})
        compare.expect(
            {.depth = depth, .width = 1, .height = 1, .length = 1, .tick = 2, .rows = 2, .planes = 2, .threads = 1},
            simd);
    }
  };
  for (const std::size_t size : {1u, 2u, 3u}) {
    check(1, 4, {size});
    check(2, 2, {1, size});
    check(2, 3, {size, 2});
    check(2, 1, {1, 100 * size});
    check(2, 1, {100 * size, 1});
    check(3, 2, {1, size, 2});
    check(3, 1, {size, 1, 30});
  }
}

// Enough steps, tiles and threads to cover every remainder.
TEST(TimeTiling, AnySizeAndStepCount) {
  const auto update = linear<float>(2, uneven(von_neumann(2, 1)));
  const auto simd = linear_sweep_kernels(update, {});
  for (const std::size_t rows : {3u, 4u, 17u, 64u}) {
    for (const std::size_t columns : {3u, 16u, 31u, 130u}) {
      for (const std::size_t steps : {0u, 1u, 6u, 13u}) {
        const Comparison<float> compare(update, {.shape = {rows, columns}, .threads = 5}, steps);
        for (const std::size_t depth : {1u, 4u, 6u}) {
          for (const std::size_t width : {1u, 16u, 48u, 0u}) {
            for (const std::size_t length : {1u, 7u, 0u}) {
              compare.expect({.depth = depth,
                              .width = width,
                              .length = length,
                              .tick = 8,
                              .rows = 4,
                              .threads = length == 7 && depth == 4 ? 5u : 1u,
                              .prefetch = true},
                             simd);
            }
          }
        }
      }
    }
  }
}

TEST(TimeTiling, HighOrders) {
  const auto check = [](std::size_t dimensions, const std::vector<std::size_t>& shape, const TimeTiling& tiling,
                        int order = 4) {
    const auto update = linear<double>(dimensions, uneven(von_neumann(dimensions, order)));
    const auto simd = linear_sweep_kernels(update, {});
    for (const Border border : {Border::fixed, Border::mirror, Border::periodic}) {
      const Comparison<double> compare(update, {.shape = shape, .borders = Borders::all(border), .threads = 2}, 5);
      compare.expect(tiling, simd);
    }
  };
  check(2, {41, 61}, {.depth = 3, .width = 24, .length = 17, .tick = 8, .rows = 4, .threads = 2});
  check(2, {41, 61}, {.depth = 4, .width = 16, .length = 17, .tick = 16, .rows = 4, .threads = 2});
  for (const int order : {2, 3, 4}) {
    check(3, {17, 19, 31}, {.depth = 2, .width = 16, .height = 9, .length = 8, .tick = 1, .rows = 4, .threads = 2},
          order);
    check(3, {17, 19, 31}, {.depth = 3, .height = 9, .rows = 4, .threads = 2}, order);
  }
}

// A shape without an unrolled kernel, not in memory order.
TEST(TimeTiling, ShapesWithoutAnUnrolledKernel) {
  std::vector<Term> terms = uneven(diamond(2, 2));
  std::reverse(terms.begin(), terms.end());
  std::swap(terms[2], terms[7]);
  const auto update = linear<float>(2, terms);
  EXPECT_EQ(known_shape(terms), KnownShape::none);
  for (const Borders& borders : all_borders()) {
    Comparison<float>(update, {.shape = {30, 45}, .borders = borders, .threads = 2}, 8)
        .expect({.depth = 5, .width = 16, .length = 11, .tick = 8, .rows = 4, .threads = 2},
                linear_sweep_kernels(update, {}));
  }
}

TEST(TimeTiling, UpdatesOfEverySort) {
  const auto check = [](const auto& update) {
    for (const Borders& borders : all_borders()) {
      const Comparison compare(update, {.shape = {19, 27}, .borders = borders, .threads = 1}, 8);
      for (const std::size_t depth : {1u, 3u, 8u}) {
        for (const std::size_t rows : {1u, 2u, 4u})
          compare.expect({.depth = depth, .width = 8, .length = 6, .tick = rows, .rows = rows, .threads = 1},
                         general_sweep_kernels(update));
      }
    }
  };
  check(update<float>(2, heat_function()));
  check(update<double>(2, wave_function()));
  check(update<float>(2, wave_function()));
  check(update<float>(2, every_word()));
  check(update<std::uint8_t>(2, life_function()));
  check(update<std::int32_t>(2, life_function()));
}

// Coefficients beyond a periodic side are those of the opposite side, also if the overlap wraps several times.
TEST(TimeTiling, CoefficientsWrapAlongPeriodicAxes) {
  const auto diffusion = update<double>(2, [](auto u) {
    return u(0, 0) + 0.1 * (u.coefficient(0, 0, -1) * u(0, -1) + u.coefficient(0, -1, 1) * u(1, 1));
  });
  const Comparison<double> compare(diffusion,
                                   {.shape = {5, 3}, .borders = Borders::all(Border::periodic), .threads = 1}, 12);
  for (const std::size_t depth : {1u, 4u, 12u})
    compare.expect({.depth = depth, .width = 1, .length = 2, .tick = 2, .rows = 2}, general_sweep_kernels(diffusion));
}

TEST(TimeTiling, LinearSystemsOfFields) {
  // Two coupled fields.
  const auto update = linear<float>(2, {{.offset = {0, 0, 0}, .weight = 1.5, .field = 0, .to = 0},
                                        {.offset = {0, 0, 1}, .weight = 0.1, .field = 0, .to = 0},
                                        {.offset = {0, 0, 0}, .weight = -0.7, .field = 1, .to = 0},
                                        {.offset = {0, -1, 0}, .weight = 0.9, .field = 0, .to = 1}});
  for (const Borders& borders : all_borders()) {
    Comparison<float>(update, {.shape = {21, 40}, .borders = borders, .threads = 2}, 9)
        .expect({.depth = 4, .width = 16, .length = 8, .tick = 4, .rows = 4, .threads = 2},
                linear_sweep_kernels(update, {}));
  }
}

TEST(TimeTiling, NanSpreadsByTheRadiusPerStep) {
  const auto update = linear<float>(2, uneven(von_neumann(2, 1)));
  const Problem problem{.shape = {40, 70}, .threads = 2};
  Grid<float> start = random_grid<float>(problem.shape);
  start(20, 33) = std::numeric_limits<float>::quiet_NaN();
  const Layout layout = resolve(update, problem);
  Levels<float> levels(layout, start, nullptr);
  const TimeSweep<float> sweep(layout, {.depth = 6, .width = 16, .length = 10, .tick = 4, .rows = 4, .threads = 2},
                               linear_sweep_kernels(update, {}));
  sweep.steps(levels, 6);
  Grid<float> result(problem.shape);
  levels.read(result);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 70; ++x) {
      const bool reached = std::abs(y - 20) + std::abs(x - 33) <= 6;
      EXPECT_EQ(std::isnan(result(static_cast<std::size_t>(y), static_cast<std::size_t>(x))), reached) << y << " " << x;
    }
  }
}

// The memory that the processes of a team share; threads take their place.
struct SharedTeam {
  explicit SharedTeam(const Layout& layout, std::size_t processes)
      : one(Levels<float>::elements(layout)),
        two(one.size()),
        done(Team::most_tiles(layout.cells())),
        meeting(static_cast<std::ptrdiff_t>(processes)) {
    for (std::size_t rank = 0; rank < processes; ++rank)
      teams.push_back({.rank = rank, .count = processes, .next = &next, .done = done, .barrier = [this] {
                         meeting.arrive_and_wait();
                       }});
  }
  std::vector<float> one, two;
  std::vector<std::atomic<std::uint32_t>> done;
  std::atomic<std::uint64_t> next{0};
  std::barrier<> meeting;
  std::vector<Team> teams;
};

Box slab_of(const Layout& layout, std::size_t part, std::size_t parts) {
  const base::Share rows = base::share(layout.shape[1], part, parts);
  return {{0, rows.begin, 0}, {1, rows.end - rows.begin, layout.shape[2]}};
}

TEST(TimeTiling, TeamsMatchOneProcess) {
  const auto update = linear<float>(2, uneven(moore(2, 1)));
  for (const Borders& borders : all_borders()) {
    const Problem problem{.shape = {90, 70}, .borders = borders};
    const Layout layout = resolve(update, problem);
    const Grid<float> start = random_grid<float>(problem.shape);
    Levels<float> alone(layout, start, nullptr);
    const TimeSweep<float> sweep(layout, {.depth = 4, .width = 16, .length = 11, .tick = 2, .rows = 2},
                                 linear_sweep_kernels(update, {}));
    SharedTeam shared(layout, 3);
    std::vector<float> got(layout.cells());
    std::vector<std::thread> processes;
    for (Team& team : shared.teams) {
      processes.emplace_back([&] {
        Levels<float> levels(layout, team, shared.one.data(), shared.two.data());
        const Box mine = slab_of(layout, team.rank, team.count);
        levels.put(mine, &start(mine.begin[1], 0));
        team.barrier();
        sweep.steps(levels, 30);
        sweep.steps(levels, 7);
        levels.get(mine, got.data() + mine.begin[1] * layout.shape[2]);
      });
    }
    for (std::thread& process : processes) process.join();
    sweep.steps(alone, 37);
    Grid<float> want(problem.shape);
    alone.read(want);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), want.all().begin())) << layout.key();
  }
}

// The test takes tile 0 and leaves it undone: the next sweep must not begin with it.
TEST(TimeTiling, ATileOfATeamWaitsForItsNeighbours) {
  const auto update = linear<float>(2, uneven(moore(2, 1)));
  const Layout layout = resolve(update, Problem{.shape = {40, 64}});
  const TimeSweep<float> sweep(layout, {.depth = 2, .width = 16, .length = 10, .tick = 2, .rows = 2},
                               linear_sweep_kernels(update, {}));
  SharedTeam shared(layout, 1);
  shared.next = 1;
  std::uint64_t taken = 0;
  std::thread process([&] {
    Levels<float> levels(layout, shared.teams[0], shared.one.data(), shared.two.data());
    shared.teams[0].barrier = [&] { taken = std::max(taken, shared.next.load()); };
    sweep.steps(levels, 4);
  });
  constexpr std::uint64_t kTiles = 16;
  while (shared.next.load() <= kTiles) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(shared.next.load(), kTiles + 1);
  shared.done[0].store(1, std::memory_order_release);
  process.join();
  EXPECT_EQ(taken, 2 * kTiles + 1);
  EXPECT_EQ(shared.next.load(), 0u);
}

// A sweep leaves the level's borders valid: another variant can take the next step.
TEST(TimeTiling, ASweepLeavesValidBorderCells) {
  const auto update = linear<double>(2, uneven(moore(2, 2)));
  for (const Borders& borders : all_borders()) {
    const Problem problem{.shape = {20, 33}, .borders = borders, .threads = 2};
    const Layout layout = resolve(update, problem);
    const Grid<double> start = random_grid<double>(problem.shape);
    Levels<double> levels(layout, start, nullptr);
    TimeSweep<double>(layout, {.depth = 3, .width = 8, .length = 7, .tick = 2, .rows = 2, .threads = 2},
                      linear_sweep_kernels(update, {}))
        .steps(levels, 5);
    Grid<double> newest(problem.shape);
    levels.read(newest);
    const Levels<double> fresh(layout, newest, nullptr);
    const auto sides = [&](std::size_t y, std::ptrdiff_t x) {
      return std::pair(levels.row(levels.current(), 0, 0, y)[x],
                       fresh.row(const_cast<Levels<double>&>(fresh).current(), 0, 0, y)[x]);
    };
    for (std::size_t y = layout.begin[1]; y < layout.end[1]; ++y) {
      for (std::ptrdiff_t k = 1; k <= 2; ++k) {
        if (layout.low[2] != Border::fixed) {
          EXPECT_EQ(sides(y, -k).first, sides(y, -k).second);
        }
        if (layout.high[2] != Border::fixed) {
          EXPECT_EQ(sides(y, 32 + k).first, sides(y, 32 + k).second);
        }
      }
    }
  }
}

// Tests all instruction sets of this machine, not only the best.
TEST(TimeTiling, EveryInstructionSet) {
  const std::int64_t all = hwy::SupportedTargets();
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    hwy::GetChosenTarget().Update(left & -left);
    for (const std::size_t dimensions : {1u, 2u, 3u}) {
      const auto update = linear<float>(dimensions, uneven(von_neumann(dimensions, 1)));
      std::vector<std::size_t> shape{9, 21, 75};
      shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(3 - dimensions));
      Comparison<float>(update, {.shape = shape, .threads = 1}, 6)
          .expect({.depth = 4, .width = 32, .height = 8, .length = 12, .tick = 4, .rows = 4},
                  linear_sweep_kernels(update, {.streaming = true}));
    }
  }
  hwy::GetChosenTarget().Update(all);
}

// The list for real problems is not empty and has only tiles that fit.
TEST(TimeTiling, ListedForEveryDimension) {
  const auto count = [](std::size_t dimensions, const std::vector<std::size_t>& shape) {
    const auto update = linear<float>(dimensions, uneven(von_neumann(dimensions, 1)));
    const Layout layout = resolve(update, {.shape = shape, .threads = 16});
    std::size_t found = 0;
    for (const Entry<float>& entry : list_variants(host(), update, layout)) {
      if (entry.candidate.variant != "overlapped_tiles") continue;
      ++found;
      EXPECT_GT(depth_of(entry.candidate), 1u);
      EXPECT_EQ(entry.build()->depth(), depth_of(entry.candidate));
      EXPECT_TRUE(entry.exact);
      EXPECT_TRUE(entry.candidate.refusal.empty());
    }
    return found;
  };
  EXPECT_GE(count(1, {1u << 20}), 2u);
  EXPECT_GE(count(2, {4096, 4096}), 3u);
  EXPECT_GE(count(3, {256, 256, 256}), 3u);
}

}  // namespace
}  // namespace ridge::stencil::test
