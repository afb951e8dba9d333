// Selection of a candidate: prediction, measurement, failures, wisdom, explanation.
#include "plan/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include <chrono>
#include <functional>
#include <limits>
#include <new>
#include <thread>

#include "base/files.hpp"
#include "plan/wisdom.hpp"
#include "support/scratch.hpp"

namespace {

using namespace ridge::planner;  // NOLINT: the whole vocabulary of these tests
using ridge::DeviceInfo;
using ridge::Effort;
using ridge::Error;
using ridge::ErrorKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Select : public testing::Test {
 protected:
  Select() {
    device_.id = "test:0";
    device_.name = "Imaginary";
    ceilings_.measured = true;
    ceilings_.flops_float = 1e12;
    ceilings_.levels = {{.name = "memory", .all = {.copy = 100e9}}};
  }

  // A candidate that the model expects to take `seconds`.
  static Candidate candidate(const std::string& variant, double seconds, const std::string& refusal = "") {
    return {.variant = variant, .parameters = {}, .refusal = refusal, .cost = {.bytes = seconds * 100e9}};
  }

  Decision decide(const std::vector<Candidate>& candidates, const Options& options = {}) {
    runs_.clear();
    Questions ask;
    ask.seconds = [&](std::size_t i) {
      runs_.push_back(candidates.at(i).variant);
      return time_(candidates.at(i).variant);
    };
    return select(device_, ceilings_, problem_, candidates, options, ask);
  }

  template <class Call>
  static std::pair<ErrorKind, std::string> error_of(Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return {error.kind(), error.what()};
    }
    ADD_FAILURE() << "no error";
    return {};
  }

  ridge::test::ScratchFolder folder_;
  ridge::test::ScopedEnvironment wisdom_{"RIDGE_WISDOM", folder_ / "wisdom.json"};
  ridge::test::Warnings warnings_;
  DeviceInfo device_;
  ridge::machine::Ceilings ceilings_;
  Problem problem_{.workload = "toy", .key = "toy 1000", .flops = 1e9, .bytes = 1e9};
  std::function<double(const std::string&)> time_ = [](const std::string&) { return 1.0; };
  std::vector<std::string> runs_;
};

TEST_F(Select, NamesHoldTheParameters) {
  EXPECT_EQ((Candidate{.variant = "plain"}).name(), "plain");
  EXPECT_EQ((Candidate{.variant = "tile", .parameters = {{"tile", "32x8"}, {"pad", "1"}}}).name(),
            "tile(tile=32x8, pad=1)");
}

TEST_F(Select, QuickTakesTheBestPredictedAndRunsNothing) {
  const auto decision =
      decide({candidate("slow", 0.4), candidate("fast", 0.1), candidate("middle", 0.2)}, {.effort = Effort::quick});
  EXPECT_EQ(decision.winner, 1u);
  EXPECT_EQ(decision.source, Source::model);
  EXPECT_TRUE(runs_.empty());
  EXPECT_DOUBLE_EQ(decision.trials[1].predicted_seconds, 0.1);
  EXPECT_EQ(decision.trials[1].reason, "");
  EXPECT_EQ(decision.trials[0].reason, "predicted 4.00x slower, bound by memory copy 100 GB/s");
  EXPECT_THAT(decision.trials[2].reason, HasSubstr("predicted 2.00x slower"));
  EXPECT_EQ(decision.device, "test:0 (Imaginary)");
  EXPECT_DOUBLE_EQ(decision.roof_seconds, 0.01);
  EXPECT_EQ(decision.roof, "memory copy 100 GB/s");
  EXPECT_GE(decision.planning_seconds, 0);
  EXPECT_TRUE(ridge::wisdom::all().empty());  // nothing was saved
}

TEST_F(Select, EqualPredictionsKeepTheListedOrder) {
  const auto decision = decide({candidate("first", 0.1), candidate("second", 0.1)}, {.effort = Effort::quick});
  EXPECT_EQ(decision.winner, 0u);
}

