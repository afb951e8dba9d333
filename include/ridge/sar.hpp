// Synthetic aperture radar: echoes in, a focused image out, by the range-Doppler algorithm, on any device.
//
//   ridge::sar::Problem problem;                                   // an L-band radar on an aircraft, 1024 x 1024
//   auto echoes = ridge::sar::simulate(problem, {{.along_m = 500, .range_m = 4800}});
//   auto focus = ridge::sar::plan(ridge::best(), problem);
//   focus.run(echoes, image);
//
// Echoes are pulses x samples, complex, at baseband. The image is ranges x pulses: row r is the range
// near_range_m + r * range_cell(), column p the place of the aircraft at pulse p; a point target of amplitude a at
// range R gives a peak of height a and phase -4 pi R / wavelength.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>
#include <ridge/window.hpp>

namespace ridge::sar {

using Complex = std::complex<float>;

using ridge::Window;  // over the band, in range and along the track

struct Radar {
  double carrier_hz = 1.25e9;
  double bandwidth_hz = 50e6;  // of the linear chirp
  double pulse_s = 5e-6;
  double sample_rate_hz = 75e6;
  double pulse_rate_hz = 125;
  double speed_m_s = 120;
  double near_range_m = 4000;  // of the first sample
  double beam_rad = 0.1;       // full width between the nulls of the antenna's two-way pattern, a raised cosine
};

struct Problem {
  Radar radar = {};
  std::size_t pulses = 1024, samples = 1024;
  Window window = Window::hamming;
  double doppler_share = 0.7;  // of the beam's Doppler band, what is processed
  std::size_t threads = 0;     // host: 0 = all
};

double range_cell(const Radar& radar);        // metres a sample
double along_cell(const Radar& radar);        // metres a pulse
double doppler_band(const Problem& problem);  // Hz, processed

// Error{invalid_argument} in words: a chirp longer than the frame, pulses too rare for the beam, ...
void check(const Problem& problem);

struct Target {
  double along_m = 0;  // from the first pulse
  double range_m = 0;  // at its closest
  double amplitude = 1;
};

// Echoes of point targets, computed in double from the geometry alone.
std::vector<Complex> simulate(const Problem& problem, const std::vector<Target>& targets);

class PlanState;

// Cheap to copy. One frame at a time, from any number of threads: they take turns.
class Plan {
 public:
  Plan(const Device& device, const Problem& problem, const planner::Options& options = {.effort = Effort::quick});
  // One frame. Host memory on any device: a device copies there and back.
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;
  // Buffers of this plan's device; enqueued, not waited for. Calls one after the other, on the same queue or with the
  // one before waited for: they share their memory.
  void enqueue(Queue& queue, const Buffer& echoes, const Buffer& image) const;
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // range compression, corner turn, along the track
  const std::vector<KernelSource>& kernels() const;         // what was compiled for it; none on the host
  const Device& device() const;
  const Problem& problem() const;
  double flops() const;  // of a frame: transforms, products, interpolation
  double bytes() const;  // of a frame: echoes read once, the image written once

 private:
  std::shared_ptr<const PlanState> state_;
};

inline Plan plan(const Device& device, const Problem& problem,
                 const planner::Options& options = {.effort = Effort::quick}) {
  return Plan(device, problem, options);
}

// Frames one after the other. On a device several are on their way at once, so that the way there, the work and the way
// back run side by side.
//
//   while (read(stream.frame())) {       // straight into page-locked memory
//     stream.submit();
//     if (stream.full()) write(stream.take());
//   }
//   while (stream.on_their_way() > 0) write(stream.take());
class Stream {
 public:
  Stream(const Device& device, const Problem& problem, const planner::Options& options = {.effort = Effort::quick});
  ~Stream();

  // Memory for the next frame, to be written before submit(). Error where the stream is full.
  std::span<Complex> frame();
  void submit();
  std::size_t on_their_way() const { return taken_ - given_; }
  bool full() const;   // take() an image before the next frame
  bool ready() const;  // take() would not wait
  // The image of the oldest frame on its way; empty where there is none. It stays until the next submit().
  std::span<const Complex> take();

  // The same with copies, for frames and images in memory of any kind. Takes a frame, copied before it returns. True
  // where the image of an earlier frame (on the host: of this one) is ready; it is then in `image`, in the order the
  // frames came.
  bool push(std::span<const Complex> echoes, std::span<Complex> image);
  bool finish(std::span<Complex> image);  // one of those still on their way; false where there is none

 private:
  struct Slot;
  struct Queues;
  void check_sizes(std::size_t echoes, std::size_t image) const;

  Plan plan_;
  std::size_t copying_threads_;
  std::unique_ptr<Queues> queues_;  // none on the host
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t taken_ = 0, given_ = 0;  // frames
};

// A point's answer along one axis, in cells of that axis.
struct Cut {
  double position = 0;
  double width = 0;         // at -3 dB
  double side_lobe_db = 0;  // the highest, relative to the peak
};
struct Response {
  double peak = 0;  // magnitude, between the cells
  Cut range = {}, along = {};
};
// Of the brightest point within `reach` cells of (range, along), from cuts of 64 cells, 32 values a cell. Error where
// the image is smaller than that.
Response measure(const Problem& problem, std::span<const Complex> image, double range, double along,
                 std::size_t reach = 3);
// What theory says: the window's own answer over the bands of range and Doppler.
Response expected(const Problem& problem);

}  // namespace ridge::sar
