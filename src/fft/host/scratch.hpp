// Working memory of a plan: allocated at planning, lent to one caller at a time.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/aligned.hpp"

namespace ridge::fft {

template <class T>
struct Scratch {
  std::vector<base::AlignedArray<std::complex<T>>> threads;
  std::vector<std::complex<T>*> of_thread;     // the same, as an array of pointers for the kernels
  base::AlignedArray<std::complex<T>> shared;  // one for all threads
};

template <class T>
class ScratchPool {
 public:
  ScratchPool(std::size_t threads, std::size_t each, std::size_t shared, std::size_t prepared)
      : threads_(threads), each_(each), shared_(shared) {
    free_.reserve(64 + prepared);
    for (std::size_t i = 0; i < prepared; ++i) free_.push_back(make());
  }

  class Loan {
   public:
    Loan(ScratchPool& pool, std::unique_ptr<Scratch<T>> scratch) : pool_(pool), scratch_(std::move(scratch)) {}
    ~Loan() { pool_.give_back(std::move(scratch_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Scratch<T>& operator*() const { return *scratch_; }
    Scratch<T>* operator->() const { return scratch_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Scratch<T>> scratch_;
  };

  Loan lend() {
    if (const auto lock = lock_soon(); lock && !free_.empty()) {
      auto scratch = std::move(free_.back());
      free_.pop_back();
      return Loan(*this, std::move(scratch));
    }
    return Loan(*this, make());
  }

 private:
  std::unique_ptr<Scratch<T>> make() const {
    auto scratch = std::make_unique<Scratch<T>>();
    for (std::size_t i = 0; i < threads_; ++i) {
      scratch->threads.emplace_back(each_);
      scratch->of_thread.push_back(scratch->threads.back().data());
    }
    scratch->shared = base::AlignedArray<std::complex<T>>(shared_);
    return scratch;
  }
  // Scratch beyond the capacity of the list is freed.
  void give_back(std::unique_ptr<Scratch<T>> scratch) {
    const auto lock = lock_soon();
    if (lock && free_.size() < free_.capacity()) free_.push_back(std::move(scratch));
  }
  // The lock is held for nanoseconds. In the child of a fork it may stay locked forever, so the number of attempts is
  // limited.
  std::unique_lock<std::mutex> lock_soon() {
    constexpr int kTries = 10'000;
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int i = 0; !lock && i < kTries; ++i) {
      std::this_thread::yield();
      lock.try_lock();
    }
    return lock;
  }

  const std::size_t threads_, each_, shared_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch<T>>> free_;
};

}  // namespace ridge::fft
