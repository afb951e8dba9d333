// ridge bench transpose: times every variant of the transpose against a copy.
#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/threads.hpp"
#include "bench/cases.hpp"
#include "device/timing.hpp"

namespace ridge::cli {
namespace {

std::size_t element_bytes(const std::string& type) {
  static const std::map<std::string, std::size_t> sizes{{"i8", 1},  {"i16", 2}, {"i32", 4},  {"f32", 4},
                                                        {"f64", 8}, {"c64", 8}, {"c128", 16}};
  const auto found = sizes.find(type);
  if (found != sizes.end()) return found->second;
  mistake(fmt::format(
      "no element type \"{}\"; the types are i8, i16, i32, f32, f64, c64 (complex float) and c128 (complex double)",
      type));
}

std::size_t checked_bytes(const transpose::Problem& problem, std::size_t element) {
  std::size_t bytes = element;
  for (std::size_t factor : {problem.rows, problem.columns, problem.batch}) {
    if (factor == 0) mistake("--rows, --columns and --batch must be at least 1");
    if (__builtin_mul_overflow(bytes, factor, &bytes)) mistake("rows x columns x batch overflows 64 bits");
  }
  return bytes;
}

// Calls use(first byte, end) for the share of each thread.
template <class Use>
void in_parallel(std::size_t bytes, const Use& use) {
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(bytes, thread, threads, 4096);
    use(mine.begin, mine.end);
  });
}

void touch(const Buffer& buffer) {
  if (!buffer.device().is_host()) {
    Queue queue = buffer.device().queue();
    queue.fill(buffer, std::byte{1});
    return queue.finish();
  }
  const Mapping memory = buffer.map();
  in_parallel(memory.size(), [&](std::size_t b, std::size_t e) { std::memset(memory.data() + b, 1, e - b); });
}

// True for the variants that the plan has tried, or would have tried without wisdom.
bool is_tried(const planner::Decision& decision, std::size_t i, std::size_t trials) {
  if (trials == 0 || i == decision.winner || decision.trials[i].measured_seconds > 0) return true;
  if (decision.source != planner::Source::wisdom) return false;
  const auto better = std::count_if(decision.trials.begin(), decision.trials.end(), [&](const planner::Trial& other) {
    return other.predicted_seconds > 0 && other.predicted_seconds < decision.trials[i].predicted_seconds;
  });
  return static_cast<std::size_t>(better) < trials;
}

std::vector<BenchTable> transpose_tables(const TransposeCase& wanted, bool both, const BenchOptions& options) {
  check_peers(options, {"memcpy"});
  std::vector<TransposeCase> cases{wanted};
  if (both) {
    cases = {wanted, wanted};
    cases[0].problem.rows = cases[0].problem.columns = 8192;
    cases[1].problem.rows = cases[1].problem.columns = 64;
    cases[1].problem.batch = 4096;
  }
  BenchTable table("Matrix transpose", "Bytes read and written; memcpy copies the same bytes in order.");
  const auto devices = bench_devices(options);
  for (const TransposeCase& one : cases) {
    for (const Device& device : devices) {
      table.cases.push_back({fmt::format("{}x{} on {}", one.problem.rows, one.problem.columns, device.id()),
                             [=](const Tell&) { return bench_transpose(device, one, options.variant); }});
    }
  }
  return {table};
}

}  // namespace

