#include "fft/device/compiled_route.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "device/backend.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kMostGroups = 0x7fffffff;

}  // namespace

CompiledRoute::CompiledRoute(const Device& device, const Route& route, bool float64) : route_(route) {
  at_once_ = route.at_once == 0 ? route.outer : std::min(route.at_once, route.outer);
  double most = static_cast<double>(at_once_);
  for (const Step& step : route.steps) {
    most = std::min(
        most, static_cast<double>(kMostGroups) / std::max(step.design->groups(static_cast<double>(step.lines)), 1.0));
    most = std::min(most, 4.0e9 / static_cast<double>(std::max<std::uint64_t>(step.lines, 1)));
  }
  // An even number of elements keeps 16-byte accesses aligned.
  if (most < static_cast<double>(at_once_))
    at_once_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(most) / 64 * 64, 1);
  if (route.together && at_once_ < route.outer) {
    // Steps address the scratch arrays by positions in the whole batch, so the batch cannot be split.
    throw Error(ErrorKind::invalid_argument,
                fmt::format("fft: {} lines side by side are more than one launch can count", route.outer));
  }
  for (const Step& step : route.steps) {
    stages_.push_back(
        {step.design->compile(device, step), step.from, step.to, step.lines, step.from_stride, step.to_stride});
    writes_own_arrays_ = writes_own_arrays_ || stages_.back().step->writes_own_arrays();
  }
  const auto array = [&](std::uint64_t elements, const char* name) {
    if (elements == 0) return Buffer();
    return device.buffer(static_cast<std::size_t>(elements * at_once_) * (float64 ? 16 : 8), {.name = name});
  };
  scratch_ = array(route.scratch, "fft scratch");
  work_ = array(route.work, "fft work");
  spare_ = array(route.spare, "fft spare");
}

const Buffer& CompiledRoute::at(Place place, const Buffer& in, const Buffer& out) const {
  switch (place) {
    case Place::input:
      return in;
    case Place::output:
      return out;
    case Place::scratch:
      return scratch_;
    case Place::work:
      return work_;
    case Place::spare:
      break;
  }
  return spare_;
}

void CompiledRoute::enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::uint64_t in_offset,
                            std::uint64_t out_offset) const {
  const bool shares = scratch_ || work_ || spare_ || writes_own_arrays_;
  std::unique_lock lock(mutex_, std::defer_lock);
  if (shares) {
    lock.lock();
    if (last_queue_ && last_queue_->native() != queue.native()) queue.wait_for(last_ ? last_ : last_queue_->record());
  }
  for (std::uint64_t first = 0; first < route_.outer; first += at_once_) {
    const std::uint64_t count = std::min(at_once_, route_.outer - first);
    for (const Stage& stage : stages_) {
      const auto offset = [&](Place place, std::uint64_t stride) -> std::uint64_t {
        if (place == Place::input) return in_offset + first * stride;
        return place == Place::output ? out_offset + first * stride : 0;
      };
      const std::uint64_t from = offset(stage.from, stage.from_stride), to = offset(stage.to, stage.to_stride);
      const Buffer &source = at(stage.from, in, out), &target = at(stage.to, in, out);
      stage.step->enqueue(queue, source, from, target, to, stage.lines * count);
    }
  }
  if (shares) {
    last_queue_ = queue;
    last_ = queue.device().state().is_foreign(queue.native()) ? queue.record() : Event();
  }
}

std::string CompiledRoute::describe() const {
  std::string text;
  for (const Stage& stage : stages_) text += (text.empty() ? "" : "; ") + stage.step->describe();
  return text;
}

}  // namespace ridge::fft::on_device
