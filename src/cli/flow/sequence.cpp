// Flow of a frame sequence: a graph of three stages reads frames, computes and writes fields.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/flow/flow_options.hpp"
#include "command/process.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {
namespace {

// File name of a frame: "frame_%04d.png" has one %d with an optional width, and no other printf directive.
std::string numbered(const std::string& pattern, std::size_t number) {
  const auto refuse = [&] {
    return Error(ErrorKind::invalid_argument,
                 fmt::format("{}: the pattern needs one %d, as in frame_%04d.png", pattern));
  };
  const std::size_t at = pattern.find('%');
  if (at == std::string::npos || pattern.find('%', at + 1) != std::string::npos) throw refuse();
  std::size_t end = at + 1, width = 0;
  const bool zeros = end < pattern.size() && pattern[end] == '0';
  while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9')
    width = width * 10 + static_cast<std::size_t>(pattern[end++] - '0');
  if (end >= pattern.size() || pattern[end] != 'd' || width > 20) throw refuse();
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), zeros ? '0' : ' ');
  return pattern.substr(0, at) + digits + pattern.substr(end + 1);
}

// Returns the next frame, or an empty image at the end.
using Source = std::function<image::Image()>;

Source files(const FlowOptions& options) {
  return [&options, number = options.first]() mutable -> image::Image {
    if (options.frames != 0 && number - options.first >= options.frames) return {};
    const std::string name = numbered(options.names[0], number);
    if (!std::filesystem::exists(name)) {
      if (number > options.first) return {};
      throw Error(ErrorKind::io,
                  fmt::format("cannot read {}: no such file; give the number of the first frame with --first N", name));
    }
    ++number;
    return flow_frame(name);
  };
}

Source raw(const FlowOptions& options) {
  image::Shape shape{.rows = 0, .columns = 0, .channels = 3};
  char tail = 0;
  if (std::sscanf(options.size.c_str(), "%zux%zu%c", &shape.columns, &shape.rows, &tail) != 2) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("raw frames need --size COLUMNSxROWS, got \"{}\"", options.size));
  }
  image::check(shape, "raw frames");
  auto in = std::make_shared<io::InputStream>("-");
  return [most = options.frames, in, shape, taken = std::size_t{0}]() mutable -> image::Image {
    if (most != 0 && taken == most) return {};
    std::vector<std::uint8_t> bytes(shape.rows * shape.row_bytes());
    const std::size_t got = in->read(bytes.data(), bytes.size());
    if (got == 0) return {};
    if (got < bytes.size()) {
      throw Error(ErrorKind::io,
                  fmt::format("standard input ends inside frame {}: {} of {} bytes", taken, got, bytes.size()));
    }
    ++taken;
    return image::Image::view(static_cast<const void*>(bytes.data()), shape).clone();
  };
}

struct Field {
  std::size_t number = 0;
  image::Image flow = {};
};

struct FlowStage {
  const FlowOptions& options;
  image::Shape shape;
  image::FlowStream& flows;
  std::vector<double>& seconds;
};

// A field is ready when the stream is full, and at the end.
graph::Graph::Edge flow_stage(graph::Graph& graph, graph::Graph::Edge frames, const FlowStage& what) {
  return graph.stage("flow", {frames}, {.finish = true, .in_caller = true},
                     [what, number = what.options.first, last = base::now()](graph::Step& step) mutable -> std::size_t {
                       image::FlowStream& flows = what.flows;
                       if (!step.ended) {
                         const auto& frame = std::any_cast<const image::Image&>(step.in[0]->value);
                         if (frame.shape() != what.shape) {
                           throw Error(
                               ErrorKind::invalid_argument,
                               fmt::format("frame {} is {}, but the previous frames are {}: all must have the "
                                           "same size",
                                           number + flows.waiting() + 1, frame.shape().text(), what.shape.text()));
                         }
                         if (flows.room() == 1) last = base::now();  // excludes the time to read the frame
                         flows.push(frame);
                         if (flows.waiting() < flows.room()) return 0;
                       } else if (flows.waiting() == 0) {
                         return 0;
                       }
                       step.out->value = Field{number++, flows.next()};
                       const double now = base::now();
                       what.seconds.push_back(now - last);
                       last = now;
                       return 1;
                     });
}

void report(const FlowOptions& options, std::vector<double>& seconds, double wall, std::size_t fields) {
  std::sort(seconds.begin(), seconds.end());
  double sum = 0;
  for (const double each : seconds) sum += each;
  const double mean = sum / static_cast<double>(seconds.size());
  fmt::print("{} fields in {}: {:.2f} per second with files; time per field {} mean, {} median, {} worst\n", fields,
             base::human_seconds(wall), static_cast<double>(fields) / wall, base::human_seconds(mean),
             base::human_seconds(seconds[seconds.size() / 2]), base::human_seconds(seconds.back()));
  if (!(options.rate > 0)) return;
  const double deadline = 1 / options.rate, each = wall / static_cast<double>(fields);
  const auto late = std::count_if(seconds.begin(), seconds.end(), [&](double t) { return t > deadline; });
  fmt::print("{} frames per second allow {} each: margin {:.2f}x, {} of {} late\n", options.rate,
             base::human_seconds(deadline), deadline / each, late, seconds.size());
}

}  // namespace

void run_flow_sequence(const FlowOptions& options) {
  const std::filesystem::path folder = options.names[1];
  Source next = options.names[0] == "-" ? raw(options) : files(options);
  image::Image before = next();
  if (!before) throw Error(ErrorKind::io, "standard input: no frame");
  const image::FlowPlan plan = flow_plan(options, device(options.device), before.shape());
  if (options.explain) fmt::print("{}\n", plan.explain());
  std::error_code failed;
  const bool made = std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder))
    throw Error(ErrorKind::io, fmt::format("cannot create the folder {}: {}", folder.string(),
                                           failed ? failed.message() : "it is a file"));
  image::FlowStream flows(plan);
  flows.push(before);
  std::vector<double> seconds;  // between consecutive fields
  graph::Graph graph;
  const auto frames = graph.stage("read", {}, {.may_block = options.names[0] == "-"},
                                  [next = std::move(next)](graph::Step& step) -> std::size_t {
                                    image::Image frame = next();
                                    const bool there = static_cast<bool>(frame);
                                    step.out->value = std::move(frame);
                                    return there ? 1 : 0;
                                  });
  const auto fields = flow_stage(graph, frames, {options, before.shape(), flows, seconds});
  graph.stage("write", {fields}, {}, [&](graph::Step& step) -> std::size_t {
    const auto& field = std::any_cast<const Field&>(step.in[0]->value);
    const std::string name = fmt::format("{:04}", field.number);
    image::write_flow((folder / (name + ".flo")).string(), field.flow);
    if (options.pictures)
      image::write((folder / (name + ".png")).string(), image::flow_picture(field.flow, options.full));
    return 0;
  });
  const double begin = base::now();
  std::exception_ptr failure;
  graph::Report schedule;
  try {
    schedule = graph.run();
  } catch (...) {
    failure = std::current_exception();
  }
  if (made && seconds.empty()) std::filesystem::remove(folder, failed);  // the folder is empty
  if (failure) std::rethrow_exception(failure);
  if (seconds.empty()) throw Error(ErrorKind::io, "needs at least two frames, got one");
  write_schedule(options.schedule, schedule);
  report(options, seconds, base::now() - begin, seconds.size());
}

}  // namespace ridge::cli
