// ridge bench image-stages: times each stage of the flow and the variance by the device's clock, next to the lower
// bounds from instructions and memory.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bench/cases.hpp"
#include "device/timing.hpp"
#include "image/flow/device/queues.hpp"
#include "image/variance/device/design.hpp"

namespace ridge::cli {
namespace {

using namespace image;
using namespace image::on_device;

struct StageOptions {
  std::size_t rows = 1080, columns = 1920, scan_rows = 8262, scan_columns = 9688, window = 27;
  bool no_flow = false, no_variance = false, scan_order = false;
};

// Minimum seconds per stage over several rounds, in order of first occurrence.
using Stages = std::vector<std::pair<std::string, double>>;

Stages time_stages(Queue& queue, const FlowVariant& variant, std::span<const Image> frames, const Image& out) {
  Stages best;
  for (int round = 0; round < 6; ++round) {
    std::vector<std::pair<std::string, Event>> marks{{"", queue.record()}};
    variant.enqueue(queue, frames, out, [&](const char* stage) { marks.emplace_back(stage, queue.record()); });
    queue.finish();
    Stages now;
    for (std::size_t i = 1; i < marks.size(); ++i) {
      const double seconds = seconds_between(marks[i - 1].second, marks[i].second);
      const auto found = std::find_if(now.begin(), now.end(), [&](const auto& s) { return s.first == marks[i].first; });
      if (found == now.end()) {
        now.emplace_back(marks[i].first, seconds);
      } else {
        found->second += seconds;
      }
    }
    if (round == 1) best = now;  // the first round is a warm-up
    for (std::size_t i = 0; round > 1 && i < best.size(); ++i) best[i].second = std::min(best[i].second, now[i].second);
  }
  return best;
}

// Work of a stage: instructions per lane (an NVIDIA compute unit has 128 lanes, and 16 for exponentials), and bytes.
struct StageWork {
  std::string operations{};
  double instructions = 0, powers = 0, bytes = 0;
};

double window_cells(int radius) { return (2.0 * radius + 1) * (2.0 * radius + 1); }

std::map<std::string, StageWork> work_of(const FlowVariant& variant, const FlowDesign& design, Queue& queue) {
  const FlowPipeline& pipeline = variant.pipeline();
  const FlowParameters& p = pipeline.problem().parameters;
  std::vector<std::uint32_t> counts(2 * pipeline.levels().size());
  queue.download(variant.workspace().counts, std::span(counts));
  queue.finish();
  std::map<std::string, StageWork> all;
  double blocks = 0, singles = 0, pairs = 0, cells = 0, cells_coarse = 0;
  for (std::size_t k = 0; k < pipeline.levels().size(); ++k) {
    const double level = static_cast<double>(pipeline.levels()[k].cells());
    blocks += 4.0 * counts[2 * k];
    singles += counts[2 * k + 1];
    cells += level;
    cells_coarse += level / 4;
    pairs += level * (k == 0 ? window_cells(p.postprocess_window) : 2 * window_cells(p.upscale_averaging_radius));
  }
  const double products = window_cells(p.averaging_radius) * window_cells(p.max_flow);
  const double side = 2.0 * p.averaging_radius + 1;
  // A squared difference takes two instructions and a product one; a block shares (side + 1)^2 of them.
  all["search blocks"] = {fmt::format("{:.2f} G products", blocks * products * 1e-9),
                          blocks * window_cells(p.max_flow) * ((side + 1) * (side + 1) * 2 + 4 * side * side) / 4, 0,
                          0};
  all["search singles"] = {fmt::format("{:.2f} G products", singles * products * 1e-9), singles * products * 3, 0, 0};
  const bool matrix = design.smooth == Smooth::matrix;
  const double by_unit = matrix ? 1 - design.polynomial / 8.0 * 0.6 : 1;  // three of five in complete steps
  all["filter"] = {fmt::format("{:.2f} G weights", pairs * 1e-9), pairs * (matrix ? 3.5 + (1 - by_unit) : 7.5),
                   pairs * by_unit, 0};
  const double channels = static_cast<double>(pipeline.problem().channels);
  const double finest = static_cast<double>(pipeline.levels().front().cells());
  all["pyramid"] = {"", 0, 0, 2 * (finest * channels + 4 * cells + 4 * (cells - finest) * 4)};
  all["select"] = {"", 0, 0, 2 * cells_coarse * (8 + 1 + 1 + 1 + 8) + 4 * (blocks / 4 + singles)};
  all["fill"] = {"", 0, 0, cells * (16 + 8 + 16 + (matrix ? 32 : 8))};
  all["finish"] = {"", 0, 0, finest * 16};
  for (auto& [name, work] : all) {
    if (work.operations.empty()) work.operations = fmt::format("{:.1f} MB", work.bytes * 1e-6);
  }
  return all;
}

double floor_seconds(const Device& device, const StageWork& work) {
  const DeviceInfo& info = device.info();
  double floor = 0;
  const double copy = machine::ceilings(device).memory().all.copy;
  if (copy > 0) floor = work.bytes / copy;
  if (info.limits.architecture == 0 || info.clock_ghz <= 0) return floor;
  const double units = static_cast<double>(info.limits.compute_units) * info.clock_ghz * 1e9;
  return std::max({floor, work.instructions / (128 * units), work.powers / (16 * units)});
}

double stream_seconds(const std::shared_ptr<const FlowVariant>& variant, std::span<const Image> frames,
                      std::size_t lanes) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    FlowQueues stream(variant, lanes);
    for (int warm = 0; warm < 2; ++warm) {  // warm-up: the time to read the frames is not counted
      Image input = stream.input();
      for (std::size_t r = 0; r < input.rows(); ++r) {
        std::copy_n(frames[static_cast<std::size_t>(warm)].row<std::uint8_t>(r), input.shape().row_bytes(),
                    input.row<std::uint8_t>(r));
      }
      stream.push();
    }
    while (stream.waiting() > 0) stream.next();
    constexpr int kPairs = 60;
    const double start = base::now();
    for (int i = 0; i < kPairs; ++i) {
      if (stream.waiting() == stream.room()) stream.next();
      stream.input();
      stream.push();
    }
    while (stream.waiting() > 0) stream.next();
    best = std::min(best, (base::now() - start) / kPairs);
  }
  return best;
}

