// One OpenCL device with a context of its own. Listing devices must be quick, so the context is made at first use.
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
  cl_command_queue service_queue();  // for maps and residency, apart from the callers' queues
  const Timing& timing();            // decided by a self-test once
  const Traits& traits() const { return traits_; }
  // A queue for a caller. Where Traits::one_queue says so all callers have the same one, which is in order like any.
  std::shared_ptr<const Owned<cl_command_queue>> make_queue();

  // Books `bytes` of the device's memory; false where that is more than it has. Some drivers (PoCL among them) hand out
  // more than there is and fail, or have the process killed, only once it is touched.
  bool reserve(std::size_t bytes);
  void give_back(std::size_t bytes) { reserved_ -= bytes; }

  // Programs that were compiled lately, for drivers that keep what they compile but take long to find it again.
  KeptProgram kept(const std::string& key);
  void keep(const std::string& key, const KeptProgram& program);

  // Set where this driver's compiler refuses the prelude's inline PTX; see program.cpp.
  std::atomic<bool> without_ptx{false};
  // Set where its compiler does not take the built-in functions of kernels/builtins.cl for Clang's.
  std::atomic<bool> all_builtins{false};

 private:
  cl_device_id device_;
  Traits traits_;
  std::atomic<std::size_t> reserved_{0};
  std::mutex mutex_;  // guards the four below while they are made
  Owned<cl_context> context_;
  Owned<cl_command_queue> service_queue_;
  std::weak_ptr<const Owned<cl_command_queue>> callers_queue_;  // Traits::one_queue
  std::optional<Timing> timing_;
  std::mutex kept_mutex_;
  std::deque<std::pair<std::string, KeptProgram>> kept_;
};

}  // namespace ridge::detail::opencl
