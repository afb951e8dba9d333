// Prints each warning once per process, and progress lines on a terminal.
#include "base/log.hpp"

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace ridge::base {
namespace {

// Limits the memory of a program that runs for months.
constexpr std::size_t kMostRemembered = 4096;

struct State {
  std::mutex mutex;
  std::unordered_set<std::string> said;
  WarningListener listener;
};

// Never destroyed: a static object's destructor may still warn.
State& state() {
  static State* const the_state = new State;
  return *the_state;
}

// Parts of a message may come from a damaged file: makes it a single line without terminal control characters.
std::string one_line(const std::string& message) {
  std::string line = message;
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return line;
}

}  // namespace

void warn(const std::string& message) {
  const std::string line = one_line(message);
  WarningListener listener;
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    listener = s.listener;
    if (!listener) {
      if (s.said.contains(line)) return;
      if (s.said.size() < kMostRemembered) s.said.insert(line);
    }
  }
  // Outside the lock, because a listener may itself warn. It receives every warning, also repeated ones.
  if (listener) {
    listener(line);
  } else {
    std::fprintf(stderr, "ridge: warning: %s\n", line.c_str());
  }
}

WarningListener on_warning(WarningListener listener) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return std::exchange(s.listener, std::move(listener));
}

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
