// Transforms single values of lines in both directions.
#include "fft/device/line_sums.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include <fmt/format.h>

#include "fft/device/answers.hpp"
#include "fft/device/axis_reference.hpp"
#include "fft/host/rounding.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kFewestSums = 64;

std::size_t numbers_per_value(const AxisProblem& problem, bool input) {
  return element_bytes(problem, input) / (problem.float64 ? sizeof(double) : sizeof(float));
}

// Values `wanted` of these lines of one side, one of each line.
std::vector<std::complex<double>> gathered(Queue& queue, const AxisProblem& problem, const Buffer& values, bool input,
                                           const std::vector<std::uint64_t>& lines,
                                           const std::vector<std::uint64_t>& wanted) {
  Runs runs{.numbers = numbers_per_value(problem, input)};
  for (std::size_t i = 0; i < lines.size(); ++i)
    runs.starts.push_back(value_place(problem, input, lines[i], wanted[i]));
  const NumberFormat format = problem.float64 ? NumberFormat::float64 : NumberFormat::float32;
  const std::vector<std::byte> bytes = gathered_runs(queue, values, format, runs);
  std::vector<std::complex<double>> result;
  const auto append = [&]<class T>(T) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      T parts[2] = {0, 0};
      std::memcpy(parts, bytes.data() + i * runs.numbers * sizeof(T), runs.numbers * sizeof(T));
      result.emplace_back(parts[0], parts[1]);
    }
  };
  problem.float64 ? append(double()) : append(float());
  return result;
}

}  // namespace

bool has_line_sums(const Device& device, const AxisProblem& problem) {
  return device.limits().float64 && !problem.real_kind && problem.folded == 0 && !problem.boxed && problem.kept == 0 &&
         problem.samples == Samples::same && !problem.float16() && problem.load.kind() == FactorKind::none &&
         problem.store.kind() == FactorKind::none;
}

std::vector<std::complex<double>> values_by_sums(Queue& queue, const AxisProblem& problem, const Buffer& values,
                                                 bool input, const std::vector<std::uint64_t>& lines,
                                                 const std::vector<std::uint64_t>& wanted) {
  const Direction back = problem.direction == Direction::forward ? Direction::inverse : Direction::forward;
  LineSums work{.wanted = wanted,
                .length = problem.length,
                .points = side_points(problem, input),
                .step = (input ? problem.in : problem.out).point,
                .numbers = numbers_per_value(problem, input)};
  for (const std::uint64_t line : lines) work.starts.push_back(value_place(problem, input, line, 0));
  std::vector<std::complex<double>> result =
      line_sums(queue, values, problem.float64, input ? problem.direction : back, work);
  if (problem.kind != Kind::real || work.numbers == 1) return result;
  // The second half of a real line's spectrum is not stored: its terms are the conjugates of the first half's.
  const auto first = gathered(queue, problem, values, input, lines, std::vector<std::uint64_t>(lines.size(), 0));
  const auto middle =
      gathered(queue, problem, values, input, lines, std::vector<std::uint64_t>(lines.size(), problem.length / 2));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double sign = problem.length % 2 != 0 ? 0 : wanted[i] % 2 == 0 ? 1 : -1;
    result[i] = 2 * result[i].real() - first[i].real() - sign * middle[i].real();
  }
  return result;
}

planner::Comparison compare_by_sums(Queue& queue, const AxisProblem& problem, const Buffer& in, const Buffer& out) {
  const std::uint64_t all = problem.lines(), points = side_points(problem, true);
  // The first value of a spectrum, and the last one of an even length, have no imaginary part: not compared.
  const std::uint64_t skipped = problem.kind == Kind::real && problem.direction == Direction::inverse ? 1 : 0;
  if (points <= 2 * skipped) return {};
  std::vector<std::uint64_t> lines, wanted;
  std::mt19937_64 generator(all);
  for (std::uint64_t i = 0; i < std::max(all, kFewestSums); ++i) {
    lines.push_back(i % all);
    wanted.push_back(skipped + generator() % (points - 2 * skipped));
  }
  const auto got = values_by_sums(queue, problem, out, false, lines, wanted);
  auto expected = gathered(queue, problem, in, true, lines, wanted);
  for (std::complex<double>& value : expected) value *= problem.scale * static_cast<double>(problem.length);
  const auto numbers = [](const std::vector<std::complex<double>>& values) {
    return std::span(reinterpret_cast<const double*>(values.data()), 2 * values.size());
  };
  return planner::compare(
      numbers(got), numbers(expected), 4 * largest_rounding(problem.length, problem.float64), [&](std::size_t i) {
        return fmt::format("line {}, input {} as a sum over all results", lines[i / 2], wanted[i / 2]);
      });
}

}  // namespace ridge::fft::on_device
