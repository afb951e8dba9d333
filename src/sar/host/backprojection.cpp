// Back-projection on the host. Range-compressed pulses are refined kFine times, so that values between their points are
// linear interpolations; sums are weighted by the window over the Doppler band.
//
// Factorized: the pulses of a group are added on a polar grid (distance r from the group's centre, sine u of the angle
// off broadside). After removal of the phase of r the sum varies slowly, by at most half a cycle per u = wavelength /
// (2 x length of the group), so that few angles suffice; pixels then interpolate one value per group.
#include <ridge/sar/backprojection.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/threads.hpp"
#include "base/window.hpp"
#include "plan/arguments.hpp"
#include "sar/device/backproject.hpp"
#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

constexpr double kAngleRate = 3, kRangeRate = 2;  // points of the polar grids, of the least number and of the samples

// exp(2 pi i turns), by polynomials over a quarter turn; error below 1e-7.
Complex turned(double turns) {
  const double quarter = std::nearbyint(4 * turns);
  const auto x = static_cast<float>((turns - 0.25 * quarter) * 2 * kPi), y = x * x;
  const float sine = x * (1 + y * (-0.16666667F + y * (8.3333310e-3F + y * (-1.9840874e-4F + y * 2.7525562e-6F))));
  const float cosine = 1 + y * (-0.5F + y * (4.1666638e-2F + y * (-1.3888378e-3F + y * 2.4760495e-5F)));
  switch (static_cast<int>(static_cast<long long>(quarter) & 3)) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Weights of cubic interpolation between the second and the third of four points.
std::array<float, 4> cubic(float t) {
  return {-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2, -(t + 1) * t * (t - 2) / 2,
          (t + 1) * t * (t - 1) / 6};
}

// Calls use(item, thread) for all items; a thread that is free takes the next one.
template <class Use>
void for_all(std::size_t threads, std::size_t items, const Use& use) {
  std::atomic<std::size_t> next{0};
  base::parallel(std::min(threads, items), [&](std::size_t thread, std::size_t) {
    for (std::size_t item = next++; item < items; item = next++) use(item, thread);
  });
}

// Pulses [first, end) around a centre, and their polar grid.
struct Group {
  std::size_t first = 0, end = 0;
  double along = 0, range = 0;  // centre
};

struct PolarGrid {
  std::size_t ranges = 0, angles = 0;
  double first_range = 0, range_step = 1, first_sine = 0, sine_step = 1;
  std::size_t size() const { return ranges * angles; }
};

}  // namespace

struct BackprojectionState {
  BackprojectionProblem problem;
  std::size_t threads;
  double cell, along, turns_per_metre;  // metres per sample and per pulse; cycles of the echo per metre of distance
  double widest_sine, widest_tangent;   // of the processed band
  std::vector<float> weights;           // by sine
  std::vector<float> norms;             // per row
  fft::Plan<float> compress, refine;
  std::unique_ptr<const DeviceBackprojection> on_device{};  // null on the host
  mutable std::mutex busy{};
  mutable std::vector<Complex> spectra, profiles, grids;

