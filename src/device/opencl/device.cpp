// Creates the context of an OpenCL device on first use, and its memory, queues and programs.
#include "device/opencl/device.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "device/opencl/memory.hpp"
#include "device/opencl/program.hpp"
#include "device/opencl/queue.hpp"

namespace ridge::detail {
namespace opencl {
namespace {

Owned<cl_context> create_context(cl_device_id device, const std::string& id) {
  cl_int status = CL_SUCCESS;
  Owned<cl_context> context(api().CreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  check(status, id, "creating a context");
  return context;
}

Owned<cl_command_queue> create_queue(cl_context context, cl_device_id device, const std::string& id) {
  cl_int status = CL_SUCCESS;
  Owned<cl_command_queue> queue(api().CreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status));
  check(status, id, "creating a queue");
  return queue;
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (api().GetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> list(count);
  if (api().GetPlatformIDs(count, list.data(), nullptr) != CL_SUCCESS) return {};
  return list;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  if (api().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_device_id> list(count);
  if (api().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, list.data(), nullptr) != CL_SUCCESS) return {};
  return list;
}

void list_platform(cl_platform_id platform, std::vector<std::shared_ptr<DeviceState>>& found,
                   std::vector<std::string>& notes) {
  const std::string name = platform_text(platform, CL_PLATFORM_NAME);
  const auto devices = devices_of(platform);
  if (devices.empty()) notes.push_back(fmt::format("OpenCL: platform \"{}\" has no device", name));
  for (const cl_device_id device : devices) {
    if (const std::string reason = why_unusable(device); !reason.empty()) {
      notes.push_back(fmt::format("OpenCL: device \"{}\" of platform \"{}\" {} and is left out",
                                  device_text(device, CL_DEVICE_NAME), name, reason));
      continue;
    }
    Description description = describe(platform, device);
    description.info.id = fmt::format("opencl:{}", found.size());
    found.push_back(std::make_shared<ClDevice>(device, std::move(description)));
  }
}

}  // namespace

ClDevice::ClDevice(cl_device_id device, Description description) : device_(device), traits_(description.traits) {
  info = std::move(description.info);
}

std::unique_ptr<Allocation> ClDevice::allocate(std::size_t bytes, std::size_t fence, const BufferOptions& options) {
  return std::make_unique<ClAllocation>(shared_from_this(), bytes, fence, options);
}

std::shared_ptr<QueueState> ClDevice::queue() { return std::make_shared<ClQueue>(shared_from_this()); }

std::shared_ptr<ProgramState> ClDevice::compile(const KernelSource& source) {
  return compile_program(shared_from_this(), source);
}

bool ClDevice::reserve(std::size_t bytes) {
  std::size_t before = reserved_;
  do {
    if (info.limits.memory != 0 && (before > info.limits.memory || bytes > info.limits.memory - before)) return false;
  } while (!reserved_.compare_exchange_weak(before, before + bytes));
  return true;
}

cl_context ClDevice::context() {
  std::lock_guard lock(mutex_);
  if (!context_) context_ = create_context(device_, info.id);
  return context_.get();
}

std::shared_ptr<const Owned<cl_command_queue>> ClDevice::make_queue() {
  const cl_context made = context();
  const auto make = [&] {
    return std::make_shared<const Owned<cl_command_queue>>(create_queue(made, device_, info.id));
  };
  if (!traits_.one_queue) return make();
  std::lock_guard lock(mutex_);
  auto queue = callers_queue_.lock();
  if (!queue) callers_queue_ = queue = make();
  return queue;
}

cl_command_queue ClDevice::service_queue() {
  const cl_context made = context();
  std::lock_guard lock(mutex_);
  if (!service_queue_) service_queue_ = create_queue(made, device_, info.id);
  return service_queue_.get();
}

const Timing& ClDevice::timing() {
  const cl_context made = context();
  std::lock_guard lock(mutex_);
  if (!timing_) {
    const Owned<cl_command_queue> queue = create_queue(made, device_, info.id);
    timing_ = choose_timing(made, queue.get(), traits_.timer_step, info.id);
  }
  return *timing_;
}

KeptProgram ClDevice::kept(const std::string& key) {
  std::lock_guard lock(kept_mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == key; });
  return found == kept_.end() ? nullptr : found->second;
}

void ClDevice::keep(const std::string& key, const KeptProgram& program) {
  constexpr std::size_t kMost = 64;
  std::lock_guard lock(kept_mutex_);
  kept_.emplace_back(key, program);
  if (kept_.size() > kMost) kept_.pop_front();
}

}  // namespace opencl

std::vector<std::shared_ptr<DeviceState>> enumerate_opencl(std::vector<std::string>& notes) {
  std::vector<std::shared_ptr<DeviceState>> found;
  std::string missing;
  if (!opencl::available(missing)) {
    notes.push_back(missing);
    return found;
  }
  try {
    const auto platforms = opencl::platforms();
    if (platforms.empty()) {
      notes.emplace_back("OpenCL: libOpenCL.so.1 is installed, but no platform is; apt install pocl-opencl-icd");
    }
    for (const cl_platform_id platform : platforms) opencl::list_platform(platform, found, notes);
  } catch (const std::exception& error) {
    notes.push_back(fmt::format("OpenCL: the devices could not be listed: {}", error.what()));
  }
  return found;
}

}  // namespace ridge::detail
