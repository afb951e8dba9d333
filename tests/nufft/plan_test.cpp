// Tests plans of the nonuniform transform: argument checks, points, threads and choices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numbers>

#include "nufft/direct_sum.hpp"
#include "support/error_of.hpp"

namespace ridge::nufft {
namespace {

using test::kQuick;
using test::random_points;
using test::random_values;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  return ridge::test::error_of(call, ErrorKind::invalid_argument);
}

template <class T>
std::string planning_error(const Problem& problem) {
  return refusal([&] { plan<T>(host(), problem, kQuick); });
}

TEST(NufftPlan, RefusesImpossibleProblems) {
  EXPECT_THAT(planning_error<float>({}), HasSubstr("one to three axes, got 0"));
  EXPECT_THAT(planning_error<float>({.modes = {2, 2, 2, 2}}), HasSubstr("one to three axes, got 4"));
  EXPECT_THAT(planning_error<float>({.modes = {4, 0}}), HasSubstr("at least one mode, got 4x0"));
  EXPECT_THAT(planning_error<float>({.modes = {4}, .sign = 0}), HasSubstr("sign must be +1 or -1, got 0"));
  EXPECT_THAT(planning_error<float>({.modes = {4}, .batch = 0}), HasSubstr("batch must be at least 1"));
  EXPECT_THAT(planning_error<float>({.modes = {4}, .upsampling = 3}),
              HasSubstr("upsampling must be 2.25, 2, 1.5 or 1.25"));
  const std::size_t huge = std::size_t{1} << 40;
  EXPECT_THAT(planning_error<float>({.modes = {huge, huge}}), HasSubstr("exceed the address space"));
  EXPECT_THAT(planning_error<float>({.modes = {huge}}), HasSubstr("the machine has"));
  EXPECT_THAT(planning_error<double>({.modes = {huge / 16, 16, 1}}), HasSubstr("the machine has"));
}

TEST(NufftPlan, RefusesAnEpsilonThatTheTypeCannotDeliver) {
  EXPECT_THAT(planning_error<float>({.modes = {4}, .epsilon = 1e-9}), HasSubstr("plan with double"));
  EXPECT_THAT(planning_error<double>({.modes = {4}, .epsilon = 1e-17}),
              HasSubstr("double needs an epsilon of at least"));
  for (const double epsilon : {0.0, -1e-3, 0.2, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(planning_error<double>({.modes = {4}, .epsilon = epsilon}), HasSubstr("epsilon must be between"));
  }
}

TEST(NufftPlan, RefusesPointsThatAreNotNumbers) {
  auto nufft = plan<double>(host(), {.modes = {8, 8}}, kQuick);
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity, 1e300}) {
    std::vector<double> x(9000, 0.5), y(9000, 0.25);
    y[8123] = bad;
    EXPECT_THAT(refusal([&] { nufft.set_points(x, y); }), HasSubstr("y[8123]"));
  }
}

TEST(NufftPlan, FoldsOrRefusesPointsOutsideThePeriod) {
  const std::vector<float> x{0.5f, 3.5f};
  auto folding = plan<float>(host(), {.modes = {8}}, kQuick);
  folding.set_points(x);
  auto strict = plan<float>(host(), {.modes = {8}, .fold = false}, kQuick);
  EXPECT_THAT(refusal([&] { strict.set_points(x); }), HasSubstr("at most 3.14 radians, got x[1] = 3.5"));
  strict.set_points(std::vector<float>{-std::numbers::pi_v<float>, std::numbers::pi_v<float>});
}

TEST(NufftPlan, RefusesOtherSizes) {
  auto nufft = plan<float>(host(), {.modes = {8, 8}, .batch = 2}, kQuick);
  std::vector<float> four(4), three(3);
  std::vector<std::complex<float>> strengths(8), modes(128);
  EXPECT_THAT(refusal([&] { nufft.run(strengths, modes); }), HasSubstr("set_points() first"));
  EXPECT_THAT(refusal([&] { nufft.set_points(four, three); }), HasSubstr("4 coordinates y"));
  EXPECT_THAT(refusal([&] { nufft.set_points(four); }), HasSubstr("4 coordinates y"));
  EXPECT_THAT(refusal([&] { nufft.set_points(four, four, four); }), HasSubstr("0 coordinates z"));
  nufft.set_points(four, four);
  EXPECT_EQ(nufft.points(), 4u);
  EXPECT_NE(refusal([&] { nufft.run(std::span(strengths).first(7), modes); }), "");
  EXPECT_NE(refusal([&] { nufft.run(strengths, std::span(modes).first(127)); }), "");
  EXPECT_NE(refusal([&] { nufft.run(std::span(modes).first(8), modes); }), "");
  nufft.run(strengths, modes);
}