  BackprojectionState(const Device& device, const BackprojectionProblem& given, const planner::Options& options)
      : problem(given),
        threads(given.frame.threads == 0 ? base::hardware_threads() : given.frame.threads),
        cell(range_cell(given.frame.radar)),
        along(along_cell(given.frame.radar)),
        turns_per_metre(2 / wavelength(given.frame.radar)),
        widest_sine(wavelength(given.frame.radar) * doppler_band(given.frame) / (4 * given.frame.radar.speed_m_s)),
        widest_tangent(widest_sine / std::sqrt(1 - widest_sine * widest_sine)),
        compress(host(), compression_problem(given.frame), options),
        refine(host(), refinement_problem(given.frame), options) {
    set_weights();
    if (device.is_host()) return;
    if (problem.method == Method::factorized) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("sar: factorized back-projection runs on the host, got {}: use Method::direct", device.id()));
    }
    on_device = std::make_unique<const DeviceBackprojection>(
        device, problem, DeviceBackprojection::Geometry{cell, along, turns_per_metre, widest_sine, widest_tangent},
        weights, norms, options);
  }

  std::size_t pulses() const { return problem.frame.pulses; }
  std::size_t samples() const { return problem.frame.samples; }
  std::size_t profile_size() const { return kFine * samples(); }
  double range_of(std::size_t row) const { return problem.frame.radar.near_range_m + cell * static_cast<double>(row); }
  Offset platform(std::size_t pulse) const {
    const Offset offset = problem.track.empty() ? Offset{} : problem.track[pulse];
    return {.along_m = along * static_cast<double>(pulse) + offset.along_m, .range_m = offset.range_m};
  }

  // The window over the Doppler band, divided by the antenna's pattern and by the density of pulses per Doppler shift.
  void set_weights() {
    for (std::size_t i = 0; i <= kWeights; ++i) {
      const double share = static_cast<double>(i) / kWeights, sine = share * widest_sine;
      const double pattern = beam(problem.frame.radar, sine);
      weights.push_back(
          static_cast<float>(base::window_at(problem.frame.window, share) * std::pow(1 - sine * sine, 1.5) / pattern));
    }
    for (std::size_t row = 0; row < samples(); ++row) {
      double sum = 0;
      const auto reach = static_cast<long>(range_of(row) * widest_tangent / along);
      for (long q = -reach; q <= reach; ++q) {
        const double off = static_cast<double>(q) * along, sine = std::abs(off) / std::hypot(range_of(row), off);
        sum += weight(sine) * beam(problem.frame.radar, sine);
      }
      norms.push_back(static_cast<float>(1 / sum));
    }
  }
  double weight(double sine) const {
    return sine > widest_sine ? 0 : double{weights[static_cast<std::size_t>(sine / widest_sine * kWeights)]};
  }

  // Echo of a refined pulse at a distance; 0 outside the swath.
  Complex at_distance(const Complex* profile, double distance) const {
    const double place = (distance - problem.frame.radar.near_range_m) * (kFine / cell);
    if (!(place >= 0 && place < static_cast<double>(profile_size() - 1))) return {};
    const auto index = static_cast<std::size_t>(place);
    const auto share = static_cast<float>(place - static_cast<double>(index));
    return profile[index] + share * (profile[index + 1] - profile[index]);
  }

  void compress_pulses(std::span<const Complex> echoes) const {
    spectra.resize(pulses() * samples());
    profiles.resize(pulses() * profile_size());
    compress.forward(echoes, spectra);
    refine.inverse(spectra, profiles);
  }

  // Columns whose aperture contains a platform at `at`, for a row.
  std::pair<std::size_t, std::size_t> columns_of(const Offset& at, double range, double sine) const {
    const double reach = (range - at.range_m) * sine / std::sqrt(1 - sine * sine);
    const double first = std::ceil((at.along_m - reach) / along), last = std::floor((at.along_m + reach) / along);
    if (last < 0 || first > static_cast<double>(pulses() - 1) || last < first) return {0, 0};
    return {static_cast<std::size_t>(std::max(0.0, first)), std::min(pulses(), static_cast<std::size_t>(last) + 1)};
  }

  void run_direct(std::span<Complex> image) const {
    for_all(threads, samples(), [&](std::size_t row, std::size_t) {
      Complex* line = image.data() + row * pulses();
      std::fill_n(line, pulses(), Complex{});
      for (std::size_t pulse = 0; pulse < pulses(); ++pulse) {
        const Offset at = platform(pulse);
        const auto [first, end] = columns_of(at, range_of(row), widest_sine);
        const double across = range_of(row) - at.range_m, square = across * across;
        const Complex* profile = profiles.data() + pulse * profile_size();
        for (std::size_t p = first; p < end; ++p) {
          const double off = along * static_cast<double>(p) - at.along_m, distance = std::sqrt(square + off * off);
          const auto share = static_cast<float>(weight(std::abs(off) / distance));
          line[p] += share * times(at_distance(profile, distance), turned(distance * turns_per_metre));
        }
      }
      finish_row(row, line);
    });
  }
  void finish_row(std::size_t row, Complex* line) const {
    const Complex factor = norms[row] * turned(-range_of(row) * turns_per_metre);
    for (std::size_t p = 0; p < pulses(); ++p) line[p] = times(line[p], factor);
  }

  // Grid around a group of `count` pulses: one for all groups.
  PolarGrid polar_grid(std::size_t count) const {
    PolarGrid grid;
    double longest = along * static_cast<double>(count);
    for (const Offset& offset : problem.track)
      longest = std::max(longest, along * static_cast<double>(count) + 2 * std::abs(offset.along_m));
    grid.sine_step = 1 / (turns_per_metre * longest * kAngleRate);
    const double near = problem.frame.radar.near_range_m, far = range_of(samples());
    const double edge = std::min(0.95, widest_sine + longest / near) + 3 * grid.sine_step;
    grid.first_sine = -edge;
    grid.angles = static_cast<std::size_t>(std::ceil(2 * edge / grid.sine_step)) + 1;
    double away = 0;
    for (const Offset& offset : problem.track) away = std::max(away, std::abs(offset.range_m));
    grid.range_step = cell / kRangeRate;
    grid.first_range = near - away - 3 * grid.range_step;
    grid.ranges =
        static_cast<std::size_t>(std::ceil((far / std::sqrt(1 - edge * edge) + away - near) / grid.range_step)) + 8;
    return grid;
  }

  // Cost in direct updates per pixel, for the choice of the group.
  double factorized_cost(std::size_t count) const {
    constexpr double kInterpolation = 4;
    const double aperture = 2 * range_of(samples() / 2) * widest_tangent / along;
    const PolarGrid grid = polar_grid(count);
    return static_cast<double>(grid.size()) / static_cast<double>(samples()) +
           kInterpolation * (aperture / static_cast<double>(count) + 1);
  }
  std::size_t group_size() const {
    if (problem.group != 0) return std::min(problem.group, pulses());
    std::size_t best = 2;
    for (std::size_t count = 4; count <= pulses(); count *= 2) {
      if (factorized_cost(count) < factorized_cost(best)) best = count;
    }
    return best;
  }
  std::vector<Group> groups_of(std::size_t count) const {
    std::vector<Group> groups;
    for (std::size_t first = 0; first < pulses(); first += count) {
      Group group{.first = first, .end = std::min(first + count, pulses())};
      const auto members = static_cast<double>(group.end - group.first);
      for (std::size_t pulse = group.first; pulse < group.end; ++pulse) {
        group.along += platform(pulse).along_m / members;
        group.range += platform(pulse).range_m / members;
      }
      groups.push_back(group);
    }
    return groups;
  }

  // Sums of a group's pulses at one distance, for all angles, without the phase of the distance.
  void fill_range(const Group& group, const PolarGrid& grid, std::size_t i, Complex* line) const {
    const double radius = grid.first_range + grid.range_step * static_cast<double>(i);
    std::fill_n(line, grid.angles, Complex{});
    for (std::size_t pulse = group.first; pulse < group.end; ++pulse) {
      const Offset at = platform(pulse);
      const Complex* profile = profiles.data() + pulse * profile_size();
      for (std::size_t j = 0; j < grid.angles; ++j) {
        const double sine = grid.first_sine + grid.sine_step * static_cast<double>(j);
        const double off = group.along + radius * sine - at.along_m;
        const double across = group.range + radius * std::sqrt(1 - sine * sine) - at.range_m;
        const double distance = std::sqrt(off * off + across * across);
        const auto share = static_cast<float>(weight(std::abs(off) / distance));
        if (share == 0) continue;
        line[j] += share * times(at_distance(profile, distance), turned((distance - radius) * turns_per_metre));
      }
    }
  }

  Complex interpolated(const PolarGrid& grid, const Complex* values, double radius, double sine) const {
    const double i = (radius - grid.first_range) / grid.range_step, j = (sine - grid.first_sine) / grid.sine_step;
    const double down = std::floor(i), across = std::floor(j);
    if (!(down >= 1 && across >= 1 && down + 2 < static_cast<double>(grid.ranges) &&
          across + 2 < static_cast<double>(grid.angles)))
      return {};
    const auto rows = cubic(static_cast<float>(i - down)), columns = cubic(static_cast<float>(j - across));
    const Complex* corner =
        values + (static_cast<std::size_t>(down) - 1) * grid.angles + static_cast<std::size_t>(across) - 1;
    Complex sum{};
    for (std::size_t a = 0; a < 4; ++a) {
      const Complex* line = corner + a * grid.angles;
      sum += rows[a] * (columns[0] * line[0] + columns[1] * line[1] + columns[2] * line[2] + columns[3] * line[3]);
    }
    return sum;
  }

  void run_factorized(std::span<Complex> image) const {
    const std::size_t count = group_size();
    const std::vector<Group> groups = groups_of(count);
    const PolarGrid grid = polar_grid(count);
    grids.resize(groups.size() * grid.size());
    for_all(threads, groups.size() * grid.ranges, [&](std::size_t item, std::size_t) {
      const std::size_t g = item / grid.ranges, i = item % grid.ranges;
      fill_range(groups[g], grid, i, grids.data() + g * grid.size() + i * grid.angles);
    });
    const double edge = -grid.first_sine;
    for_all(threads, samples(), [&](std::size_t row, std::size_t) {
      Complex* line = image.data() + row * pulses();
      std::fill_n(line, pulses(), Complex{});
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const Offset centre{.along_m = groups[g].along, .range_m = groups[g].range};
        const auto [first, end] = columns_of(centre, range_of(row), edge);
        const double across = range_of(row) - centre.range_m;
        for (std::size_t p = first; p < end; ++p) {
          const double off = along * static_cast<double>(p) - centre.along_m;
          const double radius = std::sqrt(across * across + off * off);
          const Complex value = interpolated(grid, grids.data() + g * grid.size(), radius, off / radius);
          line[p] += times(value, turned(radius * turns_per_metre));
        }
      }
      finish_row(row, line);
    });
  }
};

