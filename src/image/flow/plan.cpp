// Plan of the flow: the problem in the planner's terms, and the public calls.
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "image/flow/plane.hpp"
#include "image/flow/reference.hpp"
#include "image/work.hpp"

namespace ridge::image {

FlowPlan::FlowPlan(const Device& device, const FlowProblem& problem, const planner::Options& options)
    : problem_(problem) {
  state_ = chosen_plan(device, work_of(device, problem), options);
}
void FlowPlan::run(const Image& first, const Image& second, Image& flow) const {
  run_images(std::array<Image, 2>{first, second}, flow);
}
void FlowPlan::enqueue(Queue& queue, const Image& first, const Image& second, const Image& flow) const {
  enqueue_images(queue, std::array<Image, 2>{first, second}, flow);
}
std::vector<planner::Candidate> candidates(const Device& device, const FlowProblem& problem) {
  check(problem);
  return planner::candidates_of(list_variants(device, problem));
}

namespace {

// A vector differs if it is further than kMoved pixels from the reference; at most kShare of them may. The filters'
// weights are accurate to 0.75 %, which is 0.03 px where the two parts of the texture meet, 4 px apart.
constexpr double kMoved = 0.04, kShare = 1e-3;

std::string key_of(const Device& device, const FlowProblem& problem) {
  const FlowParameters& p = problem.parameters;
  std::string key = fmt::format(
      "flow {}x{} channels {} layers {} radius {} reach {} sigma {:g} {:g} last {} {:g} {:g} between {} {:g} {:g} "
      "occlusion {:g} regular {:g} {}",
      problem.columns, problem.rows, problem.channels, p.layers, p.averaging_radius, p.max_flow, p.sigma_dist,
      p.sigma_color, p.postprocess_window, p.sigma_dist_fix, p.sigma_color_fix, p.upscale_averaging_radius,
      p.upscale_sigma_dist, p.upscale_sigma_color, p.occlusion_threshold, p.speed_up_threshold,
      p.selection == Selection::aligned ? "aligned" : "scan order");
  if (device.is_host())
    key += fmt::format(" threads {}", problem.threads == 0 ? base::hardware_threads() : problem.threads);
  return key;
}

// A texture and a shifted copy of it; the upper half is shifted further. It is typical work for point selection. Shifts
// are whole pixels on the coarsest of three layers: between two pixels the last bit would decide the search.
std::vector<Image> moving_texture(const FlowProblem& problem) {
  std::vector<Image> frames;
  const Shape shape{.rows = problem.rows, .columns = problem.columns, .channels = problem.channels};
  for (int frame = 0; frame < 2; ++frame) {
    Image image(shape);
    for (std::size_t r = 0; r < shape.rows; ++r) {
      auto* pixel = image.row<std::uint8_t>(r);
      const double right = frame == 0 ? 0 : r < shape.rows / 2 ? 8.0 : 4.0;
      const double y = static_cast<double>(r);
      for (std::size_t c = 0; c < shape.columns; ++c) {
        const double x = static_cast<double>(c) - right;
        for (std::size_t k = 0; k < shape.channels; ++k) {
          const double phase = static_cast<double>(k);
          const double wave = std::sin(0.31 * y + 0.17 * x + phase) + std::sin(0.11 * y - 0.37 * x + 2 * phase) +
                              std::sin(0.023 * y + 0.041 * x) + std::sin(0.23 * x - 0.05 * y);
          *pixel++ = static_cast<std::uint8_t>(128 + 30 * wave);
        }
      }
    }
    frames.push_back(std::move(image));
  }
  return frames;
}

double apart(const flow::Vector& a, const flow::Vector& b) {
  return std::hypot(double{a.v} - double{b.v}, double{a.u} - double{b.u});
}

// Marks vectors by 1 that are not compared: those that change if the reference is disturbed by the differences allowed
// between variants. At such pixels rounding selects one of several equal costs, or the side of a threshold.
std::vector<char> undecided(const FlowProblem& problem, std::span<const Image> in, const flow::Field& expected) {
  std::vector<char> undecided(problem.rows * problem.columns, 0);
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const flow::Field other =
        flow::simple_flow(flow::picture_of(in[0]), flow::picture_of(in[1]), problem.parameters,
                          flow::WeightKind::polynomial, {.vectors = seed % 2 == 0 ? 0.03F : 0.004F, .seed = seed});
    for (std::size_t i = 0; i < undecided.size(); ++i) {
      const int r = static_cast<int>(i / problem.columns), c = static_cast<int>(i % problem.columns);
      if (!(apart(other.at(r, c), expected.at(r, c)) <= kMoved)) undecided[i] = 1;
    }
  }
  return undecided;
}

// Fraction of the vectors that differ from the reference, and where the first of them is.
planner::Comparison compare(const FlowProblem& problem, const flow::Field& expected, const Image& answer,
                            const std::vector<char>& undecided) {
  std::size_t moved = 0, compared = 0;
  std::string where;
  for (std::size_t r = 0; r < problem.rows; ++r) {
    const auto* got = answer.row<float>(r);
    for (std::size_t c = 0; c < problem.columns; ++c) {
      const flow::Vector vector{.u = got[2 * c + 1], .v = got[2 * c]};
      const bool finite = std::isfinite(vector.u) && std::isfinite(vector.v);
      if (finite && !undecided.empty() && undecided[r * problem.columns + c] != 0) continue;
      ++compared;
      if (apart(vector, expected.at(static_cast<int>(r), static_cast<int>(c))) <= kMoved) continue;  // false for NaN
      if (moved++ == 0) where = fmt::format("row {}, column {} (the first of them)", r, c);
    }
  }
  return {.worst = static_cast<double>(moved) / static_cast<double>(std::max<std::size_t>(compared, 1)),
          .allowed = kShare,
          .where = where};
}

planner::Comparison judge(const FlowProblem& problem, std::span<const Image> in, const Image& answer) {
  const flow::Field expected = flow::simple_flow(flow::picture_of(in[0]), flow::picture_of(in[1]), problem.parameters,
                                                 flow::WeightKind::polynomial);
  const planner::Comparison all = compare(problem, expected, answer, {});
  return all.worst <= all.allowed ? all : compare(problem, expected, answer, undecided(problem, in, expected));
}

}  // namespace

Work work_of(const Device& device, const FlowProblem& problem) {
  check(problem);
  const Shape frame{.rows = problem.rows, .columns = problem.columns, .channels = problem.channels};
  const Shape out{.rows = problem.rows, .columns = problem.columns, .channels = 2, .depth = Depth::f32};
  const double pixels = static_cast<double>(problem.rows * problem.columns);
  return {.problem = planner::Problem{.workload = "flow",
                                      .key = key_of(device, problem),
                                      .flops = flow::plain_operations(problem),
                                      .bytes = pixels * (2.0 * static_cast<double>(frame.pixel_bytes()) + 8.0)},
          .inputs = {frame, frame},
          .output = out,
          .entries = list_variants(device, problem),
          .data = [problem] { return moving_texture(problem); },
          .judge = [problem](std::span<const Image> in, const Image& answer) { return judge(problem, in, answer); }};
}

}  // namespace ridge::image
