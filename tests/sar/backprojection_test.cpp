// Back-projection, direct and factorized: point responses within one per cent of theory, on straight and bent tracks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <ridge/sar/backprojection.hpp>

#include "support/error_of.hpp"

namespace ridge::sar {
namespace {

Problem small_frame() {
  Problem problem;
  problem.pulses = 400;
  problem.samples = 160;
  problem.radar.pulse_s = 1e-6;
  return problem;
}

std::vector<Offset> bent_track(const Problem& problem) {
  std::vector<Offset> track(problem.pulses);
  for (std::size_t i = 0; i < track.size(); ++i) {
    const double t = 2 * std::acos(-1.0) * static_cast<double>(i) / 300;
    track[i] = {.along_m = 0.3 * std::cos(2 * t), .range_m = 1.5 * std::sin(t)};
  }
  return track;
}

// One point between cells, in the middle of the frame, where its whole aperture is.
constexpr double kRange = 60.37, kAlong = 200.61;

std::vector<Complex> echoes_of(const Problem& problem, const std::vector<Offset>& track) {
  return simulate(problem,
                  {{.along_m = kAlong * along_cell(problem.radar),
                    .range_m = problem.radar.near_range_m + kRange * range_cell(problem.radar),
                    .amplitude = 2}},
                  track);
}

void expect_response(const BackprojectionProblem& problem) {
  const auto echoes = echoes_of(problem.frame, problem.track);
  std::vector<Complex> image(echoes.size(), Complex(NAN, NAN));
  const Backprojection focus(problem);
  focus.run(echoes, image);
  const Response ideal = expected(problem.frame), found = measure(problem.frame, image, kRange, kAlong);
  SCOPED_TRACE(focus.explain());
  EXPECT_NEAR(found.range.position, kRange, 0.05);
  EXPECT_NEAR(found.along.position, kAlong, 0.05);
  EXPECT_NEAR(found.range.width / ideal.range.width, 1, 0.01);
  EXPECT_NEAR(found.along.width / ideal.along.width, 1, 0.01);
  // A short chirp between samples has range side lobes of its own, and a bent track samples the aperture unevenly.
  EXPECT_LE(found.range.side_lobe_db, -34);
  EXPECT_LE(found.along.side_lobe_db, problem.track.empty() ? -40 : -36);
  EXPECT_NEAR(found.peak / 2, 1, 0.01);
}

TEST(SarBackprojection, FocusesPointsOnAStraightTrack) {
  expect_response({.frame = small_frame(), .method = Method::direct});
  expect_response({.frame = small_frame(), .method = Method::factorized});
  expect_response({.frame = small_frame(), .method = Method::factorized, .group = 7});
}

TEST(SarBackprojection, FocusesPointsOnABentTrack) {
  const Problem frame = small_frame();
  expect_response({.frame = frame, .method = Method::direct, .track = bent_track(frame)});
  expect_response({.frame = frame, .method = Method::factorized, .track = bent_track(frame)});
  // The range-Doppler algorithm assumes a straight track: without compensation the peak is lost.
  const auto echoes = echoes_of(frame, bent_track(frame));
  std::vector<Complex> image(echoes.size());
  plan(host(), frame).run(echoes, image);
  EXPECT_LT(measure(frame, image, kRange, kAlong).peak / 2, 0.7);
}

// Both methods and the range-Doppler algorithm give the same complex image around the point.
TEST(SarBackprojection, AgreesWithTheRangeDopplerAlgorithm) {
  const Problem frame = small_frame();
  const auto echoes = echoes_of(frame, {});
  std::vector<Complex> image(echoes.size()), other(echoes.size());
  plan(host(), frame).run(echoes, image);
  for (const Method method : {Method::direct, Method::factorized}) {
    Backprojection({.frame = frame, .method = method}).run(echoes, other);
    for (std::size_t row = 58; row < 64; ++row) {
      for (std::size_t column = 197; column < 205; ++column) {
        const std::size_t at = row * frame.pulses + column;
        EXPECT_LE(std::abs(image[at] - other[at]), 0.04) << row << ", " << column;
      }
    }
  }
}

TEST(SarBackprojection, RefusesOtherTracks) {
  const Problem frame = small_frame();
  const auto refusal = [&](const std::vector<Offset>& track) {
    return ridge::test::error_of([&] { Backprojection({.frame = frame, .track = track}); },
                                 ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal(std::vector<Offset>(7)), testing::HasSubstr("one offset per pulse, 400, got 7"));
  EXPECT_THAT(refusal(std::vector<Offset>(400, {.range_m = NAN})),
              testing::HasSubstr("at most a tenth of the near range"));
  EXPECT_THAT(refusal(std::vector<Offset>(400, {.along_m = 5000})), testing::HasSubstr("got 5000 and 0 m"));
}

}  // namespace
}  // namespace ridge::sar
