// Builds real-to-real lines from one pass, or from kernels around a complex plan.
#include "fft/device/real_to_real/real_axis.hpp"

#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include "fft/device/axis_plan.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kItemsPerGroup = 256;

template <class T>
Buffer upload_roots(const Device& device, const RealAxisProblem& problem, const MiddleShape& middle) {
  const std::size_t n = problem.length;
  std::vector<std::complex<T>> roots{1};
  if (middle.what == Middle::complex) {
    const AnyRoots<T> all(8 * n);
    roots.clear();
    for (std::size_t j = 0; j < n / 2; ++j) roots.push_back(all.at(4 * j + 1));
    for (std::size_t k = 0; k < n / 2; ++k) roots.push_back(all.at(4 * k));
  } else if (problem.kind == RealKind::dct2 || problem.kind == RealKind::dst2 || middle.what == Middle::real_inverse) {
    const AnyRoots<T> all(4 * n);
    roots.clear();
    for (std::size_t k = 0; k < n; ++k) roots.push_back(all.at(k));
  }
  const std::size_t bytes = roots.size() * sizeof(roots[0]);
  Buffer table = device.buffer(bytes, {.name = "fft roots"});
  Queue queue = device.queue();
  queue.upload(roots.data(), table, bytes);
  queue.finish();
  return table;
}

// Layout of lines of `points` elements between the kernels.
Address between(const RealAxisProblem& problem, std::size_t points) {
  Address at{.point = 1, .line = {}};
  std::uint64_t step = points;
  std::size_t dimension = 0;
  if (order_of(problem.in) == Order::lines) {
    at.point = problem.counts[0];
    at.line.push_back(1);
    step *= problem.counts[0];
    dimension = 1;
  }
  for (; dimension < problem.counts.size(); ++dimension) {
    at.line.push_back(step);
    step *= problem.counts[dimension];
  }
  return at;
}

AxisProblem middle_problem(const RealAxisProblem& problem, const MiddleShape& middle) {
  AxisProblem result;
  result.float64 = problem.float64;
  result.direction = middle.what == Middle::real_inverse ? Direction::inverse : Direction::forward;
  result.kind = middle.what == Middle::complex ? Kind::complex : Kind::real;
  result.length = middle.length;
  result.counts = problem.counts;
  result.in = between(problem, middle.before);
  result.out = between(problem, middle.after);
  return result;
}

Launch over(std::uint64_t elements) {
  return {.groups = {(elements + kItemsPerGroup - 1) / kItemsPerGroup}, .items = {kItemsPerGroup}};
}

}  // namespace

std::optional<AxisProblem> one_pass_problem(const RealAxisProblem& problem) {
  const MiddleShape middle = middle_of(problem.kind, problem.length);
  const bool type4 = problem.kind == RealKind::dct4 || problem.kind == RealKind::dst4;
  if (type4 && middle.what != Middle::complex) return std::nullopt;  // uses a permutation of its own
  AxisProblem result = middle_problem(problem, middle);
  result.in = problem.in;
  result.out = problem.out;
  result.in_place = problem.in_place;
  result.scale = problem.scale;
  result.real_kind = problem.kind;
  result.real_points = problem.length;
  result.any_offset = problem.any_offset;
  return result;
}

extern const RouteFamily kOnePass;

RealAxis::RealAxis(const Device& device, const RealAxisProblem& problem, const planner::Options& options,
                   std::vector<planner::Decision>& decisions)
    : problem_(problem), middle_(middle_of(problem.kind, problem.length)) {
  if (const std::optional<AxisProblem> whole = one_pass_problem(problem)) {
    const RouteFamily* const families[] = {&kOnePass};
    AxisProblem listed = *whole;
    normalize(listed);
    one_pass_ = std::ranges::any_of(list_routes(device, listed, "", families),
                                    [](const Route& route) { return route.candidate.refusal.empty(); });
    if (one_pass_) {
      route_ = planned_route(device, *whole, options, decisions, families);
      return;
    }
  }
  text_ = real_axis_text(problem);
  const Program program = device.compile(text_.source);
  before_ = program.kernel(text_.before);
  after_ = program.kernel(text_.after);
  roots_ =
      problem.float64 ? upload_roots<double>(device, problem, middle_) : upload_roots<float>(device, problem, middle_);
  route_ = planned_route(device, middle_problem(problem, middle_), options, decisions);
}

std::size_t RealAxis::bytes_before() const {
  if (one_pass_) return 0;
  return problem_.lines() * middle_.before * (problem_.float64 ? 8 : 4) *
         (middle_.what == Middle::real_forward ? 1 : 2);
}
std::size_t RealAxis::bytes_after() const {
  if (one_pass_) return 0;
  return problem_.lines() * middle_.after * (problem_.float64 ? 8 : 4) * (middle_.what == Middle::real_inverse ? 1 : 2);
}

void RealAxis::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                       std::uint64_t out_offset, const Buffer& before, const Buffer& after) const {
  if (one_pass_) return route_->enqueue(queue, in, out, in_offset, out_offset);
  queue.launch(before_, over(problem_.lines() * middle_.before), {in, before, roots_, in_offset});
  route_->enqueue(queue, before, after);
  queue.launch(after_, over(problem_.lines() * problem_.length), {after, out, roots_, out_offset});
}

std::string RealAxis::describe() const {
  return fmt::format("{} of {}: {}", to_string(problem_.kind), problem_.length, route_->describe());
}

std::vector<KernelSource> RealAxis::kernels() const {
  if (one_pass_) return kernels_of(route_->route());
  std::vector<KernelSource> all{text_.source};
  add_to(all, kernels_of(route_->route()));
  return all;
}

}  // namespace ridge::fft::on_device
