// Keeps fork() away from code that holds locks or fills static tables which a child would need.
//
// The child of a fork has one thread. A lock that another thread held stays locked in it for ever, and so does a static
// table that another thread was filling. A thread holds a ForkGate while it plans, lists devices or reads wisdom;
// fork() waits until no thread does (pthread_atfork). The wait is bounded, because the planning thread may need
// something that the forking one holds (Python's interpreter lock, for a warning). In a child that was made regardless
// a ForkGate is an Error, so that it does not hang.
#pragma once
#include <cstddef>

namespace ridge::base {

class ForkGate {
 public:
  ForkGate();  // may be held several times by one thread
  ~ForkGate();
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;
};

// How long fork() waits; 10 s unless a test says otherwise.
void set_fork_patience(double seconds);

}  // namespace ridge::base
