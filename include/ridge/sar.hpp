// Synthetic aperture radar: focuses echoes into an image by the range-Doppler algorithm, on any device.
//
//   ridge::sar::Problem problem;                                   // an L-band radar on an aircraft, 1024 x 1024
//   auto echoes = ridge::sar::simulate(problem, {{.along_m = 500, .range_m = 4800}});
//   auto focus = ridge::sar::plan(ridge::best(), problem);
//   focus.run(echoes, image);
//
// Echoes are pulses x samples, complex, at baseband. The image is ranges x pulses: row r is the range near_range_m + r
// * range_cell(), column p is the aircraft's position at pulse p. A point target of amplitude a at range R gives a peak
// of height a and phase -4 pi R / wavelength.
#pragma once
#include <complex>
#include <cstddef>
#include <deque>
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
  double near_range_m = 4000;  // range of the first sample
  double beam_rad = 0.1;       // full width between the nulls of the antenna's two-way pattern, a raised cosine
};

struct Problem {
  Radar radar = {};
  std::size_t pulses = 1024, samples = 1024;
  Window window = Window::hamming;
  double doppler_share = 0.7;  // processed fraction of the beam's Doppler band
  std::size_t threads = 0;     // host: 0 = all
  std::string migration = {};  // variant of the migration correction: taps, chirp_z or phase; empty: the planner's
};

double range_cell(const Radar& radar);        // metres per sample
double along_cell(const Radar& radar);        // metres per pulse
double doppler_band(const Problem& problem);  // Hz, processed bandwidth

// Error{invalid_argument} with the reason: a chirp longer than the frame, a pulse rate too low for the beam, ...
void check(const Problem& problem);
// The same, and the limit of the range-Doppler algorithm, which plan() needs: the coupling of range and Doppler.
void check_range_doppler(const Problem& problem);

struct Target {
  double along_m = 0;  // from the first pulse
  double range_m = 0;  // at closest approach
  double amplitude = 1;
};

// Echoes of point targets, computed in double from the geometry alone.
std::vector<Complex> simulate(const Problem& problem, const std::vector<Target>& targets);

class PlanState;

// Cheap to copy. Runs may be made by any number of threads; they are serialized.
class Plan {
 public:
  Plan(const Device& device, const Problem& problem, const planner::Options& options = {.effort = Effort::quick});
  // Processes one frame. Host memory; other devices copy it in both directions.
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;
  // Buffers of this plan's device; enqueued, not waited for. Calls share scratch memory, so they must be serialized:
  // use the same queue, or wait for the previous call.
  void enqueue(Queue& queue, const Buffer& echoes, const Buffer& image) const;
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // range compression, transpose, azimuth, migration
  const std::vector<KernelSource>& kernels() const;         // compiled kernels; empty on the host
  const Device& device() const;
  const Problem& problem() const;
  double flops() const;  // per frame: transforms, products, interpolation
  double bytes() const;  // per frame: echoes read once, the image written once

 private:
  std::shared_ptr<const PlanState> state_;
};

inline Plan plan(const Device& device, const Problem& problem,
                 const planner::Options& options = {.effort = Effort::quick}) {
  return Plan(device, problem, options);
}

// Processes a sequence of frames. On a device several frames are in flight, so that uploads, computation and downloads
// overlap. Several devices focus whole frames at the same time, in proportion to their rates.
//
//   while (read(stream.frame())) {       // straight into page-locked memory
//     stream.submit();
//     if (stream.full()) write(stream.take());
//   }
//   while (stream.in_flight() > 0) write(stream.take());
class Stream {
 public:
  Stream(const Device& device, const Problem& problem, const planner::Options& options = {.effort = Effort::quick});
  // Each device may appear once. Shares of the frames: measured while all devices run if none are given. A device gets
  // none if it is too slow to help, or if another one is faster alone.
  Stream(const std::vector<Device>& devices, const Problem& problem,
         const planner::Options& options = {.effort = Effort::quick}, const std::vector<double>& shares = {});
  ~Stream();

  // Memory for the next frame, to be filled before submit(). Error if the stream is full.
  std::span<Complex> frame();
  void submit();
  std::size_t in_flight() const { return order_.size(); }
  bool full() const;   // take() an image before the next frame
  bool ready() const;  // take() would not block
  // The image of the oldest frame in flight; empty if there is none. Valid until the next submit().
  std::span<const Complex> take();

  // As above with copies, for frames and images in any memory. Copies the frame before it returns. Returns true if the
  // image of an earlier frame (on the host: of this one) is ready; `image` then holds it. Images are returned in the
  // order of the frames.
  bool push(std::span<const Complex> echoes, std::span<Complex> image);
  bool finish(std::span<Complex> image);  // the image of one frame in flight; false if there is none

  void fill(std::span<const Complex> echoes);  // copies a frame into all memory that frame() returns, to repeat it
  double ideal_rate() const;                   // several devices: sum of their measured rates, frames per second
  std::string explain() const;                 // devices, their shares and rates

 private:
  struct Lane;
  void check_sizes(std::size_t echoes, std::size_t image) const;
  static void measure(const std::vector<Lane*>& busy, double Lane::*rate);
  void measure_rates();
  void set_capacity();
  Lane& next() const;
  const Problem& problem() const;

  std::size_t copying_threads_, capacity_ = 0;  // capacity: frames in flight
  std::vector<std::unique_ptr<Lane>> lanes_;    // one per device
  std::deque<Lane*> order_;                     // of the frames in flight
};

// A point target's response along one axis, in cells of that axis.
struct Cut {
  double position = 0;
  double width = 0;         // at -3 dB
  double side_lobe_db = 0;  // highest side lobe, relative to the peak
};
struct Response {
  double peak = 0;  // magnitude, interpolated between cells
  Cut range = {}, along = {};
};
// Response of the brightest point within `reach` cells of (range, along), from cuts of 64 cells interpolated to 32
// values per cell. Error if the image is smaller.
Response measure(const Problem& problem, std::span<const Complex> image, double range, double along,
                 std::size_t reach = 3);
// The theoretical response: that of the window over the range and Doppler bands.
Response expected(const Problem& problem);

}  // namespace ridge::sar
