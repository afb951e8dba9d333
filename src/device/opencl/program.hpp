// OpenCL programs and kernels, compiled from source or read from the compile cache.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/opencl/status.hpp"

namespace ridge::detail::opencl {

class ClDevice;

class ClKernel final : public KernelState {
 public:
  ClKernel(std::shared_ptr<ClDevice> device, Owned<cl_kernel> kernel, const std::string& name);
  void launch(cl_command_queue queue, const Launch& shape, const std::vector<Argument>& arguments);

 private:
  enum class Wants { unknown, buffer, value };
  void ask_for_attributes();
  void check_launch(const Launch& shape, const std::vector<Argument>& arguments) const;
  void set_argument(std::size_t index, const Argument& argument);

  std::shared_ptr<ClDevice> owner_;
  Owned<cl_kernel> kernel_;
  std::vector<Wants> parameters_;
  std::array<std::size_t, 3> required_items_{};  // zeros if the kernel accepts any size
  // Arguments are state of the cl_kernel: setting them and enqueueing must be one step.
  std::mutex mutex_;
};

class ClProgram final : public ProgramState {
 public:
  ClProgram(std::shared_ptr<ClDevice> device, KeptProgram program, const std::string& name, bool from_cache);
  std::shared_ptr<KernelState> kernel(const std::string& name) override;

 private:
  std::shared_ptr<ClDevice> device_;
  KeptProgram program_;
};

// From the compile cache if it holds a binary that the driver accepts, else from source.
std::shared_ptr<ProgramState> compile_program(const std::shared_ptr<ClDevice>& device, const KernelSource& source);

// Cache key: everything that a compiled binary depends on. Declared for the tests.
std::string program_key(const ClDevice& device, const KernelSource& source);

}  // namespace ridge::detail::opencl