TEST_F(Select, MeasuredTakesTheFastestWhateverWasPredicted) {
  time_ = [](const std::string& name) { return name == "slow" ? 0.05 : 0.2; };
  const auto decision = decide({candidate("fast", 0.1), candidate("slow", 0.4)});
  EXPECT_EQ(decision.winner, 1u);
  EXPECT_EQ(decision.source, Source::measurement);
  EXPECT_EQ(decision.trials[1].measured_seconds, 0.05);
  EXPECT_EQ(decision.trials[0].reason, "measured 4.00x slower");
}

TEST_F(Select, RunsTheMostPromisingOnly) {
  const auto decision =
      decide({candidate("d", 0.4), candidate("b", 0.2), candidate("a", 0.1), candidate("c", 0.3)}, {.most_trials = 2});
  EXPECT_THAT(runs_, ElementsAre("a", "b", "a", "b"));  // best prediction first, then both again
  EXPECT_EQ(decision.trials[0].measured_seconds, 0);
  EXPECT_THAT(decision.trials[0].reason, HasSubstr("predicted 4.00x slower"));
}

TEST_F(Select, AtLeastOneIsRunWhenMeasuring) {
  const auto decision = decide({candidate("b", 0.2), candidate("a", 0.1)}, {.most_trials = 0});
  EXPECT_THAT(runs_, ElementsAre("a"));
  EXPECT_EQ(decision.winner, 1u);
}

TEST_F(Select, NoTrialIsBegunWhenTheTimeIsSpent) {
  const auto decision = decide({candidate("c", 0.3), candidate("a", 0.1), candidate("b", 0.2)}, {.most_seconds = 0});
  EXPECT_THAT(runs_, ElementsAre("a"));
  EXPECT_EQ(decision.winner, 1u);
  EXPECT_EQ(decision.source, Source::measurement);
  EXPECT_THAT(decision.trials[0].reason, HasSubstr("the time limit was reached"));
}

// Each trial takes longer than the whole limit, so only the first one is begun.
TEST_F(Select, NoTrialIsBegunIfItWouldExceedTheTimeLimit) {
  time_ = [](const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0.1;
  };
  decide({candidate("c", 0.3), candidate("a", 0.1), candidate("b", 0.2)}, {.most_seconds = 1e-3});
  EXPECT_THAT(runs_, ElementsAre("a"));
}

TEST_F(Select, TheBestThreeRunAgainAndTheirBestTimeCounts) {
  int call = 0;
  // a is disturbed in the first round and is the fastest in the second.
  time_ = [&](const std::string& name) {
    const bool again = call++ >= 4;
    if (name == "a") return again ? 0.1 : 0.3;
    if (name == "b") return again ? 0.25 : 0.2;
    return name == "c" ? 0.35 : 0.5;
  };
  const auto decision = decide({candidate("a", 0.1), candidate("b", 0.1), candidate("c", 0.1), candidate("d", 0.1)});
  EXPECT_THAT(runs_, ElementsAre("a", "b", "c", "d", "b", "a", "c"));
  EXPECT_EQ(decision.winner, 0u);
  EXPECT_EQ(decision.trials[0].measured_seconds, 0.1);
  EXPECT_EQ(decision.trials[1].measured_seconds, 0.2);
}

TEST_F(Select, ASingleAllowedCandidateIsChosenWithoutATrial) {
  const auto decision = decide(
      {candidate("refused", 0.1, "needs 66 KiB of local memory, the device has 48 KiB"), candidate("allowed", 0.4)});
  EXPECT_EQ(decision.winner, 1u);
  EXPECT_EQ(decision.source, Source::only_choice);
  EXPECT_TRUE(runs_.empty());
  EXPECT_EQ(decision.trials[0].reason, "needs 66 KiB of local memory, the device has 48 KiB");
  EXPECT_EQ(decision.trials[0].predicted_seconds, 0);
}

TEST_F(Select, ARefusedCandidateIsNeverRun) {
  decide({candidate("refused", 0.01, "no"), candidate("a", 0.1), candidate("b", 0.2)});
  EXPECT_THAT(runs_, Not(testing::Contains("refused")));
}

