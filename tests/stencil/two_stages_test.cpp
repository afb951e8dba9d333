// Tests updates of two stages on the host: what is detected, and values against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/stencil/problems.hpp>

#include "stencil/expression.hpp"
#include "stencil/host/two_stages/stages.hpp"
#include "stencil/reference.hpp"
#include "stencil/variant.hpp"
#include "support.hpp"

namespace ridge::stencil {
namespace {

using test::check_host_variants;
using test::largest_difference;
using test::random_grid;
using ::testing::HasSubstr;

constexpr const char* kName = "two_stages";

template <class T>
std::string refusal_of(const Update<T>& update, const Problem& problem) {
  for (const Entry<T>& entry : list_variants(host(), update, resolve(update, problem))) {
    if (entry.candidate.variant == kName) return entry.candidate.refusal;
  }
  return "not listed";
}

TEST(TwoStages, DetectsVelocitiesThenStresses) {
  const auto step = elastic<double>({.dt = 0.1, .spacing = 1, .accuracy = 4, .layers = false});
  const Stages stages = find_stages(step.outputs);
  EXPECT_EQ(stages.refusal, "");
  EXPECT_EQ(stages.first, (std::vector<bool>{true, true, false, false, false}));
  EXPECT_EQ(stages.reach, (std::array<std::size_t, 3>{0, 2, 2}));
  // Each value is computed once, not at every neighbour that reads it.
  EXPECT_LT(flatten(stages.outputs).operations.size(), flatten(step.outputs).operations.size() / 2);
  const auto layered = elastic<double>({.dt = 0.1, .spacing = 1, .accuracy = 4, .layer_cells = 5});
  EXPECT_EQ(find_stages(layered.outputs).first,
            (std::vector<bool>{true, true, false, false, false, true, true, true, true, false, false, false, false}));
}

TEST(TwoStages, RefusesOtherUpdates) {
  const Problem fixed{.shape = {30, 31}};
  const auto copies = update<double>(2, [](auto u) { return std::array{u(0, 0) + u.field(1, 1, 0), u(0, 0)}; });
  EXPECT_THAT(refusal_of(copies, fixed), HasSubstr("a copy of another"));
  const auto staggered = elastic<float>({.dt = 0.1, .spacing = 1, .accuracy = 2, .layers = false});
  EXPECT_EQ(refusal_of(staggered, fixed), "");
  EXPECT_EQ(refusal_of(staggered, {.shape = {30, 31}, .borders = Borders::all(Border::periodic)}),
            "needs fixed borders");
  const auto apart = update<double>(2, [](auto u) {
    return std::array{u(0, 1) + u.field(1, 0, 0), u.field(1, 1, 0) * 0.5 + u.field(1, 0, 0)};
  });
  EXPECT_THAT(refusal_of(apart, fixed), HasSubstr("no field depends on new values"));
  // The second field needs the old value of the first one as well.
  const auto both = update<double>(2, [](auto u) {
    const auto fresh = [&](int dy) { return u(dy, 0) + 0.5 * u.field(1, dy, 1); };
    return std::array{fresh(0), u.field(1, 0, 0) + fresh(1) - fresh(0) + 0.25 * u(0, 0)};
  });
  EXPECT_THAT(refusal_of(both, fixed), HasSubstr("old values of the first"));
  const auto beside = update<double>(2, [](auto u) {
    const auto fresh = [&](int dy) { return u(dy, 1) + 0.5 * u.field(1, dy, 1); };
    return std::array{fresh(0), u.field(1, 0, 0) + fresh(1)};
  });
  EXPECT_THAT(refusal_of(beside, fixed), HasSubstr("its own fields at neighbours"));
}

// Random coefficients everywhere, so that wrong cells at the fixed sides are seen; more threads than rows per thread.
TEST(TwoStages, MatchesTheReference) {
  for (const std::size_t threads : {1, 3, 7}) {
    for (const int accuracy : {2, 4}) {
      const auto plain = elastic<double>({.dt = 0.1, .spacing = 1, .accuracy = accuracy, .layers = false});
      const auto tilted =
          elastic<float>({.dt = 0.1, .spacing = 1, .accuracy = accuracy, .layers = false, .anisotropic = true});
      // `layer_cells` 0: no inner form.
      const auto layered = elastic<double>({.dt = 0.1, .spacing = 1, .accuracy = accuracy});
      for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{29, 45}, {9, 7}, {61, 8}}) {
        for (const std::size_t steps : {1, 4}) {
          const Problem problem{.shape = shape, .threads = threads};
          EXPECT_GE(check_host_variants(plain, problem, steps, kName), 1u);
          EXPECT_GE(check_host_variants(tilted, problem, steps, kName), 1u);
          EXPECT_GE(check_host_variants(layered, problem, steps, kName), 1u);
        }
      }
    }
  }
}

// Memory variables and profiles are zero where no layer is, so that the inner form is used there.
TEST(TwoStages, MatchesTheReferenceInsideLayers) {
  for (const bool surface : {false, true}) {
    ElasticModel model{
        .shape = {58, 75}, .frequency = 0.04, .accuracy = surface ? 2 : 4, .layer = 5, .free_surface = surface};
    for (std::size_t i = 0; i < 58 * 75; ++i) {
      model.p_velocity.push_back(1 + 0.3 * static_cast<double>(i % 7));
      model.s_velocity.push_back(0.4 + 0.02 * static_cast<double>(i % 11));
      model.density.push_back(1 + 0.1 * static_cast<double>(i % 5));
    }
    const ElasticProblem<double> made = elastic_problem<double>(model);
    const std::vector<std::size_t>& shape = made.coefficients.shape();
    Grid<double> start = random_grid<double>(shape, made.update.fields, 5);
    const std::size_t margin = made.update.inner.margin;
    for (std::size_t field = 5; field < start.fields(); ++field) {
      for (std::size_t i = 0; i < start.cells(); ++i) {
        const std::size_t y = i / shape[1], x = i % shape[1];
        if (y >= margin && y + margin < shape[0] && x >= margin && x + margin < shape[1]) start.field(field)[i] = 0;
      }
    }
    for (const std::size_t threads : {1, 2, 5}) {
      const Problem problem{.shape = shape, .threads = threads};
      Grid<double> expected = start;
      reference(made.update, problem, expected, 6, &made.coefficients);
      std::size_t checked = 0;
      for (const auto& entry : list_variants(host(), made.update, resolve(made.update, problem))) {
        if (entry.candidate.variant != kName) continue;
        EXPECT_EQ(entry.candidate.refusal, "");
        const auto variant = entry.build();
        const auto running = variant->start(start, &made.coefficients);
        running->run(5);
        const double change = running->change(Norm::max);
        Grid<double> found(shape, made.update.fields), before = start;
        running->read(found);
        EXPECT_LT(largest_difference(found, expected), 1e-13) << threads << " threads";
        reference(made.update, problem, before, 5, &made.coefficients);
        EXPECT_NEAR(change, largest_difference(before, expected), 1e-13);
        ++checked;
      }
      EXPECT_EQ(checked, threads == 1 ? 1u : 2u);
    }
  }
}

}  // namespace
}  // namespace ridge::stencil
