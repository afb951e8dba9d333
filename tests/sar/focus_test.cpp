// Tests the focused image of point targets: positions, widths and side lobes.
#include <cmath>

#include <gtest/gtest.h>
#include <ridge/sar.hpp>

#include "device/registry.hpp"
#include "sar/shares.hpp"
#include "sar/tables.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"
#include "support/worst.hpp"

namespace ridge::sar {
namespace {

struct Spot {
  double range, along, amplitude;  // in cells
};

std::vector<Target> targets(const Problem& problem, const std::vector<Spot>& spots) {
  std::vector<Target> out;
  for (const Spot& spot : spots) {
    out.push_back({.along_m = spot.along * along_cell(problem.radar),
                   .range_m = problem.radar.near_range_m + spot.range * range_cell(problem.radar),
                   .amplitude = spot.amplitude});
  }
  return out;
}

void expect_focused(const Device& device, const Problem& problem, const std::vector<Spot>& spots) {
  const auto echoes = simulate(problem, targets(problem, spots));
  std::vector<Complex> image(echoes.size());
  Plan(device, problem).run(echoes, image);
  const Response ideal = expected(problem);
  for (const Spot& spot : spots) {
    SCOPED_TRACE(testing::Message() << device.id() << ", point at range " << spot.range << ", along " << spot.along);
    const Response found = measure(problem, image, spot.range, spot.along);
    EXPECT_NEAR(found.range.position, spot.range, 0.1);
    EXPECT_NEAR(found.along.position, spot.along, 0.1);
    EXPECT_NEAR(found.range.width / ideal.range.width, 1, 0.05);
    EXPECT_NEAR(found.along.width / ideal.along.width, 1, 0.05);
    EXPECT_NEAR(found.range.side_lobe_db, ideal.range.side_lobe_db, 0.5);
    EXPECT_NEAR(found.along.side_lobe_db, ideal.along.side_lobe_db, 0.5);
    EXPECT_NEAR(found.peak / spot.amplitude, 1, 0.03);
  }
}

// Far enough apart that each cut of 64 cells contains one point.
const std::vector<Spot> kSpots{{120, 400, 1}, {250.37, 512.61, 0.5}, {330.5, 600.25, 2}, {520.81, 450.4, 1}};

TEST(SarFocus, PointsHaveTheRightPositionAndTheWindowsShape) {
  for (const Window window : {Window::none, Window::hamming, Window::taylor}) {
    Problem problem;
    problem.window = window;
    if (window == Window::none) {  // side lobes of -13 dB reach far, so one point at a time
      expect_focused(host(), problem, {kSpots[1]});
    } else {
      expect_focused(host(), problem, kSpots);
    }
  }
}

// A peak keeps the phase of its range, -4 pi R / wavelength: interferometry subtracts it between two passes.
TEST(SarFocus, PeaksKeepThePhaseOfTheirRange) {
  Problem problem;
  problem.samples = problem.pulses = 1024;
  const double wavelength = 299792458.0 / problem.radar.carrier_hz, cell = range_cell(problem.radar);
  const std::vector<Spot> spots{{120, 400, 1}, {251, 512, 0.5}, {520, 450, 2}};  // at cell centres
  const auto echoes = simulate(problem, targets(problem, spots));
  std::vector<Device> all = ridge::test::accelerators();
  all.push_back(host());
  for (const Device& device : all) {
    std::vector<Complex> image(echoes.size());
    Plan(device, problem).run(echoes, image);
    for (const Spot& spot : spots) {
      const double range = problem.radar.near_range_m + spot.range * cell;
      const Complex peak =
          image[static_cast<std::size_t>(spot.range) * problem.pulses + static_cast<std::size_t>(spot.along)];
      const std::complex<double> wanted =
          std::polar(spot.amplitude, -4 * std::acos(-1.0) * std::fmod(range / wavelength, 1.0));
      EXPECT_LT(std::abs(std::complex<double>(peak) - wanted), 0.02 * spot.amplitude)
          << device.id() << ", range " << spot.range << ": " << peak << " where " << wanted << " belongs";
    }
  }
}

TEST(SarFocus, AFrameOfAnyShape) {
  Problem problem;
  problem.samples = 1000;
  problem.pulses = 1155;
  expect_focused(host(), problem, {{300.2, 560.7, 1}});
}

TEST(SarFocus, WithoutMigrationCorrectionThePointWouldBeSmeared) {
  const Problem problem;
  const Tables tables = make_tables(problem);
  float farthest = 0;
  for (const float stretch : tables.stretch) farthest = std::max(farthest, stretch);
  EXPECT_GT(farthest * (tables.first_range + 500), 1.0F) << "the test's scene does not migrate";
}

class SarOnDevices : public ridge::test::NeedsAccelerator<> {};

TEST_F(SarOnDevices, AgreeWithTheHost) {
  Problem problem;
  problem.migration = "taps";
  const auto echoes = simulate(problem, targets(problem, {kSpots[1], kSpots[2]}));
  std::vector<Complex> wanted(echoes.size());
  Plan(host(), problem).run(echoes, wanted);
  for (const Device& device : ridge::test::accelerators()) {
    std::vector<Complex> image(echoes.size());
    const Plan focus(device, problem);
    focus.run(echoes, image);
    EXPECT_LT(ridge::test::largest_difference(image, wanted), 2e-5) << device.id();
  }
}

Problem small_problem(std::size_t side, double pulse_s, double beam_rad) {
  Problem problem;
  problem.samples = problem.pulses = side;
  problem.radar.pulse_s = pulse_s;
  problem.radar.beam_rad = beam_rad;
  return problem;
}

// Image i of a stream equals that of a plan for frame i.
void expect_images(const Plan& focus, const std::vector<std::vector<Complex>>& frames,
                   const std::vector<std::vector<Complex>>& images) {
  const std::string device = focus.device().id();
  ASSERT_EQ(images.size(), frames.size()) << device;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::vector<Complex> wanted(frames[i].size());
    focus.run(frames[i], wanted);
    EXPECT_EQ(images[i], wanted) << device << ", frame " << i;
  }
}

TEST(SarStream, ImagesFollowTheOrderOfTheirFrames) {
  const Problem problem = small_problem(256, 1e-6, 0.03);
  for (const Device& device : devices().devices) {
    const Plan focus(device, problem);
    Stream stream(device, problem);
    std::vector<Complex> image(problem.samples * problem.pulses);
    std::vector<std::vector<Complex>> frames, images;
    for (int i = 0; i < 5; ++i) {
      frames.push_back(simulate(problem, targets(problem, {{60.0 + 7 * i, 100.0 + 9 * i, 1.0 + i}})));
      if (stream.push(frames.back(), image)) images.push_back(image);
    }
    while (stream.finish(image)) images.push_back(image);
    expect_images(focus, frames, images);
  }
}

// Frames in the stream's own memory: no image before its frame, none overwritten, and an error if the stream is full.
TEST(SarStream, FramesInItsOwnMemory) {
  const Problem problem = small_problem(128, 0.5e-6, 0.02);
  for (const Device& device : devices().devices) {
    const Plan focus(device, problem);
    Stream stream(device, problem);
    EXPECT_TRUE(stream.take().empty());
    EXPECT_FALSE(stream.ready());
    std::vector<std::vector<Complex>> frames, images;
    const auto take = [&] {
      const auto image = stream.take();
      images.emplace_back(image.begin(), image.end());
    };
    for (int i = 0; i < 7; ++i) {
      frames.push_back(simulate(problem, targets(problem, {{30.0 + 3 * i, 50.0 + 4 * i, 1.0 + i}})));
      std::copy(frames.back().begin(), frames.back().end(), stream.frame().begin());
      stream.submit();
      if (!stream.full()) continue;
      EXPECT_THROW(stream.frame(), Error);
      EXPECT_THROW(stream.submit(), Error);
      take();
    }
    while (stream.in_flight() > 0) take();
    expect_images(focus, frames, images);
  }
}

// Whole frames alternate between devices; each image equals that of its device alone, in the order of the frames.
TEST(SarStream, SeveralDevicesShareFrames) {
  Problem problem = small_problem(64, 0.25e-6, 0.02);
  const std::vector<Device> all = devices().devices;
  EXPECT_THROW(Stream({host(), host()}, problem), Error);
  EXPECT_THROW(Stream(std::vector<Device>{}, problem), Error);
  EXPECT_THROW(Stream(all, problem, {.effort = Effort::quick}, std::vector<double>(all.size(), 0.0)), Error);
  std::vector<double> shares(all.size(), 1);
  shares.front() = 2.5;
  Stream stream(all, problem, {.effort = Effort::quick}, shares);
  std::vector<Complex> image(problem.samples * problem.pulses), wanted(image.size());
  std::vector<std::vector<Complex>> frames, images;
  for (int i = 0; i < 23; ++i) {
    frames.push_back(simulate(problem, targets(problem, {{10.0 + i, 20.0 + i, 1.0 + i}})));
    if (stream.push(frames.back(), image)) images.push_back(image);
  }
  while (stream.finish(image)) images.push_back(image);
  ASSERT_EQ(images.size(), frames.size());
  problem.migration = "taps";
  const Plan focus(host(), problem);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    focus.run(frames[i], wanted);
    EXPECT_LT(ridge::test::largest_difference(images[i], wanted), 2e-5 * static_cast<double>(i + 1)) << "frame " << i;
  }
  if (all.size() < 2) return;
  // Measured rates: a device that does not help has no share, the shares add up to 1.
  Stream measured(all, problem);
  EXPECT_GT(measured.ideal_rate(), 0);
  const std::string text = measured.explain();
  EXPECT_NE(text.find(all.back().id()), std::string::npos);
  EXPECT_EQ(text.find(" 0.000 ") != std::string::npos, text.find("gets no frames: ") != std::string::npos) << text;
  EXPECT_TRUE(measured.push(frames[0], image) || measured.finish(image));
  focus.run(frames[0], wanted);
  EXPECT_LT(ridge::test::largest_difference(image, wanted), 2e-5);
}

