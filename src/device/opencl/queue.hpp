// OpenCL command queues and events behind the interface of device/backend.hpp.
#pragma once
#include <memory>

#include "device/backend.hpp"
#include "device/opencl/status.hpp"

namespace ridge::detail::opencl {

class ClDevice;

class ClEvent final : public EventState {
 public:
  ClEvent(std::shared_ptr<ClDevice> device, Owned<cl_event> event);
  void wait() override;
  bool done() override;
  double seconds_until(EventState& later) override;
  cl_event get() const { return event_.get(); }

 private:
  std::shared_ptr<ClDevice> device_;
  Owned<cl_event> event_;
};

class ClQueue final : public QueueState {
 public:
  explicit ClQueue(std::shared_ptr<ClDevice> device);
  ~ClQueue() override;

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
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(queue_->get()); }

 private:
  void fill_part(MemoryState& to, std::byte value, std::size_t pattern, std::size_t bytes, std::size_t origin);

  std::shared_ptr<ClDevice> owner_;
  std::shared_ptr<const Owned<cl_command_queue>> queue_;
};

}  // namespace ridge::detail::opencl
