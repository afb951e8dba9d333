// Coherent dedispersion by overlap-save: the forward transform multiplies by the chirp as it stores its result.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/search/coherent.hpp>

#include "base/aligned.hpp"
#include "base/host_memory.hpp"
#include "base/text.hpp"
#include "plan/arguments.hpp"
#include "search/device/coherent.hpp"
#include "search/layout.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;
// Blocks that are transformed at once: few if they are long, because a short input has no more.
constexpr std::size_t kBlocksAtOnce = 16, kScratchPoints = std::size_t{1} << 21;

std::size_t blocks_at_once(std::size_t length) {
  return std::clamp<std::size_t>(kScratchPoints / length, 1, kBlocksAtOnce);
}

[[noreturn]] void refuse_coherent(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "coherent dedispersion: " + message);
}

void check_coherent(const CoherentProblem& problem) {
  if (!std::isfinite(problem.rate_mhz) || problem.rate_mhz == 0 || !std::isfinite(problem.centre_mhz) ||
      !(problem.centre_mhz > std::abs(problem.rate_mhz) / 2)) {
    refuse_coherent(
        fmt::format("needs a band above 0 MHz, got {} MHz wide around {} MHz", problem.rate_mhz, problem.centre_mhz));
  }
  if (!(problem.dm >= 0) || !std::isfinite(problem.dm))
    refuse_coherent(fmt::format("the dispersion measure must not be negative, got {}", problem.dm));
  if (!(problem.taper >= 0) || !(problem.taper < 0.5))
    refuse_coherent(fmt::format("the taper must be at least 0 and below 0.5, got {}", problem.taper));
  if (!(problem.margin >= 1) || !(problem.margin <= 100))
    refuse_coherent(fmt::format("the margin must be between 1 and 100, got {}", problem.margin));
}

// Samples of delay between the centre and one edge of the band.
std::size_t edge_samples(const CoherentProblem& problem, double offset_mhz) {
  const double seconds = std::abs(delay_seconds(problem.dm, problem.centre_mhz + offset_mhz, problem.centre_mhz));
  const double samples = std::ceil(problem.margin * seconds * std::abs(problem.rate_mhz) * 1e6) + 2;
  if (samples > 5e8) refuse_coherent(fmt::format("a sweep of {:.3g} samples is too long: channelize first", samples));
  return static_cast<std::size_t>(samples);
}

// The chirp in double and as the transform keeps it; on the host also the blocks that are transformed at once.
void check_memory(const CoherentProblem& problem, std::size_t length, bool on_host) {
  const auto blocks = static_cast<double>(on_host ? 2 * blocks_at_once(length) * sizeof(Value) : 0);
  const double bytes = static_cast<double>(length) * (2 * sizeof(std::complex<double>) + blocks);
  const auto memory = static_cast<double>(base::host_memory());
  if (bytes <= memory) return;
  refuse_coherent(
      fmt::format("transforms of {} points for DM {} need {} of memory, but this process may use {}: "
                  "channelize first, or give a smaller length",
                  length, problem.dm, base::human_bytes(bytes), base::human_bytes(memory)));
}

double taper_at(const CoherentProblem& problem, double share) {  // share: distance from the centre, 0 to 0.5
  const double inside = 0.5 - share;
  if (problem.taper == 0 || inside >= problem.taper) return 1;
  return (1 - std::cos(std::numbers::pi * inside / problem.taper)) / 2;
}

}  // namespace

std::complex<double> coherent_response(const CoherentProblem& problem, double offset_mhz) {
  const double f0 = problem.centre_mhz;
  const double turns = 1e6 * kDispersion * problem.dm * offset_mhz * offset_mhz / (f0 * f0 * (f0 + offset_mhz));
  // Whole cycles are subtracted before the sine is taken: DM 1000 over 400 MHz is a phase of 5e7 cycles.
  return std::polar(1.0, -2 * std::numbers::pi * (turns - std::round(turns)));
}

struct CoherentState {
  CoherentState(const Device& on, const CoherentProblem& given) : device(on), problem(given) {}
  Device device;
  CoherentProblem problem;
  std::size_t length = 0, before = 0, after = 0, at_once = 1;
  std::vector<fft::Plan<float>> plan{};  // on the host: exactly one
  std::unique_ptr<DeviceCoherent> on_device{};
  std::vector<planner::Decision> decisions{};
  mutable std::mutex mutex{};
  mutable base::AlignedArray<Value> in{}, spectrum{};
  std::size_t hop() const { return length - before - after; }
};

