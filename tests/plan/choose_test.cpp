// Tests choose() on a toy workload whose variants double numbers, some of them wrongly.
#include "plan/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/scratch.hpp"

namespace {

using namespace ridge::planner;  // NOLINT: the whole vocabulary of these tests
using ridge::Effort;
using ridge::Error;
using ridge::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Doubler {
  std::string name;
  std::function<double(double)> run;
};

class DoublerTrials final : public Trials<Doubler> {
 public:
  double seconds(const Doubler& variant) override {
    timed.push_back(variant.name);
    return times.at(variant.name);
  }
  Comparison compare(const Doubler& variant) override {
    compared.push_back(variant.name);
    const std::vector<double> in{0.5, -0.25, 1}, expected{1, -0.5, 2};
    std::vector<double> got;
    for (const double value : in) got.push_back(variant.run(value));
    return ridge::planner::compare(std::span<const double>(got), std::span<const double>(expected), 1e-12);
  }
  std::map<std::string, double> times;
  std::vector<std::string> timed, compared;
};

class Choose : public testing::Test {
 protected:
  // Takes `seconds` when timed. The predicted time grows in the order of addition, so the first has the best
  // prediction.
  void add(const std::string& name, double seconds, const std::function<double(double)>& run) {
    trials_.times[name] = seconds;
    Entry<Doubler> entry;
    entry.candidate.variant = name;
    entry.candidate.cost.bytes = 1e9 * static_cast<double>(entries_.size() + 1);
    entry.build = [this, name, run] {
      ++built_[name];
      ++alive_;
      most_alive_ = std::max(most_alive_, alive_);
      return std::shared_ptr<const Doubler>(new Doubler{name, run}, [this](const Doubler* one) {
        --alive_;
        delete one;
      });
    };
    entries_.push_back(entry);
  }
  void add_right(const std::string& name, double seconds) {
    add(name, seconds, [](double x) { return 2 * x; });
  }
  Chosen<Doubler> choose(const Options& options = {}, Keep keep = Keep::all) {
    trials_.timed.clear();
    trials_.compared.clear();
    return ridge::planner::choose(ridge::host(), {.workload = "toy", .key = "toy", .bytes = 1e9}, entries_, options,
                                  trials_, keep);
  }

