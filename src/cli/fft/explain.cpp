// ridge fft explain: prints the chosen plan, the lower bound and the rejected variants.
#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/host_memory.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "bench/bench.hpp"
#include "bench/lengths.hpp"
#include "command/command.hpp"
#include "papers/fft/classic/radix_planner.hpp"
#include "papers/fft/device/measure.hpp"

namespace ridge::cli {
namespace {

struct ExplainOptions {
  std::string length, shape, type = "f32", variant;
  std::string device = "host", objective = "time";
  bool real = false, quick = false, radices = false, source = false, edges = false;
  std::size_t batch = 1, threads = 1, points = 8;
};

// Times of the passes by stage and radix: tables 4.2 and 4.3 of the thesis.
std::string edge_table(const fft::RadixGraph& graph) {
  std::vector<std::size_t> radices;
  for (const auto& edge : graph.edges) {
    if (std::find(radices.begin(), radices.end(), edge.radix) == radices.end()) radices.push_back(edge.radix);
  }
  std::vector<std::vector<std::string>> rows{{"stage"}};
  for (const std::size_t radix : radices) rows[0].push_back(fmt::format("radix {}, ns", radix));
  for (std::size_t stage = 0; stage < graph.stages; ++stage) {
    rows.push_back({fmt::to_string(stage)});
    for (const std::size_t radix : radices) {
      const auto found = std::find_if(graph.edges.begin(), graph.edges.end(),
                                      [&](const auto& edge) { return edge.stage == stage && edge.radix == radix; });
      rows.back().push_back(found == graph.edges.end() ? "-" : fmt::format("{:.0f}", 1e9 * found->seconds));
    }
  }
  return base::table(rows);
}

void explain_unit(const ExplainOptions& options, const Device& device, std::size_t n) {
  constexpr double kSeconds = 0.01;
  if (!std::has_single_bit(options.points))
    throw Error(ErrorKind::invalid_argument, fmt::format("--points needs 2, 4, 8 or 16, got {}", options.points));
  const auto plan = fft::papers::plan_unit_radices(device, n, options.points, kSeconds);
  fmt::print("\nradix planner, {} points in each of {} work-items on {}: {}\n", options.points, n / options.points,
             device.id(), fft::to_string(plan.paths[plan.winner].radices));
  if (options.edges) fmt::print("{}", edge_table(plan.graph));
  std::vector<std::vector<std::string>> rows{{"radices", "sum of the passes, ns", "end to end, ns"}};
  for (std::size_t i = 0; i < plan.paths.size(); ++i) {
    rows.push_back({fft::to_string(plan.paths[i].radices), fmt::format("{:.0f}", 1e9 * plan.paths[i].seconds),
                    fmt::format("{:.0f}", 1e9 * plan.seconds[i])});
  }
  fmt::print("{}", base::table(rows));
}

// Trials transform arrays of the problem's size. With --quick only the tables of the longest axis are computed, which
// take about as much memory as its points.
template <class T>
void check_fits(const ExplainOptions& options, const std::vector<std::size_t>& shape) {
  double points = static_cast<double>(options.batch);
  for (const std::size_t length : shape) points *= static_cast<double>(length);
  if (options.quick) points = static_cast<double>(*std::ranges::max_element(shape));
  const double needed = 2 * points * static_cast<double>(options.real ? sizeof(T) : 2 * sizeof(T));
  const auto memory = static_cast<double>(base::host_memory());
  if (needed <= memory) return;
  mistake(fmt::format(
      "fft explain: {:.4g} points need {} for {}, but this process may use {}: give fewer "
      "points, or transform a file with ridge fft --memory",
      points, base::human_bytes(needed), options.quick ? "tables" : "input and output", base::human_bytes(memory)));
}

template <class T>
void explain(const ExplainOptions& options, const std::vector<std::size_t>& shape) {
  const base::Progress progress = base::terminal_progress();
  const planner::Options planning{.effort = options.quick ? Effort::quick : Effort::measured,
                                  .objective = options.objective == "energy" ? Objective::energy : Objective::time,
                                  .variant = options.variant,
                                  .progress = [progress](const planner::Progress& trial) {
                                    progress(static_cast<double>(trial.done) / static_cast<double>(trial.of),
                                             "timing " + trial.candidate);
                                  }};
  const fft::Problem problem{.shape = shape,
                             .batch = options.batch,
                             .kind = options.real ? fft::Kind::real : fft::Kind::complex,
                             .threads = options.threads};
  const Device where = device(options.device);
  if (where.is_host()) check_fits<T>(options, shape);
  progress(0, "planning");
  const fft::Plan<T> plan(where, problem, planning);
  progress(1, "");
  fmt::print("{}", plan.explain());
  const Floor floor = floor_of(where, plan.flops(), plan.bytes(), sizeof(T) == sizeof(double), options.threads);
  fmt::print("lower bound {}: {} of arithmetic at {}, {} of memory ({}){}\n", base::human_seconds(floor.seconds()),
             base::human_seconds(floor.arithmetic_seconds), floor.peak, base::human_seconds(floor.memory_seconds),
             floor.level, floor.measured ? "" : "; estimated: run ridge machine to measure");
  if (options.source) {
    if (plan.kernels().empty())
      throw Error(ErrorKind::invalid_argument, "--source shows device kernels: give --device");
    for (const KernelSource& kernel : plan.kernels()) fmt::print("\n{}", kernel.text);
  }
  if (!options.radices) return;
  if (shape.size() != 1) throw Error(ErrorKind::invalid_argument, "--radices needs one length N, not a shape");
  if (!where.is_host()) {
    if (sizeof(T) == sizeof(double)) throw Error(ErrorKind::invalid_argument, "--radices on a device needs --type f32");
    return explain_unit(options, where, shape[0]);
  }
  if (options.edges)
    fmt::print("\nclassic Stockham passes, one core\n{}", edge_table(fft::measure_radix_graph<T>(shape[0])));
  const fft::RadixPlan radices =
      fft::plan_radices<T>(host(), shape[0], {.effort = planning.effort, .variant = planning.variant});
  fmt::print("\nradix planner, passes of the classic Stockham kernel: {}\n{}", fft::to_string(radices.radices),
             radices.decision.explain());
}

}  // namespace

void add_fft_explain(Command& fft) {
  Command& command = fft.subcommand("explain", "Show the plan for a length, its lower bound and the rejected variants");
  command.footer(
      "\nExamples:\n"
      "  ridge fft explain 1024\n"
      "  ridge fft explain 2^20 --type f64 --quick\n"
      "  ridge fft explain --shape 512x512 --real\n"
      "  ridge fft explain 4096 --device cuda:0 --batch 16384 --source\n"
      "  ridge fft explain 2^20 --device cuda:0 --objective energy       joules per transform of every candidate\n"
      "  ridge fft explain 1024 --radices          the papers' radix planner: times passes, runs the shortest path\n"
      "  ridge fft explain 1024 --radices --edges --device cuda:0     the same in local memory, with every pass's "
      "time");
  auto options = std::make_shared<ExplainOptions>();
  const Option length = command.option("N", options->length, "Number of points: 1000 or 2^10");
  command.option("--shape", options->shape, "Shape AxB or AxBxC, instead of N").not_with(length);
  command.precision(options->type);
  command.option("--batch", options->batch, "Number of transforms, consecutive in memory").shows_default().positive();
  command.threads(options->threads);
  command.option("--variant", options->variant, "Consider only this variant");
  command
      .option("--device", options->device,
              "Device: host, cuda:0, opencl:pocl, best, recorded:mi300x (see docs/device.md)")
      .shows_default()
      .value_name("NAME");
  command.flag("--source", options->source, "Devices: also print the generated kernels");
  command.flag("--real", options->real, "Transform real samples");
  command.flag("--quick", options->quick, "Use wisdom and the machine model only; time nothing");
  command
      .option("--objective", options->objective,
              "What to minimize: time, or energy per run from the measured power (needs a power counter)")
      .shows_default()
      .one_of({"time", "energy"});
  command.flag("--radices", options->radices, "Also show the radix planner's result for a power of two");
  command.flag("--edges", options->edges, "With --radices: print the measured time of every pass");
  command.option("--points", options->points, "Devices, with --radices: points per work-item")
      .shows_default()
      .between(2, 16);
  command.runs([options] {
    if (options->length.empty() && options->shape.empty()) {
      throw Error(ErrorKind::invalid_argument, "needs N or --shape (see ridge fft explain --help)");
    }
    const auto shape =
        options->shape.empty() ? std::vector<std::size_t>{parse_length(options->length)} : parse_shape(options->shape);
    options->type == "f64" ? explain<double>(*options, shape) : explain<float>(*options, shape);
  });
}

}  // namespace ridge::cli
