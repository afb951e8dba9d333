// Launches boxcars over a plane, reads the list of detections, and sorts it.
#include "search/device/pulses.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/kernel_text.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kTileStarts = 2048, kMostListed = std::size_t{1} << 18;
constexpr std::size_t kBoxcarItems = 128;
constexpr std::size_t kNarrow = 32;                                 // widths that are tested in registers
constexpr std::size_t kPadded = (kTileStarts + kNarrow) / 16 * 20;  // as in pulses.cl

// Floats of local memory for a tile: first its padded samples, then its prefix sums.
std::size_t local_values(std::size_t widest) { return std::max(kPadded, (kTileStarts + widest + 4) / 4 * 4); }

}  // namespace

std::string DevicePulses::refusal(const Device& device, std::size_t widest) {
  const Limits& limits = device.limits();
  const std::size_t local = local_values(widest) * sizeof(float) + 2600;  // and the fixed arrays
  if (limits.work_group < 256) return fmt::format("needs work-groups of 256, the device has {}", limits.work_group);
  if (local > std::min<std::size_t>(limits.local_memory, 48 * 1024)) {
    return fmt::format("needs {} of local memory, the device has {}", base::human_bytes(static_cast<double>(local)),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  return "";
}

KernelSource DevicePulses::source(std::size_t widest) {
  std::string narrow = "#define NARROW_WIDTHS(USE)";
  std::size_t count = 0;
  for (const std::size_t width : boxcar_widths(std::min(widest, kNarrow)))
    narrow += fmt::format(" USE({}, {})", count++, width);
  return {.name = "search pulses",
          .text = narrow + "\n" + ridge::detail::kernel_text("search/pulses"),
          .defines = {{"WIDEST", std::to_string(widest)},
                      {"NARROW", std::to_string(count)},
                      {"LOCAL_VALUES", std::to_string(local_values(widest))}}};
}

DevicePulses::DevicePulses(const Plan& plan, std::span<const std::size_t> widths, std::span<const float> limits)
    : plan_(plan),
      widths_(widths.begin(), widths.end()),
      queue_(plan.device().queue()),
      results_(plan.device().queue()),
      trials_(plan.problem().dms.size()),
      times_(plan.problem().times) {
  const Device& device = plan.device();
  const auto program = device.compile(source(widths_.back()));
  normal_ = program.kernel("series_normal");
  boxcars_ = program.kernel("find_boxcars");
  const auto buffer = [&](std::size_t bytes, const char* name) { return device.buffer(bytes, {.name = name}); };
  series_ = buffer(trials_ * times_ * sizeof(float), "search series");
  starts_ = buffer(trials_ * sizeof(std::uint32_t), "search starts");
  lengths_ = buffer(trials_ * sizeof(std::uint32_t), "search lengths");
  widths_on_device_ = buffer(widths_.size() * sizeof(std::uint32_t), "search widths");
  limits_ = buffer(widths_.size() * sizeof(float), "search limits");
  for (Slot& slot : slots_) {
    slot.normals = buffer(trials_ * sizeof(Normal), "search normals");
    slot.count = buffer(sizeof(std::uint32_t), "search count");
    slot.places = buffer(kMostListed * sizeof(std::array<std::uint32_t, 4>), "search places");
    slot.snrs = buffer(kMostListed * sizeof(float), "search S/N");
  }
  const std::vector<std::uint32_t> narrow(widths.begin(), widths.end());
  queue_.upload(std::span<const std::uint32_t>(narrow), widths_on_device_);
  queue_.upload(limits, limits_);
  queue_.finish();
}

bool DevicePulses::find(std::span<const std::uint8_t> plane, const PulseJob& job, std::span<Normal> normals,
                        std::vector<Detection>& found) {
  if (!in_) in_ = plan_.device().buffer(plane.size(), {.name = "search plane"});
  queue_.upload(plane, in_);
  return find(in_, job, normals, found);
}

bool DevicePulses::find(const Buffer& plane, const PulseJob& job, std::span<Normal> normals,
                        std::vector<Detection>& found) {
  begin(plane, job);
  return end(normals, found);
}

void DevicePulses::send(std::span<const std::uint32_t> values, std::vector<std::uint32_t>& sent, const Buffer& to) {
  if (std::ranges::equal(values, sent)) return;
  queue_.finish();  // earlier jobs read the buffer, and their upload may read `sent`
  sent.assign(values.begin(), values.end());
  queue_.upload(std::span<const std::uint32_t>(sent), to);
}

void DevicePulses::begin(const Buffer& plane, const PulseJob& job) {
  if (begun_ - ended_ == slots_.size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("search pulses: {} jobs have begun: end one first", slots_.size()));
  }
  Slot& slot = slots_[begun_++ % slots_.size()];
  slot.job = job;
  send(job.starts, sent_starts_, starts_);
  send(job.lengths, sent_lengths_, lengths_);
  queue_.fill(slot.count, std::byte{0});
  plan_.enqueue(queue_, plane, series_);
  const std::uint64_t stride = times_;
  queue_.launch(normal_, {.groups = {trials_}, .items = {256}}, {series_, starts_, slot.normals, stride});
  queue_.launch(
      boxcars_,
      {.groups = {(times_ + kTileStarts - 1) / kTileStarts, trials_},
       .items = {kBoxcarItems},
       .local_bytes = local_values(widths_.back()) * sizeof(float)},
      {series_, slot.normals, starts_, lengths_, widths_on_device_, limits_, slot.count, slot.places, slot.snrs,
       static_cast<std::uint32_t>(widths_.size()), static_cast<std::uint32_t>(kMostListed), stride});
  slot.done = queue_.record();
}

// Results are copied on their own queue, while a later job runs.
bool DevicePulses::end(std::span<Normal> normals, std::vector<Detection>& found) {
  if (begun_ == ended_) throw Error(ErrorKind::invalid_argument, "search pulses: no job has begun");
  const Slot& slot = slots_[ended_++ % slots_.size()];
  const PulseJob& job = slot.job;
  std::uint32_t count = 0;
  results_.wait_for(slot.done);
  results_.download(slot.count, &count, sizeof count);
  results_.download(slot.normals, normals);
  results_.finish();
  if (count > kMostListed) return false;
  std::vector<std::array<std::uint32_t, 4>> places(count);
  std::vector<float> snrs(count);
  if (count > 0) {
    results_.download(slot.places, std::span(places));
    results_.download(slot.snrs, std::span(snrs));
    results_.finish();
  }
  // Work-groups append in any order.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::tuple(places[i][0], places[i][1] / kTileStarts, places[i][2], places[i][1]);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  for (const std::size_t i : order) {
    const std::uint64_t begin = job.first + places[i][1] * job.factor;
    found.push_back({.begin = begin,
                     .end = begin + widths_[places[i][2]] * job.factor,
                     .trial = job.first_trial + places[i][0],
                     .segment = job.segment,
                     .snr = snrs[i]});
  }
  return true;
}

void DevicePulses::series(std::span<float> to) {
  queue_.download(series_, to);
  queue_.finish();
}

}  // namespace ridge::search
