// Back-projection on the host. Range-compressed pulses are refined kFine times, so that values between their points are
// linear interpolations; sums are weighted by the window over the Doppler band.
//
// Factorized: the pulses of a group are added on a polar grid (distance r from the group's centre, sine u of the angle
// off broadside). After removal of the phase of r the sum varies slowly, by at most half a cycle per u = wavelength /
// (2 x length of the group), so that few angles suffice. Grids of kMerged neighbouring groups are interpolated onto the
// grid of their union, level by level; pixels then interpolate one value per group of the last level.
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

constexpr double kAngleRate = 3;          // angles of the polar grids, in units of the least sufficient number
constexpr std::size_t kFewestMerged = 7;  // least pulses of a merged group: shorter groups resolve the window's edge

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

// Weights of four neighbours for a value between the second and the third of them: those with the least squared error
// for all frequencies up to 1/6 cycle per point, the band of a polar grid.
class FourTaps {
 public:
  FourTaps() : weights_(kPolarFractions + 1) {
    for (std::size_t i = 0; i <= kPolarFractions; ++i) {
      const double t = 1 + static_cast<double>(i) / kPolarFractions;
      double matrix[4][5];
      for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < 4; ++l) matrix[k][l] = in_band(k - l) + (k == l ? 1e-9 : 0);
        matrix[k][4] = in_band(t - k);
      }
      for (int k = 0; k < 4; ++k) {  // Gauss-Jordan; the matrix is positive definite
        for (int row = 0; row < 4; ++row) {
          const double factor = row == k ? 0 : matrix[row][k] / matrix[k][k];
          for (int l = k; l < 5; ++l) matrix[row][l] -= factor * matrix[k][l];
        }
      }
      for (std::size_t k = 0; k < 4; ++k) weights_[i][k] = static_cast<float>(matrix[k][4] / matrix[k][k]);
    }
  }
  const std::vector<std::array<float, 4>>& all() const { return weights_; }
  const std::array<float, 4>& at(double fraction) const {
    return weights_[static_cast<std::size_t>(fraction * kPolarFractions + 0.5)];
  }

 private:
  // Mean of exp(2 pi i f distance) over the band.
  static double in_band(double distance) {
    const double angle = kPi * distance / 3;
    return std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
  }
  std::vector<std::array<float, 4>> weights_;
};

// Calls use(item, thread) for all items, scheduled dynamically.
template <class Use>
void for_all(std::size_t threads, std::size_t items, const Use& use) {
  std::atomic<std::size_t> next{0};
  base::parallel(std::min(threads, items), [&](std::size_t thread, std::size_t) {
    for (std::size_t item = next++; item < items; item = next++) use(item, thread);
  });
}

// Pulses per group of the first and of the last level.
struct Levels {
  std::size_t first = 0, last = 0;
};

}  // namespace

struct BackprojectionState {
  BackprojectionProblem problem;
  bool on_host;
  std::size_t threads;
  double cell, along, turns_per_metre;  // metres per sample and per pulse; cycles of the echo per metre of distance
  double widest_sine, widest_tangent;   // of the processed band
  std::vector<float> weights;           // by sine
  std::vector<float> norms;             // per row
  fft::Plan<float> compress, refine;
  FourTaps taps{};
  std::unique_ptr<const DeviceBackprojection> on_device{};  // null on the host
  mutable std::mutex busy{};
  mutable std::vector<Complex> spectra, profiles;

