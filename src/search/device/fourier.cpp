// Launches dedispersion in the Fourier domain on a device: transforms by plans of fft, the rest in fourier.cl.
#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/text.hpp"
#include "device/kernel_text.hpp"
#include "search/device/device_variant.hpp"
#include "search/fourier_plan.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kGridBytes = std::size_t{256} << 20;  // of the grid of some frequencies
constexpr std::size_t kItems = 128, kMostRows = 65535;      // work-groups of the second dimension

planner::Options quick_transform() { return {.effort = Effort::quick}; }

KernelSource fourier_source() {
  return {.name = "search fourier",
          .text = ridge::detail::kernel_text("search/fourier"),
          .defines = {{"TAPS", std::to_string(kTaps)},
                      {"STEPS", std::to_string(kKernelSteps)},
                      {"POSITION_BITS", std::to_string(kPositionBits)}}};
}

struct FourierSizes {
  std::size_t bins = 0;    // of the spectrum, in whole work-groups
  std::size_t chunk = 0;   // frequencies of one grid
  std::size_t memory = 0;  // bytes of all arrays
};
FourierSizes sizes_of(const Layout& layout) {
  const std::size_t length = fourier_length(layout), grid = fourier_grid(layout);
  FourierSizes sizes{.bins = (length / 2 + 1 + kItems - 1) / kItems * kItems};
  sizes.chunk = std::clamp(kGridBytes / (grid * 8) / kItems * kItems, kItems, sizes.bins);
  const std::size_t rows = std::max(layout.channels, layout.trials);
  sizes.memory = rows * (length * 4 + sizes.bins * 8) + grid * sizes.chunk * 8;
  return sizes;
}

class DeviceFourier final : public DeviceVariant {
 public:
  DeviceFourier(const Device& device, const Layout& layout)
      : DeviceVariant(device, layout),
        device_(device),
        tables_(fourier_tables(layout)),
        sizes_(sizes_of(layout)),
        forward_(device, over_time(layout.channels), quick_transform()),
        inverse_(device, over_time(layout.trials), quick_transform()),
        over_grid_(device,
                   {.shape = {tables_.grid},
                    .batch = sizes_.chunk,
                    .input = {.axes = {sizes_.chunk}, .batch = 1},
                    .output = {.axes = {sizes_.chunk}, .batch = 1},
                    .in_place = true,
                    .store_inverse = {.multiply = tables_.factor},
                    .directions = fft::Directions::inverse},
                   quick_transform()) {
    const auto program = device.compile(fourier_source());
    bytes_ = program.kernel("samples_of_bytes"), total_ = program.kernel("total_mean"),
    spread_ = program.kernel("spread");
    interpolate_ = program.kernel("interpolate"), sums_ = program.kernel("sums_of_samples");
    ranges_ = on_device(channel_ranges(), "search grid ranges");
    cells_ = on_device(tables_.cell, "search grid cells");
    weights_ = on_device(tables_.weight, "search grid weights");
    steps_ = on_device(tables_.step, "search grid steps");
    rows_ = on_device(tables_.kernel, "search kernel table");
  }

