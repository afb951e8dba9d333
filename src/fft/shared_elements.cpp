#include "fft/shared_elements.hpp"

#include <algorithm>

namespace ridge::fft {

bool share_elements(std::vector<Run> runs) {
  std::erase_if(runs, [](const Run& run) { return run.count == 1; });
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.step < b.step; });
  std::size_t reach = 0, total = 1;
  bool nested = true;
  for (const Run& run : runs) {
    if (run.step == 0) return true;
    nested = nested && run.step > reach;
    reach += (run.count - 1) * run.step;
    total *= run.count;
  }
  if (nested) return false;
  constexpr std::size_t kAffordable = std::size_t{1} << 24;
  if (total > reach + 1 || reach > kAffordable) return true;
  std::vector<bool> taken(reach + 1);
  for (std::size_t i = 0; i < total; ++i) {
    std::size_t rest = i, element = 0;
    for (const Run& run : runs) {
      element += rest % run.count * run.step;
      rest /= run.count;
    }
    if (taken[element]) return true;
    taken[element] = true;
  }
  return false;
}

}  // namespace ridge::fft