CoherentPlan::CoherentPlan(const Device& device, const CoherentProblem& problem, const planner::Options& options) {
  check_coherent(problem);
  auto state = std::make_shared<CoherentState>(device, problem);
  const double edge = std::abs(problem.rate_mhz) / 2;
  // The filter advances low frequencies and delays high ones.
  state->after = edge_samples(problem, -edge);
  state->before = edge_samples(problem, edge);
  const std::size_t overlap = state->before + state->after;
  state->length = problem.length;
  if (state->length == 0) {
    state->length = 4096;
    while (state->length < 8 * overlap) state->length *= 2;
  }
  if (state->length <= overlap)
    refuse_coherent(
        fmt::format("needs more than {} points for the sweep of DM {}, got {}", overlap, problem.dm, state->length));
  const std::size_t n = state->length;
  check_memory(problem, n, device.is_host());
  state->at_once = blocks_at_once(n);
  std::vector<std::complex<double>> chirp(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double share = (static_cast<double>(k) - (2 * k < n ? 0.0 : static_cast<double>(n))) / static_cast<double>(n);
    chirp[k] = coherent_response(problem, share * problem.rate_mhz) * taper_at(problem, std::abs(share));
    // Samples of an inverted band are conjugate; the delays are the same.
    if (problem.rate_mhz < 0) chirp[k] = std::conj(chirp[k]);
  }
  if (!device.is_host()) {
    const CoherentShape shape{.length = n, .before = state->before, .after = state->after, .bytes = problem.bytes};
    state->on_device = std::make_unique<DeviceCoherent>(device, shape, std::move(chirp), options);
    state->decisions = state->on_device->decisions();
    state_ = std::move(state);
    return;
  }
  if (problem.bytes) refuse_coherent("samples of bytes are for device memory: leave out `bytes` on the host");
  fft::Problem transform{
      .shape = {n}, .batch = state->at_once, .scale_inverse = 1 / static_cast<double>(n), .threads = problem.threads};
  transform.store_forward.multiply = std::move(chirp);
  state->plan.emplace_back(device, transform, options);
  state->decisions = state->plan[0].decisions();
  state->in = base::AlignedArray<Value>(n * state->at_once);
  state->spectrum = base::AlignedArray<Value>(n * state->at_once);
  state_ = std::move(state);
}

void CoherentPlan::run(std::span<const Value> in, std::span<Value> out) const {
  const CoherentState& state = *state_;
  if (out.size() != in.size())
    refuse_coherent(fmt::format("{} input samples need as many outputs, got {}", in.size(), out.size()));
  if (in.empty()) return;
  planner::check_apart("search", in.data(), in.size_bytes(), out.data(), out.size_bytes(), false);
  if (state.on_device) {
    if (state.problem.bytes) refuse_coherent("a plan of bytes runs on device memory: see enqueue()");
    return state.on_device->run(in, out);
  }
  const std::lock_guard lock(state.mutex);
  const std::size_t n = state.length, hop = state.hop(), blocks = (in.size() + hop - 1) / hop;
  for (std::size_t first = 0; first < blocks; first += state.at_once) {
    const std::size_t count = std::min(state.at_once, blocks - first);
    std::fill(state.in.begin(), state.in.end(), Value(0));
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t start = (first + b) * hop;  // of the output
      const std::size_t from = start > state.before ? start - state.before : 0;
      const std::size_t skip = from + state.before - start, end = std::min(in.size(), start + n - state.before);
      std::copy(in.begin() + static_cast<std::ptrdiff_t>(from), in.begin() + static_cast<std::ptrdiff_t>(end),
                state.in.data() + b * n + skip);
    }
    state.plan[0].forward(std::span<const Value>(state.in.span()), state.spectrum.span());
    state.plan[0].inverse(std::span<const Value>(state.spectrum.span()), state.in.span());
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t start = (first + b) * hop, some = std::min(hop, in.size() - start);
      std::copy_n(state.in.data() + b * n + state.before, some, out.begin() + static_cast<std::ptrdiff_t>(start));
    }
  }
}

void CoherentPlan::enqueue(Queue& queue, const Buffer& in, std::size_t samples, const Buffer& out) const {
  const CoherentState& state = *state_;
  if (!state.on_device) refuse_coherent("enqueue() needs a plan for a device, this one is for the host");
  const std::size_t each = state.problem.bytes ? 2 : sizeof(Value);
  if (in.size() < samples * each || out.size() < samples * sizeof(Value)) {
    refuse_coherent(fmt::format("{} samples need buffers of {} and {} bytes, got {} and {}", samples, samples * each,
                                samples * sizeof(Value), in.size(), out.size()));
  }
  state.on_device->enqueue(queue, in, samples, 0, out, samples);
}

std::size_t CoherentPlan::length() const { return state_->length; }
std::size_t CoherentPlan::before() const { return state_->before; }
std::size_t CoherentPlan::after() const { return state_->after; }
std::string CoherentPlan::explain() const {
  return fmt::format(
      "coherent dedispersion, DM {} at {} MHz: transforms of {} points, {} samples of overlap ({:.0f} %)\n{}",
      state_->problem.dm, state_->problem.centre_mhz, state_->length, state_->before + state_->after,
      100.0 * static_cast<double>(state_->before + state_->after) / static_cast<double>(state_->length),
      state_->on_device ? state_->on_device->explain() : state_->plan[0].explain());
}
const std::vector<planner::Decision>& CoherentPlan::decisions() const { return state_->decisions; }
const Device& CoherentPlan::device() const { return state_->device; }
const CoherentProblem& CoherentPlan::problem() const { return state_->problem; }

}  // namespace ridge::search
