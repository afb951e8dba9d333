// Tests that the reported errors of gradients bound those measured.
#include <cctype>
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <ridge/stencil/survey.hpp>

#include "survey_support.hpp"

namespace ridge::stencil {
namespace {

// The estimate from sampled cells is near the error of all cells.
void check_estimate(double estimate, double error, const std::string& explain) {
  EXPECT_LE(estimate, 3 * error) << explain;
  EXPECT_GE(estimate, error / 3) << explain;
}

// The reported error bounds the measured one: runs that end while waves are strong and runs after which they are gone,
// two and three axes, smooth and rough media, layers and mirrors, several sources, observed data of zeros.
TEST(Survey, ReportedErrorsBoundThoseMeasured) {
  struct Model {
    std::vector<std::size_t> shape;
    std::size_t steps;
    double frequency;
    bool rough, surface, layers, silent;
  };
  const std::vector<Model> models{
      {{40, 52}, 420, 16, true, false, true, false},      {{40, 52}, 130, 16, true, true, true, false},
      {{40, 52}, 420, 8, false, true, true, true},        {{34, 30}, 300, 24, true, false, false, false},
      {{20, 18, 22}, 160, 16, false, false, true, false}, {{20, 18, 22}, 60, 16, true, true, true, true}};
  std::size_t skipping = 0;
  for (const Model& model : models) {
    Random random(5);
    SurveyMedium medium = uneven(random, model.shape, model.surface);
    medium.frequency = model.frequency;
    medium.dt = 1e-3;
    medium.layer = model.layers ? 8 : 0;
    if (!model.layers) medium.borders = Borders::all(Border::mirror);
    if (!model.rough) std::fill(medium.velocity.begin(), medium.velocity.end(), 1700);
    SurveyMedium other = medium;
    for (double& value : other.velocity) value *= 1 + 0.05 * uniform_number(random, 0, 1);
    const Survey<double> survey(host(), medium, {.effort = Effort::quick});
    Shot shot = scattered_shot(random, model.shape, 2, 9);
    shot.wavelets = survey.ricker(model.steps);
    std::vector<double> observed = Survey<double>(host(), other, {.effort = Effort::quick}).record(shot, model.steps);
    if (model.silent) std::fill(observed.begin(), observed.end(), 0);
    const Gradient exact = survey.gradient(shot, model.steps, observed, {.exact = true});
    for (const double error : {1e-3, 0.03}) {
      const Gradient coarse = survey.gradient(shot, model.steps, observed, {.error = error});
      const double measured = apart(coarse.velocity, exact.velocity);
      EXPECT_LE(measured, coarse.error) << model.steps << " steps, asked " << error << ": " << coarse.explain;
      if (coarse.measured) check_estimate(*coarse.measured, measured, coarse.explain);
      const std::size_t every = coarse.explain.find("snapshots of every ") + 19;  // a number, or "step"
      skipping += std::isdigit(coarse.explain[every]) != 0 ? 1 : 0;
    }
  }
  EXPECT_GE(skipping, 2u) << "no history skipped steps: nothing was tested";
}

// Snapshots of every step, so that roundings are the only error: the bound is 3 to 7 times the measured error of random
// models, for both kinds of integers. The budget is too small for exact snapshots.
TEST(Survey, BoundsOfRoundingErrorsAreCloseToThoseMeasured) {
  std::size_t tested = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    Random random(seed);
    std::vector<std::size_t> shape{20 + random() % 20, 22 + random() % 30};
    if (seed % 5 == 4) shape = {20, 18, 22};
    SurveyMedium medium = uneven(random, shape, seed % 3 == 0);
    medium.dt = 1e-3;
    medium.frequency = uniform_number(random, 7, 26);
    if (seed % 4 == 2) {
      medium.layer = 0;
      medium.free_surface = false;
      medium.borders = Borders::all(Border::mirror);
    }
    SurveyMedium other = medium;
    for (double& value : other.velocity) value *= 1 + std::pow(10, -1.0 - seed % 3) * uniform_number(random, 0, 1);
    const std::size_t steps = 60 + random() % 60;
    const Survey<double> survey(host(), medium, {.effort = Effort::quick});
    Shot shot = scattered_shot(random, shape, 1 + random() % 2, 1 + random() % 9);
    shot.wavelets = survey.ricker(steps);
    std::vector<double> observed = Survey<double>(host(), other, {.effort = Effort::quick}).record(shot, steps);
    if (seed % 4 == 3) std::fill(observed.begin(), observed.end(), 0);
    const Gradient exact = survey.gradient(shot, steps, observed, {.exact = true});
    std::size_t field = sizeof(double);
    for (const std::size_t side : shape) field *= side + 24;
    for (const int bits : {8, 16}) {
      const Gradient rounded = survey.gradient(shot, steps, observed,
                                               {.memory = (20 + steps / 2) * field, .error = 1.5001e-4, .bits = bits});
      if (!rounded.measured || rounded.explain.find("bit snapshots of every step") > 3) continue;
      // Before waves reach a receiver, the gradient is smaller than roundings.
      if (rounded.error > 0.3) continue;
      const double measured = apart(rounded.velocity, exact.velocity);
      EXPECT_LE(measured, rounded.error) << "seed " << seed << ": " << rounded.explain;
      check_estimate(*rounded.measured, measured, rounded.explain);
      EXPECT_LE(rounded.error, 12 * measured) << "seed " << seed << ": " << rounded.explain;
      ++tested;
    }
  }
  EXPECT_GE(tested, 8u);
}

}  // namespace
}  // namespace ridge::stencil
