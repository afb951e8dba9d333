#include "device/compile_ahead.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>

#include <ridge/error.hpp>

namespace ridge {

void compile_together(const Device& device, std::vector<KernelSource> sources) {
  if (device.info().backend != Backend::cuda) return;
  // Longest first, duplicates removed.
  std::sort(sources.begin(), sources.end(), [](const KernelSource& a, const KernelSource& b) {
    if (a.text.size() != b.text.size()) return a.text.size() > b.text.size();
    return std::tie(a.text, a.defines) < std::tie(b.text, b.defines);
  });
  const auto same = [](const KernelSource& a, const KernelSource& b) {
    return a.text == b.text && a.defines == b.defines && a.relaxed_math == b.relaxed_math;
  };
  sources.erase(std::unique(sources.begin(), sources.end(), same), sources.end());
  if (sources.size() < 2) return;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        device.compile(sources[i]);
      } catch (const Error&) {  // NOLINT: said when it is built
      }
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t count = std::min<std::size_t>(sources.size(), std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
}

}  // namespace ridge
