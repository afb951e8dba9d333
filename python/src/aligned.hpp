// Arrays of other libraries in CUDA memory may begin at any address; kernels need multiples of 16 bytes.
#pragma once
#include <ridge/device.hpp>

#include "plan/arguments.hpp"

namespace ridge::python {

// Memory for arrays that are not aligned, kept from call to call.
class AlignedCopy {
 public:
  // `given`, or its copy in aligned memory. `reads`: the values are needed.
  const Buffer& of(const Buffer& given, Queue& queue, bool reads) {
    if (aligned(given)) return given;
    if (!copy_ || copy_.size() < given.size()) copy_ = given.device().buffer(given.size(), {.name = "aligned copy"});
    if (reads) queue.copy(given, copy_, given.size());
    return copy_;
  }
  // After a plan has written to what of() returned.
  void return_to(const Buffer& given, Queue& queue) const {
    if (!aligned(given)) queue.copy(copy_, given, given.size());
  }

 private:
  static bool aligned(const Buffer& given) {
    return given.device().info().backend != Backend::cuda || given.native() % planner::kWidestAccess == 0;
  }

  Buffer copy_;
};

}  // namespace ridge::python
