// Tests plans of the transpose: argument checks, choices and errors.
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numeric>

#include <ridge/transpose.hpp>

#include "support/error_of.hpp"

namespace ridge::transpose {
namespace {

const planner::Options kQuick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};

std::string error_of(const std::function<void()>& call) {
  return ridge::test::error_of(call, ErrorKind::invalid_argument);
}

std::string planning_error(const Problem& problem) {
  return error_of([&] { plan<float>(host(), problem, kQuick); });
}

TEST(Plan, TransposesComplexNumbersOnEveryDevice) {
  for (const Device& device : devices().devices) {
    const auto turn = plan<std::complex<float>>(device, {.rows = 48, .columns = 80, .batch = 2}, kQuick);
    std::vector<std::complex<float>> in(48 * 80 * 2), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = {static_cast<float>(i), -1.0f};
    turn.run(in, out);
    EXPECT_EQ(turn.bytes(), 2.0 * 48 * 80 * 2 * 8);
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t r = 0; r < 48; ++r) {
        for (std::size_t c = 0; c < 80; ++c) {
          ASSERT_EQ(out[b * 3840 + c * 48 + r], in[b * 3840 + r * 80 + c]) << device.id();
        }
      }
    }
  }
}

TEST(Plan, RunsOnBuffersOfItsDevice) {
  for (const Device& device : devices().devices) {
    const auto turn = plan<double>(device, {.rows = 33, .columns = 20}, kQuick);
    std::vector<double> in(660), out(660);
    std::iota(in.begin(), in.end(), 0.0);
    Queue queue = device.queue();
    const Buffer from = device.buffer(660 * 8, {.name = "from"}), to = device.buffer(660 * 8, {.name = "to"});
    queue.upload(in.data(), from, 660 * 8);
    turn.enqueue(queue, from, to);
    queue.download(to, out.data(), 660 * 8);
    queue.finish();
    for (std::size_t i = 0; i < 660; ++i) ASSERT_EQ(out[i], in[i % 33 * 20 + i / 33]) << device.id();
    EXPECT_NE(error_of([&] { turn.enqueue(queue, from, from); }).find("same buffer"), std::string::npos);
    const Buffer small = device.buffer(100, {.name = "small"});
    EXPECT_NE(error_of([&] { turn.enqueue(queue, from, small); }).find("needs 5280"), std::string::npos);
    EXPECT_EQ(small.size(), 100u);
  }
}

TEST(Plan, TransposesInPlace) {
  for (const Device& device : devices().devices) {
    const auto turn = plan<int>(device, {.rows = 50, .columns = 50, .in_place = true}, kQuick);
    std::vector<int> data(2500);
    std::iota(data.begin(), data.end(), 0);
    turn.run(data);
    for (int i = 0; i < 2500; ++i) ASSERT_EQ(data[static_cast<std::size_t>(i)], i % 50 * 50 + i / 50) << device.id();
    std::vector<int> other(2500);
    EXPECT_NE(error_of([&] { turn.run(data, other); }).find("works in place"), std::string::npos);
  }
}

TEST(Plan, MeasuresAndExplainsItsWinner) {
  for (const Device& device : devices().devices) {
    const auto turn =
        plan<float>(device, {.rows = 96, .columns = 64},
                    {.effort = Effort::measured, .most_trials = 3, .use_wisdom = false, .save_wisdom = false});
    const auto& decision = turn.decisions().front();
    const std::string winner = decision.trials.at(decision.winner).name;
    EXPECT_NE(turn.explain().find(winner), std::string::npos) << turn.explain();
    EXPECT_EQ(decision.source, planner::Source::measurement);
    EXPECT_GT(decision.trials.at(decision.winner).measured_seconds, 0);
    std::vector<float> in(96 * 64), out(in.size());
    std::iota(in.begin(), in.end(), 0.0f);
    turn.run(in, out);
    EXPECT_EQ(out[1], in[64]);
  }
}

