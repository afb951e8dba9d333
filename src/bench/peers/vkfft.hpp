// Peer VkFFT, a header compiled for one back end at a time. Two files include it, each in its own namespace, in which
// the driver calls are pointers resolved at run time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "bench/peers/peer.hpp"

namespace ridge::cli {

PeerRun vkfft_on_opencl(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue);
PeerRun vkfft_on_cuda(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue);

// Fills the common part of both back ends' VkFFTConfiguration; fastest axis first, as in VkFFT. Reads the input buffer
// and writes the output buffer, which also holds intermediate results.
template <class Configuration, class Transform>
void describe_to_vkfft(const PeerProblem& problem, const Buffer& in, const Buffer& out, Transform& transform,
                       Configuration& wanted) {
  if (problem.inverse) throw Error(ErrorKind::unavailable, "VkFFT's inverse is in place only");
  const std::size_t axes = problem.shape.size();
  wanted.FFTdim = axes;
  std::uint64_t in_stride = 1, out_stride = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::uint64_t length = problem.shape[axes - 1 - axis];
    wanted.size[axis] = length;
    in_stride *= length;
    out_stride *= problem.real && axis == 0 ? length / 2 + 1 : length;
    wanted.inputBufferStride[axis] = in_stride;
    wanted.bufferStride[axis] = out_stride;
  }
  wanted.numberBatches = problem.batch;
  wanted.performR2C = problem.real ? 1 : 0;
  wanted.doublePrecision = problem.float64 ? 1 : 0;
  wanted.isInputFormatted = 1;
  wanted.makeForwardPlanOnly = 1;
  transform.in = reinterpret_cast<decltype(transform.in)>(in.native());
  transform.out = reinterpret_cast<decltype(transform.out)>(out.native());
  transform.in_bytes = in.size();
  transform.out_bytes = out.size();
  wanted.inputBuffer = &transform.in;
  wanted.inputBufferSize = &transform.in_bytes;
  wanted.buffer = &transform.out;
  wanted.bufferSize = &transform.out_bytes;
}

}  // namespace ridge::cli
