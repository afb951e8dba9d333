// Tests the comparison during planning: variants of every depth pass, and a wrong cell is found wherever it is.
#include "stencil/trials.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include <gtest/gtest.h>
#include <ridge/stencil/problems.hpp>

#include "support.hpp"

namespace ridge::stencil::test {
namespace {

TEST(Trials, ComparedStepsRunEveryDepthAndItsRemainder) {
  for (const std::vector<std::size_t>& depths : std::vector<std::vector<std::size_t>>{
           {1}, {1, 2}, {3, 1}, {4, 3, 2}, {4, 6, 8}, {4, 8, 10, 11, 12}, {16, 32}, {32, 64, 128}, {5}}) {
    const std::size_t steps = compared_steps(depths);
    for (const std::size_t depth : depths) {
      EXPECT_GE(steps / depth, 2u) << depth;
      EXPECT_TRUE(depth > 1 || steps % 2 == 1 || depths.size() > 1) << "an odd number ends in the second buffer";
      if (depth > 1) {
        EXPECT_GE(steps % depth, depth > 5 ? 5u : 1u) << steps << " steps, depth " << depth;
      }
    }
  }
}

template <class T>
void expect_all_right(const Update<T>& update, const Problem& problem) {
  const Layout layout = resolve(update, problem);
  const std::vector<Entry<T>> entries = list_variants(host(), update, layout);
  Trials<T> trials(host(), update, problem, layout, entries);
  for (const Entry<T>& entry : entries) {
    if (!entry.candidate.refusal.empty()) continue;
    const planner::Comparison comparison = trials.compare(*entry.build());
    EXPECT_TRUE(comparison.right()) << layout.key() << ", " << entry.candidate.name() << ": " << comparison.text();
  }
}

TEST(Trials, EveryVariantOfTheHostIsRight) {
  expect_all_right(update<float>(2, heat_function()), {.shape = {67, 90}});
  expect_all_right(update<double>(2, wave_function()), {.shape = {40, 33}, .borders = Borders::all(Border::mirror)});
  expect_all_right(update<std::uint8_t>(2, life_function()),
                   {.shape = {40, 33}, .borders = Borders::all(Border::periodic)});
  // More cells than the reference handles quickly: "base" is the reference.
  expect_all_right(update<float>(2, heat_function()), {.shape = {520, 500}});
}

// An update that overflows is compared after fewer steps, and finally both results must be NaN or infinite.
TEST(Trials, UpdatesThatGrowAreComparedEarly) {
  expect_all_right(update<float>(2, [](auto u) { return 1e9f * u(0, 0) * u(0, 1); }), {.shape = {30, 40}});
  expect_all_right(update<float>(2, [](auto u) { return u(0, 0) / (u(0, 1) - u(0, 1)); }), {.shape = {30, 40}});
}

// Coefficients that would let single cells grow must not make rounding look like an error.
TEST(Trials, ComparedCoefficientsDoNotLetCellsGrow) {
  const auto update = maxwell<float>({.dt = 0.5});
  const Problem problem{.shape = {512, 512}, .threads = 2};
  const Layout layout = resolve(update, problem);
  const std::vector<Entry<float>> entries = list_variants(host(), update, layout);
  Trials<float> trials(host(), update, problem, layout, entries);
  std::size_t compared = 0;
  for (const Entry<float>& entry : entries) {
    if (!entry.candidate.refusal.empty() || entry.candidate.name().find("kernel=vector, depth=16") == std::string::npos)
      continue;
    ++compared;
    const planner::Comparison comparison = trials.compare(*entry.build());
    EXPECT_TRUE(comparison.right()) << entry.candidate.name() << ": " << comparison.text();
  }
  EXPECT_GE(compared, 1u);
}

// The base variant with one cell changed at the end.
class Wrong final : public Variant<float> {
 public:
  Wrong(std::shared_ptr<const Variant<float>> right, std::size_t cell, float value)
      : right_(std::move(right)), cell_(cell), value_(value) {}
  std::unique_ptr<Running<float>> start(const Grid<float>& grid, const Grid<float>* coefficients) const override {
    return std::make_unique<Session>(*this, right_->start(grid, coefficients));
  }

