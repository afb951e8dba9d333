// Load and store factors of tensors against separate products, and adjoints against the transposed matrix of the plan.
#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>

namespace ridge::fft {
namespace {

const planner::Options kQuick{.effort = Effort::quick};

// Column j of the matrix of a plan of reals: its answer to the unit vector j. `values` counts reals per side.
std::vector<std::vector<double>> matrix_of(const TensorPlan<double>& plan, std::size_t in, std::size_t out) {
  std::vector<std::vector<double>> columns;
  for (std::size_t j = 0; j < in; ++j) {
    std::vector<double> x(in), y(out);
    x[j] = 1;
    plan.run(x.data(), y.data());
    columns.push_back(y);
  }
  return columns;
}

void expect_transposed(const TensorProblem& problem, std::size_t in, std::size_t out) {
  const TensorPlan<double> plan(host(), problem, kQuick);
  const auto forward = matrix_of(plan, in, out), back = matrix_of(plan.adjoint(kQuick), out, in);
  for (std::size_t i = 0; i < in; ++i) {
    for (std::size_t j = 0; j < out; ++j) ASSERT_NEAR(forward[i][j], back[j][i], 1e-13) << in << " " << i << " " << j;
  }
}

TEST(Adjoint, IsTheTransposedMatrix) {
  for (const std::size_t n : {1, 2, 3, 4, 7, 8, 13}) {
    const Dimension axis{n, 1, 1};
    for (int kind = 0; kind < 11; ++kind) {
      if (n == 1 && kind == static_cast<int>(RealKind::dct1)) continue;
      expect_transposed(
          {.kind = TensorKind::real_to_real, .axes = {axis}, .real_kinds = {static_cast<RealKind>(kind)}, .scale = 0.5},
          n, n);
    }
    const std::size_t half = 2 * (n / 2 + 1);
    expect_transposed({.kind = TensorKind::complex_forward, .axes = {axis}}, 2 * n, 2 * n);
    expect_transposed({.kind = TensorKind::complex_inverse, .axes = {axis}}, 2 * n, 2 * n);
    expect_transposed({.kind = TensorKind::real_forward, .axes = {axis}}, n, half);
    expect_transposed({.kind = TensorKind::real_inverse, .axes = {axis}}, half, n);
  }
}

TEST(Adjoint, FactorsAreAppliedOnBothSides) {
  const std::size_t rows = 3, n = 5, half = n / 2 + 1;
  const std::vector<double> load{1, 2, 3, 4, 5}, down{0.5, -1, 2}, store{1, -2, 3};
  TensorProblem problem{.kind = TensorKind::real_forward, .axes = {{rows, n, half}, {n, 1, 1}}};
  const TensorPlan<double> plain(host(), problem, kQuick);
  problem.load = {{}, load};
  problem.store = {down, store};
  const TensorPlan<double> plan(host(), problem, kQuick);
  std::vector<double> x(rows * n), scaled(rows * n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(1.0 + static_cast<double>(i));
    scaled[i] = x[i] * load[i % n];
  }
  const std::vector<double> before = x;
  std::vector<std::complex<double>> got(rows * half), want(rows * half);
  plan.run(x.data(), got.data());
  plain.run(scaled.data(), want.data());
  EXPECT_EQ(x, before);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(std::abs(got[i] - want[i] * down[i / half] * store[i % half]), 0, 1e-13) << i;
}

TEST(Adjoint, FactorsOfAnotherLengthAreRefused) {
  TensorProblem problem{.kind = TensorKind::complex_forward, .axes = {{4, 1, 1}}, .load = {{1, 2, 3}}};
  EXPECT_THROW(TensorPlan<double>(host(), problem, kQuick), Error);
  problem.load = {{}, {}};
  EXPECT_THROW(TensorPlan<double>(host(), problem, kQuick), Error);
  problem.load = {{1, 2, 3, 4}};
  problem.split_input = true;
  EXPECT_THROW(TensorPlan<double>(host(), problem, kQuick), Error);
}

// 2^40 points exceed every memory.
TEST(Adjoint, OfNoTransformsNeedsNoFactors) {
  const auto adjoint_of = [](TensorKind kind, std::vector<RealKind> kinds = {}) {
    return adjoint(TensorProblem{
        .kind = kind, .axes = {{std::size_t{1} << 40, 1, 1}}, .loops = {{0, 1, 1}}, .real_kinds = std::move(kinds)});
  };
  for (const RealKind kind : {RealKind::dct1, RealKind::dct2, RealKind::dst3, RealKind::halfcomplex}) {
    const TensorProblem back = adjoint_of(TensorKind::real_to_real, {kind});
    EXPECT_TRUE(back.load.empty() && back.store.empty());
    EXPECT_EQ(
        back.real_kinds,
        adjoint(TensorProblem{.kind = TensorKind::real_to_real, .axes = {{4, 1, 1}}, .real_kinds = {kind}}).real_kinds);
  }
  EXPECT_EQ(adjoint_of(TensorKind::real_forward).kind, TensorKind::real_inverse);
  EXPECT_TRUE(adjoint_of(TensorKind::real_forward).load.empty());
  EXPECT_TRUE(adjoint_of(TensorKind::real_inverse).store.empty());
}

TEST(Adjoint, IntegerSamplesAreRefused) {
  Problem problem{.shape = {8}};
  problem.load_forward.samples = Samples::int8;
  EXPECT_THROW(adjoint(problem), Error);
}

}  // namespace
}  // namespace ridge::fft
