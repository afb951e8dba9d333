// Plans that transform memory of other libraries by its addresses.
#pragma once
#include <cstdint>

namespace ridge::python {

class Addressed {
 public:
  Addressed() = default;
  Addressed(const Addressed&) = delete;
  Addressed& operator=(const Addressed&) = delete;
  virtual ~Addressed() = default;
  // Called with Python's lock. On a device the work is enqueued on the stream, and nothing is waited for; on the host
  // `stream` is ignored. `inverse`: of plans for both directions. The caller guarantees packed arrays of the plan's
  // sizes.
  virtual void transform(std::uintptr_t in, std::uintptr_t out, bool inverse, std::uintptr_t stream) = 0;
};

}  // namespace ridge::python