TEST(NufftPlan, OfNoPoints) {
  auto nufft = plan<float>(host(), {.modes = {5, 6}}, kQuick);
  nufft.set_points({}, {});
  std::vector<std::complex<float>> modes(30, {1, 1});
  nufft.run({}, modes);
  for (const auto& mode : modes) EXPECT_EQ(mode, std::complex<float>(0));
  auto back = plan<float>(host(), {.type = Type::to_points, .modes = {5, 6}}, kQuick);
  back.set_points({}, {});
  back.run(modes, {});
}

template <class T>
std::vector<std::complex<T>> with_threads(Problem problem, std::size_t threads, const test::Points<T>& points) {
  problem.threads = threads;
  auto nufft = plan<T>(host(), problem, kQuick);
  points.give_to(nufft);
  std::size_t modes = 1;
  for (const std::size_t n : problem.modes) modes *= n;
  const bool to_modes = problem.type == Type::to_modes;
  const auto in = random_values<T>(to_modes ? points.count : modes);
  std::vector<std::complex<T>> out(to_modes ? modes : points.count);
  nufft.run(in, out);
  return out;
}

template <class T>
void expect_same_bits(const Problem& problem, const test::Points<T>& points) {
  const auto one = with_threads(problem, 1, points);
  for (const std::size_t threads : {2, 3}) {
    const auto several = with_threads(problem, threads, points);
    EXPECT_EQ(std::memcmp(one.data(), several.data(), one.size() * sizeof(one[0])), 0)
        << threads << " threads, " << problem.modes.size() << " axes, type " << static_cast<int>(problem.type);
  }
}

TEST(NufftPlan, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const Type type : {Type::to_modes, Type::to_points}) {
    expect_same_bits<float>({.type = type, .modes = {3000}}, random_points<float>(1, 20000));
    expect_same_bits<float>({.type = type, .modes = {61, 70}}, random_points<float>(2, 20000));
    expect_same_bits<double>({.type = type, .modes = {21, 16, 18}, .epsilon = 1e-5}, random_points<double>(3, 20000));
    expect_same_bits<float>({.type = type, .modes = {64, 64}}, random_points<float>(2, 100000, 0.3, 0.31));
  }
}

TEST(NufftPlan, KeepsThePointsOfACopy) {
  auto first = plan<double>(host(), {.modes = {16}}, kQuick);
  const std::vector<double> one{0.5}, two{-0.5, 1.0};
  first.set_points(one);
  auto second = first;
  second.set_points(two);
  std::vector<std::complex<double>> strengths{1, 1}, modes(16);
  first.run(strengths, modes);
  EXPECT_EQ(first.points(), 1u);
  EXPECT_EQ(second.points(), 2u);
  EXPECT_NEAR(modes[9].real(), std::cos(0.5), 1e-5);
  EXPECT_NEAR(modes[9].imag(), std::sin(0.5), 1e-5);
}

TEST(NufftPlan, RunsOnBuffersOfTheHost) {
  auto nufft = plan<float>(host(), {.modes = {8}}, kQuick);
  nufft.set_points(std::vector<float>{0, 0});
  Queue queue = host().queue();
  const Buffer in = host().buffer(16, {.name = "in"}), out = host().buffer(64, {.name = "out"});
  const std::vector<std::complex<float>> strengths{1, 2};
  std::vector<std::complex<float>> modes(8);
  queue.upload(std::span(strengths), in);
  nufft.enqueue(queue, in, out);
  queue.download(out, std::span(modes));
  for (const auto& mode : modes) EXPECT_NEAR(mode.real(), 3, 1e-5);
}

TEST(NufftPlan, ExplainsItsChoice) {
  const Problem problem{.modes = {32, 32}, .epsilon = 1e-4};
  const auto nufft = plan<float>(host(), problem, kQuick);
  EXPECT_THAT(nufft.explain(), HasSubstr("tiles(upsampling="));
  const auto listed = candidates<double>(host(), {.modes = {32}, .epsilon = 1e-13});
  ASSERT_EQ(listed.size(), 4u);
  EXPECT_EQ(listed[0].refusal, "");
  EXPECT_THAT(listed[2].refusal, HasSubstr("cannot be reached with kernels of up to 16 cells at upsampling 1.25"));
  planner::Options one = kQuick;
  one.variant = "tiles(upsampling=1.5, width=6)";
  EXPECT_THAT(plan<float>(host(), problem, one).explain(), HasSubstr("upsampling=1.5"));
}

TEST(NufftPlan, MeasuresAndComparesItsVariants) {
  const planner::Options measured{
      .effort = Effort::measured, .use_wisdom = false, .save_wisdom = false, .verify = true};
  for (const Type type : {Type::to_modes, Type::to_points}) {
    const auto nufft = plan<float>(host(), {.type = type, .modes = {16, 12}, .points = 200, .epsilon = 1e-3}, measured);
    for (const planner::Trial& trial : nufft.decisions().front().trials)
      EXPECT_THAT(trial.reason, testing::Not(HasSubstr("wrong")));
  }
}

}  // namespace
}  // namespace ridge::nufft
