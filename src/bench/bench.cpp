// ridge bench: the runner of all workloads, and the contest in which their calls are timed.
#include "bench/bench.hpp"

#include <stdlib.h>  // setenv
#include <time.h>    // clock_gettime

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "command/command.hpp"
#include "command/process.hpp"
#include "device/timing.hpp"
#include "machine/energy.hpp"
#include "report/page.hpp"

namespace ridge::cli {
namespace {

// Prints the rows of a table as they become available, so that an interrupted run has printed its results.
class RowsAsTheyCome {
 public:
  // Prints the lines of `table` from the last printed one to `end`.
  void show(const std::string& table, std::size_t end = static_cast<std::size_t>(-1)) {
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < table.size() && line < end; ++line) {
      const std::size_t newline = table.find('\n', begin);
      const std::size_t after = newline == std::string::npos ? table.size() : newline + 1;
      if (line >= printed_) fmt::print("{}", table.substr(begin, after - begin));
      begin = after;
    }
    printed_ = line;
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
  }

 private:
  std::size_t printed_ = 0;  // lines
};

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{}\n", line);
}

// Warns of shares above 100 % of the roofline ceiling and writes the JSON file.
void save_table(const report::Bench& bench, const BenchOptions& options) {
  const auto profile = machine::load();
  for (const std::string& warning : report::roof_warnings(bench, profile)) base::warn(warning);
  if (!options.html.empty()) {
    report::Report page;
    page.title = bench.title;
    page.benches = {bench};
    base::write_file(options.html, report::to_html(page));
    fmt::print("wrote {}\n", options.html);
  }
  if (options.json.empty()) return;
  base::Json machine = base::Json::object();
  if (profile) machine = base::parse_json(machine::to_json(*profile));
  base::write_file(options.json, report::to_json(bench, machine));
  fmt::print("wrote {}\n", options.json);
}

BenchResult run_in_memory(const BenchCase& one, const Tell& tell) {
  try {
    return one.run(tell);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, "not enough memory on this machine");
  }
}

// Runs a case. If it is one of several, its error may become a note, and the others still run. Lack of memory names it.
BenchResult run_case(const BenchTable& table, const BenchCase& one, const Tell& tell) {
  try {
    return run_in_memory(one, tell);
  } catch (const Error& error) {
    if (one.left_out.empty() || table.cases.size() == 1) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
      throw Error(error.kind(), fmt::format("{}: {}", one.text, error.what()));
    }
    return {.notes = {fmt::format("{}: {}", one.left_out, error.what())}};
  }
}

void run_table(BenchTable table, const BenchOptions& options, bool root) {
  const base::Progress progress = root ? base::terminal_progress() : [](double, const std::string&) {};
  std::vector<std::string> notes, disagreements;
  RowsAsTheyCome shown;
  for (std::size_t i = 0; i < table.cases.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(table.cases.size());
    progress(share, table.cases[i].text);
    const BenchResult one = run_case(table, table.cases[i], [&](const std::string& what) { progress(share, what); });
    if (!root) continue;
    table.bench.rows.insert(table.bench.rows.end(), one.rows.begin(), one.rows.end());
    append(disagreements, one.disagreements);
    progress(1, "");
    if (table.notes_first) print_lines(one.notes);
    if (!table.notes_first) append(notes, one.notes);
    if (options.explain && !one.explanation.empty()) fmt::print("{}\n", one.explanation);
    if (!table.at_end) shown.show(table.text(table.bench), table.bench.rows.size() + 1);
  }
  if (!root) return;
  shown.show(table.text(table.bench));
  save_table(table.bench, options);
  print_lines(notes);
  if (!disagreements.empty()) throw Error(ErrorKind::internal, fmt::format("{}", fmt::join(disagreements, "; ")));
}

void add_workload(Command& bench, const Workload& workload) {
  Command& command = bench.subcommand(workload.name, workload.about);
  command.footer(workload.footer);
  auto options = std::make_shared<BenchOptions>();
  command.option("--device", options->devices, "Device to run on; may be repeated (default: every device)")
      .value_name("NAME");
  if (!workload.peers.empty()) {
    command.option("--against", options->against, fmt::format("Other libraries to time: {}", workload.peers))
        .separated_by(',')
        .value_name("PEER,...");
  }
  command.option("--variant", options->variant, "Time only this variant, as name or name(parameters)")
      .value_name("NAME");
  command.option("--json", options->json, "Write machine, rows and summary to FILE").writes();
  command
      .option("--html", options->html,
              "Write a page with the rows and charts to FILE: bars, or a heat map of lengths by batches")
      .writes()
      .ends_in({".html"});
  command.flag("--explain", options->explain, "Print the planner's explanation of each choice");
  workload.add_options(command);
  command.runs([options, workload] {
    const auto run = [&](const mpi::Communicator& all) {
      for (BenchTable& table : workload.tables(*options, all)) run_table(std::move(table), *options, all.root());
    };
    workload.uses_processes ? with_processes(run) : run(mpi::Communicator::alone());
  });
}

}  // namespace