TEST_F(Select, NothingAllowedListsEveryRefusal) {
  const auto [kind, message] = error_of([&] {
    decide({candidate("a", 0.1, "too wide"), candidate("b", 0.1, "no double here")});
  });
  EXPECT_EQ(kind, ErrorKind::invalid_argument);
  EXPECT_THAT(message, AllOf(HasSubstr("toy 1000"), HasSubstr("test:0"), HasSubstr("a: too wide"),
                             HasSubstr("b: no double here")));
}

TEST_F(Select, NoCandidatesAtAll) {
  const auto [kind, message] = error_of([&] { decide({}); });
  EXPECT_EQ(kind, ErrorKind::invalid_argument);
  EXPECT_THAT(message, HasSubstr("no variant exists"));
}

// --- the requested variant -------------------------------------------------------------------------------------------

std::vector<Candidate> tiles(const std::string& refusal = "") {
  Candidate narrow{.variant = "tile", .parameters = {{"side", "16"}}, .refusal = refusal, .cost = {.bytes = 2e9}};
  Candidate wide{.variant = "tile", .parameters = {{"side", "32"}}, .refusal = refusal, .cost = {.bytes = 1e9}};
  return {narrow, wide, {.variant = "naive", .cost = {.bytes = 1e8}}};
}

TEST_F(Select, OneVariantWithAllItsParameters) {
  const auto decision = decide(tiles(), {.effort = Effort::quick, .variant = "tile"});
  EXPECT_EQ(decision.winner, 1u);
  EXPECT_THAT(decision.trials[2].reason, HasSubstr("only tile was requested"));
}

TEST_F(Select, OneVariantByItsFullName) {
  const auto decision = decide(tiles(), {.effort = Effort::quick, .variant = "tile(side=16)"});
  EXPECT_EQ(decision.winner, 0u);
  EXPECT_EQ(decision.source, Source::only_choice);
}

TEST_F(Select, AnUnknownVariantListsTheKnownOnes) {
  const auto [kind, message] = error_of([&] { decide(tiles(), {.variant = "til"}); });
  EXPECT_EQ(kind, ErrorKind::invalid_argument);
  EXPECT_THAT(message, AllOf(HasSubstr("no variant \"til\""), HasSubstr("there are "), HasSubstr("tile"),
                             HasSubstr("naive"), Not(HasSubstr("\n"))));
}

TEST_F(Select, ARefusedVariantNamesTheReason) {
  const auto [kind, message] = error_of([&] { decide(tiles("too large"), {.variant = "tile"}); });
  EXPECT_EQ(kind, ErrorKind::invalid_argument);
  EXPECT_THAT(message, AllOf(HasSubstr("tile(side=16): too large"), HasSubstr("tile(side=32): too large"),
                             Not(HasSubstr("naive"))));
}

// --- candidates that fail -------------------------------------------------------------------------------------------

TEST_F(Select, ACandidateThatThrowsLosesWithItsMessage) {
  time_ = [](const std::string& name) {
    if (name == "broken") throw Error(ErrorKind::compile, "line 3: expected ;");
    if (name == "hungry") throw std::bad_alloc();
    return name == "a" ? 0.2 : 0.1;
  };
  const auto decision =
      decide({candidate("broken", 0.01), candidate("hungry", 0.02), candidate("a", 0.1), candidate("b", 0.2)});
  EXPECT_EQ(decision.winner, 3u);
  EXPECT_EQ(decision.trials[0].reason, "failed: line 3: expected ;");
  EXPECT_EQ(decision.trials[0].measured_seconds, 0);
  EXPECT_THAT(decision.trials[1].reason, HasSubstr("memory"));
}

TEST_F(Select, FailuresDoNotCountAsTrials) {
  time_ = [](const std::string& name) -> double {
    if (name != "last") throw Error(ErrorKind::device, "gone");
    return 1;
  };
  const auto decision = decide({candidate("a", 0.1), candidate("b", 0.2), candidate("last", 0.3)}, {.most_trials = 1});
  EXPECT_EQ(decision.winner, 2u);
}

