// ridge variance: local variance of an image, and a study of the methods' errors.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <ridge/image.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/image/study.hpp"
#include "command/command.hpp"
#include "command/output_folder.hpp"
#include "io/images/pixels.hpp"

namespace ridge::cli {
namespace {

struct VarianceOptions {
  std::vector<std::string> names;
  std::string method = "best", device, border = "reflect-101", plot;
  std::size_t window = 27, columns = 0, threads = 0;
  double constant = 0, scale = 0;
  bool study = false, measure = false, explain = false;
};

// Reads an image as one channel; colours are converted to grey.
image::Image one_channel(const std::string& name, std::size_t threads) {
  const image::Image in = image::read(name);
  if (in.channels() == 1) return in;
  image::OperatorProblem gray;
  gray.input = in.shape();
  gray.chain = {image::Gray{}};
  gray.threads = threads;
  image::Image out(image::output_shape(gray));
  image::plan(host(), gray, {.effort = Effort::quick}).run(in, out);
  return out;
}

void run_variance(const VarianceOptions& options) {
  if (options.study) return run_variance_study(options.window, options.threads, options.plot);
  if (options.names.size() != 2) throw Error(ErrorKind::invalid_argument, "variance: needs IN OUT, or --study");
  if (!options.plot.empty()) throw Error(ErrorKind::invalid_argument, "--plot needs --study");
  check_output("variance to", options.names[1]);
  io::check_ending(options.names[1]);
  const image::Image in = one_channel(options.names[0], options.threads);
  image::VarianceProblem problem;
  problem.rows = in.rows();
  problem.columns = in.columns();
  problem.depth = in.depth();
  problem.method = image::variance_method(options.method);
  problem.window_rows = options.window;
  problem.window_columns = options.columns == 0 ? options.window : options.columns;
  problem.border = image::border_of(options.border);
  problem.constant = options.constant;
  problem.threads = options.threads;
  const Device where = device(options.device);
  const double before = base::now();
  const image::VariancePlan plan =
      image::plan(where, problem, {.effort = options.measure ? Effort::measured : Effort::quick});
  const double planning = base::now() - before;
  if (options.explain) fmt::print("{}\n", plan.explain());
  image::Image out({.rows = in.rows(), .columns = in.columns(), .depth = image::Depth::f32});
  const double begin = base::now();
  plan.run(in, out);
  const double seconds = base::now() - begin;
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  std::size_t numbers = 0;
  for (std::size_t r = 0; r < out.rows(); ++r) {
    for (std::size_t c = 0; c < out.columns(); ++c) {
      const double value = out.row<float>(r)[c];
      if (std::isnan(value)) continue;  // the window contains NaN
      ++numbers;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      sum += value;
    }
  }
  const std::string& name = options.names[1];
  const bool floats =
      name.ends_with(".pfm") || name.ends_with(".npy") || name.ends_with(".tif") || name.ends_with(".tiff");
  double factor = 1;
  if (floats) {
    image::write(name, out);
  } else {  // 8-bit output: the standard deviation, in units of the image
    image::Image bytes({.rows = in.rows(), .columns = in.columns()});
    factor = options.scale > 0 ? options.scale : greatest > 0 ? 255 / std::sqrt(greatest) : 1;
    for (std::size_t r = 0; r < out.rows(); ++r) {
      for (std::size_t c = 0; c < out.columns(); ++c) {
        const double deviation = std::sqrt(std::max(0.0f, out.row<float>(r)[c]));
        bytes.row<std::uint8_t>(r)[c] = static_cast<std::uint8_t>(std::min(255.0, std::nearbyint(factor * deviation)));
      }
    }
    image::write(name, bytes);
  }
  const std::size_t pixels = out.rows() * out.columns();
  const std::string range = numbers == 0 ? "no pixel with a variance"
                                         : fmt::format("variance {:.4g} to {:.4g}, mean {:.4g}", least, greatest,
                                                       sum / static_cast<double>(numbers));
  fmt::print("{}, windows of {}x{}, in {} on {}; planned in {}{}\n", range, problem.window_columns, problem.window_rows,
             base::human_seconds(seconds), plan.device().id(), base::human_seconds(planning),
             numbers == pixels ? "" : fmt::format("; {} pixels have NaN in their window", pixels - numbers));
  if (!floats)
    fmt::print("{} holds the standard deviation times {:.4g}; .npy, .tiff and .pfm hold the variance itself\n", name,
               factor);
}

}  // namespace

void add_variance(Command& program) {
  Command& command = program.subcommand("variance", "Local variance around every pixel, by six methods");
  command.footer(
      "\nExamples:\n"
      "  ridge variance scan.png out.npy --window 27\n"
      "  ridge variance scan.png out.png --method three-wise\n"
      "  ridge variance --study --plot study.svg       errors of all methods for growing means, and times");
  auto options = std::make_shared<VarianceOptions>();
  command.option("names", options->names, "IN OUT").reads_then_writes();
  command.option("--window", options->window, "Rows of the window, and its columns unless --columns is given")
      .shows_default();
  command.option("--columns", options->columns, "Columns of the window");
  command.option("--method", options->method, "Method: best, two-pass, koenig, online, pairwise, three-wise or exact")
      .shows_default();
  command.option("--border", options->border, "Border: reflect-101, reflect, replicate, constant or wrap")
      .shows_default();
  command.option("--constant", options->constant, "Value beyond the image, for --border constant")
      .shows_default()
      .may_be_nan();
  command
      .option("--scale", options->scale,
              "8-bit output: factor for the standard deviation; 0: the largest becomes white")
      .shows_default()
      .between(0, 1e9);
  command.device(options->device);
  command.threads(options->threads);
  command.flag("--study", options->study, "Study every method: errors relative to double for growing means, and times");
  command.option("--plot", options->plot, "With --study: write the errors as a plot, .svg").writes().ends_in({".svg"});
  command.flag("--measure", options->measure, "Time the variants and use the fastest");
  command.explain(options->explain);
  command.runs([options] { run_variance(*options); });
}

}  // namespace ridge::cli
