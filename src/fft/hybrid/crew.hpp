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

class Crew {
 public:
  explicit Crew(std::size_t members);  // the first one is the caller of run()
  ~Crew();
  std::size_t members() const { return threads_.size() + 1; }
  // task(member) by every member at once; returns when all are done and rethrows the first failure.
  void run(const std::function<void(std::size_t member)>& task);

 private:
  void work(std::size_t member);
  void call(std::size_t member);

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
