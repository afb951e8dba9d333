// OpenCL status codes as names and errors, and owners of its objects.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <ridge/error.hpp>

#include "device/opencl/loader.hpp"

namespace ridge::detail::opencl {

std::string status_name(cl_int status);  // "CL_OUT_OF_RESOURCES (-5)"

// True for codes that mean insufficient memory for a buffer.
bool means_no_room(cl_int status);

// Error{device} "opencl:0 (name): copying 'samples' failed: CL_..." unless the status is CL_SUCCESS. `device` is the
// id.
void check(cl_int status, std::string_view device, std::string_view doing);

inline void release(cl_context object) { api().ReleaseContext(object); }
inline void release(cl_command_queue object) { api().ReleaseCommandQueue(object); }
inline void release(cl_mem object) { api().ReleaseMemObject(object); }
inline void release(cl_program object) { api().ReleaseProgram(object); }
inline void release(cl_kernel object) { api().ReleaseKernel(object); }
inline void release(cl_event object) { api().ReleaseEvent(object); }

template <class Object>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Object object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr) release(object_);
  }
  Object get() const { return object_; }
  Object* address() { return &object_; }  // for calls that write a new object here
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
};

using KeptProgram = std::shared_ptr<const Owned<cl_program>>;

}  // namespace ridge::detail::opencl
