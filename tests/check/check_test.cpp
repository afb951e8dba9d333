// Tests how problems are drawn, and that a wrong answer is noticed, shrunk and reported.
#include "check/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ridge/error.hpp>

#include <set>

namespace {

using ridge::check::Draw;
using ridge::check::Outcome;
using ridge::check::Random;

TEST(CheckRandom, IsTheSameEverywhere) {
  Random random(1);
  EXPECT_EQ(random.bits(), 0x910a2dec89025cc1U);
  EXPECT_EQ(random.bits(), 0xbeeb8da1658eec67U);
}

TEST(CheckRandom, LengthsAreOfEveryKindAndNeverTooLong) {
  Random random(3);
  std::set<std::size_t> seen;
  std::size_t powers = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::size_t length = random.length(1000);
    ASSERT_GE(length, 1u);
    ASSERT_LE(length, 1000u);
    seen.insert(length);
    powers += (length & (length - 1)) == 0;
  }
  EXPECT_GT(seen.size(), 300u);
  EXPECT_GT(powers, 500u);
  EXPECT_TRUE(seen.contains(1) && seen.contains(2) && seen.contains(512));
  EXPECT_GT(*seen.rbegin(), 900u);
  EXPECT_EQ(Random(1).length(1), 1u);
  EXPECT_EQ(Random(1).magnitude(0), 1u);
}

// A workload that is wrong from 100 points up.
Outcome clumsy(Draw& draw) {
  const bool wrong = draw.random.chance(0.5) && draw.points >= 100;
  draw.problem = "of " + std::to_string(draw.points);
  return {.wrong = wrong ? "off by one" : "", .refused = ""};
}

TEST(Check, AFailureIsFoundMadeSmallerAndRepeated) {
  const ridge::check::Workload workload{"clumsy", clumsy};
  const ridge::check::Options options{.seconds = 0.2, .seed = 5};
  const auto report = ridge::check::run(ridge::host(), std::span(&workload, 1), options);
  ASSERT_FALSE(report.failures.empty());
  for (const auto& failure : report.failures) {
    EXPECT_EQ(failure.outcome.wrong, "off by one");
    const auto points = std::stoul(failure.problem.substr(3));
    EXPECT_TRUE(points >= 100 && points < 200) << points;
    ridge::check::Options once = options;
    once.only = failure.number;
    once.shrink = failure.shrunk;
    const auto again = ridge::check::run(ridge::host(), std::span(&workload, 1), once);
    ASSERT_EQ(again.failures.size(), 1u);
    EXPECT_EQ(again.failures[0].problem, failure.problem);
    once.shrink = failure.shrunk + 1;
    EXPECT_TRUE(ridge::check::run(ridge::host(), std::span(&workload, 1), once).failures.empty());
  }
}

// After a device failure, later results are meaningless.
Outcome breaking(Draw&) { throw ridge::Error(ridge::ErrorKind::device, "an illegal address was met"); }

TEST(Check, AFailureOfTheDeviceEndsTheCheck) {
  const ridge::check::Workload workload{"breaking", breaking};
  const auto report = ridge::check::run(ridge::host(), std::span(&workload, 1), {.seconds = 10});
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.cases, 1u);
  EXPECT_EQ(report.failures[0].outcome.wrong, "an illegal address was met");
}

// A refusal by the library is not a failure; a defect of the library is.
TEST(Check, RefusalsAreCounted) {
  const ridge::check::Workload refusing{
      "refusing", [](Draw&) -> Outcome { throw ridge::Error(ridge::ErrorKind::invalid_argument, "no"); }};
  const auto report = ridge::check::run(ridge::host(), std::span(&refusing, 1), {.seconds = 0});
  EXPECT_EQ(report.refused, 1u);
  EXPECT_TRUE(report.failures.empty());
  const ridge::check::Workload defective{"defective", [](Draw&) -> Outcome { throw std::logic_error("oh"); }};
  EXPECT_FALSE(ridge::check::run(ridge::host(), std::span(&defective, 1), {.seconds = 0}).failures.empty());
}

// Every check must detect an answer that is wrong in one place.
TEST(Check, EveryWorkloadNoticesASpoiltAnswer) {
  for (const ridge::check::Workload& workload : ridge::check::workloads()) {
    int answers = 0, noticed = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      bool answered = false;
      Draw draw{ridge::host(), Random(seed), 500};
      draw.tamper = [&](std::span<std::byte> answer) {
        if (answer.size() < 64) return;
        answered = true;
        // For every type of value: a NaN in floats, another number in integers.
        const std::size_t from = answer.size() / 3 / 16 * 16;
        for (std::byte& byte : answer.subspan(from, 16))
          byte = byte == std::byte{0xff} ? std::byte{0} : std::byte{0xff};
      };
      std::string wrong;
      try {
        wrong = workload.check(draw).wrong;
      } catch (const ridge::Error&) {
        continue;  // refused
      }
      answers += answered;
      noticed += answered && !wrong.empty();
    }
    EXPECT_GT(answers, 10) << workload.name;
    // Bytes between the points of an in-place transform are not part of an answer.
    EXPECT_GE(noticed, answers - answers / 10) << workload.name;
  }
}

TEST(Check, SomeProblemsOfEachAreRightOnTheHost) {
  ridge::check::Options options{.seconds = 1e9, .seed = 11};
  std::size_t cases = 0;
  options.each = [&](const std::string&, std::uint64_t, const std::string&, const Outcome&) { ++cases; };
  for (std::uint64_t number = 0; number < 20; ++number) {
    for (const ridge::check::Workload& workload : ridge::check::workloads()) {
      options.only = number;
      options.shrink = 4;
      for (const auto& failure : ridge::check::run(ridge::host(), std::span(&workload, 1), options).failures)
        ADD_FAILURE() << failure.workload << ": " << failure.problem << ": " << failure.outcome.wrong;
    }
  }
  EXPECT_EQ(cases, 20 * ridge::check::workloads().size());
}

}  // namespace