TEST_F(Select, ACandidateThatFailsTheSecondTimeLoses) {
  int call = 0;
  time_ = [&](const std::string& name) {
    if (call++ >= 2 && name == "a") throw Error(ErrorKind::device, "only works once");
    return name == "a" ? 0.1 : 0.2;
  };
  const auto decision = decide({candidate("a", 0.1), candidate("b", 0.2)});
  EXPECT_EQ(decision.winner, 1u);
  EXPECT_EQ(decision.trials[0].reason, "failed: only works once");
}

TEST_F(Select, ImpossibleTimesLose) {
  for (const double odd :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    time_ = [&](const std::string& name) { return name == "odd" ? odd : 0.5; };
    const auto decision =
        decide({candidate("odd", 0.1), candidate("b", 0.2)}, {.use_wisdom = false, .save_wisdom = false});
    EXPECT_EQ(decision.winner, 1u) << odd;
    EXPECT_THAT(decision.trials[0].reason, HasSubstr("seconds")) << odd;
  }
}

TEST_F(Select, AllFailing) {
  time_ = [](const std::string& name) -> double {
    throw Error(name == "a" ? ErrorKind::compile : ErrorKind::device, name + " is broken");
  };
  const auto [kind, message] = error_of([&] { decide({candidate("a", 0.1), candidate("b", 0.2)}); });
  EXPECT_EQ(kind, ErrorKind::compile);  // kind of the first failure
  EXPECT_THAT(message, AllOf(HasSubstr("a: failed: a is broken"), HasSubstr("b: failed: b is broken")));
  EXPECT_TRUE(ridge::wisdom::all().empty());
}

TEST_F(Select, OtherExceptionsAreNotSwallowed) {
  time_ = [](const std::string&) -> double { throw std::logic_error("a defect"); };
  EXPECT_THROW(decide({candidate("a", 0.1), candidate("b", 0.2)}), std::logic_error);
}

TEST_F(Select, DefectsOfAWorkloadAreNamed) {
  const auto defect = [&](Candidate odd) {
    const auto [kind, message] = error_of([&] { decide({candidate("fine", 0.1), odd}, {.effort = Effort::quick}); });
    EXPECT_EQ(kind, ErrorKind::internal);
    return message;
  };
  EXPECT_THAT(defect(candidate("fine", 0.2)), HasSubstr("two candidates are called fine"));
  EXPECT_THAT(defect({.variant = "x", .cost = {.efficiency = 0}}), HasSubstr("efficiency of x"));
  EXPECT_THAT(defect({.variant = "x", .cost = {.efficiency = 1.5}}), HasSubstr("efficiency of x"));
  EXPECT_THAT(defect({.variant = "x", .cost = {.memory_efficiency = -1}}), HasSubstr("memory efficiency of x"));
  EXPECT_THAT(defect({.variant = "x", .cost = {.flops = -1}}), HasSubstr("cost of x"));
  EXPECT_THAT(defect({.variant = "x", .cost = {.bytes = std::numeric_limits<double>::quiet_NaN()}}),
              HasSubstr("cost of x"));
  problem_.bytes = -1;
  EXPECT_EQ(error_of([&] { decide({candidate("a", 0.1)}); }).first, ErrorKind::internal);
  problem_.bytes = 1;
  const auto nothing = error_of([&] {
    select(device_, ceilings_, problem_, {candidate("a", 0.1), candidate("b", 0.1)}, {}, {});
  });
  EXPECT_EQ(nothing.first, ErrorKind::internal);
}

// --- wisdom ---------------------------------------------------------------------------------------------------------

class SelectWisdom : public Select {
 protected:
  SelectWisdom() {
    time_ = [](const std::string& name) { return name == "b" ? 0.1 : 0.3; };
  }
  std::vector<Candidate> candidates_{candidate("a", 0.1), candidate("b", 0.2), candidate("c", 0.3)};
};

