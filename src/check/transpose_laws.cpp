// Checks transposes of packed matrices of any size: every element encodes its source position.
#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <ridge/transpose.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"

namespace ridge::check {

Outcome transpose_laws(Draw& draw) {
  Random& random = draw.random;
  const std::size_t element = random.one_of(std::vector<std::size_t>{1, 2, 4, 8, 16});
  const bool in_place = random.chance(0.2);
  const std::uint64_t data = random.bits(), by_chance = random.bits();
  transpose::Problem problem{.in_place = in_place, .threads = random.below(4)};
  problem.rows = random.length(draw.points);
  if (in_place) {
    while (problem.rows * problem.rows > draw.points && problem.rows > 1) problem.rows /= 2;
    problem.columns = problem.rows;
  } else {
    problem.columns = std::max<std::size_t>(1, draw.points / problem.rows);
  }
  problem.batch = random.magnitude(std::max<std::size_t>(1, draw.points / (problem.rows * problem.columns)));
  draw.problem = fmt::format("{} B {}x{} batch {}{}", element, problem.rows, problem.columns, problem.batch,
                             in_place ? " in place" : "");
  const transpose::AnyPlan plan(draw.device, problem, element,
                                some_variant(transpose::candidates(draw.device, problem, element), by_chance));
  draw.problem += ", " + chosen_by(plan.decisions());
  const std::size_t elements = problem.rows * problem.columns * problem.batch;
  // Writes the bytes of element i of the input.
  const auto source = [&](std::size_t i, std::byte* to) {
    Random of_element(data + i);
    const std::uint64_t words[2] = {of_element.bits(), of_element.bits()};
    std::memcpy(to, words, element);
  };
  std::vector<std::byte> in(elements * element);
  for (std::size_t i = 0; i < elements; ++i) source(i, in.data() + i * element);
  std::vector<std::byte> out(in_place ? 0 : in.size());
  std::vector<std::byte>& answer = in_place ? in : out;
  plan.run_bytes(in.data(), in.size(), answer.data(), answer.size());
  draw.answered(answer);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t matrix = i / (problem.rows * problem.columns), at = i % (problem.rows * problem.columns);
    const std::size_t r = at % problem.rows, c = at / problem.rows;
    std::byte right[16];
    source((matrix * problem.rows + r) * problem.columns + c, right);
    if (std::memcmp(right, answer.data() + i * element, element) != 0)
      return {.wrong = fmt::format("matrix {}, row {}, column {} of the input is not at its transposed position",
                                   matrix, r, c)};
  }
  return {};
}

}  // namespace ridge::check
