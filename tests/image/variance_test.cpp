// Compares every variance method with two passes in double, for many windows and borders.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "image/support.hpp"
#include "image/variance/host/tile_kernels.hpp"
#include "image/variance/reference.hpp"
#include "image/work.hpp"

namespace ridge::image {
namespace {

const planner::Options kQuick{.effort = Effort::quick};

Image random_image(const Shape& shape, double mean, double spread, unsigned seed = 1) {
  Image image(shape);
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(mean, spread);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      const double value = noise(random);
      if (shape.depth == Depth::u8)
        image.row<std::uint8_t>(r)[c] = static_cast<std::uint8_t>(std::fmin(255, std::fmax(0, value)));
      if (shape.depth == Depth::u16)
        image.row<std::uint16_t>(r)[c] = static_cast<std::uint16_t>(std::fmin(65535, std::fmax(0, value)));
      if (shape.depth == Depth::f32) image.row<float>(r)[c] = static_cast<float>(value);
    }
  }
  return image;
}

// The largest relative error over all pixels.
double worst_error(const VarianceProblem& problem, const Image& in) {
  const VariancePlan plan(host(), problem, kQuick);
  // The pitch is larger than a row; the gaps must not be written.
  std::vector<float> memory(problem.rows * (problem.columns + 3), -7.0f);
  Image out =
      Image::view(static_cast<void*>(memory.data()),
                  {.rows = problem.rows, .columns = problem.columns, .depth = Depth::f32}, (problem.columns + 3) * 4);
  plan.run(in, out);
  double worst = 0;
  for (std::size_t r = 0; r < problem.rows; ++r) {
    for (std::size_t c = 0; c < problem.columns; ++c) {
      const double right = reference_variance(problem, in, r, c);
      worst = test::worse(worst, std::abs(out.row<float>(r)[c] - right) / std::max(right, 1e-3));
    }
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(memory[r * (problem.columns + 3) + problem.columns + c], -7.0f);
  }
  return worst;
}

VarianceProblem problem_of(std::size_t rows, std::size_t columns, Depth depth, VarianceMethod method, std::size_t tall,
                           std::size_t wide) {
  VarianceProblem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.depth = depth;
  problem.method = method;
  problem.window_rows = tall;
  problem.window_columns = wide;
  problem.threads = 2;
  return problem;
}

constexpr VarianceMethod kFive[] = {VarianceMethod::two_pass, VarianceMethod::koenig, VarianceMethod::online,
                                    VarianceMethod::pairwise, VarianceMethod::three_wise};

TEST(Variance, every_method_and_window_on_eight_bits) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 40}, {37, 1}, {33, 70}}) {
    const Image in = random_image({.rows = rows, .columns = columns}, 120, 40);
    for (const auto& [tall, wide] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {3, 3}, {2, 5}, {10, 7}, {27, 27}, {16, 32}, {81, 4}}) {
      for (const VarianceMethod method : kFive) {
        EXPECT_LT(worst_error(problem_of(rows, columns, Depth::u8, method, tall, wide), in), 2e-4)
            << to_string(method) << " " << rows << "x" << columns << " window " << tall << "x" << wide;
      }
      for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::best}) {
        EXPECT_LT(worst_error(problem_of(rows, columns, Depth::u8, method, tall, wide), in), 3e-7)
            << rows << "x" << columns << " window " << tall << "x" << wide;
      }
    }
  }
}

TEST(Variance, pieces_of_large_images_fit_together) {
  const Image in = random_image({.rows = 200, .columns = 1100}, 120, 40);
  EXPECT_LT(worst_error(problem_of(200, 1100, Depth::u8, VarianceMethod::exact, 5, 7), in), 3e-7);
  EXPECT_LT(worst_error(problem_of(200, 1100, Depth::u8, VarianceMethod::three_wise, 9, 9), in), 2e-6);
}