TEST(SarStream, ReportsWhyADeviceGetsNoFrames) {
  const auto reasons = left_out({{"host", 320, 67}, {"cuda:0", 5689, 5640}});
  EXPECT_EQ(reasons[0], "its 67.0 frames per second are less than 1/16 of the 5640.0 of cuda:0");
  EXPECT_EQ(reasons[1], "");
  const auto alone = left_out({{"host", 320, 67}, {"cuda:0", 5689, 4634}});
  EXPECT_EQ(alone[0], "all devices together focus 4701.0 frames per second, cuda:0 alone 5689.0");
  EXPECT_EQ(alone[1], "");
  for (const std::string& reason : left_out({{"host", 100, 90}, {"opencl:0", 200, 180}})) EXPECT_EQ(reason, "");
}

TEST(SarFocus, ZerosGiveAnImageOfZeros) {
  const Problem problem;
  const std::vector<Complex> echoes(problem.pulses * problem.samples);
  std::vector<Complex> image(echoes.size(), Complex(1, 1));
  Plan(host(), problem).run(echoes, image);
  for (const Complex& value : image) ASSERT_EQ(value, Complex());
}

TEST(SarWindow, TheirSideLobesAreTheTextbooks) {
  Problem problem;
  problem.window = Window::none;
  EXPECT_NEAR(expected(problem).range.side_lobe_db, -13.26, 0.05);
  EXPECT_NEAR(expected(problem).range.width * problem.radar.bandwidth_hz / problem.radar.sample_rate_hz, 0.886, 0.002);
  problem.window = Window::hamming;
  EXPECT_NEAR(expected(problem).range.side_lobe_db, -42.7, 0.3);
  problem.window = Window::taylor;
  EXPECT_NEAR(expected(problem).range.side_lobe_db, -35, 0.5);
}