namespace {

const BackprojectionProblem& checked_track(const BackprojectionProblem& problem) {
  check(problem.frame);
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "sar: " + why); };
  if (!problem.track.empty() && problem.track.size() != problem.frame.pulses) {
    refuse(fmt::format("the track needs one offset per pulse, {}, got {}", problem.frame.pulses, problem.track.size()));
  }
  for (const Offset& offset : problem.track) {
    const double most = problem.frame.radar.near_range_m / 10;
    if (!(std::abs(offset.along_m) <= most && std::abs(offset.range_m) <= most)) {
      refuse(fmt::format("an offset of the track is at most a tenth of the near range, {} m, got {} and {} m", most,
                         offset.along_m, offset.range_m));
    }
  }
  return problem;
}

}  // namespace

Backprojection::Backprojection(const BackprojectionProblem& problem, const planner::Options& options)
    : Backprojection(host(), problem, options) {}
Backprojection::Backprojection(const Device& device, const BackprojectionProblem& problem,
                               const planner::Options& options)
    : state_(std::make_shared<const BackprojectionState>(device, checked_track(problem), options)) {}

void Backprojection::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  const std::size_t bytes = state_->pulses() * state_->samples() * sizeof(Complex);
  planner::check_length("sar", "input", echoes.size_bytes(), bytes);
  planner::check_length("sar", "output", image.size_bytes(), bytes);
  planner::check_apart("sar", echoes.data(), bytes, image.data(), bytes, false);
  if (state_->on_device) return state_->on_device->run(echoes, image.first(state_->pulses() * state_->samples()));
  std::lock_guard lock(state_->busy);
  state_->compress_pulses(echoes);
  state_->problem.method == Method::direct ? state_->run_direct(image) : state_->run_factorized(image);
}

double Backprojection::updates() const {
  double sum = 0;
  for (std::size_t row = 0; row < state_->samples(); ++row) {
    const double aperture = 2 * state_->range_of(row) * state_->widest_tangent / state_->along;
    sum += aperture * static_cast<double>(state_->pulses());
  }
  return sum;
}

std::string Backprojection::explain() const {
  const double each = updates() / static_cast<double>(state_->pulses() * state_->samples());
  if (state_->problem.method == Method::direct) {
    return fmt::format("direct back-projection: {:.0f} pulses per pixel\n", each);
  }
  const std::size_t count = state_->group_size();
  const PolarGrid grid = state_->polar_grid(count);
  return fmt::format(
      "factorized back-projection: groups of {} pulses on {} ranges x {} angles, about {:.0f} updates per pixel "
      "instead "
      "of {:.0f}\n",
      count, grid.ranges, grid.angles, state_->factorized_cost(count), each);
}

const BackprojectionProblem& Backprojection::problem() const { return state_->problem; }

}  // namespace ridge::sar
