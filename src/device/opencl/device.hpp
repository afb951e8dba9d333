// One OpenCL device with its own context. Listing devices must be quick, so the context is created on first use.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "device/backend.hpp"
#include "device/opencl/info.hpp"
#include "device/opencl/status.hpp"
#include "device/opencl/timing.hpp"

namespace ridge::detail::opencl {

class ClDevice final : public DeviceState, public std::enable_shared_from_this<ClDevice> {
 public:
  ClDevice(cl_device_id device, Description description);

  std::unique_ptr<Allocation> allocate(std::size_t bytes, std::size_t fence, const BufferOptions& options) override;
  std::shared_ptr<QueueState> queue() override;
  std::shared_ptr<ProgramState> compile(const KernelSource& source) override;

  cl_device_id device() const { return device_; }
  cl_context context();
  cl_command_queue service_queue();  // for maps and residency, separate from the callers' queues
  const Timing& timing();            // determined once by a self-test
  const Traits& traits() const { return traits_; }
  // A queue for a caller. With Traits::one_queue all callers share one, which is in order like any other.
  std::shared_ptr<const Owned<cl_command_queue>> make_queue();

  // Reserves `bytes` of the device's memory; false if that exceeds its capacity. Some drivers (PoCL among them)
  // allocate more than there is and fail, or get the process killed, on first use.
  bool reserve(std::size_t bytes);
  void give_back(std::size_t bytes) { reserved_ -= bytes; }

  // Recently compiled programs, for drivers whose own cache is slow.
  KeptProgram kept(const std::string& key);
  void keep(const std::string& key, const KeptProgram& program);

  // True if this driver's compiler refuses the prelude's inline PTX; see program.cpp.
  std::atomic<bool> without_ptx{false};
  // True if its compiler does not accept the declarations of builtins.cl instead of Clang's header.
  std::atomic<bool> all_builtins{false};

 private:
  cl_device_id device_;
  Traits traits_;
  std::atomic<std::size_t> reserved_{0};
  std::mutex mutex_;  // guards the creation of the four below
  Owned<cl_context> context_;
  Owned<cl_command_queue> service_queue_;
  std::weak_ptr<const Owned<cl_command_queue>> callers_queue_;  // Traits::one_queue
  std::optional<Timing> timing_;
  std::mutex kept_mutex_;
  std::deque<std::pair<std::string, KeptProgram>> kept_;
};

}  // namespace ridge::detail::opencl
