// OpenCL device memory: allocations, with guard zones in checking mode.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "device/backend.hpp"
#include "device/opencl/status.hpp"

namespace ridge::detail::opencl {

class ClDevice;

// One cl_mem with its fences; with fences, the caller's bytes are a sub-buffer.
class ClAllocation final : public Allocation {
 public:
  ClAllocation(std::shared_ptr<ClDevice> device, std::size_t bytes, std::size_t fence, const BufferOptions& options);
  ~ClAllocation() override;

  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(argument()); }
  std::byte* map() override;
  void unmap() override;
  GuardedMemory* guard() override { return guard_.get(); }

  cl_mem argument() const { return view_ ? view_.get() : whole_.get(); }
  cl_mem whole() const { return whole_.get(); }
  // Converts an offset from the caller's first byte to one in whole().
  std::size_t origin(std::ptrdiff_t offset) const {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(fence_) + offset);
  }

 private:
  void make();
  void make_resident();
  [[noreturn]] void fail(cl_int status, const char* doing) const;

  std::shared_ptr<ClDevice> device_;
  std::string name_;
  std::size_t bytes_;
  std::size_t fence_;
  bool visible_;                          // to the host
  std::size_t reserved_ = 0;              // of the device's memory
  std::unique_ptr<GuardedMemory> guard_;  // outlives the cl_mem that uses it
  Owned<cl_mem> whole_;
  Owned<cl_mem> view_;
  std::mutex mutex_;  // guards the two below
  std::byte* mapped_ = nullptr;
  int mappings_ = 0;
};

// Error{out_of_memory} with the buffer's name and size if the status means that, else Error{device}.
[[noreturn]] void throw_memory_error(cl_int status, const DeviceInfo& info, const std::string& buffer,
                                     std::size_t bytes, const char* doing);

}  // namespace ridge::detail::opencl