void print_stages(const Device& device, const FlowDesign& design, const FlowVariant& variant, Queue& queue,
                  const Stages& stages) {
  const auto work = work_of(variant, design, queue);
  double sum = 0;
  for (const auto& [stage, seconds] : stages) {
    sum += seconds;
    const auto found = work.find(stage);
    const double floor = found == work.end() ? 0 : floor_seconds(device, found->second);
    fmt::print("    {:<16} {:8.3f} ms   {:<22} bound {:7.3f} ms, {:3.0f} %\n", stage, seconds * 1e3,
               found == work.end() ? "" : found->second.operations, floor * 1e3, 100 * floor / seconds);
  }
  fmt::print("    {:<16} {:8.3f} ms   stage by stage\n", "sum", sum * 1e3);
}

void bench_flow(const Device& device, const StageOptions& options, const std::string& only) {
  FlowProblem problem{.rows = options.rows, .columns = options.columns};
  if (options.scan_order) problem.parameters.selection = Selection::scan_order;
  const std::vector<Image> frames{moving_discs(problem.rows, problem.columns, 0),
                                  moving_discs(problem.rows, problem.columns, 1)};
  Queue queue = device.queue();
  std::vector<Image> resident;
  for (const Image& frame : frames) {
    resident.push_back(Image::on(device, frame.shape(), "frame"));
    upload(queue, frame, resident.back());
  }
  const Image out =
      Image::on(device, {.rows = problem.rows, .columns = problem.columns, .channels = 2, .depth = Depth::f32}, "flow");
  fmt::print("{}: flow {}x{}\n", device.id(), problem.columns, problem.rows);
  for (const FlowDesign& design : flow_designs()) {
    const planner::Candidate candidate = candidate_of(device, problem, design);
    const bool wanted = only.empty() || candidate.variant == only || candidate.name() == only;
    if (!wanted) continue;
    if (!candidate.refusal.empty()) {
      fmt::print("  {}: refused, {}\n", candidate.name(), candidate.refusal);
      continue;
    }
    try {
      const auto variant = std::make_shared<const FlowVariant>(device, problem, design);
      const Stages stages = time_stages(queue, *variant, resident, out);
      const double one =
          best_device_seconds(queue, {[&] { variant->enqueue(queue, resident, out); }}, {.seconds = 0.3}).front();
      fmt::print("  {}: resident {:.3f} ms, {:.0f} pairs/s; as a stream with transfers, by", candidate.name(),
                 one * 1e3, 1 / one);
      std::fflush(stdout);  // compiling a design takes seconds
      for (const std::size_t lanes : {2, 3, 4}) {
        const double streamed = stream_seconds(variant, frames, lanes);
        fmt::print("{} {} queues {:.3f} ms, {:.0f} pairs/s", lanes == 2 ? "" : ";", lanes, streamed * 1e3,
                   1 / streamed);
      }
      fmt::print("\n");
      print_stages(device, design, *variant, queue, stages);
      std::fflush(stdout);
    } catch (const Error& error) {
      base::warn(fmt::format("{}: {} is left out: {}", device.id(), candidate.name(), error.what()));
    }
  }
}

