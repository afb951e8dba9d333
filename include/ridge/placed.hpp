// Run time of programs written by `ridge place --emit ridge`: compiled kernels and a queue on one of Ridgeline's
// devices. Generated code is meant to be read, and programs may use these classes directly.
#pragma once
#include <memory>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/placed/session.hpp>

namespace ridge {
class PinnedTransfer;
}

namespace ridge::placed {

// The kernels of a program, compiled once and shared by all calls. Empty if no device can compile them: the program
// then runs its original loops.
class Kernels {
 public:
  Kernels(const char* name, const char* source);  // on the device named by RIDGE_DEVICE, or the best one
  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  friend class KernelQueue;
  explicit Kernels(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// A queue on the kernels' device, for one session.
class KernelQueue {
 public:
  using Memory = Buffer;
  KernelQueue();  // for a session that the functions of several programs share: each call names its kernels by use()
  explicit KernelQueue(const Kernels& kernels);
  ~KernelQueue();
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;
  Kernels use(const Kernels& kernels);  // launches kernels of this program from now on; returns the one before
  bool there() const;
  Int memory() const;
  Int largest() const;  // largest single allocation
  Buffer allocate(Int bytes);
  void recycle(Buffer buffer);
  // `at`: byte of the buffer where the copied part begins.
  void upload(const void* from, const Buffer& to, Int bytes, Int at = 0);
  void download(const Buffer& from, void* to, Int bytes, Int at = 0);  // complete on return
  void copy(const Buffer& from, const Buffer& to, Int bytes);
  void clear(const Buffer& buffer, Int bytes);
  void uploaded();  // waits until the host may overwrite memory passed to upload()
  template <class... Actual>
  void launch(const char* kernel, const Grid& grid, const Actual&... actual) {
    launch_with(kernel, grid, {Argument(actual)...});
  }

 private:
  PinnedTransfer* staged(Int bytes);  // null if a plain copy is used
  void launch_with(const char* kernel, const Grid& grid, const std::vector<Argument>& arguments);
  struct State;
  std::unique_ptr<State> state_;
};

using Session = SessionOn<KernelQueue>;

}  // namespace ridge::placed
