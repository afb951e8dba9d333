#include "image/operators/work.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "image/operators/reference.hpp"

namespace ridge::image {
namespace {

std::string key_of(const Device& device, const OperatorProblem& problem) {
  std::string key = "image";
  for (const Operation& operation : problem.chain) key += (key == "image" ? " " : " | ") + to_string(operation);
  key += fmt::format(" of {} {} {:g}", problem.input.text(), to_string(problem.border), problem.constant);
  if (device.is_host())
    key += fmt::format(" threads {}", problem.threads == 0 ? base::hardware_threads() : problem.threads);
  return key;
}

// Whole numbers may differ by one where the reference lies near a half.
planner::Comparison judge(const OperatorProblem& problem, std::span<const Image> in, const Image& answer) {
  const Plain expected = reference(problem, plain_of(in[0]), in.size() > 1 ? plain_of(in[1]) : Plain{});
  const Plain got = plain_of(answer);
  const bool whole = answer.depth() == Depth::u8 || answer.depth() == Depth::u16;
  std::vector<double> right = expected.values;
  if (whole) {
    const double most = answer.depth() == Depth::u8 ? 255 : 65535;
    for (double& value : right) value = std::clamp(value, 0.0, most);
    planner::Comparison worst{.worst = 0, .allowed = 1.001 * static_cast<double>(problem.chain.size()), .where = {}};
    for (std::size_t i = 0; i < right.size(); ++i) {
      const double error = std::abs(got.values[i] - right[i]);
      if (!(error <= worst.worst)) worst = {error, worst.allowed, fmt::format("value {}", i)};
    }
    return worst;
  }
  return planner::compare(got.values, right, 2e-5);
}

}  // namespace

Work work_of(const Device& device, const OperatorProblem& problem) {
  const Shape out = output_shape(problem);
  std::vector<Shape> in(inputs(problem), problem.input);
  double bytes = static_cast<double>(out.rows * out.row_bytes());
  for (const Shape& shape : in) bytes += static_cast<double>(shape.rows * shape.row_bytes());
  return {.problem = {.workload = "image", .key = key_of(device, problem), .flops = 0, .bytes = bytes},
          .inputs = in,
          .output = out,
          .entries = list_variants(device, problem),
          .data = [in] { return random_images(in); },
          .judge = [problem](std::span<const Image> images,
                             const Image& answer) { return judge(problem, images, answer); }};
}

}  // namespace ridge::image
