// ridge flow: optical flow of two frames or of a sequence, and its error against a ground truth.
#include <chrono>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/flow/flow_options.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "command/output_folder.hpp"
#include "command/process.hpp"
#include "io/images/pixels.hpp"

namespace ridge::cli {
namespace {

// Checks the picture format before the field is written, so that a failure leaves no output.
void check_picture(const std::string& name) {
  if (!name.empty()) io::check_format(name, 3, io::Sample::u8);
}

void run_pair(const FlowOptions& options) {
  const std::string &first_name = options.names[0], &second_name = options.names[1], &out_name = options.names[2];
  if (!out_name.ends_with(".npy") && !out_name.ends_with(".flo"))
    mistake(fmt::format("{}: the output needs the extension .flo or .npy; --picture writes a picture", out_name));
  check_output("flow to", out_name);
  check_picture(options.picture);
  const image::Image first = flow_frame(first_name), second = flow_frame(second_name);
  if (first.shape() != second.shape()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} is {}, {} is {}: needs two frames of the same size", first_name, first.shape().text(),
                            second_name, second.shape().text()));
  }
  const Device where = device(options.device);
  const double before = base::now();
  const image::FlowPlan plan = flow_plan(options, where, first.shape());
  const double planning = base::now() - before;
  if (options.explain) fmt::print("{}\n", plan.explain());
  image::Image flow({.rows = first.rows(), .columns = first.columns(), .channels = 2, .depth = image::Depth::f32});
  const double begin = base::now();
  plan.run(first, second, flow);
  const double seconds = base::now() - begin;
  image::write_flow(out_name, flow);
  if (!options.picture.empty()) image::write(options.picture, image::flow_picture(flow, options.full));
  fmt::print("{}x{} vectors in {} on {}; planned in {}\n", flow.columns(), flow.rows(), base::human_seconds(seconds),
             plan.device().id(), base::human_seconds(planning));
}

struct CompareOptions {
  std::string flow, truth, picture;
  double most = 2;
};
void run_compare(const CompareOptions& options) {
  check_picture(options.picture);
  const image::Image flow = image::read_flow(options.flow), truth = image::read_flow(options.truth);
  const image::FlowErrors errors = image::compare_flow(flow, truth);
  if (!options.picture.empty()) image::write(options.picture, image::error_picture(flow, truth, options.most));
  fmt::print(
      "{} known vectors: end-point error mean {:.4f}, root mean square {:.4f}, worst {:.3f} px; angular error {:.3f} "
      "degrees\n",
      errors.known, errors.mean, errors.rmse, errors.worst, errors.angular);
}

}  // namespace

image::Image flow_frame(const std::string& name) {
  const image::Image frame = image::read(name);
  if (frame.channels() == 2)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: needs 1, 3 or 4 channels, got 2 (grey with alpha)", name));
  if (frame.depth() == image::Depth::u8) return frame;
  image::Shape shape = frame.shape();
  shape.depth = image::Depth::u8;
  image::Image bytes(shape);
  image::convert(frame, bytes);
  return bytes;
}

image::FlowPlan flow_plan(const FlowOptions& options, const Device& where, const image::Shape& frame) {
  image::FlowProblem problem;
  problem.rows = frame.rows;
  problem.columns = frame.columns;
  problem.channels = frame.channels;
  problem.parameters = options.parameters;
  problem.parameters.selection = options.scan_order ? image::Selection::scan_order : image::Selection::aligned;
  problem.threads = options.threads;
  return image::plan(where, problem, {.effort = options.measure ? Effort::measured : Effort::quick});
}

void add_flow(Command& program) {
  Command& command = program.subcommand("flow", "Dense optical flow (SimpleFlow) of two frames, a sequence or a pipe");
  command.footer(
      "\nExamples:\n"
      "  ridge flow a.png b.png flow.flo --picture flow.png\n"
      "  ridge flow 'frame_%04d.png' out/ --rate 30 --pictures     every frame with the next, out/0000.flo ...\n"
      "  camera | ridge flow - out/ --size 1920x1080               raw frames, three bytes per pixel\n"
      "  ridge flow compare flow.flo truth.flo --picture error.png");
  command.may_have_subcommand();
  auto options = std::make_shared<FlowOptions>();
  command.option("names", options->names, "FIRST SECOND OUT.flo, or PATTERN FOLDER").reads_then_writes();
  command.option("--picture", options->picture, "Write the flow as colours: direction is hue, length saturation")
      .writes();
  const Option pictures =
      command.flag("--pictures", options->pictures, "Sequence: write a picture next to every field");
  command.option("--full", options->full, "Vector length of full colour in pictures, in pixels; 0: the longest vector")
      .shows_default()
      .between(0, 1e9);
  command.device(options->device);
  command.threads(options->threads);
  const Option rate =
      command.option("--rate", options->rate, "Sequence: required frames per second; reports the margin");
  rate.positive();
  const Option first = command.option("--first", options->first, "Sequence: number of its first frame");
  const Option frames = command.option("--frames", options->frames, "Sequence: maximum number of frames; 0: all");
  first.shows_default(), frames.shows_default();
  const Option size = command.option("--size", options->size, "Size of raw frames on standard input: COLUMNSxROWS");
  command.option("--layers", options->parameters.layers, "Layers of the pyramid").shows_default();
  command.option("--radius", options->parameters.averaging_radius, "Radius of the window whose colours are compared")
      .shows_default();
  command.option("--reach", options->parameters.max_flow, "Search radius on each layer, in pixels").shows_default();
  command.flag("--scan-order", options->scan_order, "Choose points sequentially as in the papers (slower)");
  command.flag("--measure", options->measure, "Time the variants and use the fastest");
  command.explain(options->explain);
  const Option schedule = add_schedule_option(command, options->schedule);
  Command& compare = command.subcommand("compare", "Compare a flow with the ground truth");
  auto pair = std::make_shared<CompareOptions>();
  compare.option("flow", pair->flow, "The flow, .flo or .npy").required().reads();
  compare.option("truth", pair->truth, "The ground truth, .flo or .npy; vectors above 1e9 are unknown")
      .required()
      .reads();
  compare.option("--picture", pair->picture, "Write the end-point error as a picture").writes();
  compare.option("--most", pair->most, "Error of the picture's brightest colour, in pixels").shows_default().positive();
  compare.runs([pair] { run_compare(*pair); });
  Command* own = &command;
  command.runs([options, own, pictures, rate, first, frames, size, schedule] {
    if (own->has_subcommand()) return;
    if (options->names.size() == 3) {
      if (pictures.given() || rate.given() || first.given() || frames.given() || size.given() || schedule.given())
        mistake("--pictures, --rate, --first, --frames, --size and --schedule are for a sequence, not for two frames");
      return run_pair(*options);
    }
    if (options->names.size() == 2) {
      if (!options->picture.empty()) mistake("--picture is for two frames; for a sequence use --pictures");
      if (size.given() && options->names[0] != "-") mistake("--size is for raw frames on standard input");
      return run_flow_sequence(*options);
    }
    throw Error(ErrorKind::invalid_argument,
                "flow: needs FIRST SECOND OUT.flo, or PATTERN FOLDER (see ridge flow --help)");
  });
}

}  // namespace ridge::cli
