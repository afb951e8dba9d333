// Beamforming on the host, tile of times by tile, and on devices by one kernel.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <ridge/search/beams.hpp>

#include "base/threads.hpp"
#include "device/kernel_text.hpp"
#include "plan/arguments.hpp"
#include "search/host/rows.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;
constexpr double kSpeedOfLight = 299792458.0;

[[noreturn]] void refuse_beams(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "beams: " + message);
}

void check_beams(const BeamProblem& p) {
  if (p.stations == 0 || p.beams == 0 || p.times == 0 || p.channels == 0 || p.integrate == 0) {
    refuse_beams(
        fmt::format("needs at least one station, beam, time, channel and sample per power, got {}, {}, {}, {}, {}",
                    p.stations, p.beams, p.times, p.channels, p.integrate));
  }
  if (p.integrate > p.times)
    refuse_beams(fmt::format("{} samples per power exceed the {} times", p.integrate, p.times));
  const double most = 1e15, size = static_cast<double>(p.channels) * static_cast<double>(std::max(p.stations, p.beams));
  if (size * static_cast<double>(p.times) > most || size * static_cast<double>(p.beams) > most)
    refuse_beams("the arrays exceed the address space");
}

}  // namespace

struct BeamState {
  BeamState(const Device& on, const BeamProblem& given) : device(on), problem(given) {}
  Device device;
  BeamProblem problem;
  std::vector<Value> weights{};  // channels x beams x stations
  std::optional<Queue> queue{};
  Kernel kernel{};
  Buffer in{}, out{}, table{};
  std::mutex mutex{};

  std::size_t rows() const { return problem.beams + (problem.incoherent ? 1 : 0); }
  std::size_t bins() const { return problem.times / problem.integrate; }
  std::size_t input() const { return problem.channels * problem.times * problem.stations; }
  template <class Use>
  void each_tile(const Value* from, const Use& use) const;
  void power_on_host(const Value* from, float* to) const;
  void power_on_device(const Value* from, float* to);
};

// Calls use(channel, first time, times, real, imaginary) for tiles of samples, stations x kBeamTile, by several
// threads. Each thread has the tiles of whole channels or of a run of times that is a multiple of the integration.
template <class Use>
void BeamState::each_tile(const Value* from, const Use& use) const {
  const std::size_t n = problem.stations, runs = bins(), jobs = problem.channels * runs;
  base::parallel(problem.threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(jobs, thread, of);
    std::vector<float> real(n * kBeamTile), imaginary(n * kBeamTile);
    for (std::size_t job = mine.begin; job < mine.end;) {
      // Short integrations share a tile.
      const std::size_t channel = job / runs, bin = job % runs;
      const std::size_t together =
          std::clamp<std::size_t>(kBeamTile / problem.integrate, 1, std::min(runs - bin, mine.end - job));
      const std::size_t begin = bin * problem.integrate, end = (bin + together) * problem.integrate;
      for (std::size_t t0 = begin; t0 < end; t0 += kBeamTile) {
        const std::size_t count = std::min(kBeamTile, end - t0);
        const Value* x = from + (channel * problem.times + t0) * n;
        for (std::size_t s = 0; s < n; ++s) {
          for (std::size_t t = 0; t < count; ++t) {
            real[s * kBeamTile + t] = x[t * n + s].real();
            imaginary[s * kBeamTile + t] = x[t * n + s].imag();
          }
          std::fill(real.begin() + static_cast<std::ptrdiff_t>(s * kBeamTile + count),
                    real.begin() + static_cast<std::ptrdiff_t>((s + 1) * kBeamTile), 0.0F);
          std::fill(imaginary.begin() + static_cast<std::ptrdiff_t>(s * kBeamTile + count),
                    imaginary.begin() + static_cast<std::ptrdiff_t>((s + 1) * kBeamTile), 0.0F);
        }
        use(channel, t0, count, real.data(), imaginary.data());
      }
      job += together;
    }
  });
}

