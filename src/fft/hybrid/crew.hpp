// Threads that wait for work: one a lane, so that starting a run costs a notification.
#pragma once
#include <condition_variable>
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
  // task(member) by every member at once; returns when all are done and rethrows the first failure.
  void run(const std::function<void(std::size_t member)>& task);

 private:
  void work(std::size_t member);
  void call(std::size_t member);

  std::mutex mutex_;
  std::condition_variable start_, end_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t round_ = 0, busy_ = 0;
  bool over_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace ridge::fft
