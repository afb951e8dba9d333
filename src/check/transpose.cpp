// Checks matrix transposes of any element, stride and batch byte for byte against plain loops, including gaps and guard
// bytes.
#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <ridge/transpose.hpp>

#include "check/check.hpp"

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
    case 0:  // padded rows
      problem.input.row = problem.columns + gap;
      if (!problem.in_place) problem.output.row = problem.rows + gap / 2;
      break;
    case 1:  // matrices and columns apart
      problem.input = {.row = problem.columns * apart + gap, .column = apart};
      problem.input.batch = problem.rows * problem.input.row + gap;
      if (!problem.in_place) problem.output = {.row = problem.rows * apart, .column = apart};
      break;
    case 2:  // column-major input
      problem.input = {.row = 1, .column = problem.rows + (problem.in_place ? 0 : gap)};
      if (problem.in_place) problem.output = problem.input;
      break;
    default:
      break;
  }
  return problem;
}

// The problem with packed strides filled in, as <ridge/transpose.hpp> defines them.
struct TurnPlaces {
  std::size_t rows, columns, batch;
  transpose::Strides input, output;

  explicit TurnPlaces(const transpose::Problem& problem)
      : rows(problem.rows), columns(problem.columns), batch(problem.batch) {
    input = filled(problem.input, rows, columns);
    const transpose::Strides& out = problem.output;
    const bool given = out.row != 0 || out.column != 0 || out.batch != 0;
    output = problem.in_place && !given ? input : filled(out, columns, rows);
  }
  static transpose::Strides filled(transpose::Strides strides, std::size_t rows, std::size_t columns) {
    if (strides.column == 0) strides.column = 1;
    if (strides.row == 0) strides.row = columns * strides.column;
    if (strides.batch == 0) strides.batch = std::max(rows * strides.row, columns * strides.column);
    return strides;
  }
  std::size_t input_elements() const {
    return 1 + (rows - 1) * input.row + (columns - 1) * input.column + (batch - 1) * input.batch;
  }
  std::size_t output_elements() const {
    return 1 + (columns - 1) * output.row + (rows - 1) * output.column + (batch - 1) * output.batch;
  }
  void turn(const std::byte* in, std::byte* out, std::size_t bytes) const {
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
          const std::size_t from = b * input.batch + r * input.row + c * input.column;
          const std::size_t to = b * output.batch + c * output.row + r * output.column;
          std::copy_n(in + from * bytes, bytes, out + to * bytes);
        }
      }
    }
  }
};

std::string turn_in_words(const transpose::Problem& problem, std::size_t element) {
  std::string text = fmt::format("{} B {}x{} batch {}", element, problem.rows, problem.columns, problem.batch);
  const auto strides = [&](const char* side, const transpose::Strides& s) {
    if (s.row != 0 || s.column != 0 || s.batch != 0)
      text += fmt::format(" {} strides {}/{}/{}", side, s.row, s.column, s.batch);
  };
  strides("input", problem.input);
  strides("output", problem.output);
  return problem.in_place ? text + " in place" : text;
}

void run_resident(const transpose::AnyPlan& plan, std::span<const std::byte> in, std::span<std::byte> out) {
  const Device& device = plan.device();
  Queue queue = device.queue();
  const bool in_place = plan.problem().in_place;
  const Buffer from = device.buffer(in.size(), {.name = "input"});
  const Buffer to = in_place ? from : device.buffer(out.size(), {.name = "output"});
  queue.upload(in.data(), from, in.size());
  if (!in_place) queue.upload(out.data(), to, out.size());
  plan.enqueue(queue, from, to);
  queue.download(to, out.data(), out.size());
  queue.finish();
}

}  // namespace

Outcome check_transpose(Draw& draw) {
  const std::size_t element = draw.random.one_of(std::vector<std::size_t>{1, 2, 4, 8, 16});
  const std::size_t shift = draw.random.chance(0.3) ? draw.random.below(33) : 0;
  const std::uint64_t data = draw.random.bits(), by_chance = draw.random.bits();
  const bool resident = draw.random.chance(0.3);
  const transpose::Problem problem = draw_problem(draw);
  Outcome outcome;
  draw.problem = turn_in_words(problem, element);
  const planner::Options options = some_variant(transpose::candidates(draw.device, problem, element), by_chance);
  const transpose::AnyPlan plan(draw.device, problem, element, options);
  draw.problem += ", " + chosen_by(plan.decisions()) + (resident ? ", in the device's memory" : "");

  const TurnPlaces places(problem);
  const std::size_t in_bytes = places.input_elements() * element, out_bytes = places.output_elements() * element;
  std::vector<std::byte> in(in_bytes + shift);
  fill_values(in, Values::bytes, data);
  const std::vector<std::byte> before = in;
  std::vector<std::byte> out(out_bytes + 2 * kGuard + shift, kUntouched), expected;
  std::byte *from = in.data() + shift, *to = out.data() + kGuard + shift;
  if (problem.in_place) std::memcpy(to, from, in_bytes);
  expected = out;
  places.turn(from, expected.data() + kGuard + shift, element);
  if (resident) {
    run_resident(plan, {from, in_bytes}, {to, out_bytes});
  } else {
    plan.run_bytes(problem.in_place ? to : from, in_bytes, to, out_bytes);
  }
  draw.answered({to, out_bytes}, in);
  if (in != before) outcome.wrong = "the input was changed";
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = out.size(); i-- > 0;) {
    if (out[i] != expected[i]) ++wrong, first = i;
  }
  if (wrong > 0)
    outcome.wrong =
        fmt::format("{} bytes differ, the first is byte {} of {}", wrong,
                    static_cast<std::ptrdiff_t>(first) - static_cast<std::ptrdiff_t>(kGuard + shift), out_bytes);
  return outcome;
}

}  // namespace ridge::check
