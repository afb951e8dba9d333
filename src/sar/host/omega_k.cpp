// Omega-k on the host. In the two-dimensional spectrum a target at range R has the phase -4 pi / c * R * kappa, with
// kappa^2 = (carrier + range frequency)^2 - (c * Doppler / (2 speed))^2. The value of row m is therefore the sum over
// the range frequencies of spectrum * exp(+4 pi i / c * R_m * kappa): a nonuniform transform of type 1 whose points are
// the kappas.
#include <ridge/sar/omega_k.hpp>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/nufft.hpp>

#include "base/threads.hpp"
#include "base/window.hpp"
#include "plan/arguments.hpp"
#include "sar/geometry.hpp"
#include "sar/tables.hpp"

namespace ridge::sar {
namespace {

constexpr double kOmegaKError = 1e-5;  // of the nonuniform transforms: below the side lobes of any window

const Problem& checked_frame(const Problem& problem) {
  check(problem);
  return problem;
}

}  // namespace

struct OmegaKState {
  Problem problem;
  std::size_t threads;
  fft::Plan<float> range, along, image_columns;
  std::vector<double> weights;  // per Doppler frequency: window / pattern, for a peak of 1 at range 1 m
  mutable std::mutex busy{};
  mutable std::vector<Complex> spectra, rows;
  mutable std::vector<nufft::Plan<float>> transforms;  // one per thread

  OmegaKState(const Problem& given, const planner::Options& options)
      : problem(checked_frame(given)),
        threads(given.threads == 0 ? base::hardware_threads() : given.threads),
        range(host(), compression(given), options),
        along(host(), columns(given, true), options),
        image_columns(host(), columns(given, false), options),
        spectra(points()),
        rows(points()) {
    const Radar& radar = problem.radar;
    double sum = 0;
    weights.resize(problem.pulses);
    for (std::size_t f = 0; f < problem.pulses; ++f) {
      const double doppler = bin_frequency(f, problem.pulses, radar.pulse_rate_hz);
      const double sine = doppler * wavelength(radar) / (2 * radar.speed_m_s);
      const double wanted = base::window_at(problem.window, 2 * doppler / doppler_band(problem));
      if (wanted == 0) continue;
      sum += wanted;
      // Magnitude of a Doppler spectrum by the method of stationary phase, as in make_tables().
      const double height = radar.pulse_rate_hz / std::sqrt(2 * radar.speed_m_s * radar.speed_m_s / wavelength(radar));
      weights[f] = wanted / (beam(radar, sine) * height) * std::pow(1 - sine * sine, 0.75);
    }
    for (double& weight : weights) weight /= sum;
    const nufft::Problem transform{
        .modes = {problem.samples}, .points = problem.samples, .epsilon = kOmegaKError, .threads = 1};
    transforms.assign(threads, nufft::Plan<float>(host(), transform, options));
    for (std::size_t i = 1; i < threads; ++i) transforms[i] = nufft::Plan<float>(host(), transform, options);
  }

  std::size_t points() const { return problem.pulses * problem.samples; }
  static fft::Problem compression(const Problem& frame) {
    fft::Problem result{.shape = {frame.samples}, .batch = frame.pulses, .threads = frame.threads};
    result.directions = fft::Directions::forward;
    result.store_forward.multiply = range_compression(frame);
    return result;
  }
  // Columns of pulses: in place, or from and to rows of the image.
  static fft::Problem columns(const Problem& frame, bool in_place) {
    const fft::Strides across{.axes = {frame.samples}, .batch = 1}, image{.axes = {1}, .batch = frame.pulses};
    return {.shape = {frame.pulses},
            .batch = frame.samples,
            .input = in_place ? across : image,
            .output = across,
            .in_place = in_place,
            .threads = frame.threads,
            .directions = in_place ? fft::Directions::forward : fft::Directions::inverse};
  }

  // One Doppler frequency: from range frequencies to ranges.
  void to_ranges(std::size_t f, nufft::Plan<float>& transform, const Complex* spectrum, Complex* row) const {
    const Radar& radar = problem.radar;
    const std::size_t n = problem.samples;
    const double shift = kLight * bin_frequency(f, problem.pulses, radar.pulse_rate_hz) / (2 * radar.speed_m_s);
    std::vector<float> places(n);
    std::vector<Complex> strengths(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double frequency = bin_frequency(k, n, radar.sample_rate_hz), above = radar.carrier_hz + frequency;
      const double moved = std::sqrt(above * above - shift * shift) - radar.carrier_hz;
      const double cycles = 2 / kLight * radar.near_range_m * (moved - frequency) +
                            moved / radar.sample_rate_hz * static_cast<double>(n / 2) + 0.125;
      const double place = moved / radar.sample_rate_hz;
      places[k] = static_cast<float>(2 * kPi * (place - std::nearbyint(place)));
      strengths[k] = spectrum[k] * Complex(std::polar(weights[f], 2 * kPi * (cycles - std::nearbyint(cycles))));
    }
    transform.set_points(places);
    transform.run(strengths, {row, n});
    for (std::size_t m = 0; m < n; ++m) {
      row[m] /= static_cast<float>(std::sqrt(radar.near_range_m + range_cell(radar) * static_cast<double>(m)));
    }
  }

  void run(std::span<const Complex> echoes, std::span<Complex> image) const {
    std::lock_guard lock(busy);
    range.forward(echoes, spectra);
    along.forward(spectra);
    base::each_item(threads, problem.pulses, [&](std::size_t f, std::size_t thread) {
      Complex* row = rows.data() + f * problem.samples;
      if (weights[f] == 0) {
        std::fill_n(row, problem.samples, Complex{});
      } else {
        to_ranges(f, transforms[thread], spectra.data() + f * problem.samples, row);
      }
    });
    image_columns.inverse(rows, image);
  }
};

OmegaK::OmegaK(const Problem& problem, const planner::Options& options)
    : state_(std::make_shared<const OmegaKState>(problem, options)) {}

void OmegaK::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  const std::size_t bytes = state_->points() * sizeof(Complex);
  planner::check_length("sar", "input", echoes.size_bytes(), bytes);
  planner::check_length("sar", "output", image.size_bytes(), bytes);
  planner::check_apart("sar", echoes.data(), bytes, image.data(), bytes, false);
  state_->run(echoes.first(state_->points()), image.first(state_->points()));
}

std::string OmegaK::explain() const {
  const auto used = std::count_if(state_->weights.begin(), state_->weights.end(), [](double w) { return w != 0; });
  return fmt::format("omega-k: {} nonuniform transforms of {} range frequencies\n{}", used, state_->problem.samples,
                     state_->transforms.front().explain());
}

const Problem& OmegaK::problem() const { return state_->problem; }

}  // namespace ridge::sar
