// Tests surveys: recording and its adjoint, gradients by Taylor expansions and within a budget, batches, refusals and
// devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/stencil/survey.hpp>

#include "stencil/shots/shot_run.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"
#include "survey_support.hpp"

namespace ridge::stencil {
namespace {

template <class T>
void check_survey_dot(const Device& device, const std::vector<std::size_t>& shape, bool surface, double most) {
  Random random(11);
  const Survey<T> survey(device, uneven(random, shape, surface), {.effort = Effort::quick});
  Shot shot = scattered_shot(random, shape, 2, 5);
  const std::size_t steps = 60;
  for (std::size_t i = 0; i < 2 * steps; ++i) shot.wavelets.push_back(uniform_number(random));
  std::vector<T> data(steps * 5);
  for (T& value : data) value = static_cast<T>(uniform_number(random));
  const std::vector<T> traces = survey.record(shot, steps);
  const std::vector<double> pulses = survey.adjoint(shot, steps, data);
  const double forward = dot(traces, data), back = dot(shot.wavelets, pulses);
  EXPECT_LT(std::abs(forward - back), most * norm(traces) * norm(data)) << device.id() << " " << forward << " " << back;
  EXPECT_GT(norm(traces), 0);
}

TEST(Survey, RecordingAndItsAdjointPassTheDotProductTest) {
  check_survey_dot<double>(host(), {23, 29}, false, 1e-12);
  check_survey_dot<double>(host(), {23, 29}, true, 1e-12);
  check_survey_dot<double>(host(), {18, 17, 19}, true, 1e-12);
  check_survey_dot<float>(host(), {23, 29}, false, 1e-6);
}

TEST(Survey, GradientHasATaylorRemainderOfSecondOrder) {
  for (const bool surface : {false, true}) {
    const Inverted made = inversion_case(surface);
    const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
    const Gradient gradient = survey.gradient(made.shot, made.steps, made.observed, {.exact = true});
    Random random(9);
    std::vector<double> direction(made.medium.velocity.size());
    for (double& value : direction) value = 20 * uniform_number(random);
    const double slope = dot(gradient.velocity, direction);
    const auto misfit = [&](double h) {
      std::vector<double> velocity = made.medium.velocity;
      for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] += h * direction[i];
      const std::vector<double> traces = survey.with_velocity(velocity).record(made.shot, made.steps);
      double sum = 0;
      for (std::size_t i = 0; i < traces.size(); ++i) sum += 0.5 * std::pow(traces[i] - made.observed[i], 2);
      return sum;
    };
    EXPECT_NEAR(misfit(0), gradient.misfit, 1e-12 * gradient.misfit);
    double before = 0;
    for (int i = 0; i < 5; ++i) {
      const double h = 0.2 / std::pow(2, i);
      const double remainder = std::abs(misfit(h) - gradient.misfit - h * slope);
      if (i > 0) {
        EXPECT_NEAR(std::log2(before / remainder), 2.0, 0.05) << "h " << h;
      }
      before = remainder;
    }
    // The misfit is quadratic in the wavelet.
    Shot changed = made.shot;
    double along = 0, expected = 0;
    for (std::size_t n = 0; n < made.steps; ++n) {
      const double by = uniform_number(random);
      along += gradient.wavelets[n] * by;
      changed.wavelets[n] = by;
    }
    const std::vector<double> response = survey.record(changed, made.steps);
    for (std::size_t i = 0; i < response.size(); ++i) expected += response[i] * (gradient.traces[i] - made.observed[i]);
    EXPECT_NEAR(along, expected, 1e-10 * std::abs(expected));
  }
}

// Every way to keep the history, by its budget; the exact ones to the last bits.
TEST(Survey, GradientsWithinABudgetAgree) {
  const Inverted made = inversion_case();
  const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
  const Gradient exact = survey.gradient(made.shot, made.steps, made.observed, {.exact = true});
  EXPECT_NE(exact.explain.find("exact snapshots of every step"), std::string::npos) << exact.explain;
  EXPECT_EQ(exact.recomputation, 1);
  EXPECT_EQ(exact.error, 0);
  const double field = 8.0 * 60 * 80;  // about; rows are padded
  const auto with = [&](double fields, bool only_exact) {
    return survey.gradient(made.shot, made.steps, made.observed,
                           {.memory = static_cast<std::size_t>(fields * field), .exact = only_exact});
  };
  const Gradient small = survey.gradient(made.shot, made.steps, made.observed, {.error = 2e-4, .bits = 16});
  EXPECT_LE(apart(small.velocity, exact.velocity), small.error) << small.explain;
  const Gradient eight = survey.gradient(made.shot, made.steps, made.observed,
                                         {.memory = static_cast<std::size_t>(60 * field), .error = 1e-6, .bits = 8});
  EXPECT_NE(eight.explain.find("8-bit snapshots of every step"), std::string::npos) << eight.explain;
  EXPECT_LT(apart(eight.velocity, exact.velocity), eight.error) << eight.explain;
  EXPECT_GT(apart(eight.velocity, exact.velocity), eight.error / 12);
  for (const double fields : {40.0, 60.0, 90.0}) {
    const Gradient again = with(fields, true);
    EXPECT_NE(again.explain.find("states"), std::string::npos) << again.explain;
    EXPECT_GT(again.recomputation, 1);
    EXPECT_EQ(again.error, 0);
    EXPECT_LT(apart(again.velocity, exact.velocity), 1e-13) << again.explain;
    EXPECT_NEAR(again.misfit, exact.misfit, 1e-13 * exact.misfit);
  }
  // Without layers nothing but the last state is needed.
  for (const std::size_t layer : {0, 8}) {
    SurveyMedium medium = made.medium;
    medium.layer = layer;
    medium.free_surface = layer > 0;
    const Survey<double> open(host(), medium, {.effort = Effort::quick});
    const Gradient kept = open.gradient(made.shot, made.steps, made.observed, {.exact = true});
    const Gradient undone = open.gradient(made.shot, made.steps, made.observed, {.backwards = true});
    EXPECT_NE(undone.explain.find("computed backwards"), std::string::npos) << undone.explain;
    EXPECT_EQ(undone.recomputation, 2);
    EXPECT_LT(apart(undone.velocity, kept.velocity), 1e-11) << undone.explain;
    EXPECT_LT(apart(undone.wavelets, kept.wavelets), 1e-13) << undone.explain;
    EXPECT_EQ(undone.misfit, kept.misfit);
  }
  try {
    with(3, true);
    FAIL() << "a budget of three fields was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("too small"), std::string::npos) << error.what();
  }
}

// Shots side by side in one grid, with different numbers of points, against one shot after another.
void check_batch(const Device& device, double most) {
  Random random(17);
  SurveyMedium medium = uneven(random, {22, 25}, true);
  std::vector<Shot> shots;
  for (const std::size_t receivers : {3, 1, 4}) {
    shots.push_back(scattered_shot(random, medium.shape, receivers % 2 + 1, receivers));
    const std::size_t values = 50 * shots.back().sources.size() / 2;
    for (std::size_t i = 0; i < values; ++i) shots.back().wavelets.push_back(uniform_number(random));
  }
  const Survey<double> one(host(), medium, {.effort = Effort::quick});
  medium.batch = 4;
  const Survey<double> many(device, medium, {.effort = Effort::quick});
  std::vector<double> traces, field, last, wavelets, velocity(medium.velocity.size()), observed;
  for (const Shot& shot : shots) {
    const std::vector<double> here = one.record(shot, 50, &last);
    traces.insert(traces.end(), here.begin(), here.end());
    std::vector<double> goal(here.size());
    for (double& value : goal) value = uniform_number(random);
    observed.insert(observed.end(), goal.begin(), goal.end());
    const Gradient gradient = one.gradient(shot, 50, goal, {.exact = true});
    wavelets.insert(wavelets.end(), gradient.wavelets.begin(), gradient.wavelets.end());
    for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] += gradient.velocity[i];
  }
  EXPECT_LT(apart(many.record(shots, 50, &field), traces), most) << device.id();
  EXPECT_LT(apart(field, last), most) << device.id();
  const Gradient gradient = many.gradient(shots, 50, observed, {.exact = true});
  EXPECT_LT(apart(gradient.velocity, velocity), most) << device.id();
  EXPECT_LT(apart(gradient.wavelets, wavelets), most) << device.id();
  EXPECT_LT(apart(gradient.traces, traces), most) << device.id();
  shots.resize(5, shots[0]);
  EXPECT_THROW(many.record(shots, 50), Error);
}

