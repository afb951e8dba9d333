// ridge image: applies operators and chains of them to image files.
#include <memory>

#include <fmt/format.h>
#include <ridge/image.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "command/command.hpp"
#include "command/output_folder.hpp"
#include "io/images/pixels.hpp"

namespace ridge::cli {
namespace {

struct ImageOptions {
  std::vector<std::string> words;  // the operator and its parameters, the input and the output
  std::string device, border, guide, like = "ridge";
  double constant = 0;
  std::size_t threads = 0;
  bool measure = false, explain = false;
};

void run_image(const ImageOptions& options) {
  if (options.words.size() < 3)
    throw Error(ErrorKind::invalid_argument, "image: needs OPERATOR IN OUT, as in ridge image 'gauss 2' a.png b.png");
  const std::string out_name = options.words.back(), in_name = options.words[options.words.size() - 2];
  std::string text;
  for (std::size_t i = 0; i + 2 < options.words.size(); ++i) text += (i == 0 ? "" : " ") + options.words[i];
  image::OperatorProblem problem;
  problem.chain = image::parse_chain(text, image::like_of(options.like));
  check_output("image to", out_name);
  io::check_ending(out_name);
  const image::Image in = image::read(in_name);
  problem.input = in.shape();
  if (!options.border.empty()) problem.border = image::border_of(options.border);
  problem.constant = options.constant;
  problem.threads = options.threads;
  const image::Shape shape = image::output_shape(problem);
  io::check_format(out_name, shape.channels,
                   shape.depth == image::Depth::u8    ? io::Sample::u8
                   : shape.depth == image::Depth::u16 ? io::Sample::u16
                                                      : io::Sample::f32);
  image::Image out(shape), guide;
  if (image::inputs(problem) == 2) {
    if (options.guide.empty())
      throw Error(ErrorKind::invalid_argument, "cross-bilateral needs the image of its colours: --guide FILE");
    guide = image::read(options.guide);
  } else if (!options.guide.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "--guide is for cross-bilateral, which is not among the operators: leave it out");
  }
  const Device where = device(options.device);
  const double before = base::now();
  const image::OperatorPlan plan =
      image::plan(where, problem, {.effort = options.measure ? Effort::measured : Effort::quick});
  const double planning = base::now() - before;
  if (options.explain) fmt::print("{}\n", plan.explain());
  const double begin = base::now();
  if (guide) {
    plan.run(in, guide, out);
  } else {
    plan.run(in, out);
  }
  const double seconds = base::now() - begin;
  image::write(out_name, out);
  fmt::print("{} to {} in {} on {}; planned in {}\n", in.shape().text(), out.shape().text(),
             base::human_seconds(seconds), plan.device().id(), base::human_seconds(planning));
}

// Range and help of a parameter: "LEVELS (1 to 16): default 1".
std::string describe(const image::OperatorParameter& parameter) {
  using Kind = image::OperatorParameter::Kind;
  std::string range;
  if (parameter.kind == Kind::word) range = fmt::format(" ({})", fmt::join(parameter.words, ", "));
  if (parameter.kind == Kind::whole) range = fmt::format(" ({:g} to {:g})", parameter.least, parameter.most);
  return fmt::format("{}{}: {}", parameter.name, range, parameter.help);
}

// Syntax, help and parameters of every operator.
std::string operator_help() {
  std::string text;
  for (const image::OperatorInfo& info : image::operators()) {
    text += fmt::format("  {}\n      {}\n", info.syntax, info.help);
    for (const image::OperatorParameter& parameter : info.parameters)
      text += fmt::format("      {}\n", describe(parameter));
  }
  return text;
}

// Operators whose default border is not reflect-101, as in "constant for rotate, replicate for median".
std::string other_borders() {
  std::vector<std::string> others;
  for (const image::OperatorInfo& info : image::operators()) {
    if (info.border != image::Border::reflect_101)
      others.push_back(fmt::format("{} for {}", image::to_string(info.border), info.name));
  }
  return fmt::format("{}", fmt::join(others, ", "));
}

}  // namespace

void add_image(Command& program) {
  Command& command = program.subcommand("image", "Filter, resize and rotate image files, with chains of operators");
  command.footer("\nOperators:\n" + operator_help() +
                 "\nExamples:\n"
                 "  ridge image gauss 2 a.png b.png\n"
                 "  ridge image 'gauss 2 | resize 0.5 | gray' a.png b.png\n"
                 "  ridge image 'bilateral 4 3 25' a.tiff b.tiff --border replicate\n"
                 "  ridge image gradient scharr a.pgm b.npy --like opencv\n"
                 "\nOperators:\n" +
                 operator_help());
  auto options = std::make_shared<ImageOptions>();
  command.option("words", options->words, "OPERATOR ... IN OUT").reads_then_writes().value_name("WORD");
  command
      .option("--border", options->border,
              "Border beyond the image: reflect-101, reflect, replicate, constant or wrap, or OpenCV's "
              "names (BORDER_REPLICATE). Default: " +
                  other_borders() + ", otherwise reflect-101")
      .value_name("NAME");
  command
      .option("--like", options->like,
              "Conventions where libraries differ: ridge or opencv, for resize, rotate, gradient and bilateral "
              "(table in docs/image.md)")
      .value_name("NAME")
      .shows_default();
  command.option("--constant", options->constant, "Value beyond the image, for the border constant")
      .shows_default()
      .may_be_nan();
  command.option("--guide", options->guide, "Image from which cross-bilateral takes its colours").reads();
  command.device(options->device);
  command.threads(options->threads);
  command.flag("--measure", options->measure, "Time the variants and use the fastest");
  command.explain(options->explain);
  command.runs([options] { run_image(*options); });
}

}  // namespace ridge::cli
