// Slab transforms of arrays in device memory: the device transforms, and blocks are exchanged without a copy in host
// memory where possible.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

#include "device/staging.hpp"
#include "mpi/device_memory.hpp"
#include "mpi/fft/pass.hpp"

namespace ridge::mpi::fft {

struct OnDeviceProblem {
  Points samples{}, spectrum{};  // z, y, x; with two axes z has one point
  bool real = false;
  double scale_forward = 1, scale_inverse = 1;
};

// Samples are slabs of the slowest axis, the spectrum slabs of the axis after it. The last axis is contiguous in both.
template <class T>
class OnDevice {
 public:
  OnDevice(const Communicator& all, const OnDeviceProblem& problem, const Device& device,
           const planner::Options& options);
  // Collective; returns when the result is enqueued. All processes must have left earlier runs.
  void run(bool inverse, Queue& queue, const Buffer& in, const Buffer& out);
  // As above, with host memory.
  void run(bool inverse, const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes);
  Box samples() const;  // this process's box, on three axes
  Box spectrum() const;
  std::string name() const;
  std::size_t bytes_sent() const;
  std::string explain() const;

 private:
  using Complex = std::complex<T>;
  struct Share {
    std::size_t begin = 0, end = 0;
    std::size_t count() const { return end - begin; }
  };
  std::size_t block(std::size_t slow, std::size_t middle) const { return slow * middle * inner_ * sizeof(Complex); }
  void forward(Queue& queue, const Buffer& in, const Buffer& out);
  void inverse(Queue& queue, const Buffer& in, const Buffer& out);
  Pitches in_plane(std::size_t rank) const;  // a rank's rows in every plane of this process

  Communicator all_;
  OnDeviceProblem problem_;
  Transport transport_;
  Staging staging_;
  std::size_t slow_ = 1, middle_ = 1, inner_ = 1;  // points of the axis cut first, of the axis cut second, of the rest
  std::vector<Share> slabs_, middle_shares_;       // of every process: its slab of the first axis, of the second
  std::optional<ridge::fft::Plan<T>> planes_, columns_;
  Buffer planes_buffer_;  // [slow of mine][middle][inner]
  std::optional<MessageMemory> out_,
      in_;  // blocks to peers: [slow of mine][middle of theirs][inner]; from peers: [slow][middle of mine][inner]
};

}  // namespace ridge::mpi::fft
