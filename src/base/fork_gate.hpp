// Delays fork() while another thread holds locks or fills static tables that the child would need.
//
// The child of a fork has a single thread. A lock that another thread held stays locked in the child, and a static
// table that another thread was filling stays incomplete. A thread holds a ForkGate while it plans, lists devices or
// reads wisdom; fork() waits until no thread holds one (pthread_atfork). The wait is bounded, because the planning
// thread may need something that the forking thread holds (Python's interpreter lock, for a warning). If the wait ran
// out, a ForkGate in the child throws Error instead of hanging.
#pragma once
#include <cstddef>

namespace ridge::base {

class ForkGate {
 public:
  ForkGate();  // one thread may hold it several times
  ~ForkGate();
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;
};

bool fork_waits();  // a fork waits for the threads that hold a gate

// Longest time that fork() waits. The default is 10 s.
void set_fork_wait_limit(double seconds);

}  // namespace ridge::base
