// ridge bench stencil: selects the problems and prints the table.
#include "bench/stencil.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <ridge/stencil.hpp>

#include "base/progress.hpp"
#include "base/text.hpp"
#include "bench/bench.hpp"
#include "bench/lengths.hpp"
#include "bench/rows_as_they_come.hpp"
#include "bench/stencil_problem.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

struct StencilOptions {
  std::vector<std::string> stencils;
  std::string size, border = "fixed", type = "both", schedule = "automatic";
  std::size_t steps = 0, threads = 0, trials = 0;
  double seconds = 0.5, plan_seconds = 4, watts = 0;
  bool every = false, quick = false, power = false;
};

// Parses "star:2" of the grid's dimensions, "box3d:1", ...
struct Shape {
  bool box = false;
  std::size_t dimensions = 2;
  int order = 1;
};
Shape parse_stencil(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), order = colon == std::string::npos ? "1" : text.substr(colon + 1);
  for (const bool box : {false, true}) {
    for (const std::size_t dimensions : {1, 2, 3}) {
      if (name == fmt::format("{}{}d", box ? "box" : "star", dimensions) && order.size() == 1 && order[0] >= '1' &&
          order[0] <= '8') {
        return {box, dimensions, order[0] - '0'};
      }
    }
  }
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("--stencil {}: needs star2d:1, box2d:1, star3d:2, with an order of 1 to 8, or wave2d, wave3d, "
                  "acoustic2d:8, acoustic3d:8 (order 2, 4, 6 or 8), euler2d, maxwell2d",
                  text));
}

// Systems have several fields: their grids have fewer cells, and steps take longer.
void set_system(StencilBench& one, const Device& device, const std::string& name, bool quick) {
  one.system = name;
  const bool large = device.info().backend == Backend::cuda;
  const std::size_t plane = quick              ? 512
                            : large            ? (name.starts_with("euler") ? 4096 : 16384)
                            : device.is_host() ? 4096
                                               : 1024;
  const std::size_t cube = quick ? 64 : large ? 512 : device.is_host() ? 320 : 96;
  if (one.shape.size() > 1) std::fill(one.shape.begin(), one.shape.end(), one.shape.size() == 2 ? plane : cube);
  one.steps = quick ? 12 : large ? 96 : 24;
}

void run_stencil(const StencilOptions& options, const BenchOptions& bench, const mpi::Communicator& all) {
  const bool distributed = all.count() > 1;
  for (const std::string& peer : bench.against) {
    if (peer != "plain")
      throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; the only peer is plain", peer));
  }
  std::vector<std::string> names = options.stencils;
  if (names.empty()) names = {"star2d:1", "box2d:1", "star2d:2", "star2d:3", "star2d:4", "star3d:1"};
  report::Bench result;
  result.beyond_roof = report::kSeveralSteps;
  result.title = "Stencils";
  result.note =
      "The roofline ceiling counts two accesses per cell and step (systems: all values that a step must read and "
      "write, "
      "once each); shares exceed 1 if several steps are computed per pass. Useful cells only.";
  // Plans do not verify candidates here: the bench verifies what it times, and on large grids a second comparison would
  // take longer than everything else.
  std::vector<Device> places;
  for (const std::string& name : bench.devices) places.push_back(device(name));
  if (distributed || places.empty()) places = bench_devices(bench);
  std::vector<std::pair<Device, StencilBench>> cases;
  for (const std::string& name : names) {
    const auto system = stencil_system(name);
    const Shape shape = system ? Shape{.dimensions = system->dimensions} : parse_stencil(name);
    for (const bool float64 : {false, true}) {
      if (options.type == (float64 ? "f32" : "f64")) continue;
      for (const Device& device : places) {
        StencilBench one = stencil_case(device, shape.dimensions, shape.order, shape.box, float64, options.quick);
        if (system) set_system(one, device, name, options.quick);
        if (!options.size.empty()) one.shape = parse_shape(options.size);
        if (one.shape.size() != shape.dimensions) {
          throw Error(ErrorKind::invalid_argument,
                      fmt::format("--size {}: the number of axes does not match {}", options.size, name));
        }
        if (options.steps > 0) one.steps = options.steps;
        one.border = options.border;
        one.threads = options.threads;
        one.schedule = options.schedule;
        one.variant = bench.variant;
        one.every = options.every;
        one.trials = options.trials;
        one.plan_seconds = options.plan_seconds;
        one.seconds_each = options.seconds;
        one.power = options.power || options.watts > 0;
        one.rated_watts = options.watts;
        cases.emplace_back(device, one);
      }
    }
  }
  const base::Progress progress =
      all.root() ? base::terminal_progress() : base::Progress([](double, const std::string&) {});
  std::vector<std::string> notes;
  RowsAsTheyCome shown;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [device, one] = cases[i];
    progress(static_cast<double>(i) / static_cast<double>(cases.size()),
             fmt::format("{} on {}", stencil_problem_text(one), device.id()));
    try {
      const StencilBenchResult measured =
          distributed ? bench_stencil_mpi(all, device, one) : bench_stencil(device, one);
      if (!all.root()) continue;
      result.rows.insert(result.rows.end(), measured.rows.begin(), measured.rows.end());
      notes.insert(notes.end(), measured.notes.begin(), measured.notes.end());
      progress(1, "");
      if (bench.explain) fmt::print("{}\n", measured.explanation);
      shown.show(stencil_table(result.rows), result.rows.size());
    } catch (const Error& error) {
      if (cases.size() == 1 || distributed) throw;
      notes.push_back(fmt::format("{}: {} left out: {}", device.id(), stencil_problem_text(one), error.what()));
    }
  }
  progress(1, "");
  if (!all.root()) return;
  shown.finish(stencil_table(result.rows));
  save_bench(result, bench);
  for (const std::string& note : notes) fmt::print("{}\n", note);
}

}  // namespace