TEST(SarProblem, ImpossibleRadarsAreRefusedInWords) {
  const auto refused = [](const auto& change) {
    Problem problem;
    change(problem);
    try {
      check(problem);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_NE(refused([](Problem& p) { p.radar.pulse_rate_hz = 20; }).find("Doppler band"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.radar.pulse_s = 1e-3; }).find("half of the frame"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.radar.bandwidth_hz = 74e6; }).find("sample rate"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.radar.speed_m_s = std::nan(""); }).find("speed"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.pulses = 0; }).find("at least"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.doppler_share = 1.5; }).find("Doppler share"), std::string::npos);
}

// Only the range-Doppler algorithm neglects the coupling of range and Doppler.
TEST(SarProblem, CouplingIsRefusedByTheRangeDopplerAlgorithm) {
  Problem problem;
  problem.radar.near_range_m = 1e6;
  check(problem);
  const std::string refusal = ridge::test::error_of([&] { Plan(host(), problem); }, ErrorKind::invalid_argument);
  EXPECT_NE(refusal.find("coupling of range and Doppler"), std::string::npos) << refusal;
}

TEST(SarFocus, ShortSpansAreRefused) {
  const Problem problem;
  const Plan focus(host(), problem);
  std::vector<Complex> small(100);
  EXPECT_THROW(focus.run(small, small), Error);
}

}  // namespace
}  // namespace ridge::sar
