// Plan of the range-Doppler algorithm, as passes over a frame: range compression (FFT, filter, inverse FFT), corner
// turn (transpose), Doppler FFT, migration correction with azimuth filter, inverse Doppler FFT.
#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/sar.hpp>
#include <ridge/transpose.hpp>

#include "device/staging.hpp"
#include "plan/arguments.hpp"
#include "sar/variant.hpp"

namespace ridge::sar {
namespace {

constexpr const char* kWorkload = "sar";

const Problem& checked(const Problem& problem) {
  check_range_doppler(problem);
  return problem;
}

fft::Problem range_transform(const Problem& problem, const Tables& tables) {
  fft::Problem range{.shape = {problem.samples}, .batch = problem.pulses, .threads = problem.threads};
  range.store_forward.multiply = tables.compression;
  return range;
}

double transform_flops(std::size_t n, std::size_t lines) {
  return 5.0 * static_cast<double>(n * lines) * std::log2(static_cast<double>(n));
}

}  // namespace

class PlanState {
 public:
  PlanState(const Device& where, const Problem& wanted, const planner::Options& options)
      : device(where),
        problem(checked(wanted)),
        tables_(make_tables(problem)),
        range_(device, range_transform(problem, tables_), options),
        corner_turn_(device, {.rows = problem.pulses, .columns = problem.samples, .threads = problem.threads}, options),
        along_(device, {.shape = {problem.pulses}, .batch = problem.samples, .threads = problem.threads}, options),
        staging_(device, kWorkload) {
    for (const auto* part : {&range_.decisions(), &corner_turn_.decisions(), &along_.decisions()})
      decisions.insert(decisions.end(), part->begin(), part->end());
    choose_migration(options);
    const auto add = [&](const std::vector<KernelSource>& part) {
      kernels.insert(kernels.end(), part.begin(), part.end());
    };
    add(range_.kernels());
    add(corner_turn_.kernels());
    add(along_.kernels());
    add(migration_kernels_);
    if (device.is_host()) {
      first_.resize(points());
      second_.resize(points());
    } else {
      work_ = device.buffer(frame_bytes(), {.name = "sar work"});
      other_ = device.buffer(frame_bytes(), {.name = "sar second work"});
    }
  }

  std::size_t points() const { return problem.pulses * problem.samples; }
  std::size_t frame_bytes() const { return points() * sizeof(Complex); }

  void run(std::span<const Complex> echoes, std::span<Complex> image) const {
    if (device.is_host()) {
      run_on_host(echoes, image);
      return;
    }
    staging_.run({.in = echoes.data(), .in_bytes = frame_bytes(), .out = image.data(), .out_bytes = frame_bytes()},
                 [this](Queue& queue, const Buffer& in, const Buffer& out) { enqueue(queue, in, out); });
  }

  void enqueue(Queue& queue, const Buffer& echoes, const Buffer& image) const {
    range_.enqueue_forward(queue, echoes, work_);
    range_.enqueue_inverse(queue, work_, other_);
    corner_turn_.enqueue(queue, other_, work_);
    along_.enqueue_forward(queue, work_, other_);
    migration_->enqueue(queue, other_, work_);
    along_.enqueue_inverse(queue, work_, image);
  }

  double flops() const {
    return 2 * transform_flops(problem.samples, problem.pulses) + 2 * transform_flops(problem.pulses, problem.samples) +
           6.0 * static_cast<double>(problem.pulses * problem.samples) + migration_flops(problem);
  }

  std::string explain() const {
    return fmt::format(
        "range-Doppler focusing of {} pulses x {} samples on {}\n\nrange compression\n{}\ncorner turn\n{}\nalong the "
        "track\n{}\nmigration correction\n{}",
        problem.pulses, problem.samples, device.id(), range_.explain(), corner_turn_.explain(), along_.explain(),
        decisions.back().explain());
  }

  const Device device;
  const Problem problem;
  std::vector<planner::Decision> decisions;
  std::vector<KernelSource> kernels;

 private:
  void choose_migration(planner::Options options) {
    options.variant = problem.migration;
    const std::vector<Entry> entries = list_migrations(device, problem, tables_);
    MigrationTrials trials(device, problem, tables_);
    const Radar& radar = problem.radar;
    std::string key =
        fmt::format("sar migration {}x{} near {} stretch {}", problem.samples, problem.pulses, tables_.first_range,
                    *std::max_element(tables_.stretch.begin(), tables_.stretch.end()));
    key += fmt::format(" band {:.3f}", doppler_band(problem) / radar.pulse_rate_hz);
    if (device.is_host()) key += fmt::format(" threads {}", problem.threads);
    auto chosen = planner::choose(device,
                                  {.workload = kWorkload,
                                   .key = key,
                                   .flops = migration_flops(problem),
                                   .bytes = 3.0 * static_cast<double>(frame_bytes())},
                                  entries, options, trials, planner::Keep::last);
    migration_kernels_ = planner::kernels_of(entries[chosen.decision.winner]);
    migration_ = std::move(chosen.winner);
    decisions.push_back(std::move(chosen.decision));
  }
  void run_on_host(std::span<const Complex> echoes, std::span<Complex> image) const {
    std::lock_guard lock(busy_);
    const std::span<Complex> first(first_), second(second_);
    range_.forward(echoes, first);
    range_.inverse(first, second);
    corner_turn_.run(second, first);
    along_.forward(first, second);
    migration_->run(second.data(), first.data());
    along_.inverse(first, image);
  }

  const Tables tables_;
  const fft::Plan<float> range_;
  const transpose::Plan<Complex> corner_turn_;
  const fft::Plan<float> along_;
  std::shared_ptr<const Migration> migration_;
  std::vector<KernelSource> migration_kernels_;
  Staging staging_;  // copies frames in host memory to and from a device

  // Guards the host's work arrays: one frame is focused at a time.
  mutable std::mutex busy_;
  mutable std::vector<Complex> first_, second_;  // host
  Buffer work_, other_;                          // device
};

Plan::Plan(const Device& device, const Problem& problem, const planner::Options& options)
    : state_(std::make_shared<const PlanState>(device, problem, options)) {}

void Plan::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  planner::check_length(kWorkload, "echoes", echoes.size_bytes(), state_->frame_bytes());
  planner::check_length(kWorkload, "image", image.size_bytes(), state_->frame_bytes());
  state_->run(echoes.first(state_->points()), image.first(state_->points()));
}

void Plan::enqueue(Queue& queue, const Buffer& echoes, const Buffer& image) const {
  if (state_->device.is_host())
    throw Error(ErrorKind::invalid_argument,
                "sar: enqueue() needs a device plan, this one is for the host: call run(echoes, image)");
  planner::check_queue(kWorkload, queue, state_->device);
  planner::check_buffer(kWorkload, "echoes", echoes, state_->device, state_->frame_bytes());
  planner::check_buffer(kWorkload, "image", image, state_->device, state_->frame_bytes());
  state_->enqueue(queue, echoes, image);
}

std::string Plan::explain() const { return state_->explain(); }
const std::vector<planner::Decision>& Plan::decisions() const { return state_->decisions; }
const std::vector<KernelSource>& Plan::kernels() const { return state_->kernels; }
const Device& Plan::device() const { return state_->device; }
const Problem& Plan::problem() const { return state_->problem; }
double Plan::flops() const { return state_->flops(); }
double Plan::bytes() const { return 2.0 * static_cast<double>(state_->frame_bytes()); }

}  // namespace ridge::sar
