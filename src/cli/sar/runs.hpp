// What `ridge sar` times: frames as fast as they go, frames that come at a rate, and frames that never leave.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/sar/frames.hpp"

namespace ridge::cli {

struct SarTimes {
  std::vector<double> frames;  // seconds between one image and the next, or from a frame's coming to its image
  double total = 0;
  double joules = 0;
  std::string counter, why_not;  // of the energy: one of the two
};

using HaveImage = std::function<void(std::span<const sar::Complex> image)>;

// Frames as fast as they go. Simulated ones lie in the stream's own memory already, as a receiver would leave them
// there; with `copies` they and their images are copied from and to memory of any kind.
SarTimes run_as_fast_as_possible(const SarOptions& options, sar::Stream& stream, const Device& device,
                                 SarFrames& frames, const HaveImage& have);

// Simulated frames that come `rate` times a second: how long each takes until its image is there.
SarTimes run_at_a_rate(const SarOptions& options, sar::Stream& stream, const Device& device);

// The data stay where the device has them: seconds a frame in `frames`, one value.
SarTimes run_in_place(const sar::Plan& focus, std::span<const sar::Complex> frame);

}  // namespace ridge::cli
