// Compares every variant of the migration step with trigonometric polynomials evaluated in long double.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sar/geometry.hpp"
#include "sar/variant.hpp"
#include "support/devices.hpp"
#include "support/worst.hpp"

namespace ridge::sar {
namespace {

using Wide = std::complex<long double>;

struct Plane {
  std::vector<Complex> in, wanted;  // [range][Doppler]
};

Problem small_scene(std::size_t samples, std::size_t pulses, double bandwidth_share) {
  Problem problem;
  problem.samples = samples, problem.pulses = pulses;
  problem.radar.bandwidth_hz = bandwidth_share * problem.radar.sample_rate_hz;
  problem.radar.pulse_s = 0.2 * static_cast<double>(samples) / problem.radar.sample_rate_hz;
  problem.threads = 1;
  return problem;
}

// Lines of random spectra within the chirp's band, and their values at the migrated places.
Plane random_plane(const Problem& problem, const Tables& tables) {
  const std::size_t n = problem.samples, pulses = problem.pulses;
  const auto most =
      static_cast<int>(problem.radar.bandwidth_hz / problem.radar.sample_rate_hz / 2 * static_cast<double>(n));
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Plane plane{std::vector<Complex>(n * pulses), std::vector<Complex>(n * pulses)};
  for (std::size_t f = 0; f < pulses; ++f) {
    std::vector<Wide> spectrum;
    for (int k = -most; k <= most; ++k) spectrum.emplace_back(uniform(random), uniform(random));
    const auto value = [&](long double place) {
      const Wide step = std::polar(1.0L, 2 * std::acos(-1.0L) * place / static_cast<long double>(n));
      Wide sum;
      for (std::size_t k = spectrum.size(); k-- > 0;) sum = sum * step + spectrum[k];
      return sum * std::pow(std::conj(step), most);
    };
    for (std::size_t r = 0; r < n; ++r) {
      const auto row = static_cast<long double>(r);
      const long double place =
          row + (static_cast<long double>(tables.first_range) + row) * static_cast<long double>(tables.stretch[f]);
      plane.in[r * pulses + f] = Complex(value(row));
      plane.wanted[r * pulses + f] = Complex(value(place) * Wide(tables.azimuth[r * pulses + f]));
    }
  }
  return plane;
}

// Largest error relative to the root mean square, over rows whose source is inside the frame; NaN if an answer is NaN.
double worst_error(const Problem& problem, const Tables& tables, const Plane& plane, const std::vector<Complex>& got) {
  double square = 0;
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t r = i / problem.pulses, f = i % problem.pulses;
    const float place = static_cast<float>(r) + (tables.first_range + static_cast<float>(r)) * tables.stretch[f];
    square += std::norm(plane.wanted[i]);
    if (place < kTaps || place > static_cast<float>(problem.samples - kTaps)) continue;
    worst.add(std::abs(std::complex<double>(got[i]) - std::complex<double>(plane.wanted[i])));
  }
  return worst.value() / std::sqrt(square / static_cast<double>(got.size()));
}

double host_error(const Problem& problem, const std::string& variant) {
  const Tables tables = make_tables(problem);
  const Plane plane = random_plane(problem, tables);
  for (const Entry& entry : list_migrations(host(), problem, tables)) {
    if (entry.candidate.variant != variant) continue;
    std::vector<Complex> got(plane.in.size(), Complex(std::nanf(""), 0));
    entry.build()->run(plane.in.data(), got.data());
    return worst_error(problem, tables, plane, got);
  }
  return std::nan("");
}

TEST(SarMigration, TheChirpZTransformIsExactForAwkwardSizes) {
  for (const auto& [samples, pulses] : {std::pair{64, 32}, {97, 53}, {128, 61}, {135, 64}, {243, 37}}) {
    const Problem problem = small_scene(static_cast<std::size_t>(samples), static_cast<std::size_t>(pulses), 2.0 / 3);
    EXPECT_LT(host_error(problem, "chirp_z"), 4e-6) << samples << " x " << pulses;
    EXPECT_LT(host_error(problem, "taps"), 1e-2) << samples << " x " << pulses;
  }
}

// The 16 taps lose accuracy near the Nyquist frequency, the transform does not.
TEST(SarMigration, OnlyTheChirpZTransformKeepsAWideBand) {
  const Problem problem = small_scene(256, 64, 0.89);
  const double taps = host_error(problem, "taps"), chirp_z = host_error(problem, "chirp_z");
  RecordProperty("taps", std::to_string(taps));
  RecordProperty("chirp_z", std::to_string(chirp_z));
  EXPECT_LT(chirp_z, 4e-6);
  EXPECT_GT(taps, 100 * chirp_z);
}

TEST(SarMigration, PhaseIsRefusedWhereMigrationVariesWithRange) {
  Problem problem = small_scene(256, 64, 2.0 / 3);
  problem.migration = "phase";
  try {
    const Plan focus(host(), problem);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cells between the middle and the ends"), std::string::npos)
        << error.what();
  }
  problem.radar.beam_rad = 0.015;
  EXPECT_LT(host_error(problem, "phase"), 0.07);  // 1/32 cell at the edge of the band is 0.065 radians
  EXPECT_NE(Plan(host(), problem).explain().find("phase"), std::string::npos);
}

TEST(SarMigration, FocusesTheSameImageByEveryVariant) {
  Problem problem;
  problem.samples = problem.pulses = 256;
  problem.radar.pulse_s = 1e-6;
  problem.radar.beam_rad = 0.03;
  const auto echoes = simulate(problem, {{.along_m = 128 * along_cell(problem.radar),
                                          .range_m = problem.radar.near_range_m + 100 * range_cell(problem.radar)}});
  std::vector<Complex> by_taps(echoes.size()), by_chirps(echoes.size());
  problem.migration = "taps";
  Plan(host(), problem).run(echoes, by_taps);
  problem.migration = "chirp_z";
  Plan(host(), problem).run(echoes, by_chirps);
  const Response wanted = measure(problem, by_taps, 100, 128), got = measure(problem, by_chirps, 100, 128);
  EXPECT_NEAR(got.peak, wanted.peak, 2e-3);
  EXPECT_NEAR(got.range.width, wanted.range.width, 2e-3);
  EXPECT_NEAR(got.along.width, wanted.along.width, 2e-3);
}

class SarMigrationOnDevices : public ridge::test::NeedsAccelerator<> {};

TEST_F(SarMigrationOnDevices, EveryVariantPassesThePlannersComparison) {
  const Problem problem = small_scene(128, 61, 2.0 / 3);
  const Tables tables = make_tables(problem);
  std::vector<Device> all = ridge::test::accelerators();
  all.push_back(host());
  for (const Device& device : all) {
    MigrationTrials trials(device, problem, tables);
    for (const Entry& entry : list_migrations(device, problem, tables)) {
      if (!entry.candidate.refusal.empty()) continue;
      const planner::Comparison found = trials.compare(*entry.build());
      EXPECT_TRUE(found.right()) << device.id() << ", " << entry.candidate.name() << ": " << found.text();
    }
  }
}

}  // namespace
}  // namespace ridge::sar
