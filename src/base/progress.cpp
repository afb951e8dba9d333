#include "base/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace ridge::base {
namespace {

constexpr double kBetweenDrawings = 0.1;  // s
std::atomic<bool> bar_is_shown{false};

}  // namespace

Progress terminal_progress() {
  if (isatty(STDERR_FILENO) == 0) return [](double, const std::string&) {};
  return [next = std::make_shared<double>(0)](double share, const std::string& what) {
    if (share >= 1) return clear_progress();
    const double time = now();
    if (bar_is_shown && time < *next) return;
    *next = time + kBetweenDrawings;
    constexpr int kWidth = 30;
    const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kWidth);
    fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f} %  {:.60}", "", filled, "", kWidth - filled,
               std::clamp(share, 0.0, 1.0) * 100, what);
    std::fflush(stderr);
    bar_is_shown = true;
  };
}

void clear_progress() {
  if (!bar_is_shown.exchange(false)) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace ridge::base
