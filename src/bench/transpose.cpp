// ridge bench transpose: times every variant of the transpose against a copy.
#include "bench/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/threads.hpp"
#include "bench/bench.hpp"
#include "bench/rows_as_they_come.hpp"
#include "device/timing.hpp"

namespace ridge::cli {
namespace {

std::size_t element_bytes(const std::string& type) {
  static const std::map<std::string, std::size_t> sizes{{"i8", 1},  {"i16", 2}, {"i32", 4},  {"f32", 4},
                                                        {"f64", 8}, {"c64", 8}, {"c128", 16}};
  const auto found = sizes.find(type);
  if (found == sizes.end()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("no element type \"{}\"; the types are i8, i16, i32, f32, f64, c64 "
                            "(complex float) and c128 (complex double)",
                            type));
  }
  return found->second;
}

std::size_t checked_bytes(const transpose::Problem& problem, std::size_t element) {
  std::size_t bytes = element;
  for (std::size_t factor : {problem.rows, problem.columns, problem.batch}) {
    if (factor == 0) throw Error(ErrorKind::invalid_argument, "--rows, --columns and --batch must be at least 1");
    if (__builtin_mul_overflow(bytes, factor, &bytes)) {
      throw Error(ErrorKind::invalid_argument, "rows x columns x batch overflows 64 bits");
    }
  }
  return bytes;
}

// Ceiling of pure data movement: the copy bandwidth.
double copy_roof(const Device& device) {
  const machine::Bandwidth memory = machine::ceilings(device).memory().all;
  return std::max(memory.copy, memory.copy_streaming);
}

void parallel_copy(const Buffer& from, const Buffer& to) {
  const Mapping in = from.map(), out = to.map();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(in.size(), thread, threads, 4096);
    std::memcpy(out.data() + mine.begin, in.data() + mine.begin, mine.end - mine.begin);
  });
}

void touch(const Buffer& buffer) {
  if (!buffer.device().is_host()) {
    Queue queue = buffer.device().queue();
    queue.fill(buffer, std::byte{1});
    queue.finish();
    return;
  }
  const Mapping mapping = buffer.map();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const auto mine = base::share(mapping.size(), thread, threads, 4096);
    std::memset(mapping.data() + mine.begin, 1, mine.end - mine.begin);
  });
}

}  // namespace

std::vector<report::BenchRow> bench_transpose(const Device& device, const TransposeCase& wanted,
                                              const std::string& variant, double seconds_each,
                                              std::string* explanation) {
  const std::size_t element = element_bytes(wanted.type);
  const std::size_t bytes = checked_bytes(wanted.problem, element);
  const Buffer in = device.buffer(bytes, {.name = "matrix"});
  const Buffer out = wanted.problem.in_place ? in : device.buffer(bytes, {.name = "transposed"});
  const Buffer copy_target = wanted.problem.in_place ? device.buffer(bytes, {.name = "copy"}) : out;
  touch(in);
  touch(copy_target);
  Queue queue = device.queue();

  planner::Options planning;
  planning.variant = variant;
  planning.most_seconds = wanted.plan_seconds;
  if (wanted.trials > 0) planning.most_trials = wanted.trials;
  const transpose::AnyPlan chosen(device, wanted.problem, element, planning);
  if (explanation != nullptr) *explanation = chosen.explain();
  const auto candidates = transpose::candidates(device, wanted.problem, element);
  const planner::Decision& decision = chosen.decisions().front();
  const std::string chosen_name = candidates[decision.winner].name();
  const auto tried = [&](std::size_t i) {
    if (wanted.trials == 0 || i == decision.winner || decision.trials[i].measured_seconds > 0) return true;
    if (decision.source != planner::Source::wisdom) return false;
    const auto better = std::count_if(decision.trials.begin(), decision.trials.end(), [&](const planner::Trial& other) {
      return other.predicted_seconds > 0 && other.predicted_seconds < decision.trials[i].predicted_seconds;
    });
    return static_cast<std::size_t>(better) < wanted.trials;
  };

  std::vector<std::string> names;
  std::vector<std::shared_ptr<transpose::AnyPlan>> plans;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const planner::Candidate& candidate = candidates[i];
    if (!candidate.refusal.empty() || !tried(i) ||
        (!variant.empty() && candidate.variant != variant && candidate.name() != variant)) {
      continue;
    }
    planner::Options only{
        .effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = candidate.name()};
    try {
      auto plan = std::make_shared<transpose::AnyPlan>(device, wanted.problem, element, only);
      plan->enqueue(queue, in, out);
      queue.finish();
      plans.push_back(std::move(plan));
      names.push_back(candidate.name());
    } catch (const Error& error) {  // a limit found only at compilation; explain() reports it too
      base::warn(fmt::format("{}: {} is left out: {}", device.id(), candidate.name(), error.what()));
    }
  }
  std::vector<std::function<void()>> calls;
  for (const auto& plan : plans) calls.emplace_back([&queue, plan, &in, &out] { plan->enqueue(queue, in, out); });
  if (device.is_host()) {
    calls.emplace_back([&] { parallel_copy(in, copy_target); });
  } else {
    calls.emplace_back([&] { queue.copy(in, copy_target, bytes); });
  }
  const auto seconds = best_device_seconds(queue, calls, {.seconds = seconds_each, .at_least = 3, .at_most = 200});

  const double roof = copy_roof(device);
  const double moved = 2 * static_cast<double>(bytes);
  const auto& p = wanted.problem;
  const std::string problem =
      fmt::format("transpose {} {}x{}{}{}", wanted.type, p.rows, p.columns,
                  p.batch > 1 ? fmt::format(" batch {}", p.batch) : "", p.in_place ? " in place" : "");
  std::vector<report::BenchRow> rows;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    report::BenchRow row;
    row.problem = problem;
    row.device = device.id();
    row.variant = names[i];
    row.seconds = seconds[i];
    row.gbytes_per_s = moved / seconds[i] * 1e-9;
    row.roof_share = roof > 0 ? moved / seconds[i] / roof : 0;
    row.peers = {{"memcpy", seconds.back()}};
    row.chosen = names[i] == chosen_name;
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return rows;
}