  ridge::test::ScratchFolder folder_;
  ridge::test::ScopedEnvironment wisdom_{"RIDGE_WISDOM", folder_ / "wisdom.json"};
  ridge::test::ScopedEnvironment environment_{"RIDGE_VERIFY", std::nullopt};
  ridge::test::Warnings warnings_;
  std::map<std::string, int> built_;
  int alive_ = 0, most_alive_ = 0;
  DoublerTrials trials_;
  std::vector<Entry<Doubler>> entries_;
};

TEST_F(Choose, GivesTheDecisionAndTheBuiltWinner) {
  add_right("slow", 0.2);
  add_right("fast", 0.1);
  const auto chosen = choose();
  EXPECT_EQ(chosen.decision.winner, 1u);
  EXPECT_EQ(chosen.winner->name, "fast");
  EXPECT_EQ(built_["fast"], 1);  // the timed object is the one returned
  EXPECT_EQ(alive_, 1);
  EXPECT_TRUE(trials_.compared.empty());
}

TEST_F(Choose, CandidatesAreTheEntries) {
  add_right("a", 1);
  add_right("b", 1);
  const auto candidates = candidates_of(entries_);
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_EQ(candidates[1].variant, "b");
  EXPECT_TRUE(kernels_of(entries_[0]).empty());
  entries_[0].kernels = [] { return std::vector<ridge::KernelSource>{{.name = "k"}}; };
  EXPECT_EQ(kernels_of(entries_[0]).at(0).name, "k");
}

TEST_F(Choose, KeepsAllOrTheLastBuilt) {
  add_right("a", 0.3);
  add_right("b", 0.1);
  add_right("c", 0.2);
  choose({.use_wisdom = false});
  EXPECT_EQ(most_alive_, 3);
  EXPECT_EQ(built_["b"], 1);
  most_alive_ = 0;
  built_.clear();
  const auto chosen = choose({.use_wisdom = false}, Keep::last);
  EXPECT_EQ(chosen.winner->name, "b");
  EXPECT_EQ(most_alive_, 1);
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(built_["b"], 3);  // first round, second round, and the winner
}

TEST_F(Choose, AWrongVariantLosesBeforeItIsTimed) {
  add("wrong", 0.01, [](double x) { return 2 * x + 0.01; });
  add_right("right", 0.1);
  add_right("slower", 0.2);
  const auto chosen = choose({.verify = true});
  EXPECT_EQ(chosen.winner->name, "right");
  EXPECT_THAT(trials_.timed, Not(testing::Contains("wrong")));
  EXPECT_THAT(chosen.decision.trials[0].reason, testing::StartsWith("wrong: worst error 7.6e-03 at element 0"));
  EXPECT_THAT(chosen.decision.explain(), HasSubstr("wrong: worst error"));
  ASSERT_EQ(warnings_.messages.size(), 1u);
  EXPECT_THAT(warnings_.messages[0],
              testing::AllOf(HasSubstr("toy"), HasSubstr("wrong is wrong"), HasSubstr("it is excluded")));
  EXPECT_THAT(trials_.compared, ElementsAre("wrong", "right", "slower"));  // once each, although the best run twice
}

TEST_F(Choose, NaNIsWrong) {
  add("nan", 0.01, [](double x) { return x < 0 ? std::numeric_limits<double>::quiet_NaN() : 2 * x; });
  add_right("right", 0.1);
  const auto chosen = choose({.verify = true});
  EXPECT_EQ(chosen.winner->name, "right");
  EXPECT_THAT(chosen.decision.trials[0].reason, HasSubstr("nan at element 1"));
}

TEST_F(Choose, AnErrorWhileComparingLoses) {
  add("thrower", 0.01, [](double) -> double { throw Error(ErrorKind::device, "an illegal address"); });
  add_right("right", 0.1);
  const auto chosen = choose({.verify = true});
  EXPECT_EQ(chosen.winner->name, "right");
  EXPECT_EQ(chosen.decision.trials[0].reason, "failed: an illegal address");
}

TEST_F(Choose, AVariantThatCannotBeBuiltLoses) {
  add_right("unbuildable", 0.01);
  add_right("right", 0.1);
  entries_[0].build = []() -> std::shared_ptr<const Doubler> { throw Error(ErrorKind::compile, "line 3"); };
  EXPECT_EQ(choose().decision.trials[0].reason, "failed: line 3");
}

TEST_F(Choose, QuickPlansAndWisdomAreComparedToo) {
  add("wrong", 0.01, [](double x) { return x; });
  add_right("right", 0.1);
  add_right("other", 0.2);
  EXPECT_EQ(choose({.effort = Effort::quick}).winner->name, "wrong");  // without verification
  const auto quick = choose({.effort = Effort::quick, .verify = true});
  EXPECT_EQ(quick.winner->name, "right");
  EXPECT_TRUE(trials_.timed.empty());
  EXPECT_THAT(trials_.compared, ElementsAre("wrong", "right"));
  EXPECT_EQ(choose().winner->name, "wrong");  // now stored in wisdom
  const auto saved = choose({.verify = true});
  EXPECT_EQ(saved.winner->name, "right");
  EXPECT_EQ(saved.decision.source, Source::measurement);
  EXPECT_EQ(choose({.verify = true}).decision.source, Source::wisdom);
  EXPECT_THAT(trials_.compared, ElementsAre("right"));
}

TEST_F(Choose, NoCorrectVariantIsAnError) {
  add("wrong", 0.01, [](double x) { return x; });
  for (const Effort effort : {Effort::quick, Effort::measured}) {
    try {
      choose({.effort = effort, .verify = true});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
      EXPECT_THAT(error.what(), HasSubstr("wrong: wrong: worst error"));
    }
  }
}

TEST_F(Choose, TheEnvironmentRequestsVerification) {
  add("wrong", 0.01, [](double x) { return x; });
  add_right("right", 0.1);
  {
    const ridge::test::ScopedEnvironment on("RIDGE_VERIFY", "1");
    EXPECT_EQ(choose({.use_wisdom = false, .save_wisdom = false}).winner->name, "right");
  }
  {
    const ridge::test::ScopedEnvironment strict("RIDGE_VERIFY", "strict");
    EXPECT_THROW(choose({.use_wisdom = false, .save_wisdom = false}), std::logic_error);
  }
  const ridge::test::ScopedEnvironment off("RIDGE_VERIFY", "0");
  EXPECT_EQ(choose({.use_wisdom = false, .save_wisdom = false}).winner->name, "wrong");
}

TEST_F(Choose, ProgressIsReportedBeforeEachTrial) {
  add_right("a", 0.2);
  add_right("b", 0.1);
  std::vector<std::string> said;
  choose({.progress = [&](const Progress& at) {
    EXPECT_EQ(trials_.timed.size(), at.done);
    said.push_back(at.candidate + " " + std::to_string(at.done) + "/" + std::to_string(at.of));
  }});
  EXPECT_THAT(said, ElementsAre("a 0/4", "b 1/4", "b 2/4", "a 3/4"));
}

TEST_F(Choose, AtEqualTimesThePreviousWinnerIsKept) {
  add_right("a", 0.100);
  add_right("b", 0.120);
  EXPECT_EQ(choose().winner->name, "a");
  trials_.times = {{"a", 0.101}, {"b", 0.099}};
  EXPECT_EQ(choose({.use_wisdom = false}).winner->name, "a");
  trials_.times = {{"a", 0.110}, {"b", 0.099}};
  EXPECT_EQ(choose({.use_wisdom = false}).winner->name, "b");
}

// A workload that needs more fields per variant has its own entry type.
struct DeepEntry {
  Candidate candidate{};
  std::size_t depth = 1;
  std::function<std::vector<ridge::KernelSource>()> kernels{};
  std::function<std::shared_ptr<const Doubler>()> build{};
};

TEST_F(Choose, TakesEntriesOfAnotherType) {
  const std::vector<DeepEntry> entries{
      {.candidate = {.variant = "deep"}, .depth = 4, .build = [] {
         return std::make_shared<const Doubler>(Doubler{"deep", [](double x) { return 2 * x; }});
       }}};
  const auto chosen =
      ridge::planner::choose(ridge::host(), {.workload = "toy", .key = "deep"}, entries, {.verify = true}, trials_);
  EXPECT_EQ(chosen.winner->name, "deep");
  EXPECT_EQ(chosen.decision.source, Source::only_choice);
}

// Each timed run adds joules to a recorded RAPL counter. The frugal variant is slower and uses half the energy per run.
class EnergyTrials final : public Trials<Doubler> {
 public:
  explicit EnergyTrials(const std::filesystem::path& system) : zone_(system / "class" / "powercap" / "intel-rapl:0") {
    std::filesystem::create_directories(zone_);
    std::ofstream(zone_ / "name") << "package-0\n";
    std::ofstream(zone_ / "max_energy_range_uj") << "1000000000000\n";
    std::ofstream(zone_ / "energy_uj") << "0\n";
  }
  double seconds(const Doubler& variant) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    used_ += variant.name == "fast" ? 3000000 : 1000000;
    std::ofstream(zone_ / "energy_uj") << used_ << "\n";
    return variant.name == "fast" ? 1 : 1.5;
  }
  Comparison compare(const Doubler&) override { return {}; }

