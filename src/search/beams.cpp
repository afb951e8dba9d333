// Beamformers: weights, checks of arguments, and single-precision beams on devices by one kernel.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include <fmt/format.h>
#include <ridge/search/beams.hpp>

#include "device/kernel_text.hpp"
#include "plan/arguments.hpp"
#include "search/beam_rounding.hpp"
#include "search/beam_state.hpp"

namespace ridge::search {

void refuse_beams(const std::string& message) { throw Error(ErrorKind::invalid_argument, "beams: " + message); }

namespace {

using Value = std::complex<float>;
constexpr double kSpeedOfLight = 299792458.0;
constexpr std::size_t kMostByteStations = 30000;  // sums of 4 x 127 x 255 per two stations are below 2^31

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
    refuse_beams(fmt::format("{} channels of {} stations, {} beams and {} times exceed the address space", p.channels,
                             p.stations, p.beams, p.times));
  if (!(p.scale > 0) || !std::isfinite(p.scale) || (p.arithmetic == BeamArithmetic::float32 && p.scale != 1))
    refuse_beams(fmt::format("the scale is {}: it must be above 0, and 1 for float32", p.scale));
  if (p.arithmetic == BeamArithmetic::int8 && p.stations > kMostByteStations)
    refuse_beams(fmt::format("int8 needs at most {} stations, got {}", kMostByteStations, p.stations));
}

}  // namespace

RoundedBeams& BeamState::rounded_beams() {
  if (!on_device) on_device = std::make_unique<RoundedBeams>(device, problem, weights, weight_scale);
  return *on_device;
}

void BeamState::bytes_on_device(const std::int8_t* from, float* to) { rounded_beams().power(from, to); }

void BeamState::power_on_device(const Value* from, float* to) {
  if (problem.arithmetic != BeamArithmetic::float32) {
    rounded_beams().power(from, to);
    return;
  }
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

RoundedWeights round_weights(std::span<const Value> weights, BeamArithmetic arithmetic) {
  if (arithmetic == BeamArithmetic::float32) return {.values = {weights.begin(), weights.end()}};
  float largest = 0;
  for (const Value& weight : weights) {
    if (!std::isfinite(weight.real()) || !std::isfinite(weight.imag()))
      refuse_beams("float16 and int8 need finite weights");
    largest = std::max({largest, std::abs(weight.real()), std::abs(weight.imag())});
  }
  RoundedWeights result;
  if (largest > 0)
    result.scale = arithmetic == BeamArithmetic::int8 ? 127 / largest : std::ldexp(1.0F, -std::ilogb(largest));
  if (!std::isfinite(result.scale) || !std::isnormal(1 / result.scale))
    refuse_beams(fmt::format("float16 and int8 need larger weights, the largest part is {}", largest));
  result.values.reserve(weights.size());
  for (const Value& weight : weights) result.values.push_back(rounded(weight, result.scale, arithmetic));
  return result;
}

void Beamformer::set_weights(std::span<const Value> weights) {
  const BeamProblem& p = state_->problem;
  if (weights.size() != p.channels * p.beams * p.stations) {
    refuse_beams(fmt::format("needs {} x {} x {} weights (channels, beams, stations), got {}", p.channels, p.beams,
                             p.stations, weights.size()));
  }
  RoundedWeights rounded = round_weights(weights, p.arithmetic);
  state_->weights = std::move(rounded.values), state_->weight_scale = rounded.scale;
  state_->on_device.reset();
  if (p.arithmetic == BeamArithmetic::int8 && state_->device.is_host()) state_->set_byte_factors();
}

namespace {

void check_power(const BeamState& state, std::size_t in_bytes, std::size_t each, std::size_t out_bytes) {
  if (state.weights.empty()) refuse_beams("power() needs weights: call set_weights() first");
  planner::check_length("beams", "input", in_bytes, state.input() * each);
  planner::check_length("beams", "output", out_bytes, state.output() * sizeof(float));
}

}  // namespace

void Beamformer::power(std::span<const Value> in, std::span<float> out) const {
  BeamState& state = *state_;
  const std::lock_guard lock(state.mutex);
  check_power(state, in.size_bytes(), sizeof(Value), out.size_bytes());
  state.device.is_host() ? state.power_on_host(in.data(), out.data()) : state.power_on_device(in.data(), out.data());
}

void Beamformer::power(std::span<const std::int8_t> in, std::span<float> out) const {
  BeamState& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.problem.arithmetic != BeamArithmetic::int8) refuse_beams("voltages of bytes need the arithmetic int8");
  check_power(state, in.size_bytes(), 2, out.size_bytes());
  state.device.is_host() ? state.bytes_on_host(in.data(), out.data()) : state.bytes_on_device(in.data(), out.data());
}

void Beamformer::voltages(std::span<const Value> in, std::span<Value> out) const {
  const BeamState& state = *state_;
  const BeamProblem& p = state.problem;
  if (!state.device.is_host()) refuse_beams(fmt::format("voltages need the host, got {}", state.device.id()));
  if (p.arithmetic != BeamArithmetic::float32) refuse_beams("voltages need the arithmetic float32");
  if (state.weights.empty()) refuse_beams("voltages() needs weights: call set_weights() first");
  if (p.integrate != 1) refuse_beams(fmt::format("voltages are not integrated: needs 1 sample, got {}", p.integrate));
  planner::check_length("beams", "input", in.size_bytes(), state.input() * sizeof(Value));
  planner::check_length("beams", "output", out.size_bytes(), p.channels * p.beams * p.times * sizeof(Value));
  state.voltages_on_host(in.data(), out.data());
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
