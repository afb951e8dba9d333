// A bounded queue between two threads, for reading ahead and writing behind.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

namespace ridge::cli {

template <class T>
class HandOver {
 public:
  explicit HandOver(std::size_t room) : room_(room) {}

  // Waits for space. False if the queue has ended.
  bool give(T element) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return elements_.size() < room_ || ended_; });
    if (ended_) return false;
    elements_.push_back(std::move(element));
    changed_.notify_all();
    return true;
  }
  // Waits for an element; empty at the end. Rethrows the producer's exception.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !elements_.empty() || ended_; });
    if (elements_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return {};
    }
    T element = std::move(elements_.front());
    elements_.pop_front();
    changed_.notify_all();
    return element;
  }
  void end(std::exception_ptr failure = {}) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (failure && !failure_) failure_ = failure;
    changed_.notify_all();
  }
  std::exception_ptr failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> elements_;
  std::size_t room_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace ridge::cli
