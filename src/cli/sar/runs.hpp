// Timed runs of `ridge sar`: at full speed, at a given frame rate, and with data resident on the device.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/sar/frames.hpp"

namespace ridge::cli {

struct SarTimes {
  std::vector<double> frames;  // seconds between consecutive images, or from a frame's arrival to its image
  double total = 0;
  double joules = 0;
  std::string counter, why_not;  // energy counter, or the reason why there is none
};

using HaveImage = std::function<void(std::span<const sar::Complex> image)>;

// Processes simulated frames at full speed. They are already in the stream's own memory, as a receiver would write
// them; with `copies`, frames and images are copied from and to pageable memory.
SarTimes run_as_fast_as_possible(const SarOptions& options, sar::Stream& stream, const Device& device,
                                 SarFrames& frames, const HaveImage& have);

// Reads, focuses and writes the frames of a file or pipe, each in a stage of a graph, so that they overlap.
SarTimes run_files(const SarOptions& options, sar::Stream& stream, const Device& device,
                   const std::shared_ptr<SarFrames>& frames, const HaveImage& have);

// Simulated frames arrive `rate` times per second; measures the latency of each image.
SarTimes run_at_a_rate(const SarOptions& options, sar::Stream& stream, const Device& device);

// Data stay on the device: one value in `frames`, seconds per frame.
SarTimes run_in_place(const sar::Plan& focus, std::span<const sar::Complex> frame);

// Writes the image in dB as a picture, with axes.
void draw_image(const SarOptions& options, std::span<const sar::Complex> image);
// Prints the measured responses of the simulated targets and the theoretical values.
void print_points(const sar::Problem& problem, std::span<const sar::Complex> image);

// Focuses frames by back-projection on the host, one after another; one frame if they are simulated.
void run_backprojection(const SarOptions& options);

}  // namespace ridge::cli
