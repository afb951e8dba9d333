// Probes the private memory of a work-item by kernels of growing arrays (section 4.1.3 of the thesis), for devices that
// do not report registers: the time per access rises where the array no longer fits.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_template.hpp"
#include "device/timing.hpp"
#include "papers/fft/device/measure.hpp"

namespace ridge::fft::papers {

KernelSource private_memory_text(std::size_t words) {
  return {
      .name = "private_memory",
      .text = "\n" + ridge::detail::fill_kernel_text("papers/private_memory", {{"words", std::to_string(words)},
                                                                               {"mask", std::to_string(words - 1)}})};
}

std::vector<PrivateMemory> probe_private_memory(const Device& device, double seconds, std::size_t most_words) {
  constexpr std::uint32_t kAccesses = 1 << 14;
  const std::size_t units = std::max<std::size_t>(1, device.limits().compute_units);
  Queue queue = device.queue();
  const Buffer out = device.buffer(units * sizeof(std::uint32_t), {.name = "private memory"});
  std::vector<PrivateMemory> rows;
  for (std::size_t words = 16; words <= most_words; words *= 2) {
    const Kernel kernel = device.compile(private_memory_text(words)).kernel("private_memory");
    const auto call = [&](std::uint32_t accesses) {
      return [&, accesses] {
        queue.launch(kernel, {.groups = {units}, .items = {1}},
                     {out, accesses, static_cast<std::uint32_t>(words / 2 + 5)});
      };
    };
    const auto times = best_device_seconds(queue, {call(0), call(kAccesses)}, {.seconds = seconds, .at_least = 3});
    rows.push_back({.bytes = 4 * words, .access_seconds = std::max(0.0, times[1] - times[0]) / kAccesses});
  }
  return rows;
}

std::size_t private_capacity(const std::vector<PrivateMemory>& rows) {
  constexpr double kSlower = 1.5;
  std::size_t fits = 0;
  double fastest = 0;
  for (const PrivateMemory& row : rows) {
    if (fastest > 0 && !(row.access_seconds <= kSlower * fastest)) break;
    fastest = fastest == 0 ? row.access_seconds : std::min(fastest, row.access_seconds);
    fits = row.bytes;
  }
  return fits;
}

}  // namespace ridge::fft::papers