std::string stencil_problem_text(const StencilBench& wanted) {
  if (!wanted.system.empty()) {
    return fmt::format("{} {} {} {} steps{}", wanted.system, wanted.float64 ? "f64" : "f32", shape_text(wanted.shape),
                       wanted.steps, wanted.border == "fixed" ? "" : " " + wanted.border);
  }
  const auto points = offsets_of(wanted.stencil).size();
  return fmt::format("{}-point {}{} {} {} steps{}", points, wanted.stencil.box ? "box " : "",
                     wanted.float64 ? "f64" : "f32", shape_text(wanted.shape), wanted.steps,
                     wanted.border == "fixed" ? "" : " " + wanted.border);
}

StencilBench stencil_case(const Device& device, std::size_t dimensions, int order, bool box, bool float64, bool quick) {
  StencilBench one;
  one.stencil = {.dimensions = dimensions, .order = order, .box = box};
  one.float64 = float64;
  const bool large = device.info().backend == Backend::cuda || (!device.is_host() && !device.info().shares_host_memory);
  const std::size_t plane = quick ? 1024 : large ? 16384 : device.is_host() ? 8192 : 2048;
  const std::size_t cube = quick ? 96 : large ? 768 : device.is_host() ? 512 : 160;
  one.shape = dimensions == 1   ? std::vector<std::size_t>{quick ? std::size_t{1} << 20 : std::size_t{1} << 26}
              : dimensions == 2 ? std::vector<std::size_t>{plane, plane}
                                : std::vector<std::size_t>{cube, cube, cube};
  one.steps = quick ? 32 : large || device.is_host() ? 200 : 24;
  if (dimensions == 3 && device.is_host() && !quick) one.steps = 50;
  one.seconds_each = quick ? 0.02 : 0.5;
  return one;
}

