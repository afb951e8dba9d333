// Checks a nonuniform problem and fills in its axes.
#include "nufft/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/threads.hpp"
#include "nufft/kernel.hpp"

namespace ridge::nufft {
namespace {

[[noreturn]] void refuse_problem(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "nufft: " + message);
}

constexpr double kLargestEpsilon = 0.1;

void check_modes(const Problem& problem, std::size_t complex_bytes) {
  if (problem.modes.empty() || problem.modes.size() > 3) {
    refuse_problem(fmt::format("modes must have one to three axes, got {}", problem.modes.size()));
  }
  std::size_t bytes = complex_bytes;
  const auto multiply = [&](std::size_t count) {
    if (__builtin_mul_overflow(bytes, count, &bytes) || bytes > PTRDIFF_MAX / 64) {
      refuse_problem(fmt::format("{} modes with batch {} exceed the address space of this machine",
                                 fmt::join(problem.modes, "x"), problem.batch));
    }
  };
  for (const std::size_t count : problem.modes) {
    if (count == 0)
      refuse_problem(fmt::format("every axis needs at least one mode, got {}", fmt::join(problem.modes, "x")));
    multiply(count);
  }
  if (problem.batch == 0) refuse_problem("batch must be at least 1, got 0");
  multiply(problem.batch);
}

}  // namespace

void check_epsilon(double epsilon, double least, bool float64) {
  if (!(epsilon > 0) || epsilon > kLargestEpsilon) {
    refuse_problem(fmt::format("epsilon must be between {:.1e} and 0.1, got {:.3g}", least, epsilon));
  }
  if (epsilon >= least) return;
  refuse_problem(float64 ? fmt::format("double needs an epsilon of at least {:.1e} here, got {:.3g}: ask for {:.1e}",
                                       least, epsilon, least)
                         : fmt::format("float needs an epsilon of at least {:.1e} here, got {:.3g}: plan with double, "
                                       "or ask for {:.1e}",
                                       least, epsilon, least));
}

template <class T>
double least_epsilon(std::size_t axes) {
  return least_error(axes, std::numeric_limits<T>::epsilon() / 2);
}

template <class T>
Layout resolve(const Problem& problem) {
  check_modes(problem, sizeof(std::complex<T>));
  const std::size_t axes = problem.modes.size();
  check_epsilon(problem.epsilon, least_epsilon<T>(axes), sizeof(T) == 8);
  if (problem.sign != 1 && problem.sign != -1) {
    refuse_problem(fmt::format("sign must be +1 or -1, got {}", problem.sign));
  }
  if (problem.upsampling != 0 &&
      std::find(kUpsamplings.begin(), kUpsamplings.end(), problem.upsampling) == kUpsamplings.end()) {
    refuse_problem(fmt::format("upsampling must be 2.25, 2, 1.5 or 1.25, or 0 to let the planner choose, got {}",
                               problem.upsampling));
  }
  if (problem.type != Type::to_modes && problem.type != Type::to_points) {
    refuse_problem(fmt::format("type must be to_modes (1) or to_points (2), got {}", static_cast<int>(problem.type)));
  }
  Layout layout{
      .type = problem.type,
      .axes = axes,
      .epsilon = problem.epsilon,
      .sign = problem.sign,
      .batch = problem.batch,
      .order = problem.order,
      .fold = problem.fold,
      .upsampling = problem.upsampling,
      .threads = std::min(problem.threads == 0 ? base::hardware_threads() : problem.threads, base::kMostThreads),
      .float64 = sizeof(T) == 8,
      .real = problem.real};
  for (std::size_t i = 0; i < axes; ++i) layout.modes[layout.first_axis() + i] = problem.modes[i];
  layout.points = problem.points == 0 ? layout.mode_count() : problem.points;
  return layout;
}

std::string Layout::key() const {
  std::string text =
      fmt::format("{} type {} {}", float64 ? "double" : "float", static_cast<int>(type), modes[first_axis()]);
  for (std::size_t axis = first_axis() + 1; axis < 3; ++axis) text += fmt::format("x{}", modes[axis]);
  text += fmt::format(" points 2^{} epsilon {:.1e}", std::llround(std::log2(static_cast<double>(points))), epsilon);
  if (batch != 1) text += fmt::format(" batch {}", batch);
  if (upsampling != 0) text += fmt::format(" upsampling {}", upsampling);
  if (real) text += " real";
  if (turns) text += " turns";
  return text;
}

template double least_epsilon<float>(std::size_t);
template double least_epsilon<double>(std::size_t);
template Layout resolve<float>(const Problem&);
template Layout resolve<double>(const Problem&);

}  // namespace ridge::nufft