TEST_F(SelectWisdom, AMeasurementIsRememberedAndNotRepeated) {
  EXPECT_EQ(decide(candidates_).source, Source::measurement);
  const auto again = decide(candidates_);
  EXPECT_EQ(again.source, Source::wisdom);
  EXPECT_EQ(again.winner, 1u);
  EXPECT_EQ(again.trials[1].measured_seconds, 0.1);
  EXPECT_TRUE(runs_.empty());
  EXPECT_THAT(again.trials[0].reason, HasSubstr("predicted 2.00x faster, but the saved measurement"));
  EXPECT_THAT(again.trials[2].reason, HasSubstr("predicted 1.50x slower"));

  const auto entries = ridge::wisdom::all();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].workload, "toy");
  EXPECT_EQ(entries[0].problem, "toy 1000");
  EXPECT_EQ(entries[0].device, "test:0 (Imaginary)");
  EXPECT_EQ(entries[0].fingerprint, device_.fingerprint());
  EXPECT_EQ(entries[0].winner, "b");
  EXPECT_EQ(entries[0].seconds, 0.1);
  EXPECT_TRUE(warnings_.messages.empty());
}

TEST_F(SelectWisdom, QuickUsesItToo) {
  decide(candidates_);
  const auto quick = decide(candidates_, {.effort = Effort::quick});
  EXPECT_EQ(quick.source, Source::wisdom);
  EXPECT_EQ(quick.winner, 1u);
}

TEST_F(SelectWisdom, AnotherProblemOrWorkloadOrDeviceIsAMiss) {
  decide(candidates_);
  const Problem before = problem_;
  problem_.key = "toy 1001";
  EXPECT_EQ(decide(candidates_).source, Source::measurement);
  problem_ = before;
  problem_.workload = "other";
  EXPECT_EQ(decide(candidates_).source, Source::measurement);
  problem_ = before;
  const DeviceInfo same = device_;
  device_.driver = "newer";
  EXPECT_EQ(decide(candidates_).source, Source::measurement);
  device_ = same;
  device_.overrides = {"work_group 1024 -> 128"};
  EXPECT_EQ(decide(candidates_).source, Source::measurement);
  device_ = same;
  EXPECT_EQ(decide(candidates_).source, Source::wisdom);
  EXPECT_EQ(ridge::wisdom::all().size(), 5u);
}

TEST_F(SelectWisdom, CanBeLeftUnreadAndUnwritten) {
  decide(candidates_, {.save_wisdom = false});
  EXPECT_TRUE(ridge::wisdom::all().empty());
  decide(candidates_);
  time_ = [](const std::string& name) { return name == "c" ? 0.05 : 0.3; };
  EXPECT_EQ(decide(candidates_, {.use_wisdom = false}).winner, 2u);  // replaces the saved entry
  EXPECT_EQ(decide(candidates_).winner, 2u);
  EXPECT_EQ(ridge::wisdom::all().size(), 1u);
}

TEST_F(SelectWisdom, AStaleWinnerIsIgnoredAndReplaced) {
  ridge::wisdom::remember({"toy", "toy 1000", "test:0", device_.fingerprint(), "removed(side=3)", 1e-9});
  EXPECT_EQ(decide(candidates_, {.effort = Effort::quick}).source, Source::model);
  EXPECT_EQ(decide(candidates_).source, Source::measurement);
  EXPECT_EQ(decide(candidates_).source, Source::wisdom);
  EXPECT_EQ(ridge::wisdom::all().size(), 1u);
}

TEST_F(SelectWisdom, ARefusedWinnerIsIgnored) {
  decide(candidates_);
  candidates_[1].refusal = "needs something else now";
  const auto decision = decide(candidates_, {.effort = Effort::quick});
  EXPECT_EQ(decision.source, Source::model);
  EXPECT_EQ(decision.winner, 0u);
}

