// ridge bench stencil: selects the problems and prints the table.
#include "bench/stencil.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/lengths.hpp"

namespace ridge::cli {
namespace {

struct StencilOptions {
  std::vector<std::string> stencils{"star2d:1", "box2d:1", "star2d:2", "star2d:3", "star2d:4", "star3d:1"};
  std::string size, type = "both";
  std::size_t steps = 0;
  bool quick = false;
  StencilBench one{.plan_seconds = 4};  // what all cases have in common
};

// Parses "star2d:2", "box3d:1", ...
PlainStencil parse_stencil(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), order = colon == std::string::npos ? "1" : text.substr(colon + 1);
  for (const bool box : {false, true}) {
    for (const std::size_t dimensions : {1, 2, 3}) {
      if (name == fmt::format("{}{}d", box ? "box" : "star", dimensions) && order.size() == 1 && order[0] >= '1' &&
          order[0] <= '8') {
        return {.dimensions = dimensions, .order = order[0] - '0', .box = box};
      }
    }
  }
  mistake(
      fmt::format("--stencil {}: needs star2d:1, box2d:1, star3d:2, with an order of 1 to 8, or wave2d, wave3d, "
                  "acoustic2d:8, acoustic3d:8 (order 2, 4, 6 or 8), euler2d, maxwell2d",
                  text));
}

// Table of Gcell/s, shares of the ceilings of two and three accesses, and the speed relative to the plain loop.
std::string stencil_table(const report::Bench& bench) {
  std::vector<std::vector<std::string>> table{{"stencil", "device", "variant", "time", "Gcell/s", "of 2-access roof",
                                               "of 3-access roof", "of peak", "vs plain"}};
  const auto more = [](const report::BenchRow& row, const char* name) {
    const auto found = row.more.find(name);
    return found == row.more.end() ? 0.0 : found->second;
  };
  for (const report::BenchRow& row : bench.rows) {
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

// The problem `name` on a device.
StencilBench case_of(const StencilOptions& options, const std::string& name, bool float64, const Device& device) {
  StencilBench one = options.one;
  if (const auto system = stencil_system(name)) {
    one.system = name;
    one.stencil = {.dimensions = system->dimensions};
  } else {
    one.stencil = parse_stencil(name);
  }
  one.float64 = float64;
  fit_to_device(one, device, options.quick);
  if (!options.size.empty()) one.shape = parse_shape(options.size);
  // One more axis: many grids at once.
  const std::size_t most = one.stencil.dimensions + (one.system.empty() && one.stencil.dimensions < 3 ? 1 : 0);
  if (one.shape.size() < one.stencil.dimensions || one.shape.size() > most)
    mistake(fmt::format("--size {}: the number of axes does not match {}", options.size, name));
  if (options.steps > 0) one.steps = options.steps;
  return one;
}

BenchTable stencil_table_of(StencilOptions options, const BenchOptions& bench, const mpi::Communicator& all) {
  check_peers(bench, {"plain"});
  BenchTable table(
      "Stencils",
      "The roofline ceiling counts two accesses per cell and step (systems: all values that a step must read and "
      "write, "
      "once each); shares exceed 1 if several steps are computed per pass. Useful cells only.");
  table.bench.beyond_roof = report::kSeveralSteps;
  table.text = stencil_table;
  const bool distributed = all.count() > 1;
  // Plans do not verify candidates here: the bench verifies what it times, and on large grids a second comparison would
  // take longer than everything else.
  std::vector<Device> devices;
  for (const std::string& name : bench.devices) devices.push_back(device(name));
  if (distributed || devices.empty()) devices = bench_devices(bench);
  options.one.variant = bench.variant;
  options.one.power |= options.one.rated_watts > 0;
  for (const std::string& name : options.stencils) {
    for (const bool float64 : {false, true}) {
      if (options.type == (float64 ? "f32" : "f64")) continue;
      for (const Device& device : devices) {
        const StencilBench one = case_of(options, name, float64, device);
        const std::string text = fmt::format("{} on {}", stencil_problem_text(one), device.id());
        const auto run = [&all, device, one, distributed, text](const Tell& tell) {
          if (distributed) return bench_stencil_mpi(all, device, one);
          return bench_stencil(device, one, [&](const std::string& what) { tell(text + ": " + what); });
        };
        table.cases.push_back({text, run});
        if (distributed) continue;
        table.cases.back().left_out = fmt::format("{}: {} left out", device.id(), stencil_problem_text(one));
      }
    }
  }
  return table;
}

void add_stencil_options(Command& command, StencilOptions& options) {
  StencilBench& one = options.one;
  command
      .option("--stencil", options.stencils,
              "Stencils: star2d:1, box2d:1, star3d:2, wave2d, acoustic3d:8, euler2d, maxwell2d, ...; may be repeated")
      .separated_by(',')
      .value_name("SHAPE:ORDER");
  command
      .option(
          "--size", options.size,
          "Cells along each axis (default: suitable for the device). Stars and boxes in 1D and 2D: an axis before them "
          "is a number of grids that are computed at once")
      .value_name("AxBxC");
  command.option("--steps", options.steps, "Time steps per run, at most 10^6 (default: suitable for the device)")
      .between(1, 1e6);
  command.option("--border", one.border, "Border: fixed, mirror, periodic").shows_default();
  command.option("--type", options.type, "Precision: f32, f64 or both").shows_default().one_of({"f32", "f64", "both"});
  command.threads(one.threads);
  command
      .option("--schedule", one.schedule,
              "Host: division of the rows among threads, as in OpenMP; automatic: the variant's own")
      .shows_default()
      .one_of({"automatic", "static", "dynamic", "guided"});
  command.option("--trials", one.trials, "Number of variants to try before one is chosen (default 8)").positive();
  add_plan_seconds(command, one.plan_seconds);
  command.flag("--all", one.every, "Time every variant in a separate row, not only the planner's choice");
  command.flag("--power", one.power, "Measure for one more second each: watts, flops per watt and the sustained rate");
  command.option("--watts", one.rated_watts, "Rated power in watts, for an upper bound without an energy counter")
      .between(0.0, 1e6);
  command.flag("--quick", options.quick, "Use small grids");
  add_seconds(command, one.seconds_each, "Time per measurement, in seconds; at least two runs");
}

}  // namespace

std::string stencil_problem_text(const StencilBench& wanted) {
  const std::string name = wanted.system.empty() ? fmt::format("{}-point{}", offsets_of(wanted.stencil).size(),
                                                               wanted.stencil.box ? " box" : "")
                                                 : wanted.system;
  return fmt::format("{} {} {} {} steps{}", name, wanted.float64 ? "f64" : "f32", shape_text(wanted.shape),
                     wanted.steps, wanted.border == "fixed" ? "" : " " + wanted.border);
}

void fit_to_device(StencilBench& one, const Device& device, bool quick) {
  const bool cuda = device.info().backend == Backend::cuda, on_host = device.is_host();
  const bool large = cuda || (!on_host && !device.info().shares_host_memory);
  const std::size_t dimensions = one.stencil.dimensions;
  std::size_t plane = quick ? 1024 : large ? 16384 : on_host ? 8192 : 2048;
  std::size_t cube = quick ? 96 : large ? 768 : on_host ? 512 : 160;
  one.steps = quick ? 32 : dimensions == 3 && on_host ? 50 : large || on_host ? 200 : 24;
  if (!one.system.empty()) {  // several fields: fewer cells, and steps take longer
    plane = quick ? 512 : cuda ? (one.system.starts_with("euler") ? 4096 : 16384) : on_host ? 4096 : 1024;
    cube = quick ? 64 : cuda ? 512 : on_host ? 320 : 96;
    one.steps = quick ? 12 : cuda ? 96 : 24;
  }
  one.shape.assign(dimensions, dimensions == 1 ? std::size_t{1} << (quick ? 20 : 26) : dimensions == 2 ? plane : cube);
}

Workload bench_of_stencil() {
  auto options = std::make_shared<StencilOptions>();
  Workload bench{.name = "stencil",
                 .about = "Time stencils over many steps, relative to memory bandwidth and a plain loop",
                 .peers = "plain (always timed)",
                 .uses_processes = true};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench stencil --device host                              5 to 17 points in 2D, 7 in 3D, float and "
      "double\n"
      "  ridge bench stencil --device cuda:0 --stencil star2d:1 --all   every variant\n"
      "  ridge bench stencil --stencil star3d:1 --size 256x256x256 --steps 100 --border periodic --type f64\n"
      "  ridge bench stencil --stencil wave2d,acoustic3d:8,euler2d,maxwell2d --type f32   systems of fields\n"
      "  ridge bench stencil --device cuda:0 --stencil star2d:1 --size 1000x128x128 --steps 1000   1000 grids at once\n"
      "  mpirun -n 16 ridge bench stencil --stencil star2d:1 --size 2048x2048     weak scaling: cells per process\n"
      "\n* marks the planner's choice. The plain loop is a straightforward loop vectorized by the compiler, on the "
      "same\n"
      "threads; on a device, a kernel with one cell per work-item. The three-access ceiling also counts the read that\n"
      "caches do before a write. On the host the ceilings are the best of the saved profile (ridge machine) and of a\n"
      "copy and an FMA loop in the same run, shown in the last line. Above 1 of the two-access ceiling, memory is no\n"
      "longer the limit, and the share of peak shows how close arithmetic is. --explain shows the other candidates "
      "and\n"
      "the ceiling that limits.";
  bench.add_options = [=](Command& command) { add_stencil_options(command, *options); };
  bench.tables = [=](const BenchOptions& common, const mpi::Communicator& all) {
    return std::vector{stencil_table_of(*options, common, all)};
  };
  return bench;
}

}  // namespace ridge::cli