void compare_plans() { ::setenv("RIDGE_VERIFY", "1", 0); }  // keeps a value already set

std::vector<Device> bench_devices(const BenchOptions& options) {
  compare_plans();
  std::vector<Device> chosen;
  for (const std::string& name : options.devices) chosen.push_back(device(name));
  return chosen.empty() ? devices().devices : chosen;
}

void add_accelerators(BenchTable& table, const BenchOptions& options, const std::string& workload,
                      const std::function<BenchResult(const Device& device)>& run) {
  for (const Device& device : bench_devices(options)) {
    if (!device.is_host()) {
      table.cases.push_back({fmt::format("{} on {}", workload, device.id()), [=](const Tell&) { return run(device); }});
    } else if (!options.devices.empty()) {
      mistake(fmt::format("bench {}: needs an accelerator, got the host", workload));
    }
  }
}

void check_host_memory(double bytes) {
  const auto there = static_cast<double>(host().limits().memory);
  if (there == 0 || bytes <= there) return;
  throw Error(ErrorKind::out_of_memory, fmt::format("its arrays need {} of host memory, but this machine has {}",
                                                    base::human_bytes(bytes), base::human_bytes(there)));
}

void check_peers(const BenchOptions& options, const std::vector<std::string>& known) {
  for (const std::string& name : options.against) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    mistake(known.size() == 1 ? fmt::format("no peer \"{}\"; the only peer is {}", name, known.front())
                              : fmt::format("no peer \"{}\"; the peers are {}", name, fmt::join(known, ", ")));
  }
}

void add_seconds(Command& command, double& seconds, const std::string& help) {
  command.option("--seconds", seconds, help).shows_default().between(0.0, 60.0);
}

void add_plan_seconds(Command& command, double& seconds) {
  command.option("--plan-seconds", seconds, "Time limit of the trials, in seconds; at least one is run")
      .shows_default()
      .between(0.0, 3600.0);
}

bool is_wanted(const planner::Candidate& candidate, const std::string& variant) {
  return candidate.refusal.empty() && (variant.empty() || candidate.variant == variant || candidate.name() == variant);
}

planner::Options only(const std::string& variant) {
  return {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant};
}

std::string winners(const std::vector<planner::Decision>& decisions) {
  std::string text;
  for (const planner::Decision& decision : decisions)
    text += (text.empty() ? "" : " / ") + decision.trials.at(decision.winner).name;
  return text;
}

Floor floor_of(const Device& device, double flops, double bytes, bool float64, std::size_t threads) {
  const machine::Ceilings ceilings = machine::ceilings(device);
  const double cores = static_cast<double>(std::max<std::size_t>(1, device.limits().compute_units));
  const bool everything = !device.is_host() || threads == 0 || static_cast<double>(threads) >= cores;
  const double all = float64 ? ceilings.flops_double : ceilings.flops_float;
  const double one = float64 ? ceilings.flops_double_one : ceilings.flops_float_one;
  const double used = static_cast<double>(threads);
  double peak = all;
  if (!everything) peak = std::min(all, one > 0 ? one * used : all / cores * used);

  Floor floor;
  floor.measured = ceilings.measured;
  if (peak > 0) floor.arithmetic_seconds = flops / peak;
  floor.peak = base::human_rate(peak, "FLOP/s");
  for (const machine::Level& level : ceilings.levels) {
    if (static_cast<double>(level.capacity) < bytes && level.name != ceilings.memory().name) continue;
    const double full = std::max(level.all.copy, level.all.copy_streaming);
    const double single = std::max(level.one.copy, level.one.copy_streaming);
    const double bandwidth = everything || single <= 0 ? full : std::min(full, single * used);
    if (bandwidth <= 0) continue;
    floor.memory_seconds = bytes / bandwidth;
    floor.level = fmt::format("{} at {}", level.name, base::human_rate(bandwidth, "B/s"));
    break;
  }
  return floor;
}

double copy_ceiling(const Device& device) {
  const machine::Bandwidth memory = machine::ceilings(device).memory().all;
  return std::max(memory.copy, memory.copy_streaming);
}

