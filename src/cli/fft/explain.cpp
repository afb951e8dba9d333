// ridge fft explain: prints the chosen plan, the lower bound and the rejected variants.
#include <memory>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/text.hpp"
#include "bench/floor.hpp"
#include "bench/lengths.hpp"
#include "command/command.hpp"
#include "papers/fft/classic/radix_planner.hpp"

namespace ridge::cli {
namespace {

struct ExplainOptions {
  std::string length, shape, type = "f32", variant;
  std::string device = "host";
  bool real = false, quick = false, radices = false, source = false;
  std::size_t batch = 1, threads = 1;
};

template <class T>
void explain(const ExplainOptions& options, const std::vector<std::size_t>& shape) {
  const planner::Options planning{.effort = options.quick ? Effort::quick : Effort::measured,
                                  .variant = options.variant};
  const fft::Problem problem{.shape = shape,
                             .batch = options.batch,
                             .kind = options.real ? fft::Kind::real : fft::Kind::complex,
                             .threads = options.threads};
  const Device where = device(options.device);
  const fft::Plan<T> plan(where, problem, planning);
  fmt::print("{}", plan.explain());
  const FftFloor floor = fft_floor(where, plan.flops(), plan.bytes(), sizeof(T) == sizeof(double), options.threads);
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
  const fft::RadixPlan radices = fft::plan_radices<T>(host(), shape[0], planning);
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
      "  ridge fft explain 1024 --radices          the papers' radix planner: times passes, runs the shortest path");
  auto options = std::make_shared<ExplainOptions>();
  const Option length = command.option("N", options->length, "Number of points: 1000 or 2^10");
  command.option("--shape", options->shape, "Shape AxB or AxBxC, instead of N").not_with(length);
  command.option("--type", options->type, "Precision: f32 or f64").shows_default().one_of({"f32", "f64"});
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
  command.flag("--radices", options->radices, "Also show the radix planner's result for a power of two");
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
