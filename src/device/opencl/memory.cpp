// Allocates OpenCL buffers and page-locked memory, with the guard zones of checking mode.
#include "device/opencl/memory.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "device/opencl/device.hpp"

namespace ridge::detail::opencl {

void throw_memory_error(cl_int status, const DeviceInfo& info, const std::string& buffer, std::size_t bytes,
                        const char* doing) {
  if (means_no_room(status)) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("{} ({}) has no room for buffer \"{}\" of {} ({} bytes): {} while {}", info.id, info.name,
                            buffer, base::human_bytes(static_cast<double>(bytes)), bytes, status_name(status), doing));
  }
  throw Error(ErrorKind::device,
              fmt::format("{}: {} buffer \"{}\" failed: {}", info.id, doing, buffer, status_name(status)));
}

ClAllocation::ClAllocation(std::shared_ptr<ClDevice> device, std::size_t bytes, std::size_t fence,
                           const BufferOptions& options)
    : device_(std::move(device)),
      name_(options.name),
      bytes_(bytes),
      fence_(fence),
      visible_(options.kind != MemoryKind::device) {
  // Host memory counts only if the device shares it.
  const std::size_t wanted = visible_ && !device_->info.shares_host_memory ? 0 : bytes + 2 * fence;
  if (!device_->reserve(wanted)) fail(CL_MEM_OBJECT_ALLOCATION_FAILURE, "making");
  reserved_ = wanted;
  try {
    make();
  } catch (...) {
    device_->give_back(reserved_);
    throw;
  }
}

ClAllocation::~ClAllocation() {
  if (mapped_ != nullptr) {
    mappings_ = 1;
    unmap();
  }
  device_->give_back(reserved_);
}

void ClAllocation::make() {
  // No host-access flags, even for write_combined: they would forbid checking mode to read the fences.
  cl_mem_flags flags = CL_MEM_READ_WRITE | (visible_ ? CL_MEM_ALLOC_HOST_PTR : 0);
  std::size_t size = bytes_ + 2 * fence_;
  if (fence_ != 0 && device_->info.runs_on_host_cores) guard_ = GuardedMemory::make(fence_ + bytes_);
  if (guard_) {
    flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    size = fence_ + bytes_ + guard_->slack();
  }
  cl_int status = CL_SUCCESS;
  whole_ =
      Owned<cl_mem>(api().CreateBuffer(device_->context(), flags, size, guard_ ? guard_->data() : nullptr, &status));
  if (status != CL_SUCCESS) fail(status, "making");
  if (!visible_) make_resident();
  if (fence_ == 0) return;
  const cl_buffer_region region{fence_, bytes_};
  view_ = Owned<cl_mem>(
      api().CreateSubBuffer(whole_.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
  if (status != CL_SUCCESS) fail(status, "making");
}

// OpenCL may defer the allocation until a kernel first uses the memory; migrating it reports a shortage now. Drivers
// that cannot migrate are not an error.
void ClAllocation::make_resident() {
  const cl_command_queue queue = device_->service_queue();
  const cl_mem memory = whole_.get();
  cl_int status =
      api().EnqueueMigrateMemObjects(queue, 1, &memory, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, nullptr, nullptr);
  if (status == CL_SUCCESS) status = api().Finish(queue);
  if (means_no_room(status)) fail(status, "making");
}

std::byte* ClAllocation::map() {
  if (!visible_) return nullptr;
  std::lock_guard lock(mutex_);
  if (mappings_++ > 0) return mapped_;
  cl_int status = CL_SUCCESS;
  void* address = api().EnqueueMapBuffer(device_->service_queue(), whole_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                         fence_, bytes_, 0, nullptr, nullptr, &status);
  if (status != CL_SUCCESS || address == nullptr) {
    mappings_ = 0;
    fail(status == CL_SUCCESS ? CL_MAP_FAILURE : status, "mapping");
  }
  mapped_ = static_cast<std::byte*>(address);
  return mapped_;
}

// Called by destructors, so it warns instead of throwing.
void ClAllocation::unmap() {
  std::lock_guard lock(mutex_);
  if (mappings_ == 0 || --mappings_ > 0) return;
  const cl_command_queue queue = device_->service_queue();
  cl_int status =
      api().EnqueueUnmapMemObject(queue, whole_.get(), std::exchange(mapped_, nullptr), 0, nullptr, nullptr);
  if (status == CL_SUCCESS) status = api().Finish(queue);
  if (status != CL_SUCCESS) {
    base::warn(fmt::format("{}: unmapping buffer \"{}\" failed: {}", device_->info.id, name_, status_name(status)));
  }
}

void ClAllocation::fail(cl_int status, const char* doing) const {
  throw_memory_error(status, device_->info, name_, bytes_, doing);
}

}  // namespace ridge::detail::opencl