report::BenchRow row_of(const Device& device, const std::string& problem, const std::string& variant, double seconds,
                        double flops, double bytes) {
  report::BenchRow row;
  row.problem = problem;
  row.device = device.id();
  row.variant = variant;
  row.seconds = seconds;
  row.gflops = flops / seconds * 1e-9;
  row.gbytes_per_s = bytes / seconds * 1e-9;
  return row;
}

report::BenchRow timed_row(Queue& queue, const Device& device, const std::string& problem, Contest::Entry entry,
                           double seconds) {
  Contest contest{.device = device, .problem = problem};
  contest.ours.push_back(std::move(entry));
  const auto clock = [&](const Contest::Calls& calls) {
    return best_device_seconds(queue, calls, {.seconds = seconds, .at_least = 2, .at_most = 200});
  };
  return contest.time(clock).front();
}

std::vector<report::BenchRow> Contest::time(const std::function<std::vector<double>(const Calls& calls)>& clock) {
  Calls calls;
  for (const Entry& one : ours) calls.push_back(one.call);
  for (const Entry& one : peers) calls.push_back(one.call);
  calls.insert(calls.end(), others.begin(), others.end());
  const std::vector<double> seconds = clock(calls);
  other_seconds.assign(seconds.end() - static_cast<std::ptrdiff_t>(others.size()), seconds.end());
  std::vector<report::BenchRow> rows;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Entry& one = ours[i];
    report::BenchRow row = row_of(device, problem, one.name, seconds[i], one.flops, one.bytes);
    const double floor = copied > 0 ? one.bytes / copy_rate() : one.floor_seconds;
    row.roof_share = floor / seconds[i];
    row.chosen = one.chosen;
    for (std::size_t p = 0; p < peers.size(); ++p) row.peers[peers[p].name] = seconds[ours.size() + p];
    rows.push_back(row);
  }
  return rows;
}

double Contest::copy_rate() const { return 2 * static_cast<double>(copied) / other_seconds.front(); }

std::vector<double> least_cpu_seconds(const Contest::Calls& calls, double seconds, int clock) {
  const auto now = [clock] {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  std::vector<double> least(calls.size(), std::numeric_limits<double>::infinity());
  for (const auto& call : calls) call();
  const double begin = now();
  for (int round = 0; round < 3 || (round < 1000 && now() - begin < seconds * static_cast<double>(calls.size()));
       ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const double start = now();
      calls[i]();
      least[i] = std::min(least[i], now() - start);
    }
  }
  return least;
}

std::string power_of(const Device& device, const Contest::Call& call, double flops, double seconds, Queue* queue) {
  auto counter = machine::EnergyCounter::open(device);
  if (queue == nullptr) return machine::power_text(counter, call, flops);
  const auto times = static_cast<std::size_t>(std::ceil(0.02 / seconds));  // per wait
  const auto run = [&] {
    for (std::size_t i = 0; i < times; ++i) call();
    queue->finish();
  };
  const std::string text = machine::power_text(counter, run, flops * static_cast<double>(times));
  return times > 1 && text.ends_with("per run") ? fmt::format("{} of {} calls", text, times) : text;
}

void add_bench_image_stages(Command& bench);  // prints stages, no table

void add_bench(Command& program) {
  Command& command = program.subcommand(
      "bench", "Time the variants of a workload and other libraries, relative to the machine's limits");
  command.needs_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge bench fft --against fftw --lengths 2^4..2^20\n"
      "  ridge bench stencil --device host\n"
      "  ridge bench filterbank --device cuda:0 --json bank.json\n"
      "  ridge bench transpose --explain\n"
      "\nA time is the shortest of several runs. Ridgeline and the peers run alternately on the same data.\n"
      "Shares of the roofline ceiling use the saved profile (ridge machine), or an estimate if there is none.");
  using Describe = Workload();
  const auto add = [&](Describe describe) { add_workload(command, describe()); };
  // One line per workload, in the order of --help.
  // clang-format off
  Describe bench_of_fft; add(bench_of_fft);
  Describe bench_of_nufft; add(bench_of_nufft);
  Describe bench_of_stencil; add(bench_of_stencil);
  Describe bench_of_filterbank; add(bench_of_filterbank);
  Describe bench_of_correlator; add(bench_of_correlator);
  Describe bench_of_search; add(bench_of_search);
  Describe bench_of_beams; add(bench_of_beams);
  Describe bench_of_telescope; add(bench_of_telescope);
  Describe bench_of_graph; add(bench_of_graph);
  Describe bench_of_image; add(bench_of_image);
  Describe bench_of_panels; add(bench_of_panels);
  Describe bench_of_transpose; add(bench_of_transpose);
  // clang-format on
  add_bench_image_stages(command);
}

}  // namespace ridge::cli