  // The arrays between the steps belong to the plan: concurrent runs on several queues would share them.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override {
    const std::lock_guard lock(mutex_);
    const std::size_t rows = std::max(layout_.channels, layout_.trials);
    if (!samples_) {
      samples_ = device_.buffer(rows * tables_.length * 4, {.name = "search fourier samples"});
      spectra_ = device_.buffer(rows * sizes_.bins * 8, {.name = "search fourier spectra"});
      means_ = device_.buffer(layout_.channels * 4, {.name = "search fourier means"});
      total_mean_ = device_.buffer(4, {.name = "search fourier total"});
      grid_ = device_.buffer(tables_.grid * sizes_.chunk * 8, {.name = "search fourier grid"});
    }
    const auto u32 = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    const std::uint64_t length = tables_.length, stride = sizes_.bins;
    const auto groups = [](std::size_t count, std::size_t items) { return (count + items - 1) / items; };
    queue.launch(bytes_, {.groups = {layout_.channels}, .items = {256}},
                 {in, samples_, means_, std::uint64_t{layout_.row}, length});
    queue.launch(total_, {.groups = {1}, .items = {1}}, {means_, total_mean_, u32(layout_.channels)});
    forward_.enqueue_forward(queue, samples_, spectra_);
    for (std::size_t first = 0; first < tables_.bins(); first += sizes_.chunk) {
      const std::size_t bins = sizes_.chunk, some = std::min(bins, sizes_.bins - first);
      queue.launch(spread_, {.groups = {groups(some, kItems), tables_.grid}, .items = {kItems}},
                   {spectra_, grid_, ranges_, cells_, weights_, u32(tables_.grid), u32(first), u32(bins), stride});
      over_grid_.enqueue_inverse(queue, grid_, grid_);
      queue.launch(interpolate_, {.groups = {groups(some, kItems), layout_.trials}, .items = {kItems}},
                   {grid_, spectra_, steps_, rows_, u32(tables_.grid), u32(static_cast<std::size_t>(tables_.middle)),
                    u32(first), u32(bins), u32(tables_.bins()), stride});
    }
    inverse_.enqueue_inverse(queue, spectra_, samples_);
    queue.launch(
        sums_, {.groups = {groups(layout_.times, 256), layout_.trials}, .items = {256}},
        {samples_, out, total_mean_, 1 / static_cast<float>(tables_.length), std::uint64_t{layout_.times}, length});
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return nearest_delays(layout_, trial); }
  std::size_t interpolates() const override { return tables_.length; }

 private:
  fft::Problem over_time(std::size_t batch) const {
    return {.shape = {tables_.length},
            .batch = batch,
            .kind = fft::Kind::real,
            .input = {.axes = {}, .batch = tables_.length},
            .output = {.axes = {}, .batch = sizes_.bins}};
  }
  // Channels in the order of their delay: those of a grid point follow each other.
  std::vector<std::array<std::int32_t, 2>> channel_ranges() const {
    std::vector<std::array<std::int32_t, 2>> ranges(tables_.grid, {0, 0});
    for (std::size_t c = 0; c < layout_.channels; ++c) {
      for (std::size_t i = 0; i < kTaps; ++i) {
        auto& range = ranges[(tables_.cell[c] + i) % tables_.grid];
        if (range[1] == 0) range[0] = static_cast<std::int32_t>(c);
        range[1] = static_cast<std::int32_t>(c) + 1;
      }
    }
    return ranges;
  }
  template <class T>
  Buffer on_device(const std::vector<T>& values, const char* name) const {
    Buffer buffer = device_.buffer(values.size() * sizeof(T), {.name = name});
    Queue queue = device_.queue();
    queue.upload(std::span<const T>(values), buffer);
    queue.finish();
    return buffer;
  }

  Device device_;
  FourierTables tables_;
  FourierSizes sizes_;
  fft::Plan<float> forward_, inverse_, over_grid_;
  Kernel bytes_, total_, spread_, interpolate_, sums_;
  Buffer ranges_, cells_, weights_, steps_, rows_;
  mutable std::mutex mutex_;
  mutable Buffer samples_, spectra_, grid_, means_, total_mean_;
};

}  // namespace

void list_device_fourier(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  const Limits& limits = device.limits();
  std::string refusal = fourier_refusal(layout);
  const FourierSizes sizes = refusal.empty() ? sizes_of(layout) : FourierSizes{};
  if (refusal.empty() && limits.work_group < 256) {
    refusal = fmt::format("needs work-groups of 256 work-items, the device has {}", limits.work_group);
  } else if (refusal.empty() && layout.row > (std::size_t{1} << 24)) {
    refusal = fmt::format("needs rows of at most 2^24 samples, got {}", layout.row);
  } else if (refusal.empty() && std::max({layout.channels, layout.trials, fourier_grid(layout)}) > kMostRows) {
    refusal = fmt::format("needs at most {} channels, trials and grid points, got {}", kMostRows,
                          std::max({layout.channels, layout.trials, fourier_grid(layout)}));
  } else if (refusal.empty() && sizes.memory > limits.memory / 2) {
    refusal = fmt::format("needs {} of device memory, half of the device's is {}",
                          base::human_bytes(static_cast<double>(sizes.memory)),
                          base::human_bytes(static_cast<double>(limits.memory) / 2));
  }
  const double rows = static_cast<double>(layout.channels + layout.trials);
  const double bytes = refusal.empty() ? static_cast<double>(fourier_length(layout)) *
                                             (16 * rows + 24 * static_cast<double>(fourier_grid(layout)))
                                       : 0;
  entries.push_back({.candidate = planner::Candidate{.variant = "fourier",
                                                     .parameters = {},
                                                     .refusal = refusal,
                                                     .cost = {.flops = refusal.empty() ? fourier_flops(layout) : 0,
                                                              .bytes = bytes,
                                                              .launches = 8,
                                                              .efficiency = 0.4}},
                     .kernels = [] { return std::vector{fourier_source()}; },
                     .build = [=] { return std::make_shared<DeviceFourier>(device, layout); }});
}

}  // namespace ridge::search
