// Frames of `ridge sar` from files, pipes or a simulation; its images to files and pipes.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/sar.hpp>

#include "io/telescopes/stream.hpp"

namespace ridge::cli {

struct SarOptions {
  std::string in, out, png, device, window = "hamming", method = "range-doppler", track;
  std::size_t autofocus = 0;  // iterations
  sar::Problem problem;
  std::size_t frames = 100;
  std::string schedule{};  // .svg or -, with --in
  double rate = 0;
  bool measure = false, explain = false, copies = false;
};

// A simulated target: position as fractions of the frame in range and along the track, and its amplitude.
struct SimulatedTarget {
  double range, along, amplitude;
};
const std::vector<SimulatedTarget>& simulated_targets();
std::vector<sar::Target> targets_of(const sar::Problem& problem);  // the same, in metres

// Source of frames: an endless simulation, or a file or pipe.
class SarFrames {
 public:
  explicit SarFrames(const SarOptions& options);
  bool simulated() const { return in_ == nullptr; }
  // The simulated frame.
  std::span<const sar::Complex> frame() const { return frame_; }
  // Reads the next frame of the file into `to`; false at its end.
  bool read(std::span<sar::Complex> to);

 private:
  std::vector<sar::Complex> frame_;
  std::unique_ptr<io::InputStream> in_;
};

// Writes all images, consecutively.
class SarImages {
 public:
  explicit SarImages(const SarOptions& options);
  void write(std::span<const sar::Complex> image);
  void finish();

 private:
  void write_header(bool again);

  sar::Problem problem_;
  std::unique_ptr<io::OutputStream> out_;
  std::size_t count_ = 0;
  bool npy_ = false;
};

}  // namespace ridge::cli