TEST(Plan, EveryElementCanBePlanned) {
  for (const Device& device : devices().devices) {
    for (const std::size_t bytes : {1, 2, 4, 8, 16}) {
      for (const bool in_place : {false, true}) {
        const AnyPlan turn(device, {.rows = 6, .columns = 6, .in_place = in_place}, bytes, kQuick);
        EXPECT_EQ(turn.bytes(), 2.0 * 36 * static_cast<double>(bytes));
        EXPECT_EQ(turn.kernels().size(), device.is_host() ? 0u : 1u);
        EXPECT_EQ(turn.device().id(), device.id());
        EXPECT_EQ(turn.problem().rows, 6u);
        EXPECT_EQ(turn.flops(), 0);
      }
    }
  }
}

TEST(Plan, TakesTheRequestedVariant) {
  planner::Options options = kQuick;
  options.variant = "cache_blocked";
  const auto turn = plan<float>(host(), {.rows = 8, .columns = 8}, options);
  EXPECT_EQ(turn.decisions().front().trials.at(turn.decisions().front().winner).name.find("cache_blocked"), 0u);
}

TEST(Plan, RefusesEmptyAndTooLargeProblems) {
  EXPECT_NE(planning_error({.rows = 0, .columns = 3}).find("empty"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 3, .columns = 0}).find("empty"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 3, .columns = 3, .batch = 0}).find("empty"), std::string::npos);
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_NE(planning_error({.rows = huge, .columns = huge}).find("address"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 2, .columns = 2, .batch = huge}).find("address"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 2, .columns = 2, .input = {.row = huge}}).find("address"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 3, .columns = 2, .input = {.row = huge}}).find("address"), std::string::npos);
  EXPECT_NE(error_of([] { AnyPlan(host(), {.rows = 2, .columns = 2}, 3, kQuick); }).find("3 bytes"), std::string::npos);
}

TEST(Plan, RefusesOutputsThatOverlap) {
  EXPECT_NE(planning_error({.rows = 4, .columns = 4, .output = {.row = 3}}).find("overlap"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 4, .columns = 4, .batch = 2, .output = {.batch = 15}}).find("overlap"),
            std::string::npos);
  EXPECT_NE(planning_error({.rows = 4, .columns = 4, .output = {.row = 4, .column = 4}}).find("overlap"),
            std::string::npos);
  // Inputs may overlap: one matrix is read several times.
  EXPECT_EQ(planning_error({.rows = 4, .columns = 4, .batch = 2, .input = {.batch = 1}}), "");
}

TEST(Plan, RefusesInPlaceForAnythingButSquares) {
  EXPECT_NE(planning_error({.rows = 4, .columns = 5, .in_place = true}).find("square"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 5, .columns = 4, .in_place = true}).find("square"), std::string::npos);
  EXPECT_NE(planning_error({.rows = 4, .columns = 4, .input = {.row = 6}, .output = {.row = 5}, .in_place = true})
                .find("same strides"),
            std::string::npos);
}

TEST(Plan, RefusesShortAndOverlappingSpansBeforeTouchingThem) {
  for (const Device& device : devices().devices) {
    const auto turn = plan<int>(device, {.rows = 10, .columns = 10}, kQuick);
    std::vector<int> in(150, 1), out(100, 2);
    const std::vector<int> in_before = in, out_before = out;
    const std::span<int> all(in);
    EXPECT_NE(error_of([&] { turn.run(all.first(99), out); }).find("396 bytes"), std::string::npos);
    EXPECT_NE(error_of([&] { turn.run(all, std::span(out).first(99)); }).find("output"), std::string::npos);
    EXPECT_NE(error_of([&] { turn.run(all.first(100), all.subspan(50)); }).find("overlap"), std::string::npos);
    EXPECT_NE(error_of([&] { turn.run(all.first(100), all.first(100)); }).find("overlap"), std::string::npos);
    EXPECT_EQ(in, in_before);
    EXPECT_EQ(out, out_before);
  }
}

}  // namespace
}  // namespace ridge::transpose
