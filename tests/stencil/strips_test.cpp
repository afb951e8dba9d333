// Temporal blocking on the host equals the reference bit for bit: shapes, borders, depths, tiles small enough for many
// seams, step counts and threads.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "stencil/host/strips_kernels.hpp"
#include "stencil/reference.hpp"
#include "stencil/registry.hpp"

namespace ridge::stencil {
namespace {

template <class T>
Grid<T> random_grid(const std::vector<std::size_t>& shape, std::size_t fields, unsigned seed) {
  Grid<T> grid(shape, fields);
  std::mt19937 engine(seed);
  for (std::size_t field = 0; field < fields; ++field) {
    for (T& cell : grid.field(field)) {
      if constexpr (std::is_floating_point_v<T>) {
        cell = std::uniform_real_distribution<T>(T(0.25), T(1))(engine);
      } else {
        cell = static_cast<T>(engine() % 7);
      }
    }
  }
  return grid;
}

template <class T>
bool same_bits(const Grid<T>& a, const Grid<T>& b) {
  for (std::size_t field = 0; field < a.fields(); ++field) {
    if (std::memcmp(a.field(field).data(), b.field(field).data(), a.cells() * sizeof(T)) != 0) return false;
  }
  return true;
}

// Weights that differ from point to point, so that a wrong neighbour shows.
std::vector<Term> uneven(const std::vector<Offset>& offsets) {
  std::vector<Term> terms;
  double weight = 0.5;
  for (const Offset& offset : offsets) {
    terms.push_back({.offset = offset, .weight = weight / static_cast<double>(offsets.size())});
    weight += 0.37;
  }
  return terms;
}

template <class T>
StripKernels<T> kernels_of(const Update<T>& update, bool simd, const StripKernelOptions& options = {}) {
  return simd ? linear_strip_kernels<T>(update, options) : general_strip_kernels<T>(update);
}

std::vector<Borders> every_border(std::size_t dimensions) {
  constexpr std::array kinds{std::pair{Border::fixed, Border::fixed}, std::pair{Border::mirror, Border::mirror},
                             std::pair{Border::periodic, Border::periodic}, std::pair{Border::fixed, Border::mirror},
                             std::pair{Border::mirror, Border::fixed}};
  std::vector<Borders> all;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = 0; j < (dimensions > 1 ? kinds.size() : 1); ++j) {
      Borders borders;
      borders.low = {kinds[(i + 2 * j + 1) % kinds.size()].first, kinds[j].first, kinds[i].first};
      borders.high = {kinds[(i + 2 * j + 1) % kinds.size()].second, kinds[j].second, kinds[i].second};
      // Public borders name the axes a problem has, slowest first.
      for (std::size_t axis = 0; axis < dimensions; ++axis) {
        borders.low[axis] = borders.low[axis + 3 - dimensions];
        borders.high[axis] = borders.high[axis + 3 - dimensions];
      }
      all.push_back(borders);
    }
  }
  return all;
}

template <class T>
void expect_equal(const Update<T>& update, const std::vector<std::size_t>& shape, const Borders& borders,
                  const Strips& strips, const StripKernels<T>& kernels, std::size_t steps) {
  const Problem problem{.shape = shape, .borders = borders, .threads = strips.threads};
  const Layout layout = resolve(update, problem);
  const Grid<T> start = random_grid<T>(shape, update.fields, 7);
  const Grid<T> coefficients = random_grid<T>(shape, std::max<std::size_t>(update.coefficients, 1), 11);
  const Grid<T>* used = update.coefficients > 0 ? &coefficients : nullptr;
  Grid<T> wanted = random_grid<T>(shape, update.fields, 7), got(shape, update.fields);
  reference(update, problem, wanted, steps, used);
  const StripSweep<T> sweep(layout, strips, kernels);
  Levels<T> levels(layout, start, used);
  sweep.steps(levels, steps);
  levels.read(got);
  EXPECT_TRUE(same_bits(wanted, got)) << layout.key() << " steps " << steps << " depth " << strips.depth << " width "
                                      << strips.width << " height " << strips.height << " length " << strips.length
                                      << " tick " << strips.tick << " rows " << strips.rows << " threads "
                                      << strips.threads;
}

TEST(Strips, TwoDimensionsEveryBorder) {
  for (const bool box : {false, true}) {
    for (const int order : {1, 2}) {
      const auto update = linear<float>(2, uneven(box ? moore(2, order) : von_neumann(2, order)));
      for (const bool simd : {false, true}) {
        const auto kernels = kernels_of(update, simd);
        for (const Borders& borders : every_border(2)) {
          for (const std::size_t depth : {1u, 2u, 3u, 8u}) {
            for (const std::size_t tick : {1u, 2u, 4u}) {
              expect_equal(update, {23, 53}, borders,
                           {.depth = depth, .width = 16, .length = 9, .tick = tick, .rows = 4, .threads = 2}, kernels, 7);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ridge::stencil
