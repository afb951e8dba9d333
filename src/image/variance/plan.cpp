// Plan of the variance: the problem in the planner's terms, and the public calls.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "image/variance/reference.hpp"
#include "image/work.hpp"

namespace ridge::image {

VariancePlan::VariancePlan(const Device& device, const VarianceProblem& problem, const planner::Options& options)
    : problem_(problem) {
  state_ = chosen_plan(device, work_of(device, problem), options);
}
void VariancePlan::run(const Image& in, Image& variance) const { run_images(std::span(&in, 1), variance); }
void VariancePlan::enqueue(Queue& queue, const Image& in, const Image& variance) const {
  enqueue_images(queue, std::span(&in, 1), variance);
}
std::vector<planner::Candidate> candidates(const Device& device, const VarianceProblem& problem) {
  check(problem);
  return planner::candidates_of(list_variants(device, problem));
}

namespace {

// Rounding tolerance, in units of the variance and, for methods that subtract large numbers, of the mean square.
struct Tolerance {
  double allowed, of_squares;
};
Tolerance tolerance(const VarianceProblem& problem) {
  const double cells = static_cast<double>(problem.window_rows * problem.window_columns);
  switch (problem.method) {
    case VarianceMethod::koenig:
    case VarianceMethod::two_pass:
    case VarianceMethod::online:
      return {1e-6 + 2.4e-6 * std::sqrt(cells), 0.3};
    case VarianceMethod::pairwise:
    case VarianceMethod::three_wise:
      return {1e-6 + 3e-7 * std::sqrt(cells), 0.05};
    default:
      break;
  }
  return {problem.depth == Depth::f32 ? 1e-5 : 1e-6, 1e-6};
}

double mean_square(const VarianceProblem& problem, const Image& in) {
  double sum = 0;
  for (std::size_t r = 0; r < problem.rows; ++r) {
    for (std::size_t c = 0; c < problem.columns; ++c) {
      const double value = in.depth() == Depth::u8    ? in.row<std::uint8_t>(r)[c]
                           : in.depth() == Depth::u16 ? in.row<std::uint16_t>(r)[c]
                                                      : double{in.row<float>(r)[c]};
      sum += value * value;
    }
  }
  return sum / static_cast<double>(problem.rows * problem.columns);
}

planner::Comparison judge(const VarianceProblem& problem, const Image& in, const Image& answer) {
  // Some thousand windows, distributed over the image, including its edges.
  const std::size_t down = std::max<std::size_t>(1, problem.rows / 40),
                    across = std::max<std::size_t>(1, problem.columns / 40);
  const Tolerance limit = tolerance(problem);
  const double floor = limit.of_squares * mean_square(problem, in);
  planner::Comparison worst{.worst = 0, .allowed = limit.allowed, .where = {}};
  const auto add = [&](std::size_t r, std::size_t c) {
    const double right = reference_variance(problem, in, r, c);
    const double apart = std::abs(double{answer.row<float>(r)[c]} - right);
    const double error = apart == 0 ? 0 : apart / (right + floor);
    if (!(error <= worst.worst) && !std::isnan(worst.worst)) {
      worst.worst = error;
      worst.where = fmt::format("row {}, column {}", r, c);
    }
  };
  for (std::size_t r = 0; r < problem.rows; r += down) {
    for (std::size_t c = 0; c < problem.columns; c += across) add(r, c);
    add(r, problem.columns - 1);
  }
  return worst;
}

}  // namespace

Work work_of(const Device& device, const VarianceProblem& problem) {
  check(problem);
  const Shape in{.rows = problem.rows, .columns = problem.columns, .depth = problem.depth};
  const Shape out{.rows = problem.rows, .columns = problem.columns, .depth = Depth::f32};
  std::string key =
      fmt::format("variance {} {}x{} {} window {}x{} {}", to_string(problem.method), problem.columns, problem.rows,
                  to_string(problem.depth), problem.window_columns, problem.window_rows, to_string(problem.border));
  if (device.is_host())
    key += fmt::format(" threads {}", problem.threads == 0 ? base::hardware_threads() : problem.threads);
  const double pixels = static_cast<double>(problem.rows * problem.columns);
  return {.problem = planner::Problem{.workload = "variance",
                                      .key = key,
                                      .flops = 0,
                                      .bytes = pixels * static_cast<double>(in.pixel_bytes() + out.pixel_bytes())},
          .inputs = {in},
          .output = out,
          .entries = list_variants(device, problem),
          .data = [in] { return random_images({in}); },
          .judge = [problem](std::span<const Image> images,
                             const Image& answer) { return judge(problem, images[0], answer); }};
}

}  // namespace ridge::image
