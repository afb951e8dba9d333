// Back-projection, direct and factorized: point responses within one per cent of theory, on straight and bent tracks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <ridge/sar/omega_k.hpp>

#include "support/devices.hpp"
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
constexpr double kRange = 60.37;
double along_of(const Problem& problem) { return 0.5 * static_cast<double>(problem.pulses) + 0.61; }

std::vector<Complex> echoes_of(const Problem& problem, const std::vector<Offset>& track) {
  return simulate(problem,
                  {{.along_m = along_of(problem) * along_cell(problem.radar),
                    .range_m = problem.radar.near_range_m + kRange * range_cell(problem.radar),
                    .amplitude = 2}},
                  track);
}

template <class Focus>
void expect_focused(const Focus& focus, const Problem& frame, const std::vector<Offset>& track) {
  const auto echoes = echoes_of(frame, track);
  std::vector<Complex> image(echoes.size(), Complex(NAN, NAN));
  focus.run(echoes, image);
  const Response ideal = expected(frame), found = measure(frame, image, kRange, along_of(frame));
  SCOPED_TRACE(focus.explain());
  EXPECT_NEAR(found.range.position, kRange, 0.05);
  EXPECT_NEAR(found.along.position, along_of(frame), 0.05);
  EXPECT_NEAR(found.range.width / ideal.range.width, 1, 0.01);
  EXPECT_NEAR(found.along.width / ideal.along.width, 1, 0.01);
  // A short chirp between samples has range side lobes of its own, and a bent track samples the aperture unevenly.
  EXPECT_LE(found.range.side_lobe_db, -34);
  EXPECT_LE(found.along.side_lobe_db, track.empty() ? -40 : -36);
  EXPECT_NEAR(found.peak / 2, 1, 0.01);
}

void expect_response(const BackprojectionProblem& problem) {
  expect_focused(Backprojection(problem), problem.frame, problem.track);
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
  EXPECT_LT(measure(frame, image, kRange, along_of(frame)).peak / 2, 0.7);
}

// The echo of a point moves through six range cells along its aperture, which short groups must resolve too.
TEST(SarBackprojection, FocusesPointsThatMigrateFar) {
  Problem frame = small_frame();
  frame.pulses = 768;
  frame.radar.carrier_hz = 3.125e8;
  frame.radar.pulse_rate_hz = 62.5;
  frame.radar.beam_rad = 0.2;
  frame.radar.near_range_m = 5000;
  expect_response({.frame = frame, .method = Method::factorized, .group = 8});
}

TEST(SarBackprojection, FocusesPointsOnADevice) {
  Problem frame = small_frame();
  frame.pulses = 240;
  frame.samples = 96;
  frame.radar.pulse_s = 5e-7;
  for (const Device& device : ridge::test::accelerators()) {
    // Float arithmetic on the device, double on the host, whose responses the tests above compare with theory.
    auto track = bent_track(frame);
    const auto echoes = echoes_of(frame, track);
    std::vector<Complex> image(echoes.size()), other(echoes.size());
    // The chosen groups, and those of 7 pulses on the first level, which do not divide 240. The latter from a track
    // with jumps, within whose groups distances need roots.
    for (const auto& [method, group] :
         {std::pair(Method::direct, 0), std::pair(Method::factorized, 0), std::pair(Method::factorized, 7)}) {
      if (group == 7) track[100].range_m += 150;
      const BackprojectionProblem problem{
          .frame = frame, .method = method, .track = track, .group = static_cast<std::size_t>(group)};
      SCOPED_TRACE(Backprojection(problem).explain());
      Backprojection(device, problem).run(echoes, image);
      Backprojection(problem).run(echoes, other);
      for (std::size_t i = 0; i < image.size(); ++i) ASSERT_LE(std::abs(image[i] - other[i]), 2e-3) << i;
    }
    // One group of the last level at a time.
    Backprojection(device, {.frame = frame, .method = Method::factorized, .track = track, .group = 7, .most_sums = 1})
        .run(echoes, other);
    for (std::size_t i = 0; i < image.size(); ++i) ASSERT_LE(std::abs(image[i] - other[i]), 1e-5) << i;
  }
}

TEST(SarOmegaK, FocusesPoints) { expect_focused(OmegaK(small_frame()), small_frame(), {}); }

// The estimated track equals the true one up to a constant and a trend, and restores the peaks.
TEST(SarAutofocus, FindsTheTrack) {
  const Problem frame = small_frame();
  const double wavelength = 299792458.0 / frame.radar.carrier_hz;
  std::vector<Offset> track(frame.pulses);
  for (std::size_t i = 0; i < track.size(); ++i)
    track[i].range_m = 0.35 * wavelength * std::sin(2 * std::acos(-1.0) * static_cast<double>(i) / 170);
  std::vector<Target> targets;
  for (const double share : {0.35, 0.5, 0.65}) {
    targets.push_back({.along_m = share * static_cast<double>(frame.pulses) * along_cell(frame.radar),
                       .range_m = frame.radar.near_range_m + 100 * share * range_cell(frame.radar)});
  }
  const auto echoes = simulate(frame, targets, track);
  const auto peak = [&](const std::vector<Offset>& offsets) {
    std::vector<Complex> image(echoes.size());
    Backprojection({.frame = frame, .method = Method::factorized, .track = offsets}).run(echoes, image);
    return measure(frame, image, 50, 200, 8).peak;
  };
  EXPECT_LT(peak({}), 0.75);
  EXPECT_GT(peak(autofocus(frame, echoes)), 0.97);
  EXPECT_THAT(ridge::test::error_of([&] { autofocus(frame, echoes, {.iterations = 0}); }, ErrorKind::invalid_argument),
              testing::HasSubstr("at least one iteration"));
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