BenchResult bench_transpose(const Device& device, const TransposeCase& wanted, const std::string& variant) {
  const auto& p = wanted.problem;
  const std::size_t element = element_bytes(wanted.type), bytes = checked_bytes(p, element);
  const Buffer in = device.buffer(bytes, {.name = "matrix"});
  const Buffer out = p.in_place ? in : device.buffer(bytes, {.name = "transposed"});
  const Buffer copy = p.in_place ? device.buffer(bytes, {.name = "copy"}) : out;
  touch(in);
  touch(copy);
  Queue queue = device.queue();

  planner::Options planning{.most_seconds = wanted.plan_seconds, .variant = variant};
  if (wanted.trials > 0) planning.most_trials = wanted.trials;
  const transpose::AnyPlan chosen(device, p, element, planning);
  const auto candidates = transpose::candidates(device, p, element);
  const planner::Decision& decision = chosen.decisions().front();

  const double moved = 2 * static_cast<double>(bytes), ceiling = copy_ceiling(device);
  Contest contest{device,
                  fmt::format("transpose {} {}x{}{}{}", wanted.type, p.rows, p.columns,
                              p.batch > 1 ? fmt::format(" batch {}", p.batch) : "", p.in_place ? " in place" : "")};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_wanted(candidates[i], variant) || !is_tried(decision, i, wanted.trials)) continue;
    const std::string name = candidates[i].name();
    try {
      auto plan = std::make_shared<transpose::AnyPlan>(device, p, element, only(name));
      plan->enqueue(queue, in, out);
      queue.finish();
      contest.ours.push_back({.name = name,
                              .call = [&queue, plan, &in, &out] { plan->enqueue(queue, in, out); },
                              .bytes = moved,
                              .floor_seconds = ceiling > 0 ? moved / ceiling : 0,
                              .chosen = i == decision.winner});
    } catch (const Error& error) {  // a limit found only at compilation; explain() reports it too
      base::warn(fmt::format("{}: {} is left out: {}", device.id(), name, error.what()));
    }
  }
  contest.peers.push_back(
      {"memcpy", [&] {
         if (!device.is_host()) return queue.copy(in, copy, bytes);
         const Mapping from = in.map(), to = copy.map();
         in_parallel(bytes, [&](std::size_t b, std::size_t e) { std::memcpy(to.data() + b, from.data() + b, e - b); });
       }});
  BenchResult result{.rows = contest.time([&](const auto& calls) {
                       return best_device_seconds(queue, calls,
                                                  {.seconds = wanted.seconds, .at_least = 3, .at_most = 200});
                     }),
                     .explanation = chosen.explain()};
  std::sort(result.rows.begin(), result.rows.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return result;
}

Workload bench_of_transpose() {
  auto wanted = std::make_shared<TransposeCase>(TransposeCase{.problem = {}, .trials = 8, .plan_seconds = 4});
  auto every = std::make_shared<bool>(false);
  auto rows = std::make_shared<Option>(nullptr);
  Workload bench{.name = "transpose",
                 .about = "Time the matrix transpose, out[c][r] = in[r][c], relative to a copy",
                 .peers = "memcpy (always timed)"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench transpose                                       8192x8192 and 4096 of 64x64, complex float\n"
      "  ridge bench transpose --rows 1080 --columns 1920 --type i8 --device host\n"
      "  ridge bench transpose --rows 4096 --columns 4096 --in-place --explain";
  bench.add_options = [=](Command& command) {
    *rows = command.option("--rows", wanted->problem.rows, "Rows of the input");
    const Option columns = command.option("--columns", wanted->problem.columns, "Columns of the input");
    rows->only_with(columns);
    columns.only_with(*rows);
    command.option("--batch", wanted->problem.batch, "Number of matrices, consecutive in memory").shows_default();
    command.option("--type", wanted->type, "Element type: i8, i16, i32, f32, f64, c64 or c128").shows_default();
    command.flag("--in-place", wanted->problem.in_place, "Transpose in place, square matrices only");
    command.option("--trials", wanted->trials, "Number of variants to try, the most promising first")
        .shows_default()
        .positive();
    command.flag("--all", *every, "Time every variant, in separate rows");
    add_plan_seconds(command, wanted->plan_seconds);
    add_seconds(command, wanted->seconds, "Time per variant, in seconds");
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    if (*every) wanted->trials = 0;
    return transpose_tables(*wanted, !rows->given(), options);
  };
  return bench;
}

}  // namespace ridge::cli
