// Migration correction by interpolation with 16 taps on a device: uploads the tables once, then launches one kernel per
// frame.
#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "sar/variant.hpp"

namespace ridge::sar {
namespace {

constexpr std::size_t kItems = 128;

template <class T>
Buffer resident(const Device& device, Queue& queue, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  queue.upload(std::span<const T>(values), buffer);
  return buffer;
}

class DeviceTaps final : public Migration {
 public:
  DeviceTaps(const Device& device, const Problem& problem, const Tables& tables)
      : kernel_(device.compile(migration_source()).kernel("straighten")),
        launch_{.groups = {(problem.pulses + kItems - 1) / kItems, problem.samples}, .items = {kItems}},
        ranges_(static_cast<std::int32_t>(problem.samples)),
        pulses_(static_cast<std::int32_t>(problem.pulses)),
        first_range_(tables.first_range) {
    Queue queue = device.queue();
    azimuth_ = resident(device, queue, tables.azimuth, "azimuth filter");
    taps_ = resident(device, queue, tables.taps, "interpolation taps");
    stretch_ = resident(device, queue, tables.stretch, "migration");
    queue.finish();
  }
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override {
    queue.launch(kernel_, launch_, {in, azimuth_, taps_, stretch_, out, ranges_, pulses_, first_range_});
  }

 private:
  Kernel kernel_;
  Launch launch_;
  Buffer azimuth_, taps_, stretch_;
  std::int32_t ranges_, pulses_;
  float first_range_;
};

}  // namespace

KernelSource migration_source() {
  return {.name = "sar_migration",
          .text = ridge::detail::kernel_text("sar/straighten"),
          .defines = {{"ITEMS_PER_GROUP", fmt::format("{}", kItems)},
                      {"FRACTIONS", fmt::format("{}", kFractions)},
                      {"TAPS", fmt::format("{}", kTaps)}}};
}

void list_device_taps(const Device& device, const Problem& problem, const Tables& tables, std::vector<Entry>& entries) {
  entries.push_back({.candidate = planner::Candidate{.variant = "taps",
                                                     .parameters = {{"taps", std::to_string(kTaps)}},
                                                     .refusal = {},
                                                     .cost = migration_cost(problem, migration_flops(problem), 0.7)},
                     .kernels = [] { return std::vector{migration_source()}; },
                     .build = [&] { return std::make_shared<const DeviceTaps>(device, problem, tables); }});
}

}  // namespace ridge::sar