TEST(Variance, sixteen_bits_and_windows_of_many_cells_are_exact) {
  const Image in = random_image({.rows = 40, .columns = 50, .depth = Depth::u16}, 60000, 900);
  EXPECT_LT(worst_error(problem_of(40, 50, Depth::u16, VarianceMethod::exact, 27, 27), in), 3e-7);
  const Image bytes = random_image({.rows = 40, .columns = 50}, 240, 3);
  EXPECT_LT(worst_error(problem_of(40, 50, Depth::u8, VarianceMethod::exact, 61, 45), bytes), 3e-7);
}

TEST(Variance, borders) {
  const Image in = random_image({.rows = 13, .columns = 21}, 90, 30);
  for (const Border border :
       {Border::reflect_101, Border::reflect, Border::replicate, Border::constant, Border::wrap}) {
    for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::three_wise}) {
      VarianceProblem problem = problem_of(13, 21, Depth::u8, method, 9, 33);  // the window is wider than the image
      problem.border = border;
      problem.constant = 17;
      EXPECT_LT(worst_error(problem, in), 2e-6) << to_string(border);
    }
  }
}

TEST(Variance, large_means_tell_the_methods_apart) {
  const Shape shape{.rows = 40, .columns = 60, .depth = Depth::f32};
  const Image in = random_image(shape, 1e4, 1);
  const auto worst = [&](VarianceMethod method) {
    return worst_error(problem_of(40, 60, Depth::f32, method, 27, 27), in);
  };
  EXPECT_GT(worst(VarianceMethod::koenig), 1.0);
  EXPECT_LT(worst(VarianceMethod::two_pass), 1e-3);
  EXPECT_LT(worst(VarianceMethod::three_wise), 1e-3);
  EXPECT_LT(worst(VarianceMethod::best), 3e-6);  // values are taken relative to a pixel of the tile
}

TEST(Variance, flat_images_have_none) {
  Image flat({.rows = 30, .columns = 30});
  for (std::size_t r = 0; r < 30; ++r) std::fill_n(flat.row<std::uint8_t>(r), 30, std::uint8_t{250});
  for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::three_wise, VarianceMethod::pairwise}) {
    EXPECT_EQ(worst_error(problem_of(30, 30, Depth::u8, method, 9, 9), flat), 0);
  }
}

TEST(Variance, joins_cover_a_window_once) {
  for (const int base : {2, 3}) {
    for (int window = 1; window < 200; ++window) {
      int have = 0, cells = 1;
      for (const Join& join : joins_of(window, base)) {
        ASSERT_EQ(join.cells, cells);
        if (join.kind == Join::Kind::grow) {
          cells *= base;
        } else {
          ASSERT_EQ(join.kind == Join::Kind::take, have == 0);
          ASSERT_EQ(join.before, have);
          have += cells;
        }
      }
      ASSERT_EQ(have, window);
    }
  }
}

TEST(Variance, verified_plans_and_refusals) {
  const planner::Options checked{.use_wisdom = false, .save_wisdom = false, .verify = true};
  EXPECT_NE(VariancePlan(host(), problem_of(50, 60, Depth::u8, VarianceMethod::best, 27, 27), checked)
                .explain()
                .find("exact"),
            std::string::npos);
  VariancePlan(host(), problem_of(50, 60, Depth::f32, VarianceMethod::pairwise, 8, 8), checked);
  EXPECT_THROW(VariancePlan(host(), problem_of(5, 6, Depth::f32, VarianceMethod::exact, 3, 3), kQuick), Error);
  EXPECT_THROW(VariancePlan(host(), problem_of(5, 6, Depth::u8, VarianceMethod::exact, 0, 3), kQuick), Error);
  EXPECT_THROW(VariancePlan(host(), problem_of(5, 6, Depth::f64, VarianceMethod::best, 3, 3), kQuick), Error);
  EXPECT_THROW(variance_method("three"), Error);
}

}  // namespace
}  // namespace ridge::image