void BeamState::power_on_host(const Value* from, float* to) const {
  const std::size_t n = problem.stations;
  std::fill(to, to + problem.channels * rows() * bins(), 0.0F);
  each_tile(
      from, [&](std::size_t channel, std::size_t t0, std::size_t count, const float* real, const float* imaginary) {
        float sum_real[kBeamTile], sum_imaginary[kBeamTile];
        for (std::size_t b = 0; b < problem.beams; ++b) {
          beam_sums()(real, imaginary, weights.data() + (channel * problem.beams + b) * n, n, sum_real, sum_imaginary);
          float* row = to + (channel * rows() + b) * bins();
          for (std::size_t t = 0; t < count; ++t)
            row[(t0 + t) / problem.integrate] += sum_real[t] * sum_real[t] + sum_imaginary[t] * sum_imaginary[t];
        }
        if (!problem.incoherent) return;
        float* row = to + (channel * rows() + problem.beams) * bins();
        for (std::size_t t = 0; t < count; ++t) {
          float own = 0;
          for (std::size_t s = 0; s < n; ++s) {
            const float a = real[s * kBeamTile + t], b = imaginary[s * kBeamTile + t];
            own += a * a + b * b;
          }
          row[(t0 + t) / problem.integrate] += own;
        }
      });
}

void BeamState::power_on_device(const Value* from, float* to) {
  constexpr std::size_t kItems = 64, kStations = 512;
  const std::size_t groups = (rows() + kItems - 1) / kItems, launched = groups * bins() * problem.channels;
  if (launched > 0x7fffffff) refuse_beams(fmt::format("{} work-groups exceed one launch: use fewer times", launched));
  if (!queue) {
    queue = device.queue();
    kernel = device
                 .compile({.name = "search beams",
                           .text = ridge::detail::kernel_text("search/beams"),
                           .defines = {{"ITEMS_IN_GROUP", std::to_string(kItems)},
                                       {"STATIONS_AT_ONCE", std::to_string(kStations)}}})
                 .kernel("beam_power");
    in = device.buffer(input() * sizeof(Value), {.name = "voltages"});
    out = device.buffer(problem.channels * rows() * bins() * sizeof(float), {.name = "power"});
    table = device.buffer(weights.size() * sizeof(Value), {.name = "weights"});
  }
  // Stations before beams, so that neighbouring work-items read neighbouring weights.
  std::vector<Value> turned(weights.size());
  const std::size_t n = problem.stations, beams = problem.beams;
  for (std::size_t i = 0; i < weights.size(); ++i)
    turned[(i / (beams * n) * n + i % n) * beams + i / n % beams] = weights[i];
  queue->upload(turned.data(), table, turned.size() * sizeof(Value));
  queue->upload(from, in, input() * sizeof(Value));
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  queue->launch(kernel, {.groups = {launched}, .items = {kItems}},
                {in, table, out, number(n), number(beams), number(rows()), number(problem.times),
                 number(problem.integrate), number(bins()), number(groups)});
  queue->download(out, to, problem.channels * rows() * bins() * sizeof(float));
  queue->finish();
}

Beamformer::Beamformer(const Device& device, const BeamProblem& problem)
    : state_(std::make_shared<BeamState>(device, problem)) {
  check_beams(problem);
}

void Beamformer::set_weights(std::span<const Value> weights) {
  const BeamProblem& p = state_->problem;
  if (weights.size() != p.channels * p.beams * p.stations) {
    refuse_beams(fmt::format("needs {} x {} x {} weights (channels, beams, stations), got {}", p.channels, p.beams,
                             p.stations, weights.size()));
  }
  state_->weights.assign(weights.begin(), weights.end());
}

void Beamformer::power(std::span<const Value> in, std::span<float> out) const {
  BeamState& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.weights.empty()) refuse_beams("power() needs weights: call set_weights() first");
  planner::check_length("beams", "input", in.size_bytes(), state.input() * sizeof(Value));
  planner::check_length("beams", "output", out.size_bytes(),
                        state.problem.channels * state.rows() * state.bins() * sizeof(float));
  if (state.device.is_host()) {
    state.power_on_host(in.data(), out.data());
  } else {
    state.power_on_device(in.data(), out.data());
  }
}

