// Back-projection on the host. Range-compressed pulses are refined kFine times, so that values between their points are
// linear interpolations; sums are weighted by the window over the Doppler band.
// Factorized: see sar/factorization.hpp.
#include <ridge/sar/backprojection.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/complex_product.hpp"
#include "base/threads.hpp"
#include "base/window.hpp"
#include "plan/arguments.hpp"
#include "sar/device/backproject.hpp"
#include "sar/factorization.hpp"
#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

constexpr std::size_t kFewestMerged = 7;  // least pulses of a merged group: see levels()

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

double length_of(double across, double off) { return std::sqrt(across * across + off * off); }

// Pulses per group of the first and of the last level.
struct Levels {
  std::size_t first = 0, last = 0;
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
  TapPolynomials taps = tap_polynomials();
  Factorization groups{};                                   // factorized only
  std::unique_ptr<const DeviceBackprojection> on_device{};  // null on the host
  mutable std::mutex busy{};
  mutable std::vector<Complex> spectra, profiles;

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
    if (problem.method == Method::factorized) groups = factorized(levels(device), track());
    if (device.is_host()) return;
    on_device = std::make_unique<const DeviceBackprojection>(
        device, problem, DeviceBackprojection::Geometry{cell, along, turns_per_metre, widest_sine, widest_tangent},
        weight_polynomial(), norms, groups, options);
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
  // The same weights as a polynomial in (sine / widest_sine)^2, interpolated at Chebyshev nodes.
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
    base::Interruptible::check();
    compress.forward(echoes, spectra);
    base::Interruptible::check();
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
    base::each_item(threads, samples(), [&](std::size_t row, std::size_t thread) {
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
          line[p] += share * base::product(at_distance(profile, distance), turned(distance * turns_per_metre));
        }
      }
      finish_row(row, line);
    });
  }
  void finish_row(std::size_t row, Complex* line) const {
    const Complex factor = norms[row] * turned(-range_of(row) * turns_per_metre);
    for (std::size_t p = 0; p < pulses(); ++p) line[p] = base::product(line[p], factor);
  }

  std::vector<Offset> track() const {
    std::vector<Offset> all(pulses());
    for (std::size_t pulse = 0; pulse < pulses(); ++pulse) all[pulse] = platform(pulse);
    return all;
  }
  Factorization factorized(const Levels& sizes, const std::vector<Offset>& track) const {
    const double migration = 2 * problem.frame.radar.bandwidth_hz / kLight * range_of(samples()) * widest_tangent;
    return factorize(track, along, turns_per_metre, widest_tangent, migration, sizes.first, sizes.last);
  }
  // Cost per pixel in units of one direct update, mean of a near and a far row: decides the sizes of the groups.
  double factorized_cost(const Factorization& made) const {
    constexpr double kInterpolation = 1.2;
    double cost = 0;
    for (const std::size_t row : {samples() / 4, samples() * 3 / 4}) {
      const double range = range_of(row), aperture = 2 * range * widest_tangent / along;
      cost += static_cast<double>(made.points(made.levels.front(), range));
      for (std::size_t l = 1; l < made.levels.size(); ++l) {
        cost += kInterpolation * kMerged * static_cast<double>(made.points(made.levels[l], range)) /
                static_cast<double>(made.levels[l].pulses);
      }
      cost += kInterpolation * (aperture / static_cast<double>(made.levels.back().pulses) + 1);
    }
    return cost / 2;
  }
  // The cheapest sizes of groups. Groups shorter than kFewestMerged are not merged: their coarse grids do not resolve
  // the window's edge.
  Levels levels(const Device& device) const {
    Levels best{};
    double least = 0;
    const std::size_t given = std::min(problem.group, pulses());
    const std::vector<Offset> at = track();
    for (std::size_t first = given == 0 ? 2 : given; first <= (given == 0 ? pulses() : given); first *= 2) {
      for (std::size_t last = first; last <= pulses(); last *= kMerged) {
        if (last > first && first < kFewestMerged) break;
        const Factorization made = factorized({first, last}, at);
        if (!device.is_host() && !DeviceBackprojection::fits(device, made, range_of(0))) break;
        const double cost = factorized_cost(made);
        if (best.first != 0 && cost >= least) continue;
        best = {first, last};
        least = cost;
      }
    }
    return best.first == 0 ? Levels{1, 1} : best;
  }

  // Multiplies the value of a pulse or a group by exp(2 pi i turns_per_metre distance), which removes the echo's phase.
  Complex without_phase(const Complex& value, double distance) const {
    return base::product(value, turned(distance * turns_per_metre));
  }

  // Sums of a group on a row, without the phase of the distance to the group's centre. The window ends with a jump that
  // a coarse grid cannot resolve, so groups that will be merged are weighted at the merge.
  using Sums = std::vector<std::vector<Complex>>;  // per level
  void fill_group(const PulseGroup& group, double range, std::vector<Complex>& sums) const {
    const GroupLevel& level = groups.levels.front();
    const auto half = static_cast<double>(groups.half(level, range));
    for (std::size_t pulse = group.first; pulse < group.end; ++pulse) {
      const Offset at = groups.platform[pulse];
      const Complex* profile = profiles.data() + pulse * profile_size();
      for (std::size_t j = 0; j < sums.size(); ++j) {
        const double from_centre = range * level.step * (static_cast<double>(j) - half);
        const double off = from_centre + group.along - at.along_m;
        const double distance = length_of(range - at.range_m, off);
        const float share = groups.levels.size() == 1 ? static_cast<float>(weight(std::abs(off) / distance)) : 1;
        if (share == 0) continue;
        sums[j] += share * without_phase(at_distance(profile, distance),
                                         distance - length_of(range - group.range, from_centre));
      }
    }
  }
  void add_part(std::size_t l, const PulseGroup& group, const PulseGroup& part, double range, Sums& sums) const {
    const GroupLevel &level = groups.levels[l], &below = groups.levels[l - 1];
    const auto half = static_cast<double>(groups.half(level, range));
    const double apart = group.along - part.along;
    const double first = apart / (range * below.step) + static_cast<double>(groups.half(below, range)) - half / kMerged;
    std::vector<Complex>& to = sums[l];
    for (std::size_t residue = 0; residue < kMerged; ++residue) {
      const double place = first + static_cast<double>(residue) / kMerged;
      const auto weights = taps_at(taps, static_cast<float>(place - std::floor(place)));
      auto cell = static_cast<long>(std::floor(place)) - static_cast<long>(kNeighbours / 2 - 1);
      for (std::size_t j = residue; j < to.size(); j += kMerged, ++cell) {
        if (cell < 0 || cell + static_cast<long>(kNeighbours) > static_cast<long>(sums[l - 1].size())) continue;
        const double from_centre = range * level.step * (static_cast<double>(j) - half), off = from_centre + apart;
        const double distance = length_of(range - part.range, off);
        const float share = l == 1 ? static_cast<float>(weight(std::abs(off) / distance)) : 1;
        if (share == 0) continue;
        to[j] += share * without_phase(interpolated(sums[l - 1].data() + cell, weights),
                                       distance - length_of(range - group.range, from_centre));
      }
    }
  }
  static Complex interpolated(const Complex* values, const std::array<float, kNeighbours>& weights) {
    Complex sum{};
    for (std::size_t k = 0; k < kNeighbours; ++k) sum += weights[k] * values[k];
    return sum;
  }
  void sum_group(std::size_t l, std::size_t index, double range, Sums& sums) const {
    const GroupLevel& level = groups.levels[l];
    sums[l].assign(groups.points(level, range), Complex{});
    if (l == 0) return fill_group(level.groups[index], range, sums[0]);
    const std::vector<PulseGroup>& parts = groups.levels[l - 1].groups;
    for (std::size_t part = index * kMerged; part < std::min((index + 1) * kMerged, parts.size()); ++part) {
      sum_group(l - 1, part, range, sums);
      add_part(l, level.groups[index], parts[part], range, sums);
    }
  }

  // Adds a group of the last level to the pixels of a row.
  void add_group(const PulseGroup& group, double range, const std::vector<Complex>& sums, Complex* line) const {
    const GroupLevel& level = groups.levels.back();
    const auto half = static_cast<double>(groups.half(level, range));
    const Offset centre{.along_m = group.along, .range_m = 0};
    const double edge = groups.edge(level, range);
    const auto [first, end] = columns_of(centre, range, edge / std::sqrt(1 + edge * edge));
    for (std::size_t p = first; p < end; ++p) {
      const double off = along * static_cast<double>(p) - group.along, place = off / (range * level.step) + half;
      const auto cell = static_cast<std::size_t>(place);
      const auto weights = taps_at(taps, static_cast<float>(place - static_cast<double>(cell)));
      line[p] += without_phase(interpolated(sums.data() + cell - (kNeighbours / 2 - 1), weights),
                               length_of(range - group.range, off));
    }
  }
  void run_factorized(std::span<Complex> image) const {
    base::each_item(threads, samples(), [&](std::size_t row, std::size_t thread) {
      if (thread == 0) report(row, samples());
      Complex* line = image.data() + row * pulses();
      std::fill_n(line, pulses(), Complex{});
      Sums sums(groups.levels.size());
      for (std::size_t index = 0; index < groups.levels.back().groups.size(); ++index) {
        sum_group(groups.levels.size() - 1, index, range_of(row), sums);
        add_group(groups.levels.back().groups[index], range_of(row), sums.back(), line);
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
  const Factorization& groups = state_->groups;
  const double middle = state_->range_of(state_->samples() / 2);
  return fmt::format(
      "factorized back-projection: groups of {} pulses, merged by {} up to {} pulses on {} tangents per row, about "
      "{:.0f} "
      "updates per pixel instead of {:.0f}\n",
      groups.levels.front().pulses, kMerged, groups.levels.back().pulses, groups.points(groups.levels.back(), middle),
      state_->factorized_cost(groups), each);
}

const BackprojectionProblem& Backprojection::problem() const { return state_->problem; }

}  // namespace ridge::sar