 private:
  std::filesystem::path zone_;
  std::uint64_t used_ = 0;
};

TEST_F(Choose, ByEnergyOnARecordedMachine) {
  add_right("fast", 1);
  add_right("frugal", 1.5);
  EnergyTrials trials(folder_ / "sys");
  auto counter = std::make_shared<ridge::machine::EnergyCounter>(
      ridge::machine::EnergyCounter::open(ridge::host(), folder_ / "sys"));
  ASSERT_TRUE(counter->readable()) << counter->why_not();
  Options options{.objective = ridge::Objective::energy};
  options.joules = [counter] { return counter->joules(); };
  const Problem problem{.workload = "toy", .key = "toy", .flops = 1e9, .bytes = 1e9};
  const Decision decision = ridge::planner::choose(ridge::host(), problem, entries_, options, trials).decision;
  EXPECT_EQ(decision.trials[decision.winner].name, "frugal") << decision.explain();
  EXPECT_THAT(decision.explain(), HasSubstr("the least energy of 2 run"));
  EXPECT_THAT(decision.explain(), HasSubstr("GFLOP/s per watt"));
  EXPECT_THAT(decision.trials[0].reason, HasSubstr("x the energy"));
  EXPECT_GT(decision.trials[0].measured_joules, 0);
  // Time and energy have wisdom of their own.
  EXPECT_EQ(choose({.effort = Effort::quick}).decision.source, Source::model);
  EXPECT_EQ(choose({.effort = Effort::quick, .objective = ridge::Objective::energy}).decision.source, Source::wisdom);
  EXPECT_EQ(choose().winner->name, "fast");
}

// Without a counter: one line that says so, not a list of failed variants.
TEST_F(Choose, ByEnergyWithoutACounter) {
  add_right("fast", 1);
  add_right("frugal", 1.5);
  if (ridge::machine::EnergyCounter::open(ridge::host()).readable()) GTEST_SKIP() << "this host has a power counter";
  try {
    choose({.objective = ridge::Objective::energy});
    FAIL() << "planned by energy without a counter";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("planning by energy needs a power counter, host has none"));
  }
}

}  // namespace
