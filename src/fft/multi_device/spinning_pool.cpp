// Starts the pool's threads, which spin for a while before they sleep.
#include "fft/multi_device/spinning_pool.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/threads.hpp"

namespace ridge::fft {
namespace {

constexpr int kSpins = 5000;

template <class Condition>
bool soon(const Condition& condition) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (condition()) return true;
    base::relax();
  }
  return false;
}

}  // namespace

std::thread start_thread(std::function<void()> work) { return std::thread(std::move(work)); }

SpinningPool::SpinningPool(std::size_t members, const ThreadStarter& start) {
  threads_.reserve(members > 0 ? members - 1 : 0);
  try {
    for (std::size_t member = 1; member < members; ++member) {
      threads_.push_back(start([this, member] { work(member); }));
    }
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size();
    dismiss();
    throw Error(ErrorKind::unavailable,
                fmt::format("a transform over several devices needs {} threads beside the caller's, and the system "
                            "gave {}: {}; ask for fewer cores or raise the limit (ulimit -u)",
                            members - 1, started, error.what()));
  }
}

SpinningPool::~SpinningPool() { dismiss(); }

void SpinningPool::dismiss() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void SpinningPool::call(std::size_t member) {
  try {
    (*task_)(member);
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void SpinningPool::work(std::size_t member) {
  std::uint64_t seen = 0;
  const auto called = [&] { return over_ || round_ != seen; };
  while (true) {
    if (!soon(called)) {
      std::unique_lock lock(mutex_);
      start_.wait(lock, called);
    }
    if (over_) return;
    seen = round_;
    call(member);
    // Under the lock: the caller of run() may be about to sleep, and may destroy the pool once it reads 0.
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) end_.notify_one();
  }
}

void SpinningPool::run(const std::function<void(std::size_t)>& task) {
  {
    std::lock_guard lock(mutex_);
    task_ = &task;
    busy_ = threads_.size();
    failure_ = nullptr;
    ++round_;
  }
  start_.notify_all();
  call(0);
  soon([&] { return busy_ == 0; });
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace ridge::fft
