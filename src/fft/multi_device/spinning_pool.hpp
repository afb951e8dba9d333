// Threads that wait for work, by spinning for a while and then by sleeping: a run lasts a millisecond, and waking a
// sleeper takes a good part of that.
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

// Throws std::system_error where the system gives no thread; tests give one that does.
using ThreadStarter = std::function<std::thread(std::function<void()> work)>;
std::thread start_thread(std::function<void()> work);

class SpinningPool {
 public:
  // The first member is the caller of run(). Error{unavailable} where the system has not threads enough.
  explicit SpinningPool(std::size_t members, const ThreadStarter& start = start_thread);
  ~SpinningPool();
  std::size_t members() const { return threads_.size() + 1; }
  // task(member) by every member at once; returns when all are done and rethrows the first failure.
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