void add_bench_transpose(Command& bench) {
  Command& command =
      bench.subcommand("transpose", "Time the matrix transpose, out[c][r] = in[r][c], relative to a copy");
  command.footer(
      "\nExamples:\n"
      "  ridge bench transpose                                       8192x8192 and 4096 of 64x64, complex float\n"
      "  ridge bench transpose --rows 1080 --columns 1920 --type i8 --device host\n"
      "  ridge bench transpose --rows 4096 --columns 4096 --in-place --explain");
  auto options = add_bench_options(command, "memcpy (always timed)");
  auto wanted = std::make_shared<TransposeCase>();
  auto seconds = std::make_shared<double>(0.3);
  auto every = std::make_shared<bool>(false);
  wanted->trials = 8;
  wanted->plan_seconds = 4;
  const Option rows = command.option("--rows", wanted->problem.rows, "Rows of the input");
  const Option columns = command.option("--columns", wanted->problem.columns, "Columns of the input");
  rows.only_with(columns);
  columns.only_with(rows);
  command.option("--batch", wanted->problem.batch, "Number of matrices, consecutive in memory").shows_default();
  command.option("--type", wanted->type, "Element type: i8, i16, i32, f32, f64, c64 or c128").shows_default();
  command.flag("--in-place", wanted->problem.in_place, "Transpose in place, square matrices only");
  command.option("--trials", wanted->trials, "Number of variants to try, the most promising first")
      .shows_default()
      .positive();
  command.flag("--all", *every, "Time every variant, in separate rows");
  command.option("--plan-seconds", wanted->plan_seconds, "Time limit of the trials, in seconds; at least one is run")
      .shows_default()
      .between(0.0, 3600.0);
  command.option("--seconds", *seconds, "Time per variant, in seconds").shows_default().between(0.0, 60.0);
  command.runs([options, wanted, seconds, every, rows] {
    if (*every) wanted->trials = 0;
    for (const std::string& peer : options->against) {
      if (peer != "memcpy")
        throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; the only peer is memcpy", peer));
    }
    std::vector<TransposeCase> cases{*wanted};
    if (!rows.given()) {
      cases = {*wanted, *wanted};
      cases[0].problem.rows = cases[0].problem.columns = 8192;
      cases[1].problem.rows = cases[1].problem.columns = 64;
      cases[1].problem.batch = 4096;
    }
    report::Bench result;
    result.title = "Matrix transpose";
    result.note = "Bytes read and written; memcpy copies the same bytes in order.";
    const auto progress = base::terminal_progress();
    std::size_t done = 0;
    RowsAsTheyCome shown;
    const auto chosen_devices = bench_devices(*options);
    for (const TransposeCase& one : cases) {
      for (const Device& device : chosen_devices) {
        progress(static_cast<double>(done++) / static_cast<double>(cases.size() * chosen_devices.size()),
                 fmt::format("{}x{} on {}", one.problem.rows, one.problem.columns, device.id()));
        std::string explanation;
        for (auto& row : bench_transpose(device, one, options->variant, *seconds, &explanation))
          result.rows.push_back(row);
        progress(1, "");
        if (options->explain) fmt::print("{}\n", explanation);
        shown.show(report::to_text(result), result.rows.size());
      }
    }
    shown.finish(report::to_text(result));
    save_bench(result, *options);
  });
}

}  // namespace ridge::cli
