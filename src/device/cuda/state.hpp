// The CUDA back end's objects. A device works in its primary context, which other CUDA code of the process shares, and
// makes it current on whichever thread calls.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/loader.hpp"

namespace ridge::detail {

struct CudaDevice : DeviceState, std::enable_shared_from_this<CudaDevice> {
  CudaDevice(const CudaDriver& cuda, CUdevice ordinal, int capability)
      : driver(cuda), handle(ordinal), compute(capability) {}
  ~CudaDevice() override;

  std::unique_ptr<Allocation> allocate(std::size_t bytes, std::size_t fence, const BufferOptions& options) override;
  std::shared_ptr<QueueState> queue() override;
  std::shared_ptr<QueueState> queue_over(std::uintptr_t native) override;
  std::shared_ptr<GraphState> graph_of(std::uintptr_t queue, const std::function<void()>& calls) override;
  void enqueue(GraphState& graph, std::uintptr_t queue) override;
  std::shared_ptr<ProgramState> compile(const KernelSource& source) override;
  bool page_locked(const void* host) override;
  TileMap tile_map(MemoryState& array, const TileMapShape& shape) override;

  // The context is created on first use: it takes hundreds of megabytes and milliseconds, which listing devices must
  // not cost.
  void make_current();
  // For destructors: false if the context was never created, or the driver has shut down at process exit.
  bool make_current_quietly() noexcept;

  void check(CUresult result, const char* doing) {
    if (result != CUDA_SUCCESS) fail(result, doing);
  }
  [[noreturn]] void fail(CUresult result, const std::string& doing);
  std::string describe(CUresult result) const;  // "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access ...)"
  std::string label() const { return info.id + " (" + info.name + ")"; }

  // A fault on the device is reported by a later call, so the last launch is remembered for its message.
  void remember_launch(const std::shared_ptr<const std::string>& kernel);

  const CudaDriver& driver;
  const CUdevice handle;
  const int compute;  // 90 for sm_90

 private:
  std::once_flag retained_;
  std::atomic<CUcontext> context_{nullptr};
  std::mutex last_launch_mutex_;
  std::shared_ptr<const std::string> last_launch_;
};

struct CudaAllocation : Allocation {
  CudaAllocation(std::shared_ptr<CudaDevice> owner, std::size_t bytes, std::size_t fence_bytes,
                 const BufferOptions& options);
  ~CudaAllocation() override;
  std::uintptr_t native() const override { return static_cast<std::uintptr_t>(on_device + fence); }
  std::byte* map() override { return on_host ? static_cast<std::byte*>(on_host) + fence : nullptr; }
  void unmap() override {}

  std::shared_ptr<CudaDevice> device;
  std::size_t fence;
  CUdeviceptr on_device = 0;
  void* on_host = nullptr;  // null for MemoryKind::device
};

struct CudaEvent : EventState {
  explicit CudaEvent(std::shared_ptr<CudaDevice> owner);
  ~CudaEvent() override;
  void wait() override;
  bool done() override;
  double seconds_until(EventState& later) override;

  std::shared_ptr<CudaDevice> device;
  CUevent handle = nullptr;
};

struct CudaModule {
  CudaModule(std::shared_ptr<CudaDevice> owner, CUmodule module) : device(std::move(owner)), handle(module) {}
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule();

  std::shared_ptr<CudaDevice> device;
  CUmodule handle;
};

struct CudaKernel : KernelState {
  CudaKernel(std::shared_ptr<CudaModule> owner, CUfunction handle, const std::string& kernel_name,
             std::optional<std::size_t> parameters);  // number of parameters in the text
  void check_arguments(const std::vector<Argument>& arguments) const;
  void allow_local_memory(std::size_t bytes);  // more than 48 KB must be enabled

  std::shared_ptr<CudaModule> module;
  CUfunction function;
  std::shared_ptr<const std::string> shared_name;
  bool early = false;     // its text has AFTER_PREVIOUS_KERNEL(): the groups may start while earlier kernels end
  bool together = false;  // cooperative launch: all groups run at the same time (TOGETHER in the dialect)
  bool parameters_known =
      false;  // false with drivers before 12.4, or if the text is ambiguous: arguments are then not checked
  std::vector<std::size_t> parameter_bytes;

 private:
  std::size_t local_array_bytes_ = 0;
  std::atomic<std::size_t> local_block_allowed_{0};
  std::mutex local_block_mutex_;
};

struct CudaProgram : ProgramState {
  std::shared_ptr<KernelState> kernel(const std::string& kernel_name) override;

  std::shared_ptr<CudaModule> module;
  KernelSource source;  // its text and defines

 private:
  // One object per kernel: its local memory limit is a property of the driver's function.
  std::mutex kernels_mutex_;
  std::map<std::string, std::shared_ptr<CudaKernel>> kernels_;
};

struct CudaQueue : QueueState {
  explicit CudaQueue(std::shared_ptr<CudaDevice> owner);
  CudaQueue(std::shared_ptr<CudaDevice> owner, CUstream others);
  ~CudaQueue() override;
  void upload(const void* from, MemoryState& to, std::size_t bytes, std::ptrdiff_t offset) override;
  void download(MemoryState& from, void* to, std::size_t bytes, std::ptrdiff_t offset) override;
  void copy(MemoryState& from, MemoryState& to, std::size_t bytes, std::ptrdiff_t from_offset,
            std::ptrdiff_t to_offset) override;
  void upload(const void* from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
              const ByteBox& box) override;
  void download(MemoryState& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                const ByteBox& box) override;
  void copy(MemoryState& from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
            const ByteBox& box) override;
  void fill(MemoryState& to, std::byte value, std::size_t bytes, std::ptrdiff_t offset) override;
  void launch(KernelState& kernel, const Launch& shape, const std::vector<Argument>& arguments) override;
  std::shared_ptr<EventState> record() override;
  void wait_for(EventState& event) override;
  void finish() override;
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(stream); }

  std::shared_ptr<CudaDevice> cuda;
  CUstream stream = nullptr;
  bool own = true;
};

}  // namespace ridge::detail
