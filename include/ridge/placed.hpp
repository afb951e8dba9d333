// What programs written by `ridge place` stand on where their device is one of Ridgeline's. People may use it too; the
// generated code is meant to be read.
#pragma once
#include <memory>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/placed/session.hpp>

namespace ridge::placed {

// The kernels of a program, compiled once and shared by all calls. On a machine without a device that takes them it is
// empty, and the program runs its own loops.
class Kernels {
 public:
  Kernels(const char* name, const char* source);  // the device is RIDGE_DEVICE's or the best one
  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

class StagedCopy;

// A queue of that device, for one session.
class KernelQueue {
 public:
  using Memory = Buffer;
  explicit KernelQueue(const Kernels& kernels);
  ~KernelQueue();
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;
  bool there() const;
  Int memory() const;
  Int largest() const;  // in one piece
  Buffer allocate(Int bytes);
  void recycle(Buffer buffer);
  void upload(const void* from, const Buffer& to, Int bytes);
  void download(const Buffer& from, void* to, Int bytes);  // it is there when this returns
  void copy(const Buffer& from, const Buffer& to, Int bytes);
  void clear(const Buffer& buffer, Int bytes);
  void uploaded();  // waits until the host may write again what was uploaded
  template <class... Actual>
  void launch(const char* kernel, const Grid& grid, const Actual&... actual) {
    launch_with(kernel, grid, {Argument(actual)...});
  }

 private:
  StagedCopy* staged(Int bytes);  // none where plain copies serve
  void launch_with(const char* kernel, const Grid& grid, const std::vector<Argument>& arguments);
  struct State;
  std::unique_ptr<State> state_;
};

using Session = SessionOn<KernelQueue>;

}  // namespace ridge::placed