TEST_F(SelectWisdom, AChoiceAmongSomeVariantsDoesNotDecideForAll) {
  std::vector<Candidate> some = tiles();
  time_ = [](const std::string& name) { return name == "naive" ? 0.01 : 0.3; };
  EXPECT_EQ(decide(some, {.variant = "tile"}).source, Source::measurement);
  EXPECT_EQ(decide(some, {.variant = "tile"}).source, Source::wisdom);
  const auto all = decide(some);
  EXPECT_EQ(all.source, Source::measurement);
  EXPECT_EQ(all.trials[all.winner].name, "naive");
  EXPECT_EQ(decide(some, {.variant = "naive"}).source, Source::wisdom);  // the winner among all variants
}

TEST_F(SelectWisdom, APinnedVariantIsUsedUntilItIsUnpinned) {
  decide(candidates_);
  EXPECT_EQ(ridge::wisdom::pin("toy 999"), 0u);
  EXPECT_EQ(ridge::wisdom::pin("toy 1000", "c"), 1u);
  for (const Effort effort : {Effort::quick, Effort::measured}) {
    const auto pinned = decide(candidates_, {.effort = effort});
    EXPECT_EQ(pinned.winner, 2u);
    EXPECT_EQ(pinned.source, Source::wisdom);
    EXPECT_THAT(pinned.explain(), HasSubstr("this variant is pinned"));
  }
  EXPECT_EQ(decide(candidates_, {.use_wisdom = false}).winner, 1u);  // measured, but the pin is kept
  EXPECT_EQ(decide(candidates_).winner, 2u);
  EXPECT_EQ(ridge::wisdom::unpin(), 1u);
  EXPECT_EQ(ridge::wisdom::unpin(), 0u);
  decide(candidates_, {.use_wisdom = false});
  EXPECT_EQ(decide(candidates_).winner, 1u);
  EXPECT_TRUE(warnings_.messages.empty());
}

TEST_F(SelectWisdom, APinnedVariantThatIsRefusedIsAWarning) {
  decide(candidates_);
  ridge::wisdom::pin("toy 1000", "c");
  candidates_[2].refusal = "needs two devices, got 1";
  EXPECT_EQ(decide(candidates_).winner, 1u);
  ASSERT_EQ(warnings_.messages.size(), 1u);
  EXPECT_THAT(warnings_.messages[0], HasSubstr("toy 1000 is pinned to c, which is not used: needs two devices, got 1"));
}

TEST_F(SelectWisdom, ShippedWisdomServesQuickPlansOfDevicesWithTheSameName) {
  device_.driver = "the packager's";
  decide(candidates_);
  const auto file = folder_ / "shipped.json";
  ridge::base::write_file(file, ridge::wisdom::text_to_ship("toy"));
  EXPECT_EQ(error_of([] { ridge::wisdom::text_to_ship("fft"); }).first, ErrorKind::invalid_argument);
  ridge::wisdom::forget();
  device_.driver = "the user's";
  EXPECT_EQ(decide(candidates_, {.effort = Effort::quick}).winner, 0u);  // by the model

  const ridge::test::ScopedEnvironment shipped("RIDGE_SHIPPED_WISDOM", file);
  const auto quick = decide(candidates_, {.effort = Effort::quick});
  EXPECT_EQ(quick.winner, 1u);
  EXPECT_THAT(quick.explain(), HasSubstr("shipped wisdom: measured on a device of the same name"));
  EXPECT_EQ(decide(candidates_, {.effort = Effort::quick, .use_wisdom = false}).winner, 0u);
  time_ = [](const std::string& name) { return name == "c" ? 0.1 : 0.3; };
  EXPECT_EQ(decide(candidates_).source, Source::measurement);  // this machine's own measurement takes precedence
  EXPECT_EQ(decide(candidates_, {.effort = Effort::quick}).winner, 2u);
  device_.name = "Another";
  EXPECT_EQ(decide(candidates_, {.effort = Effort::quick}).winner, 0u);
}