TEST(Survey, BatchesOfShotsAgreeWithSingleOnes) { check_batch(host(), 1e-12); }

TEST(Survey, RefusesWhatMakesNoSense) {
  Random random(1);
  const SurveyMedium good = uneven(random, {20, 24}, false);
  const auto refused = [](const SurveyMedium& medium, const Shot& shot, const std::string& text) {
    try {
      const Survey<float> survey(host(), medium, {.effort = Effort::quick});
      survey.record(shot, 3);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const Shot shot{.sources = {4, 5}, .wavelets = {1, 2, 3}, .receivers = {4, 9.5}};
  SurveyMedium medium = good;
  medium.dt = 1;
  refused(medium, shot, "is unstable");
  medium = good;
  medium.velocity[25] = std::nan("");
  refused(medium, shot, "the velocity is nan in cell (1, 1)");
  medium = good;
  medium.frequency = 1000;
  refused(medium, shot, "shorter than two cells");
  refused(good, {.sources = {-1, 5}, .wavelets = {1, 2, 3}, .receivers = {4, 9}},
          "source 0 at (-1, 5) is outside the model");
  refused(good, {.sources = {1, 5}, .wavelets = {1, 2, 3}, .receivers = {4, 9, 3, 24}},
          "where the absorbing layers are");
  refused(good, {.sources = {1, 5}, .wavelets = {1, 2}, .receivers = {4, 9}}, "need 3 values");
}

// Waves that a bed below 26 cells reflects are sent back into a medium without it: the image has its largest values
// there.
std::vector<double> migrated_bed(const Device& device, std::size_t memory) {
  SurveyMedium medium{
      .shape = {44, 60}, .velocity = std::vector<double>(44 * 60, 2000), .spacing = 5, .dt = 5e-4, .frequency = 50};
  SurveyMedium bed = medium;
  std::fill(bed.velocity.begin() + 26 * 60, bed.velocity.end(), 2600);
  const Survey<float> survey(device, medium, {.effort = Effort::quick});
  const std::size_t steps = 330;
  Shot shot{.sources = {2, 30}, .wavelets = survey.ricker(steps)};
  for (double x = 2; x < 59; ++x) shot.receivers.insert(shot.receivers.end(), {2, x});
  std::vector<float> reflected = Survey<float>(device, bed, {.effort = Effort::quick}).record(shot, steps);
  const std::vector<float> direct = survey.record(shot, steps);
  for (std::size_t i = 0; i < direct.size(); ++i) reflected[i] -= direct[i];
  return survey.gradient(shot, steps, reflected, {.memory = memory, .image = true}).image;
}

TEST(Survey, MigrationShowsAReflectorAtItsDepth) {
  const std::vector<double> image = migrated_bed(host(), 0);
  ASSERT_EQ(image.size(), 44 * 60);
  double most = 0, depth = 0;
  for (std::size_t z = 12; z < 40; ++z) {
    double mean = 0;
    for (std::size_t x = 22; x < 39; ++x) mean += image[z * 60 + x] / 17;
    if (std::abs(mean) > most) most = std::abs(mean), depth = static_cast<double>(z);
  }
  EXPECT_GT(most, 0);
  EXPECT_NEAR(depth, 25.5, 2);
  // Snapshots of 16 bits of some steps show the same.
  EXPECT_LT(apart(migrated_bed(host(), 4 * 68 * 84 * 90), image), 0.02);
  EXPECT_THAT(ridge::test::error_of(
                  [&] {
                    const Inverted made = inversion_case();
                    Survey<double>(host(), made.medium)
                        .gradient(made.shot, made.steps, made.observed, {.backwards = true, .image = true});
                  },
                  ErrorKind::invalid_argument),
              testing::HasSubstr("leave out `backwards`"));
}

TEST(Survey, GivesStatesDuringARun) {
  const Inverted made = inversion_case();
  const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
  std::vector<double> last, middle;
  Shot shot = made.shot;
  shot.wavelets = survey.ricker(60);
  survey.record(shot, 60, &last);
  std::vector<std::size_t> steps;
  shot.wavelets = survey.ricker(75);
  survey.record(shot, 75, nullptr, {}, {30, [&](std::size_t step, const std::vector<double>& field) {
                                          steps.push_back(step);
                                          middle = field;
                                        }});
  EXPECT_EQ(steps, (std::vector<std::size_t>{30, 60}));
  EXPECT_EQ(middle, last);
}

// Source and receiver exchanged give the same trace: exactly without layers, whose terms are not symmetric.
TEST(Survey, IsReciprocal) {
  Random random(23);
  for (const std::size_t layer : {0, 8}) {
    SurveyMedium medium = uneven(random, {31, 37}, layer == 0);
    medium.layer = layer;
    const Survey<double> survey(host(), medium, {.effort = Effort::quick});
    const std::vector<double> one{8.3, 9.7}, other{21.6, 28.2};
    const Shot there{.sources = one, .wavelets = survey.ricker(160), .receivers = other},
        back{.sources = other, .wavelets = survey.ricker(160), .receivers = one};
    EXPECT_LT(apart(survey.record(there, 160), survey.record(back, 160)), layer == 0 ? 1e-12 : 1e-3) << layer;
  }
}

// A run that is stopped at a step and continued from what it saved gives the same bits.
void check_continued(const Survey<double>& survey, const Inverted& made, const GradientOptions& options,
                     const std::vector<std::size_t>& stops = {1, 50, 149}) {
  const Gradient whole = survey.gradient(made.shot, made.steps, made.observed, options);
  for (const std::size_t stop : stops) {
    GradientOptions first = options, second = options;
    first.checkpoints.due = [&](std::size_t steps) { return steps == stop; };
    first.checkpoints.save = [&](const std::vector<std::byte>& state) { second.checkpoints.resume = state; };
    survey.gradient(made.shot, made.steps, made.observed, first);
    const Gradient continued = survey.gradient(made.shot, made.steps, made.observed, second);
    EXPECT_EQ(continued.velocity, whole.velocity) << stop << " of " << made.steps << ": " << whole.explain;
    EXPECT_EQ(continued.wavelets, whole.wavelets) << whole.explain;
    EXPECT_EQ(continued.traces, whole.traces) << whole.explain;
    EXPECT_EQ(continued.image, whole.image) << whole.explain;
    EXPECT_EQ(continued.error, whole.error) << whole.explain;
    EXPECT_NEAR(continued.misfit, whole.misfit, 1e-14 * whole.misfit) << whole.explain;
    second.checkpoints.resume.pop_back();
    EXPECT_THROW(survey.gradient(made.shot, made.steps, made.observed, second), Error);
  }
}

void check_continued_record(const Survey<double>& survey, const Inverted& made) {
  RunCheckpoints first, second;
  first.due = [](std::size_t steps) { return steps == 31; };
  first.save = [&](const std::vector<std::byte>& state) { second.resume = state; };
  std::vector<double> last, again;
  const std::vector<double> whole = survey.record(made.shot, made.steps, &last, {}, {}, first);
  EXPECT_EQ(survey.record(made.shot, made.steps, &again, {}, {}, second), whole);
  EXPECT_EQ(again, last);
  EXPECT_THROW(survey.record(made.shot, made.steps + 1, &again, {}, {}, second), Error);
}

TEST(Survey, ContinuesStoppedRuns) {
  const Inverted made = inversion_case();
  const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
  const std::size_t field = 8 * 60 * 80;
  check_continued(survey, made, {.exact = true});
  check_continued(survey, made, {.memory = 60 * field, .exact = true});
  check_continued(survey, made, {.memory = 40 * field, .error = 2e-4, .bits = 16});
  check_continued(survey, made, {.backwards = true});
  check_continued(survey, made, {.memory = 60 * field, .image = true});
  check_continued_record(survey, made);
}

// Receivers at cells and between cells: 64 and 8 of them per work-group, whose barriers PoCL 3.1 without optimization
// once ignored.
void check_receivers(const Survey<double>& here, const Survey<double>& there) {
  Random random(31);
  for (const std::size_t receivers : {1, 3, 8, 11, 70}) {
    for (const bool cells : {false, true}) {
      Shot shot = scattered_shot(random, here.medium().shape, 2, receivers);
      for (double& place : shot.receivers) place = cells ? std::floor(place) : place;
      const std::size_t steps = 9;
      for (std::size_t i = 0; i < 2 * steps; ++i) shot.wavelets.push_back(uniform_number(random));
      const std::vector<double> expected = here.record(shot, steps), found = there.record(shot, steps);
      EXPECT_LT(apart(found, expected), 1e-11) << receivers << " receivers, at cells " << cells;
    }
  }
}

// Levels 0 and 1 of the forward run in either field, all numbers of steps, and a ring of adjoint levels.
TEST(SurveyOnDevices, CorrelatesSeveralStepsAtOnce) {
  constexpr std::size_t field = 300, slots = 2 * kTogether;
  Random random(3);
  std::vector<float> levels, back, start, image(field);
  for (auto* values : {&levels, &back, &start}) {
    const std::size_t fields = values == &levels ? slots + 2 : values == &back ? kTogether : 1;
    for (std::size_t i = 0; i < fields * field; ++i) values->push_back(static_cast<float>(uniform_number(random)));
  }
  for (const Device& device : ridge::test::accelerators()) {
    const ridge::Kernel kernel = device.compile(shot_sources<float>()[1]).kernel("correlate_levels");
    Queue queue = device.queue();
    const Buffer from = device.buffer(levels.size() * 4), adjoint = device.buffer(back.size() * 4),
                 to = device.buffer(field * 4);
    queue.upload(levels.data(), from, levels.size() * 4);
    queue.upload(back.data(), adjoint, back.size() * 4);
    for (std::size_t count = 1; count <= kTogether; ++count) {
      const std::size_t slot = count % 2 == 0 ? slots - 1 : count - 1, first = count % 3, swapped = count / 2 % 2;
      const auto number = [](std::size_t value) { return Argument(static_cast<std::int32_t>(value)); };
      queue.upload(start.data(), to, field * 4);
      queue.launch(kernel, {.groups = {(field + 255) / 256}, .items = {256}},
                   {from, adjoint, to, Argument(std::uint64_t{field}), Argument(0.5f), number(slot), number(count),
                    number(swapped), number(1 - swapped), number(first), number(kTogether)});
      queue.download(to, image.data(), field * 4);
      queue.finish();
      const auto level = [&](std::size_t k, std::size_t i) {
        return static_cast<double>(levels[(k == 0 ? swapped : k == 1 ? 1 - swapped : k) * field + i]);
      };
      for (std::size_t i = 0; i < field; ++i) {
        double sum = static_cast<double>(start[i]);
        for (std::size_t k = 0; k < count; ++k)
          sum += 0.5 * (level(slot - k + 2, i) - 2 * level(slot - k + 1, i) + level(slot - k, i)) *
                 static_cast<double>(back[(first + k) % kTogether * field + i]);
        EXPECT_NEAR(image[i], sum, 1e-5) << count << " steps, cell " << i << " on " << device.id();
      }
    }
  }
}

TEST(SurveyOnDevices, GradientsAgreeWithTheHost) {
  const Inverted made = inversion_case(true);
  const Survey<double> here(host(), made.medium, {.effort = Effort::quick});
  const Gradient expected = here.gradient(made.shot, made.steps, made.observed, {.exact = true});
  for (const Device& device : ridge::test::accelerators()) {
    if (!device.limits().float64) continue;
    check_survey_dot<double>(device, {23, 29}, true, 1e-12);
    const Survey<double> there(device, made.medium, {.effort = Effort::quick});
    check_receivers(here, there);
    const Gradient exact = there.gradient(made.shot, made.steps, made.observed, {.exact = true});
    EXPECT_LT(apart(exact.velocity, expected.velocity), 1e-11) << device.id();
    EXPECT_LT(apart(exact.wavelets, expected.wavelets), 1e-11) << device.id();
    const std::size_t small = 8 * 60 * 80 * 90;
    const Gradient states = there.gradient(made.shot, made.steps, made.observed, {.memory = small, .exact = true});
    EXPECT_GT(states.recomputation, 1);
    EXPECT_LT(apart(states.velocity, expected.velocity), 1e-11) << states.explain;
    const Gradient undone = there.gradient(made.shot, made.steps, made.observed, {.backwards = true});
    EXPECT_NE(undone.explain.find("computed backwards"), std::string::npos) << undone.explain;
    EXPECT_LT(apart(undone.velocity, expected.velocity), 1e-11) << undone.explain;
    for (const int bits : {16, 8}) {
      const GradientOptions options{.memory = small, .error = 1e-3, .bits = bits},
          streams{.memory = 720 << 10, .error = 1e-3, .bits = bits};
      const Gradient outside = there.gradient(made.shot, made.steps, made.observed, streams);
      EXPECT_NE(outside.explain.find("host memory"), std::string::npos) << outside.explain;
      EXPECT_LT(apart(outside.velocity, expected.velocity), bits == 16 ? 1e-3 : 3e-2) << outside.explain;
      const Gradient coarse = there.gradient(made.shot, made.steps, made.observed, options);
      const Gradient same = here.gradient(made.shot, made.steps, made.observed, options);
      EXPECT_LT(apart(coarse.velocity, expected.velocity), bits == 16 ? 1e-3 : 3e-2) << coarse.explain;
      EXPECT_LT(apart(coarse.velocity, same.velocity), bits == 16 ? 1e-4 : 1e-2) << coarse.explain;
    }
    check_batch(device, 1e-11);
  }
}

TEST(SurveyOnDevices, ContinuesStoppedRuns) {
  const Inverted made = inversion_case();
  for (const Device& device : ridge::test::accelerators()) {
    if (!device.limits().float64) continue;
    const Survey<double> survey(device, made.medium, {.effort = Effort::quick});
    check_continued(survey, made, {.memory = 8 * 60 * 80 * 90, .exact = true}, {50});
    check_continued_record(survey, made);
  }
}

}  // namespace
}  // namespace ridge::stencil
