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

std::size_t prefix_bytes(std::size_t widest) { return (kTileStarts + widest + 1) * sizeof(float); }

}  // namespace

std::string DevicePulses::refusal(const Device& device, std::size_t widest) {
  const Limits& limits = device.limits();
  const std::size_t local = prefix_bytes(widest) + 2600;  // and the fixed arrays
  if (limits.work_group < 256) return fmt::format("needs work-groups of 256, the device has {}", limits.work_group);
  if (local > std::min<std::size_t>(limits.local_memory, 48 * 1024)) {
    return fmt::format("needs {} of local memory, the device has {}", base::human_bytes(static_cast<double>(local)),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  return "";
}

KernelSource DevicePulses::source(std::size_t widest) {
  return {.name = "search pulses",
          .text = ridge::detail::kernel_text("search/pulses"),
          .defines = {{"WIDEST", std::to_string(widest)}}};
}

DevicePulses::DevicePulses(const Plan& plan, std::span<const std::size_t> widths, std::span<const float> limits)
    : plan_(plan),
      widths_(widths.begin(), widths.end()),
      queue_(plan.device().queue()),
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
  normals_ = buffer(trials_ * sizeof(Normal), "search normals");
  widths_on_device_ = buffer(widths_.size() * sizeof(std::uint32_t), "search widths");
  limits_ = buffer(widths_.size() * sizeof(float), "search limits");
  count_ = buffer(sizeof(std::uint32_t), "search count");
  places_ = buffer(kMostListed * sizeof(std::array<std::uint32_t, 4>), "search places");
  snrs_ = buffer(kMostListed * sizeof(float), "search S/N");
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
  std::uint32_t count = 0;
  queue_.upload(job.starts, starts_);
  queue_.upload(job.lengths, lengths_);
  queue_.upload(&count, count_, sizeof count);
  plan_.enqueue(queue_, plane, series_);
  const std::uint64_t stride = times_;
  queue_.launch(normal_, {.groups = {trials_}, .items = {256}}, {series_, starts_, normals_, stride});
  queue_.launch(boxcars_,
                {.groups = {(times_ + kTileStarts - 1) / kTileStarts, trials_},
                 .items = {256},
                 .local_bytes = prefix_bytes(widths_.back())},
                {series_, normals_, starts_, lengths_, widths_on_device_, limits_, count_, places_, snrs_,
                 static_cast<std::uint32_t>(widths_.size()), static_cast<std::uint32_t>(kMostListed), stride});
  queue_.download(count_, &count, sizeof count);
  queue_.download(normals_, normals);
  queue_.finish();
  if (count > kMostListed) return false;
  std::vector<std::array<std::uint32_t, 4>> places(count);
  std::vector<float> snrs(count);
  if (count > 0) {
    queue_.download(places_, std::span(places));
    queue_.download(snrs_, std::span(snrs));
    queue_.finish();
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
