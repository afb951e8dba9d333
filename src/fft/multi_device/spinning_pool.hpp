// A thread pool whose idle threads spin for a while before they sleep: a run takes about a millisecond, and waking a
// sleeping thread takes a good part of that.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ridge::fft {

// Throws std::system_error if no thread can be started. Tests pass a starter that fails.
using ThreadStarter = std::function<std::thread(std::function<void()> work)>;
std::thread start_thread(std::function<void()> work);

class SpinningPool {
 public:
  // The caller of run() is the first member. Throws Error{unavailable} if not enough threads can be started.
  explicit SpinningPool(std::size_t members, const ThreadStarter& start = start_thread);
  ~SpinningPool();
  std::size_t members() const { return threads_.size() + 1; }
  // Runs task(member) on all members concurrently; returns when all are done and rethrows the first failure.
  void run(const std::function<void(std::size_t member)>& task);

 private:
  void work(std::size_t member);
  void call(std::size_t member);
  void dismiss();

  std::mutex mutex_;
  std::condition_variable start_, end_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::size_t> busy_{0};
  std::atomic<bool> over_{false};
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace ridge::fft
