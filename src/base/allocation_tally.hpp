// Counts the aligned memory (base/aligned.hpp) that a piece of code keeps.
#pragma once
#include <cstddef>

namespace ridge::base {

// Counts the bytes of aligned memory that the calling thread has allocated and not freed since the tally began.
class AllocationTally {
 public:
  AllocationTally();
  std::size_t bytes() const;

 private:
  std::ptrdiff_t before_;
};

}  // namespace ridge::base