 private:
  struct Session final : Running<float> {
    Session(const Wrong& of, std::unique_ptr<Running<float>> session) : of_(of), right_(std::move(session)) {}
    void run(std::size_t steps) override { right_->run(steps); }
    double change(Norm norm) override { return right_->change(norm); }
    void read(Grid<float>& grid) override {
      right_->read(grid);
      grid.all()[of_.cell_] += of_.value_;
    }
    void wait() override { right_->wait(); }
    const Wrong& of_;
    std::unique_ptr<Running<float>> right_;
  };
  std::shared_ptr<const Variant<float>> right_;
  std::size_t cell_;
  float value_;
};

TEST(Trials, AWrongCellIsSeenAndNamed) {
  const auto heat = update<float>(2, heat_function());
  const Problem problem{.shape = {20, 30}};
  const Layout layout = resolve(heat, problem);
  const std::vector<Entry<float>> entries = list_variants(host(), heat, layout);
  Trials<float> trials(host(), heat, problem, layout, entries);
  const auto base = entries.front().build();
  EXPECT_TRUE(trials.compare(Wrong(base, 0, 0)).right());
  for (const float value : {1e-3f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::size_t cell : {0u, 7u * 30 + 5, 599u}) {
      const planner::Comparison comparison = trials.compare(Wrong(base, cell, value));
      EXPECT_FALSE(comparison.right()) << value;
      EXPECT_EQ(comparison.where, "row " + std::to_string(cell / 30) + ", cell " + std::to_string(cell % 30));
    }
  }
}

// A variant with one disturbed run among several sweeps.
class Disturbed final : public Variant<float> {
 public:
  explicit Disturbed(std::size_t depth) : depth_(depth) {}
  std::unique_ptr<Running<float>> start(const Grid<float>&, const Grid<float>*) const override {
    return std::make_unique<Session>(*this);
  }
  std::size_t depth() const override { return depth_; }
  std::size_t runs() const { return steps_.size(); }
  std::size_t fewest_steps() const { return *std::min_element(steps_.begin(), steps_.end()); }
  static constexpr double kDisturbed = 0.1;  // seconds

 private:
  struct Session final : Running<float> {
    explicit Session(const Disturbed& of) : of_(of) {}
    void run(std::size_t steps) override {
      of_.steps_.push_back(steps);
      // The first run is cold for all variants; the second one is disturbed.
      std::this_thread::sleep_for(std::chrono::duration<double>(of_.runs() == 2 ? kDisturbed : 1e-3));
    }
    double change(Norm) override { return 0; }
    void read(Grid<float>&) override {}
    void wait() override {}
    const Disturbed& of_;
  };
  std::size_t depth_;
  mutable std::vector<std::size_t> steps_;
};

// The time is the best of several rounds, so that one disturbed run has no effect.
TEST(Trials, OneDisturbedRunDecidesNothing) {
  const auto heat = update<float>(2, heat_function());
  const Problem problem{.shape = {20, 30}};
  const Layout layout = resolve(heat, problem);
  const std::vector<Entry<float>> entries = list_variants(host(), heat, layout);
  for (const std::size_t depth : {1u, 4u, 16u}) {
    Trials<float> trials(host(), heat, problem, layout, entries);
    const Disturbed variant(depth);
    const double seconds = trials.seconds(variant);
    EXPECT_GE(variant.fewest_steps(), std::max<std::size_t>(3 * depth, 4));
    EXPECT_EQ(variant.fewest_steps() % depth, 0u);
    EXPECT_GE(variant.runs(), 5u);
    EXPECT_LT(seconds * static_cast<double>(variant.fewest_steps()), Disturbed::kDisturbed);
  }
}

TEST(Trials, AMeasuredPlanCanBeVerified) {
  const auto verified = plan(host(), update<float>(2, heat_function()), {.shape = {97, 60}},
                             {.use_wisdom = false, .save_wisdom = false, .verify = true});
  EXPECT_EQ(verified.decisions().front().source, planner::Source::measurement);
  for (const planner::Trial& trial : verified.decisions().front().trials)
    EXPECT_EQ(trial.reason.find("wrong"), std::string::npos) << trial.name << ": " << trial.reason;
}

}  // namespace
}  // namespace ridge::stencil::test
