// Lists all transforms up to a length and compares each with its reference.
#include "check/systematic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridge::check {
namespace {

// Shapes per rank with one axis of length n (written as 0) and short other axes.
const std::vector<std::vector<std::size_t>> kShapes{{0}, {0, 6}, {5, 0}, {0, 3, 4}, {3, 0, 4}, {4, 3, 0}};

std::string shape_name(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t n : shape)
    text += fmt::format("{}{}", text.empty() ? "" : "x", n == 0 ? "n" : fmt::to_string(n));
  return text;
}

SystematicCell checked(const Device& device, const TextProblem& problem) {
  Draw draw{device, Random(1), 0};
  SystematicCell cell{.problem = to_text(problem)};
  cell.outcome = guarded([&] { return check_transform(draw, problem); });
  return cell;
}

}  // namespace

std::vector<SystematicCell> check_problems(const Device& device, const std::vector<TextProblem>& problems,
                                           const base::Progress& progress) {
  std::vector<SystematicCell> cells;
  for (const TextProblem& problem : problems) {
    if (progress) progress(static_cast<double>(cells.size()) / static_cast<double>(problems.size()), to_text(problem));
    cells.push_back(checked(device, problem));
  }
  if (progress) progress(1, "");
  return cells;
}

std::vector<SystematicRow> check_systematically(const Device& device, std::size_t most,
                                                const base::Progress& progress) {
  std::vector<SystematicRow> rows;
  const std::size_t all = kShapes.size() * 16;
  for (const auto& shape : kShapes) {
    for (std::size_t choice = 0; choice < 16; ++choice) {
      TextProblem problem;
      const bool real = (choice & 1) != 0;
      problem.problem.kind = real ? fft::Kind::real : fft::Kind::complex;
      problem.inverse = (choice & 2) != 0;
      problem.float64 = (choice & 4) != 0;
      problem.problem.in_place = (choice & 8) != 0;
      SystematicRow row{.name = fmt::format("{} {} {}{}, {}", real ? "real" : "complex",
                                            problem.inverse ? "backward" : "forward", problem.float64 ? "f64" : "f32",
                                            problem.problem.in_place ? " in place" : "", shape_name(shape))};
      if (progress) progress(static_cast<double>(rows.size()) / static_cast<double>(all), row.name);
      for (std::size_t n = 1; n <= most; ++n) {
        problem.problem.shape = shape;
        for (std::size_t& axis : problem.problem.shape) axis = axis == 0 ? n : axis;
        row.cells.push_back(checked(device, problem));
      }
      rows.push_back(std::move(row));
    }
  }
  if (progress) progress(1, "");
  return rows;
}

}  // namespace ridge::check
