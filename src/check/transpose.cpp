// Corner turns of any element, stride and batch, byte for byte against plain loops; gaps and guards included.
#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <ridge/transpose.hpp>

#include "check/check.hpp"
#include "check/variants.hpp"
#include "device/random.hpp"
#include "plan/comparison.hpp"
#include "transpose/layout.hpp"

namespace ridge::check {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kUntouched{0xa5};

transpose::Problem draw_problem(Draw& draw) {
  Random& random = draw.random;
  transpose::Problem problem;
  problem.in_place = random.chance(0.2);
  const std::size_t layout = random.below(5);
  const std::size_t gap = random.below(9), apart = 1 + random.below(3), threads = random.below(4);
  const bool batched = random.chance(0.5);
  problem.rows = random.length(draw.points);
  problem.columns =
      problem.in_place ? problem.rows : random.length(std::max<std::size_t>(1, draw.points / problem.rows));
  if (problem.in_place)
    while (problem.rows * problem.rows > draw.points && problem.rows > 1)
      problem.columns = problem.rows = problem.rows / 2;
  const std::size_t left = draw.points / (problem.rows * problem.columns);
  if (batched && left > 1) problem.batch = random.magnitude(left);
  problem.threads = threads;
  switch (layout) {
    case 0:  // rows longer than they need be
      problem.input.row = problem.columns + gap;
      if (!problem.in_place) problem.output.row = problem.rows + gap / 2;
      break;
    case 1:  // matrices apart, columns apart
      problem.input = {.row = problem.columns * apart + gap, .column = apart};
      problem.input.batch = problem.rows * problem.input.row + gap;
      if (!problem.in_place) problem.output = {.row = problem.rows * apart, .column = apart};
      break;
    case 2:  // columns one after the other in the input
      problem.input = {.row = 1, .column = problem.rows + (problem.in_place ? 0 : gap)};
      if (problem.in_place) problem.output = problem.input;
      break;
    default:
      break;
  }
  return problem;
}

// The plain loops, written here once more: a mistake that library and reference share would stay unseen.
void turn(const transpose::Layout& layout, const std::byte* in, std::byte* out) {
  const std::size_t bytes = layout.element_bytes;
  for (std::size_t b = 0; b < layout.batch; ++b) {
    for (std::size_t r = 0; r < layout.rows; ++r) {
      for (std::size_t c = 0; c < layout.columns; ++c) {
        const std::size_t from = b * layout.input.batch + r * layout.input.row + c * layout.input.column;
        const std::size_t to = b * layout.output.batch + c * layout.output.row + r * layout.output.column;
        std::copy_n(in + from * bytes, bytes, out + to * bytes);
      }
    }
  }
}

void run_resident(const Device& device, const transpose::AnyPlan& plan, const transpose::Layout& layout,
                  const std::byte* in, std::byte* out) {
  Queue queue = device.queue();
  const Buffer from = device.buffer(layout.input_bytes(), {.name = "input"});
  const Buffer to = layout.in_place ? from : device.buffer(layout.output_bytes(), {.name = "output"});
  queue.upload(in, from, layout.input_bytes());
  if (!layout.in_place) queue.upload(out, to, layout.output_bytes());
  plan.enqueue(queue, from, to);
  queue.download(to, out, layout.output_bytes());
  queue.finish();
}

}  // namespace

Outcome check_transpose(Draw& draw) {
  const std::size_t element = draw.random.one_of(std::vector<std::size_t>{1, 2, 4, 8, 16});
  const std::size_t shift = draw.random.chance(0.3) ? draw.random.below(33) : 0;
  const std::uint64_t data = draw.random.bits(), by_chance = draw.random.bits();
  const bool resident = draw.random.chance(0.3);
  const transpose::Problem problem = draw_problem(draw);
  const transpose::Layout layout = transpose::resolve(problem, element);
  Outcome outcome;
  draw.problem = layout.key();
  const planner::Options options = some_variant(transpose::candidates(draw.device, problem, element), by_chance);
  const transpose::AnyPlan plan(draw.device, problem, element, options);
  draw.problem += ", " + chosen_by(plan.decisions()) + (resident ? ", in the device's memory" : "");

  std::vector<std::byte> in(layout.input_bytes() + shift);
  fill_random(in, Numbers::bits, data);
  const std::vector<std::byte> before = in;
  std::vector<std::byte> out(layout.output_bytes() + 2 * kGuard + shift, kUntouched), expected;
  std::byte* to = out.data() + kGuard + shift;
  if (layout.in_place) std::memcpy(to, in.data() + shift, layout.input_bytes());
  expected = out;
  turn(layout, in.data() + shift, expected.data() + kGuard + shift);
  if (resident) {
    run_resident(draw.device, plan, layout, in.data() + shift, to);
  } else {
    plan.run_bytes(layout.in_place ? to : in.data() + shift, layout.input_bytes(), to, layout.output_bytes());
  }
  draw.answered({to, layout.output_bytes()});
  if (in != before) outcome.wrong = "the input was changed";
  const auto comparison = planner::compare_bytes(out, expected, [&](std::size_t byte) {
    return fmt::format("byte {} of {}", static_cast<std::ptrdiff_t>(byte) - static_cast<std::ptrdiff_t>(kGuard + shift),
                       layout.output_bytes());
  });
  if (!comparison.right())
    outcome.wrong = fmt::format("{:.0f} bytes differ, the first is {}", comparison.worst, comparison.where);
  return outcome;
}

}  // namespace ridge::check
