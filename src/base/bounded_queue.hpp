// A bounded queue between two threads, for reading ahead and writing behind.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace ridge::base {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity = std::numeric_limits<std::size_t>::max()) : capacity_(capacity) {}

  // Waits for space. False if the queue has ended.
  bool put(T element) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return elements_.size() < capacity_ || ended_; });
    if (ended_) return false;
    elements_.push_back(std::move(element));
    changed_.notify_all();
    return true;
  }
  // Waits for an element; empty at the end. Rethrows the other thread's exception after the last element.
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
  // As end(), and drops the elements that were not taken.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    failure_ = std::move(failure);
    elements_.clear();
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
  std::size_t capacity_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace ridge::base
