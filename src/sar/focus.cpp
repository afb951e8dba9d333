#include <fmt/format.h>

#include "base/text.hpp"
#include "sar/pipeline.hpp"

namespace ridge::sar {
namespace {

const Problem& checked(const Problem& problem) {
  check(problem);
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

Pipeline::Pipeline(const Device& device_, const Problem& problem_, const planner::Options& options)
    : device(device_),
      problem(checked(problem_)),
      tables_(make_tables(problem)),
      range_(device, range_transform(problem, tables_), options),
      turn_(device, {.rows = problem.pulses, .columns = problem.samples, .threads = problem.threads}, options),
      along_(device, {.shape = {problem.pulses}, .batch = problem.samples, .threads = problem.threads}, options) {
  if (device.is_host()) {
    host_migration_.emplace(problem, tables_);
  } else {
    device_migration_.emplace(device, problem, tables_);
  }
}

void Pipeline::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  const std::size_t points = problem.pulses * problem.samples;
  if (echoes.size() < points || image.size() < points) {
    throw Error(ErrorKind::invalid_argument, fmt::format("sar: a frame has {} values; echoes have {}, the image has {}",
                                                         points, echoes.size(), image.size()));
  }
  std::lock_guard lock(busy_);
  if (device.is_host()) {
    run_on_host(echoes.first(points), image.first(points));
  } else {
    run_on_device(echoes.first(points), image.first(points));
  }
}

void Pipeline::run_on_host(std::span<const Complex> echoes, std::span<Complex> image) const {
  first_.resize(echoes.size());
  second_.resize(echoes.size());
  const std::span<Complex> first(first_), second(second_);
  range_.forward(echoes, first);
  range_.inverse(first, second);
  turn_.run(second, first);
  along_.forward(first, second);
  host_migration_->run(second.data(), first.data());
  along_.inverse(first, image);
}

void Pipeline::run_on_device(std::span<const Complex> echoes, std::span<Complex> image) const {
  if (!queue_) {
    echoes_ = device.buffer(echoes.size_bytes(), {.name = "sar echoes"});
    image_ = device.buffer(echoes.size_bytes(), {.name = "sar image"});
    queue_ = device.queue();
  }
  queue_->upload(echoes, echoes_);
  enqueue(echoes_, image_, *queue_);
  queue_->download(image_, image);
  queue_->finish();
}

void Pipeline::enqueue(const Buffer& echoes, const Buffer& image, Queue& queue) const {
  const std::size_t bytes = problem.pulses * problem.samples * sizeof(Complex);
  if (!work_) {
    work_ = device.buffer(bytes, {.name = "sar work"});
    other_ = device.buffer(bytes, {.name = "sar second work"});
  }
  range_.forward(echoes, work_, queue);
  range_.inverse(work_, other_, queue);
  turn_.enqueue(queue, other_, work_);
  along_.forward(work_, other_, queue);
  device_migration_->enqueue(other_, work_, queue);
  along_.inverse(work_, image, queue);
}

double Pipeline::flops() const {
  const double interpolated = doppler_band(problem) / problem.radar.pulse_rate_hz *
                              static_cast<double>(problem.pulses * problem.samples) * (4 * kTaps + 6);
  return 2 * transform_flops(problem.samples, problem.pulses) + 2 * transform_flops(problem.pulses, problem.samples) +
         6.0 * static_cast<double>(problem.pulses * problem.samples) + interpolated;
}

std::string Pipeline::explain() const {
  return fmt::format(
      "range-Doppler focusing of {} pulses x {} samples on {}\n\nrange compression\n{}\ncorner turn\n{}\nalong the "
      "track\n{}",
      problem.pulses, problem.samples, device.id(), range_.explain(), turn_.explain(), along_.explain());
}

Focus::Focus(const Device& device, const Problem& problem, const planner::Options& options)
    : pipeline_(std::make_shared<Pipeline>(device, problem, options)) {}

void Focus::run(std::span<const Complex> echoes, std::span<Complex> image) const { pipeline_->run(echoes, image); }

void Focus::run(const Buffer& echoes, const Buffer& image, Queue& queue) const {
  const std::size_t bytes = problem().pulses * problem().samples * sizeof(Complex);
  if (device().is_host()) throw Error(ErrorKind::invalid_argument, "sar: the host takes frames in host memory");
  if (echoes.size() < bytes || image.size() < bytes) {
    throw Error(ErrorKind::invalid_argument, fmt::format("sar: a frame has {} bytes; echoes have {}, the image has {}",
                                                         bytes, echoes.size(), image.size()));
  }
  pipeline_->enqueue(echoes, image, queue);
}

std::string Focus::explain() const { return pipeline_->explain(); }
double Focus::flops() const { return pipeline_->flops(); }
const Problem& Focus::problem() const { return pipeline_->problem; }
const Device& Focus::device() const { return pipeline_->device; }

}  // namespace ridge::sar
