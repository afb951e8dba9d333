// Runs the background thread that measures quick plans and exchanges them.
#include "plan/improve.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/fork_gate.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"

namespace ridge::planner {
namespace {

constexpr std::size_t kMostJobs = 256;
constexpr std::chrono::seconds kLongestEnd{10};  // a process that ends waits this long for a running trial

constexpr std::chrono::milliseconds kForkPoll{5};

struct Interrupted : std::exception {};  // ends a measurement before its next trial

struct Job {
  Options options;
  std::function<void(const Options&)> work;
};

// Written under the mutex. Never destroyed: the thread may use it while the process ends.
struct Background {
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<Job> jobs{};
  std::size_t holds = 0;
  bool started = false, stopping = false;
  bool working = false;  // a job has begun
  bool busy = false;     // the thread times a candidate or exchanges a plan
  const ::pid_t process = ::getpid();
};

// The child of a fork has no thread: it starts with an empty state and the Holds of the forking thread.
Background& background() {
  static std::atomic<Background*> current{new Background};
  Background* known = current.load();
  if (known->process != ::getpid()) {
    auto* const fresh = new Background;
    fresh->holds = known->holds;
    if (current.compare_exchange_strong(known, fresh)) return *fresh;
  }
  return *current.load();
}

// Waits while a Hold exists. Called before each trial and before an exchange, without a trial running.
void may_continue(Background& state) {
  std::unique_lock lock(state.mutex);
  state.busy = false;
  state.changed.notify_all();
  while (state.holds > 0 && !state.stopping && !base::fork_waits()) state.changed.wait_for(lock, kForkPoll);
  if (state.stopping || base::fork_waits()) throw Interrupted();
  state.busy = true;
}

// True if the job must be done again: a fork waited for the end of the measurement.
bool interrupted(Background& state, const Job& job) {
  Options measuring = job.options;
  measuring.effort = Effort::measured;
  measuring.improve = Improve::never;
  measuring.progress = [&state](const Progress&) { may_continue(state); };
  try {
    const base::trace::Span span("improve", [] { return std::string(); });
    job.work(measuring);
  } catch (const Interrupted&) {
    return true;
  } catch (const std::exception&) {  // the plan stays as it is
  }
  return false;
}

void work(Background& state) {
  std::unique_lock lock(state.mutex);
  while (!state.stopping) {
    state.changed.wait(lock, [&] { return state.stopping || (!state.jobs.empty() && state.holds == 0); });
    if (state.stopping) break;
    Job job = std::move(state.jobs.front());
    state.jobs.pop_front();
    state.working = true;
    lock.unlock();
    const bool again = interrupted(state, job);
    while (base::fork_waits()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!again) job = {};  // the last copy of a plan may be destroyed here
    lock.lock();
    if (again) state.jobs.push_front(std::move(job));
    state.working = state.busy = false;
    state.changed.notify_all();
  }
}

void stop_at_exit() {
  Background& state = background();
  std::unique_lock lock(state.mutex);
  state.stopping = true;
  state.changed.notify_all();
  state.changed.wait_for(lock, kLongestEnd, [&] { return !state.working; });
}

// Starts the thread with all signals blocked and the lowest priority.
void start(Background& state) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([&state] {
      ::setpriority(PRIO_PROCESS, 0, 19);  // on Linux, of the calling thread
      work(state);
    }).detach();
    state.started = true;
  } catch (const std::system_error&) {  // no thread: plans stay as they are
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  static const int registered = std::atexit(stop_at_exit);
  static_cast<void>(registered);
}

Improve of_environment() {
  const char* const value = std::getenv("RIDGE_IMPROVE");
  const std::string_view text = value == nullptr ? "never" : value;
  if (text == "now") return Improve::now;
  if (text == "next_time") return Improve::next_time;
  if (text != "never") base::warn(fmt::format("RIDGE_IMPROVE must be never, next_time or now, got \"{}\"", text));
  return Improve::never;
}

std::atomic<Improve> default_improve{Improve::unspecified};

}  // namespace

void set_improve(Improve improve) { default_improve.store(improve); }

Improve improvement_of(const Options& options) {
  if (options.effort != Effort::quick) return Improve::never;
  if (options.improve != Improve::unspecified) return options.improve;
  const Improve set = default_improve.load();
  if (set != Improve::unspecified) return set;
  static const Improve environment = of_environment();
  return environment;
}

void in_background(const Options& options, std::function<void(const Options& measuring)> work) {
  Background& state = background();
  const std::lock_guard lock(state.mutex);
  if (state.stopping || state.jobs.size() >= kMostJobs) return;
  if (!state.started) start(state);
  if (!state.started) return;
  state.jobs.push_back({options, std::move(work)});
  state.changed.notify_all();
}

Hold::Hold() {
  Background& state = background();
  std::unique_lock lock(state.mutex);
  ++state.holds;
  state.changed.wait(lock, [&] { return !state.busy; });
}

Hold::~Hold() {
  Background& state = background();
  const std::lock_guard lock(state.mutex);
  --state.holds;
  state.changed.notify_all();
}

bool wait_for_improvements(double seconds) {
  if (!(seconds >= 0 && seconds <= 1e9))
    throw Error(ErrorKind::invalid_argument, fmt::format("plan: needs 0 to 1e9 seconds to wait, got {}", seconds));
  Background& state = background();
  std::unique_lock lock(state.mutex);
  return state.changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                [&] { return state.jobs.empty() && !state.working; });
}

}  // namespace ridge::planner
