// Simulates a system that cannot start threads.
#pragma once
#include <pthread.h>

#include <cstddef>

namespace ridge::test {

// Makes thread creation fail during its lifetime: the default stack exceeds the address space.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
    worked_ = pthread_setattr_default_np(&huge) == 0;
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  bool worked() const { return worked_; }

 private:
  pthread_attr_t before_;
  bool worked_ = false;
};

}  // namespace ridge::test
