// Dense optical flow between two frames by SimpleFlow (Tao, Bai, Kohli, Paris 2012), as OpenCV's calcOpticalFlowSF
// computes it.
//
//   auto plan = ridge::image::plan(ridge::host(), FlowProblem{.rows = 480, .columns = 640});
//   Image flow({.rows = 480, .columns = 640, .channels = 2, .depth = Depth::f32});
//   plan.run(first, second, flow);      // flow: (x, y) in pixels, first(r, c) is found at second(r + y, c + x)
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/image/plan.hpp>

namespace ridge::image {

// Which pixels of a finer level are searched where the coarser flow is smooth.
enum class Selection : std::uint8_t {
  aligned,     // aligned blocks, decided independently: every back end selects the same points in parallel
  scan_order,  // as in the papers and OpenCV: a block begins where the scan meets a cell not yet covered; sequential
};

struct FlowParameters {
  int layers = 3;            // of the pyramid
  int averaging_radius = 2;  // of the window whose colours are compared
  int max_flow = 4;          // pixels searched up, down, left and right, on each layer
  float sigma_dist = 4.1f, sigma_color = 25.5f;
  int postprocess_window = 18;  // radius of the last filter
  float sigma_dist_fix = 55.0f, sigma_color_fix = 25.5f;
  float occlusion_threshold = 0.35f;
  int upscale_averaging_radius = 18;  // radius of the filter between layers
  float upscale_sigma_dist = 55.0f, upscale_sigma_color = 25.5f;
  float speed_up_threshold = 10.0f;
  Selection selection = Selection::aligned;
  bool operator==(const FlowParameters&) const = default;
};

struct FlowProblem {
  std::size_t rows = 0, columns = 0;
  std::size_t channels = 3;  // of the frames, 8 bits each: 1, 3, or 4 (the fourth is ignored)
  FlowParameters parameters = {};
  std::size_t threads = 0;  // host: 0 = all
};
void check(const FlowProblem& problem);  // Error{invalid_argument} with the reason

class FlowPlan : public AnyPlan {
 public:
  FlowPlan(const Device& device, const FlowProblem& problem, const planner::Options& options = {});
  // Two 8-bit frames in, two float channels out.
  void run(const Image& first, const Image& second, Image& flow) const;
  void enqueue(Queue& queue, const Image& first, const Image& second, const Image& flow) const;
  const FlowProblem& problem() const { return problem_; }

 private:
  FlowProblem problem_;
};
inline FlowPlan plan(const Device& device, const FlowProblem& problem, const planner::Options& options = {}) {
  return FlowPlan(device, problem, options);
}

// The flow between consecutive frames of a sequence. On a device several pairs are in flight, so that transfers and
// computation overlap; a frame's pyramid is computed once for both its pairs.
//
//   FlowStream stream(plan);
//   while (camera.read(frame)) {
//     if (stream.waiting() == stream.room()) use(stream.next());
//     stream.push(frame);
//   }
//   while (stream.waiting() > 0) use(stream.next());
class FlowStream {
 public:
  explicit FlowStream(const FlowPlan& plan);
  FlowStream(FlowStream&&) noexcept;
  FlowStream& operator=(FlowStream&&) noexcept;
  ~FlowStream();

  void push(const Image& frame);  // host memory, copied; the first frame gives no field. Error if the stream is full
  std::size_t waiting() const;    // fields in flight or finished
  std::size_t room() const;       // maximum of waiting()
  Image next();                   // waits for the oldest field

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Every variant that exists for a device, allowed or not, for `ridge bench` and the tests.
std::vector<planner::Candidate> candidates(const Device& device, const FlowProblem& problem);

}  // namespace ridge::image