void bench_variance(const Device& device, const StageOptions& options, const std::string& only) {
  const Shape shape{.rows = options.scan_rows, .columns = options.scan_columns};
  Queue queue = device.queue();
  const Image image = Image::on(device, shape, "scan");
  const Image out = Image::on(device, {.rows = shape.rows, .columns = shape.columns, .depth = Depth::f32}, "variance");
  Image scan(shape);
  for (std::size_t r = 0; r < shape.rows; ++r) fill_random({scan.row<std::byte>(r), shape.columns}, Numbers::bits, r);
  upload(queue, scan, image);
  queue.finish();
  // Reference of the shares: a copy of as many bytes as the output, in the same run.
  const Buffer again = device.buffer(out.span_bytes(), {.name = "copy"});
  const double copied =
      best_device_seconds(queue, {[&] { queue.copy(out.buffer(), again, out.span_bytes(), out.offset()); }},
                          {.seconds = 0.2})
          .front();
  const double rate = 2.0 * static_cast<double>(out.span_bytes()) / copied;
  const double bytes = static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * 5;
  fmt::print("{}: variance {}x{} of {}x{}, 8-bit; a copy moves {:.0f} GB/s\n", device.id(), options.window,
             options.window, shape.columns, shape.rows, rate * 1e-9);
  for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::three_wise}) {
    const VarianceProblem problem{.rows = shape.rows,
                                  .columns = shape.columns,
                                  .method = method,
                                  .window_rows = options.window,
                                  .window_columns = options.window};
    for (const VarianceDesign& design : variance_designs()) {
      const planner::Candidate candidate = candidate_of(device, problem, design);
      if (!is_wanted(candidate, only)) continue;
      try {
        const DeviceVariance variant(device, problem, design);
        const double seconds =
            best_device_seconds(queue, {[&] { variant.enqueue(queue, std::span(&image, 1), out); }}, {.seconds = 0.2})
                .front();
        fmt::print("  {:<46} {:8.3f} ms   {:6.0f} GB/s, {:.2f} of the copy\n", candidate.name(), seconds * 1e3,
                   bytes / seconds * 1e-9, bytes / seconds / rate);
        std::fflush(stdout);
      } catch (const Error& error) {
        base::warn(fmt::format("{}: {} is left out: {}", device.id(), candidate.name(), error.what()));
      }
    }
  }
}

}  // namespace

