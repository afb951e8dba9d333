#include "base/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace ridge::base {

Progress terminal_progress() {
  if (isatty(STDERR_FILENO) == 0) return [](double, const std::string&) {};
  return [](double share, const std::string& what) {
    if (share >= 1) {
      fmt::print(stderr, "\r\033[K");
    } else {
      constexpr int kWidth = 30;
      const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kWidth);
      fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f} %  {:.60}", "", filled, "", kWidth - filled,
                 std::clamp(share, 0.0, 1.0) * 100, what);
    }
    std::fflush(stderr);
  };
}

}  // namespace ridge::base