void Beamformer::voltages(std::span<const Value> in, std::span<Value> out) const {
  const BeamState& state = *state_;
  const BeamProblem& p = state.problem;
  if (!state.device.is_host()) refuse_beams(fmt::format("voltages need the host, got {}", state.device.id()));
  if (state.weights.empty()) refuse_beams("voltages() needs weights: call set_weights() first");
  if (p.integrate != 1) refuse_beams(fmt::format("voltages are not integrated: needs 1 sample, got {}", p.integrate));
  planner::check_length("beams", "input", in.size_bytes(), state.input() * sizeof(Value));
  planner::check_length("beams", "output", out.size_bytes(), p.channels * p.beams * p.times * sizeof(Value));
  state.each_tile(in.data(), [&](std::size_t channel, std::size_t t0, std::size_t count, const float* real,
                                 const float* imaginary) {
    float sum_real[kBeamTile], sum_imaginary[kBeamTile];
    for (std::size_t b = 0; b < p.beams; ++b) {
      const std::size_t beam = channel * p.beams + b;
      beam_sums()(real, imaginary, state.weights.data() + beam * p.stations, p.stations, sum_real, sum_imaginary);
      for (std::size_t t = 0; t < count; ++t) out[beam * p.times + t0 + t] = {sum_real[t], sum_imaginary[t]};
    }
  });
}

const Device& Beamformer::device() const { return state_->device; }
const BeamProblem& Beamformer::problem() const { return state_->problem; }
std::size_t Beamformer::rows() const { return state_->rows(); }
std::size_t Beamformer::bins() const { return state_->bins(); }
double Beamformer::flops() const {
  const BeamProblem& p = state_->problem;
  return 8.0 * static_cast<double>(p.channels) * static_cast<double>(p.times) * static_cast<double>(p.stations) *
         static_cast<double>(p.beams);
}

namespace {

void check_sky(std::span<const std::array<double, 3>> positions, std::span<const std::array<double, 3>> directions,
               std::span<const double> channels_mhz) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::invalid_argument, "beams: " + what); };
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!std::isfinite(positions[i][0] + positions[i][1] + positions[i][2]))  // hypot of three loses some NaN
      refuse(fmt::format("position {} is not finite", i));
  }
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const double length = std::hypot(directions[i][0], directions[i][1], directions[i][2]);
    if (!(std::abs(length - 1) <= 1e-3))
      refuse(fmt::format("directions must be unit vectors towards the sources; direction {} has the length {:.4g}", i,
                         length));
  }
  for (std::size_t c = 0; c < channels_mhz.size(); ++c) {
    if (!(channels_mhz[c] > 0) || !std::isfinite(channels_mhz[c]))
      refuse(fmt::format("channel {} is at {} MHz: frequencies must be above 0", c, channels_mhz[c]));
  }
}

}  // namespace

std::vector<Value> beam_weights(std::span<const std::array<double, 3>> positions,
                                std::span<const std::array<double, 3>> directions,
                                std::span<const double> channels_mhz) {
  check_sky(positions, directions, channels_mhz);
  std::vector<Value> weights;
  weights.reserve(channels_mhz.size() * directions.size() * positions.size());
  for (const double mhz : channels_mhz) {
    for (const auto& direction : directions) {
      for (const auto& position : positions) {
        const double path = position[0] * direction[0] + position[1] * direction[1] + position[2] * direction[2];
        const double turns = mhz * 1e6 * path / kSpeedOfLight;
        weights.emplace_back(
            std::polar(1 / static_cast<double>(positions.size()), -2 * std::numbers::pi * (turns - std::round(turns))));
      }
    }
  }
  return weights;
}

}  // namespace ridge::search