  BackprojectionState(const Device& device, const BackprojectionProblem& given, const planner::Options& options)
      : problem(given),
        on_host(device.is_host()),
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
    on_device = std::make_unique<const DeviceBackprojection>(
        device, problem, DeviceBackprojection::Geometry{cell, along, turns_per_metre, widest_sine, widest_tangent},
        weight_polynomial(), norms, problem.method == Method::factorized ? factorization() : Factorization{}, options);
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
  // The same as a polynomial in the square of the share, through its values at Chebyshev's points.
  std::vector<float> weight_polynomial() const {
    std::array<double, kWeightTerms> nodes, divided, terms{};
    for (std::size_t k = 0; k < kWeightTerms; ++k) {
      nodes[k] = 0.5 - 0.5 * std::cos(kPi * (static_cast<double>(k) + 0.5) / kWeightTerms);
      const double sine = std::sqrt(nodes[k]) * widest_sine;
      divided[k] = base::window_at(problem.frame.window, std::sqrt(nodes[k])) * std::pow(1 - sine * sine, 1.5) /
                   beam(problem.frame.radar, sine);
    }
    for (std::size_t order = 1; order < kWeightTerms; ++order) {
      for (std::size_t k = kWeightTerms; k-- > order;)
        divided[k] = (divided[k] - divided[k - 1]) / (nodes[k] - nodes[k - order]);
    }
    for (std::size_t k = kWeightTerms; k-- > 0;) {  // terms = terms * (t - node) + divided
      for (std::size_t i = kWeightTerms; i-- > 0;) terms[i] = (i > 0 ? terms[i - 1] : 0) - nodes[k] * terms[i];
      terms[0] += divided[k];
    }
    return {terms.begin(), terms.end()};
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

  void report(std::size_t done, std::size_t of) const {
    if (problem.progress) problem.progress(static_cast<double>(done) / static_cast<double>(of));
  }

  void run_direct(std::span<Complex> image) const {
    for_all(threads, samples(), [&](std::size_t row, std::size_t thread) {
      if (thread == 0) report(row, samples());
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
    double along_most = 0, away = 0;
    for (const Offset& offset : problem.track) {
      along_most = std::max(along_most, std::abs(offset.along_m));
      away = std::max(away, std::abs(offset.range_m));
    }
    const double longest = along * static_cast<double>(count) + 2 * along_most;
    grid.sine_step = 1 / (turns_per_metre * longest * kAngleRate);
    grid.widest = widest_sine;
    grid.half_length = longest / 2 + away;
    const double near = problem.frame.radar.near_range_m, far = range_of(samples());
    const double edge = grid.edge(near - 2 * away);
    grid.first_sine = -edge;
    grid.angles = static_cast<std::size_t>(std::ceil(2 * edge / grid.sine_step)) + 1;
    grid.range_step = cell / kRangeRate;
    // Centres of groups that are merged see a point at distances that differ by part of their length.
    const double apart = 2 * static_cast<double>(kMerged) * grid.half_length * edge + 2 * away;
    grid.first_range = near - apart - 3 * grid.range_step;
    const double last = far / std::sqrt(1 - widest_sine * widest_sine) + apart;
    grid.ranges = static_cast<std::size_t>(std::ceil((last - grid.first_range) / grid.range_step)) + 8;
    return grid;
  }

  // Points of a group's grid that are filled.
  double filled_points(const PolarGrid& grid) const {
    double sum = 0;
    for (std::size_t i = 0; i < grid.ranges; i += 16) {
      const auto [first, end] = grid.filled(grid.range(i));
      sum += 16 * static_cast<double>(end - first);
    }
    return sum;
  }
  // Cost in direct updates per pixel, for the choice of the groups.
  double factorized_cost(const Levels& levels) const {
    const double interpolation = on_host ? 1.5 : 2.2;
    const auto pixels = static_cast<double>(samples());
    const double aperture = 2 * range_of(samples() / 2) * widest_tangent / along;
    double cost = filled_points(polar_grid(levels.first)) / pixels +
                  interpolation * (aperture / static_cast<double>(levels.last) + 1);
    for (std::size_t count = levels.first * kMerged; count <= levels.last; count *= kMerged) {
      cost += interpolation * filled_points(polar_grid(count)) / pixels / (static_cast<double>(count) / kMerged);
    }
    return cost;
  }
  Levels levels() const {
    Levels best{};
    double least = 0;
    const std::size_t given = std::min(problem.group, pulses());
    for (std::size_t first = given == 0 ? 2 : given; first <= (given == 0 ? pulses() : given); first *= 2) {
      for (std::size_t last = first; last <= pulses(); last *= kMerged) {
        if (last > first && first < kFewestMerged) break;
        const double cost = factorized_cost({first, last});
        if (best.first != 0 && cost >= least) continue;
        best = {first, last};
        least = cost;
      }
    }
    return best.first == 0 ? Levels{1, 1} : best;
  }
  PulseGroup group_of(std::size_t first, std::size_t count) const {
    PulseGroup group{.first = first, .end = std::min(first + count, pulses())};
    const auto members = static_cast<double>(group.end - group.first);
    for (std::size_t pulse = group.first; pulse < group.end; ++pulse) {
      group.along += platform(pulse).along_m / members;
      group.range += platform(pulse).range_m / members;
    }
    return group;
  }

  // All groups, for devices.
  Factorization factorization() const {
    const Levels sizes = levels();
    Factorization made{.taps = taps.all()};
    for (std::size_t pulse = 0; pulse < pulses(); ++pulse) made.platform.push_back(platform(pulse));
    for (std::size_t count = sizes.first; count <= sizes.last; count *= kMerged) {
      Factorization::Level& level = made.levels.emplace_back();
      level = {.pulses = count, .grid = polar_grid(count)};
      for (std::size_t first = 0; first < pulses(); first += count) level.groups.push_back(group_of(first, count));
    }
    return made;
  }

  // Sums of a group's pulses at one distance, for all angles, without the phase of the distance. The window ends with a
  // jump that a coarse grid cannot resolve, so groups that will be merged are weighted at the merge.
  void fill_range(const PulseGroup& group, const PolarGrid& grid, std::size_t i, bool weighted, Complex* line) const {
    const double radius = grid.range(i);
    const auto [begin, end] = grid.filled(radius);
    std::fill_n(line, grid.angles, Complex{});
    for (std::size_t pulse = group.first; pulse < group.end; ++pulse) {
      const Offset at = platform(pulse);
      const Complex* profile = profiles.data() + pulse * profile_size();
      for (std::size_t j = begin; j < end; ++j) {
        const double sine = grid.sine(j);
        const double off = group.along + radius * sine - at.along_m;
        const double across = group.range + radius * std::sqrt(1 - sine * sine) - at.range_m;
        const double distance = std::sqrt(off * off + across * across);
        const float share = weighted ? static_cast<float>(weight(std::abs(off) / distance)) : 1;
        if (share == 0) continue;
        line[j] += share * times(at_distance(profile, distance), turned((distance - radius) * turns_per_metre));
      }
    }
  }

  // The same from the grids of the groups that it consists of.
  struct Part {
    PulseGroup group;
    std::vector<Complex> values;
  };
  void merge_range(const PulseGroup& group, const PolarGrid& grid, const std::vector<Part>& parts,
                   const PolarGrid& from, std::size_t i, bool weigh, Complex* line) const {
    const double radius = grid.range(i);
    const auto [begin, end] = grid.filled(radius);
    std::fill_n(line, grid.angles, Complex{});
    for (const Part& part : parts) {
      for (std::size_t j = begin; j < end; ++j) {
        const double sine = grid.sine(j);
        const double off = group.along + radius * sine - part.group.along;
        const double across = group.range + radius * std::sqrt(1 - sine * sine) - part.group.range;
        const double distance = std::sqrt(off * off + across * across);
        const float share = weigh ? static_cast<float>(weight(std::abs(off) / distance)) : 1;
        if (share == 0) continue;
        line[j] += share * times(interpolated(from, part.values.data(), distance, off / distance),
                                 turned((distance - radius) * turns_per_metre));
      }
    }
  }

  // Polar sums of the `count` pulses from `first` on, a group of one of the levels.
  std::vector<Complex> polar_sums(std::size_t first, std::size_t count, const Levels& levels) const {
    const PulseGroup group = group_of(first, count);
    const PolarGrid grid = polar_grid(count);
    std::vector<Complex> values(grid.size());
    if (count == levels.first) {
      for_all(threads, grid.ranges, [&](std::size_t i, std::size_t) {
        fill_range(group, grid, i, levels.first == levels.last, values.data() + i * grid.angles);
      });
      return values;
    }
    const std::size_t each = count / kMerged;
    const PolarGrid from = polar_grid(each);
    std::vector<Part> parts;
    for (std::size_t at = first; at < group.end; at += each) {
      parts.push_back({group_of(at, each), polar_sums(at, each, levels)});
    }
    for_all(threads, grid.ranges, [&](std::size_t i, std::size_t) {
      merge_range(group, grid, parts, from, i, each == levels.first, values.data() + i * grid.angles);
    });
    return values;
  }

  Complex interpolated(const PolarGrid& grid, const Complex* values, double radius, double sine) const {
    const double i = (radius - grid.first_range) / grid.range_step, j = (sine - grid.first_sine) / grid.sine_step;
    const double down = std::floor(i), across = std::floor(j);
    if (!(down >= 1 && across >= 1 && down + 2 < static_cast<double>(grid.ranges) &&
          across + 2 < static_cast<double>(grid.angles)))
      return {};
    const auto &rows = taps.at(i - down), &columns = taps.at(j - across);
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
    const Levels sizes = levels();
    const PolarGrid grid = polar_grid(sizes.last);
    std::ranges::fill(image, Complex{});
    for (std::size_t begin = 0; begin < pulses(); begin += sizes.last) {
      report(begin, pulses());
      const PulseGroup group = group_of(begin, sizes.last);
      const std::vector<Complex> values = polar_sums(begin, sizes.last, sizes);
      for_all(threads, samples(), [&](std::size_t row, std::size_t) {
        Complex* line = image.data() + row * pulses();
        const Offset centre{.along_m = group.along, .range_m = group.range};
        const double across = range_of(row) - centre.range_m;
        const auto [first, end] = columns_of(centre, range_of(row), grid.edge(across));
        for (std::size_t p = first; p < end; ++p) {
          const double off = along * static_cast<double>(p) - centre.along_m;
          const double radius = std::sqrt(across * across + off * off);
          line[p] += times(interpolated(grid, values.data(), radius, off / radius), turned(radius * turns_per_metre));
        }
      });
    }
    for_all(threads, samples(), [&](std::size_t row, std::size_t) { finish_row(row, image.data() + row * pulses()); });
  }
};

namespace {

const BackprojectionProblem& checked_track(const Device& device, const BackprojectionProblem& problem) {
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
  if (!device.is_host() && problem.frame.samples > kMostSamples) {
    refuse(fmt::format("back-projection on {} needs at most {} samples per echo, got {}: use the host", device.id(),
                       kMostSamples, problem.frame.samples));
  }
  return problem;
}

}  // namespace

Backprojection::Backprojection(const BackprojectionProblem& problem, const planner::Options& options)
    : Backprojection(host(), problem, options) {}
Backprojection::Backprojection(const Device& device, const BackprojectionProblem& problem,
                               const planner::Options& options)
    : state_(std::make_shared<const BackprojectionState>(device, checked_track(device, problem), options)) {}

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
  const Levels sizes = state_->levels();
  const PolarGrid grid = state_->polar_grid(sizes.last);
  return fmt::format(
      "factorized back-projection: groups of {} pulses, merged by {} up to {} pulses on {} ranges x {} angles, about "
      "{:.0f} updates per pixel instead of {:.0f}\n",
      sizes.first, kMerged, sizes.last, grid.ranges, grid.angles, state_->factorized_cost(sizes), each);
}

const BackprojectionProblem& Backprojection::problem() const { return state_->problem; }

}  // namespace ridge::sar
