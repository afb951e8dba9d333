// Work that is recorded once and enqueued with one call: a CUDA graph, or a list of launches on OpenCL devices.
//
//   const ridge::Recording chain(gpu, [&](ridge::Queue& queue) {
//     fft.enqueue_forward(queue, in, spectrum);
//     filter.enqueue(queue, spectrum, out);
//   });
//   for (;;) chain.enqueue(queue);   // the same buffers each time
//
// A recording owns its kernels and buffers, so these may go out of scope. It uses the work areas of the recorded plans:
// do not run such a plan on another queue while the recording runs.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <ridge/device.hpp>

namespace ridge {

class Recording {
 public:
  using Work = std::function<void(Queue&)>;
  // Calls `work` with a queue that records copies, fills and launches instead of running them. Host memory of uploads
  // and downloads must stay alive. Error on the host, and if `work` waits for the queue.
  Recording(const Device& device, const Work& work);
  // Many problems in one launch: the device may run independent works at the same time.
  Recording(const Device& device, const std::vector<Work>& independent);

  void enqueue(Queue& queue) const;
  std::size_t size() const;  // recorded copies, fills and launches
  bool is_graph() const;     // true: the driver enqueues all of it with one call

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ridge
