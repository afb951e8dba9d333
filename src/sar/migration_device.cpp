#include <fmt/format.h>

#include "sar/migration.hpp"

namespace ridge::sar {
namespace {

constexpr std::size_t kItems = 128;

constexpr const char* kSource = R"(// Range cell migration correction and azimuth compression, one point a work-item.
KERNEL WORK_GROUP(ITEMS_A_GROUP, 1, 1)
void straighten(GLOBAL const float2* RESTRICT in, GLOBAL const float2* RESTRICT azimuth,
                GLOBAL const float* RESTRICT taps, GLOBAL const float* RESTRICT stretch, GLOBAL float2* RESTRICT out,
                int ranges, int pulses, float first_range) {
  const int f = (int)GROUP_ID(0) * ITEMS_A_GROUP + LOCAL_ID(0);
  const int r = (int)GROUP_ID(1);
  if (f >= pulses) return;
  const ulong at = (ulong)r * (ulong)pulses + (ulong)f;
  const float2 filter = azimuth[at];
  float real = 0.0f, imaginary = 0.0f;
  if (filter.x != 0.0f || filter.y != 0.0f) {
    const float shift = (first_range + (float)r) * stretch[f];
    const float whole = floor(shift);
    GLOBAL const float* weights = taps + (int)((shift - whole) * FRACTIONS + 0.5f) * TAPS;
    const int row = r + (int)whole - (TAPS / 2 - 1);
    UNROLL for (int tap = 0; tap < TAPS; ++tap) {
      if (row + tap >= 0 && row + tap < ranges) {
        const float2 value = in[(ulong)(row + tap) * (ulong)pulses + (ulong)f];
        real = FMA(weights[tap], value.x, real);
        imaginary = FMA(weights[tap], value.y, imaginary);
      }
    }
  }
  out[at] = make_float2(real * filter.x - imaginary * filter.y, real * filter.y + imaginary * filter.x);
}
)";

template <class T>
Buffer resident(const Device& device, Queue& queue, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  queue.upload(std::span<const T>(values), buffer);
  return buffer;
}

}  // namespace

KernelSource DeviceMigration::source() {
  return {.name = "sar_migration",
          .text = kSource,
          .defines = {{"ITEMS_A_GROUP", fmt::format("{}", kItems)},
                      {"FRACTIONS", fmt::format("{}", kFractions)},
                      {"TAPS", fmt::format("{}", kTaps)}}};
}

DeviceMigration::DeviceMigration(const Device& device, const Problem& problem, const Tables& tables)
    : kernel_(device.compile(source()).kernel("straighten")),
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

void DeviceMigration::enqueue(const Buffer& in, const Buffer& out, Queue& queue) const {
  queue.launch(kernel_, launch_, {in, azimuth_, taps_, stretch_, out, ranges_, pulses_, first_range_});
}

}  // namespace ridge::sar
