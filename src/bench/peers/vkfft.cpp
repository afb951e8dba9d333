// Selects VkFFT's CUDA or OpenCL build for a device.
#include "bench/peers/vkfft.hpp"

namespace ridge::cli {
namespace {

PeerRun prepare(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
#if defined(RIDGE_HAVE_CUDA)
  if (queue.device().info().backend == Backend::cuda) return vkfft_on_cuda(problem, in, out, queue);
#endif
#if defined(RIDGE_HAVE_OPENCL)
  if (queue.device().info().backend == Backend::opencl) return vkfft_on_opencl(problem, in, out, queue);
#endif
  throw Error(ErrorKind::unavailable, "VkFFT was not built for this device's back end (CUDA or OpenCL)");
}

}  // namespace

Peer vkfft_peer() { return {.name = "vkfft", .prepare_on_device = prepare}; }

}  // namespace ridge::cli