void add_bench_image_stages(Command& bench) {
  Command& command =
      bench.subcommand("image-stages", "Time the stages of the flow and the variance on a device, by its clock");
  command.footer(
      "\nExamples:\n"
      "  ridge bench image-stages --device cuda:0                     1080p frames and a scan of 9688x8262\n"
      "  ridge bench image-stages --device opencl:0 --rows 120 --columns 160 --no-variance");
  auto options = std::make_shared<StageOptions>();
  auto common = std::make_shared<BenchOptions>();
  command.option("--device", common->devices, "Device to run on; may be repeated (default: every device with kernels)")
      .value_name("NAME");
  command.option("--variant", common->variant, "Time only this variant, as name or name(parameters)")
      .value_name("NAME");
  command.option("--rows", options->rows, "Rows of the flow's frames").shows_default();
  command.option("--columns", options->columns, "Columns of the flow's frames").shows_default();
  command.option("--scan-rows", options->scan_rows, "Rows of the variance's image").shows_default();
  command.option("--scan-columns", options->scan_columns, "Columns of the variance's image").shows_default();
  command.option("--window", options->window, "Rows and columns of the variance's window").shows_default();
  command.flag("--scan-order", options->scan_order, "Choose points of the flow sequentially as in the papers");
  command.flag("--no-flow", options->no_flow, "Leave out the flow");
  command.flag("--no-variance", options->no_variance, "Leave out the variance");
  command.runs([options, common] {
    check(FlowProblem{.rows = options->rows, .columns = options->columns});
    check(Shape{.rows = options->scan_rows, .columns = options->scan_columns}, "variance: the image");
    if (options->window == 0) throw Error(ErrorKind::invalid_argument, "variance: --window must be at least 1");
    for (const Device& device : bench_devices(*common)) {
      if (device.is_host()) continue;
      if (!options->no_flow) bench_flow(device, *options, common->variant);
      if (!options->no_variance) bench_variance(device, *options, common->variant);
    }
  });
}

// Draws textured discs that move over a moving background.

namespace {

float random_at(int x, int y, int stream) {
  auto h = static_cast<std::uint32_t>(x) * 374761393u + static_cast<std::uint32_t>(y) * 668265263u +
           static_cast<std::uint32_t>(stream) * 2246822519u;
  h = (h ^ h >> 13) * 1274126177u;
  return static_cast<float>((h ^ h >> 16) & 0xffff) / 65535.0f;
}

// Random values on a grid of `scale` pixels, interpolated linearly.
float smooth_at(int x, int y, int scale, int stream) {
  const int far = 1 << 14, column = (x + far) / scale, row = (y + far) / scale;
  const float s = static_cast<float>((x + far) % scale) / static_cast<float>(scale);
  const float t = static_cast<float>((y + far) % scale) / static_cast<float>(scale);
  const float top = random_at(column, row, stream) * (1 - s) + random_at(column + 1, row, stream) * s;
  const float bottom = random_at(column, row + 1, stream) * (1 - s) + random_at(column + 1, row + 1, stream) * s;
  return top * (1 - t) + bottom * t;
}

struct Disc {
  int row, column, radius, down, right;  // down, right: pixels per frame
};

}  // namespace

image::Image moving_discs(std::size_t rows, std::size_t columns, int time) {
  const int h = static_cast<int>(rows), w = static_cast<int>(columns);
  const std::array<Disc, 3> discs{
      {{h / 3, w / 4, h / 6, -3, 6}, {h / 2, w * 2 / 3, h / 5, 5, -8}, {h * 3 / 4, w / 2, h / 8, 9, 2}}};
  image::Image frame({.rows = rows, .columns = columns, .channels = 3});
  for (int r = 0; r < h; ++r) {
    auto* pixel = frame.row<std::uint8_t>(static_cast<std::size_t>(r));
    for (int c = 0; c < w; ++c, pixel += 3) {
      int layer = 0, y = r - time, x = c - 3 * time;
      for (int i = 0; i < 3; ++i) {
        const Disc& disc = discs[static_cast<std::size_t>(i)];
        const int dy = r - disc.down * time - disc.row, dx = c - disc.right * time - disc.column;
        if (dy * dy + dx * dx >= disc.radius * disc.radius) continue;
        layer = i + 1;
        y = r - disc.down * time;
        x = c - disc.right * time;
      }
      for (int k = 0; k < 3; ++k) {
        const int stream = 100 * layer + 10 * k;
        const float noise = (random_at(c, r, 1000 + k + 10 * time) - 0.5f) * 6;
        const float value = 40 * smooth_at(x, y, 4, stream) + 80 * smooth_at(x, y, 16, stream + 1) +
                            80 * smooth_at(x, y, 64, stream + 2) + noise;
        pixel[k] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
      }
    }
  }
  return frame;
}

}  // namespace ridge::cli
