// Allocations of the CUDA back end: device memory and page-locked host memory.
#include <fmt/format.h>

#include "base/text.hpp"
#include "device/cuda/state.hpp"

namespace ridge::detail {
namespace {

std::string human(std::size_t bytes) { return base::human_bytes(static_cast<double>(bytes)); }

[[noreturn]] void no_room(CudaDevice& device, std::size_t bytes, const BufferOptions& options) {
  if (options.kind != MemoryKind::device) {
    throw Error(
        ErrorKind::out_of_memory,
        fmt::format("{}: no room for buffer \"{}\" of {} ({} bytes) in page-locked host memory; make it smaller "
                    "or of kind device",
                    device.label(), options.name, human(bytes), bytes));
  }
  std::size_t free = 0, total = 0;
  device.driver.mem_get_info(&free, &total);
  throw Error(ErrorKind::out_of_memory,
              fmt::format("{}: no room for buffer \"{}\" of {} ({} bytes): {} of {} are free", device.label(),
                          options.name, human(bytes), bytes, human(free), human(total)));
}

// Portable: page-locked for every context of the process, so that copies to a second device are fast too. Mapped:
// implied by unified addressing, but requesting it guarantees a device address.
unsigned host_flags(const BufferOptions& options) {
  const unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
  return options.write_combined ? flags | CU_MEMHOSTALLOC_WRITECOMBINED : flags;
}

}  // namespace

CudaAllocation::CudaAllocation(std::shared_ptr<CudaDevice> owner, std::size_t bytes, std::size_t fence_bytes,
                               const BufferOptions& options)
    : device(std::move(owner)), fence(fence_bytes) {
  device->make_current();
  const CudaDriver& driver = device->driver;
  const std::size_t whole = bytes + 2 * fence;
  if (whole < bytes) no_room(*device, bytes, options);
  const bool of_device = options.kind == MemoryKind::device;
  const CUresult result =
      of_device ? driver.mem_alloc(&on_device, whole) : driver.mem_host_alloc(&on_host, whole, host_flags(options));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) no_room(*device, bytes, options);
  if (result != CUDA_SUCCESS) device->fail(result, fmt::format("allocating buffer \"{}\"", options.name));
  if (of_device) return;
  // Write-combined memory has another address on the device than on the host.
  const CUresult mapped = driver.mem_host_get_device_pointer(&on_device, on_host, 0);
  if (mapped != CUDA_SUCCESS) {
    driver.mem_free_host(on_host);
    device->fail(mapped, fmt::format("mapping buffer \"{}\"", options.name));
  }
}

bool CudaDevice::page_locked(const void* host) {
  make_current();
  // Unlike cuPointerGetAttribute(), this call accepts memory that the driver does not know, and leaves the type at 0.
  unsigned type = 0;
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void* into = &type;
  const CUresult result = driver.pointer_get_attributes(
      1, &attribute, &into, static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(host)));
  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST;
}

// Work that uses the memory may be pending, and the driver does not guarantee that freeing waits for it.
CudaAllocation::~CudaAllocation() {
  if (!device->make_current_quietly()) return;
  device->driver.context_synchronize();
  if (on_host) {
    device->driver.mem_free_host(on_host);
  } else {
    device->driver.mem_free(on_device);
  }
}

}  // namespace ridge::detail