std::string stencil_table(const std::vector<report::BenchRow>& rows) {
  std::vector<std::vector<std::string>> table{{"stencil", "device", "variant", "time", "Gcell/s", "of 2-access roof",
                                               "of 3-access roof", "of peak", "vs plain"}};
  const auto more = [](const report::BenchRow& row, const char* name) {
    const auto found = row.more.find(name);
    return found == row.more.end() ? 0.0 : found->second;
  };
  for (const report::BenchRow& row : rows) {
    const auto plain = row.peers.find("plain");
    table.push_back({row.problem, row.device, row.variant + (row.chosen ? " *" : ""), base::human_seconds(row.seconds),
                     fmt::format("{:.3g}", more(row, "gcells_per_s")),
                     row.roof_share > 0 ? fmt::format("{:.2f}", row.roof_share) : "-",
                     more(row, "three_access_share") > 0 ? fmt::format("{:.2f}", more(row, "three_access_share")) : "-",
                     more(row, "peak_share") > 0 ? fmt::format("{:.2f}", more(row, "peak_share")) : "-",
                     plain == row.peers.end() ? "-" : fmt::format("{:.2f}x", plain->second / row.seconds)});
  }
  return base::table(table);
}

void add_bench_stencil(Command& bench) {
  Command& command =
      bench.subcommand("stencil", "Time stencils over many steps, relative to memory bandwidth and a plain loop");
  command.footer(
      "\nExamples:\n"
      "  ridge bench stencil --device host                              5 to 17 points in 2D, 7 in 3D, float and "
      "double\n"
      "  ridge bench stencil --device cuda:0 --stencil star2d:1 --all   every variant\n"
      "  ridge bench stencil --stencil star3d:1 --size 256x256x256 --steps 100 --border periodic --type f64\n"
      "  ridge bench stencil --stencil wave2d,acoustic3d:8,euler2d,maxwell2d --type f32   systems of fields\n"
      "  mpirun -n 16 ridge bench stencil --stencil star2d:1 --size 2048x2048     weak scaling: cells per process\n"
      "\n* marks the planner's choice. The plain loop is a straightforward loop vectorized by the compiler, on the "
      "same\n"
      "threads; on a device, a kernel with one cell per work-item. The three-access ceiling also counts the read that\n"
      "caches do before a write. On the host the ceilings are the best of the saved profile (ridge machine) and of a\n"
      "copy and an FMA loop in the same run, shown in the last line. Above 1 of the two-access ceiling, memory is no\n"
      "longer the limit, and the share of peak shows how close arithmetic is. --explain shows the other candidates "
      "and\n"
      "the ceiling that limits.");
  auto bench_options = add_bench_options(command, "plain (always timed)");
  auto options = std::make_shared<StencilOptions>();
  command
      .option("--stencil", options->stencils,
              "Stencils: star2d:1, box2d:1, star3d:2, wave2d, acoustic3d:8, euler2d, maxwell2d, ...; may be repeated")
      .separated_by(',')
      .value_name("SHAPE:ORDER");
  command.option("--size", options->size, "Cells along each axis (default: suitable for the device)")
      .value_name("AxBxC");
  command.option("--steps", options->steps, "Time steps per run, at most 10^6 (default: suitable for the device)")
      .between(1, 1e6);
  command.option("--border", options->border, "Border: fixed, mirror, periodic").shows_default();
  command.option("--type", options->type, "Precision: f32, f64 or both").shows_default().one_of({"f32", "f64", "both"});
  command.threads(options->threads);
  command
      .option("--schedule", options->schedule,
              "Host: division of the rows among threads, as in OpenMP; automatic: the variant's own")
      .shows_default()
      .one_of({"automatic", "static", "dynamic", "guided"});
  command.option("--trials", options->trials, "Number of variants to try before one is chosen (default 8)").positive();
  command.option("--plan-seconds", options->plan_seconds, "Time limit of the trials, in seconds; at least one is run")
      .shows_default()
      .between(0.0, 3600.0);
  command.flag("--all", options->every, "Time every variant in a separate row, not only the planner's choice");
  command.flag("--power", options->power,
               "Measure for one more second each: watts, flops per watt and the sustained rate");
  command.option("--watts", options->watts, "Rated power in watts, for an upper bound without an energy counter")
      .between(0.0, 1e6);
  command.flag("--quick", options->quick, "Use small grids");
  command.option("--seconds", options->seconds, "Time per measurement, in seconds; at least two runs")
      .shows_default()
      .between(0.0, 60.0);
  command.runs([options, bench_options] {
    with_processes([&](const mpi::Communicator& all) { run_stencil(*options, *bench_options, all); });
  });
}

}  // namespace ridge::cli