TEST_F(SelectWisdom, AnUnwritableFolderIsOnlyAWarning) {
  const ridge::test::ScopedEnvironment nowhere("RIDGE_WISDOM", folder_ / "missing/wisdom.json");
  EXPECT_EQ(decide(candidates_).winner, 1u);
  ASSERT_EQ(warnings_.messages.size(), 1u);
  EXPECT_THAT(warnings_.messages[0], AllOf(HasSubstr("wisdom is not saved"), HasSubstr("missing/wisdom.json")));
  EXPECT_EQ(decide(candidates_).source, Source::wisdom);  // kept for the lifetime of the process
}

// --- explain --------------------------------------------------------------------------------------------------------

TEST_F(Select, ExplainPrintsEveryField) {
  const Decision decision{
      .winner = 1,
      .source = Source::measurement,
      .problem = {.workload = "toy", .key = "toy 1000 floats", .flops = 4e9, .bytes = 2e9},
      .device = "test:0 (Imaginary)",
      .trials =
          {{.name = "naive", .predicted_seconds = 0.1, .measured_seconds = 0.05, .reason = "measured 2.00x slower"},
           {.name = "tile(side=32)", .predicted_seconds = 0.02, .measured_seconds = 0.025, .reason = ""},
           {.name = "wide", .reason = "needs 66 KiB of local memory, the device has 48 KiB"},
           {.name = "odd", .predicted_seconds = 0.2, .reason = "failed: line 1\nline 2"}},
      .roof_seconds = 0.02,
      .roof = "memory copy 100 GB/s",
      .planning_seconds = 1.5,
  };
  EXPECT_EQ(decision.explain(), R"(toy 1000 floats
  device     test:0 (Imaginary)
  variant    tile(side=32)
  time       measured 25.0 ms, predicted 20.0 ms
  rate       80.0 GB/s, 160 GFLOP/s
  roof       80 % of memory copy 100 GB/s, which allows 20.0 ms
  chosen by  measurement: the fastest of 2 run, 3 allowed
  planning   1.50 s
  others  predicted  measured  why not
  naive      100 ms   50.0 ms  measured 2.00x slower
  odd        200 ms         -  failed: line 1
  wide            -         -  needs 66 KiB of local memory, the device has 48 KiB
)");
}

// Three or more variants refused for the same reason share a row.
TEST_F(Select, ExplainNamesAReasonOnce) {
  const std::string text =
      decide({candidate("a", 0.1), candidate("old/one", 0.2, "needs a power of two"), candidate("b", 0.2),
              candidate("old/two", 0.2, "needs a power of two"), candidate("old/three", 0.2, "needs a power of two"),
              candidate("wide", 1, "too wide"), candidate("wider", 1, "too wide")},
             {.effort = Effort::quick})
          .explain();
  EXPECT_THAT(text, testing::ContainsRegex("\n  old/one and 2 more +- +-  needs a power of two\n"));
  EXPECT_THAT(text, Not(HasSubstr("old/two")));
  EXPECT_THAT(text, testing::ContainsRegex("\n  wide +- +-  too wide\n  wider +- +-  too wide\n"));
}

TEST_F(Select, ExplainOfQuickAndSavedChoices) {
  problem_.flops = 0;
  const auto quick = decide({candidate("a", 0.1), candidate("b", 0.2)}, {.effort = Effort::quick}).explain();
  EXPECT_THAT(quick,
              AllOf(HasSubstr("predicted 100 ms, not measured"), HasSubstr("best predicted of 2, nothing was run"),
                    HasSubstr("10.0 GB/s\n"), HasSubstr("10 % of memory copy")));
  EXPECT_THAT(decide({candidate("a", 0.1)}).explain(), AllOf(HasSubstr("only one allowed"), Not(HasSubstr("others"))));
  decide({candidate("a", 0.1), candidate("b", 0.2)});
  EXPECT_THAT(decide({candidate("a", 0.1), candidate("b", 0.2)}).explain(),
              AllOf(HasSubstr("chosen by  wisdom"), HasSubstr("measured 1.00 s (saved)")));
  EXPECT_EQ(Decision{}.explain(), "nothing has been decided\n");
}

}  // namespace
