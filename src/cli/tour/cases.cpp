// Problems that `ridge tour` runs on each device, and its pictures.
#include "cli/tour/cases.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <ridge/image.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "bench/cases.hpp"
#include "bench/fft/fft.hpp"
#include "bench/stencil.hpp"
#include "cli/stencil/output.hpp"
#include "io/encoding.hpp"
#include "io/images/picture.hpp"
#include "stencil/domain.hpp"
#include "stencil/problems/scenario.hpp"

namespace ridge::cli {
namespace {

enum Section : std::size_t { kTranspose, kFft, kStencil, kFilterbank, kImages };

double seconds_each(bool quick) { return quick ? 0.02 : 0.2; }

// Maximum trials per plan; 0: the planner's default. Each trial is a compilation, which takes seconds on CPU devices,
// where private arrays are unrolled into memory.
std::size_t trials_on(const Device& device, bool quick) {
  if (device.limits().private_arrays_in_registers) return 0;
  return quick ? 1 : 3;
}

void add_transposes(const Device& device, bool quick, std::vector<TourCase>& cases) {
  const bool large = !quick && device.info().limits.memory > (std::size_t{4} << 30);
  const std::size_t side = large ? 8192 : 1024;
  const std::size_t trials = trials_on(device, quick);
  TransposeCase square{
      .problem = transpose::Problem{.rows = side, .columns = side}, .trials = trials, .seconds = seconds_each(quick)};
  TransposeCase batch = square;
  batch.problem = {.rows = 64, .columns = 64, .batch = large ? std::size_t{4096} : std::size_t{256}};
  for (const TransposeCase& one : {square, batch}) {
    cases.push_back({kTranspose, device.id(), fmt::format("transpose {}x{}", one.problem.rows, one.problem.columns),
                     [device, one] { return bench_transpose(device, one).rows; }});
  }
}

// Short transforms in a batch, and one long transform on the host.
void add_ffts(const Device& device, bool quick, std::vector<TourCase>& cases) {
  const bool gpu = device.info().backend == Backend::cuda;
  const std::size_t points = std::size_t{1} << (quick ? 18 : gpu ? 26 : 22);
  FftBench batch, one;
  batch.problem = {.shape = {1024}, .batch = points / 1024, .threads = 0};
  one.problem = {.shape = {points}, .threads = 0};
  batch.seconds_each = one.seconds_each = seconds_each(quick);
  batch.trials = 2;  // on devices: each trial is a compilation
  std::vector<FftBench> wanted{batch};
  if (device.is_host()) wanted.push_back(one);
  for (const FftBench& bench : wanted) {
    cases.push_back({kFft, device.id(), fft_problem_text(bench.problem),
                     [device, bench] { return bench_fft(device, bench, {}).rows; }});
  }
}

// The common benchmark problems: a 5-point stencil in 2D and a 7-point stencil in 3D.
void add_stencils(const Device& device, bool quick, std::vector<TourCase>& cases) {
  for (const std::size_t dimensions : {2, 3}) {
    StencilBench one{.stencil = {.dimensions = dimensions}};
    fit_to_device(one, device, quick);
    if (!quick && device.is_host()) one.steps = dimensions == 2 ? 32 : 16;  // limits the time to seconds
    one.seconds_each = seconds_each(quick);
    one.trials = trials_on(device, quick);
    if (quick && one.trials > 0) one.steps = 8;
    cases.push_back(
        {kStencil, device.id(), stencil_problem_text(one), [device, one] { return bench_stencil(device, one).rows; }});
  }
}

// 8-bit samples of sixteen stations to 256 float channels.
void add_filterbanks(const Device& device, bool quick, std::vector<TourCase>& cases) {
  const filterbank::Problem problem{.channels = 256, .taps = 16, .stations = 16, .threads = 0};
  FilterbankCases wanted;
  wanted.scenario = true;
  wanted.seconds = seconds_each(quick);
  wanted.size = quick ? 1e6 : device.info().backend == Backend::cuda ? 1e8 : 1.6e7;
  cases.push_back({kFilterbank, device.id(), filterbank_text(problem),
                   [device, problem, wanted] { return bench_filterbank(device, problem, wanted, {}).rows; }});
}

constexpr std::size_t kFlowRows = 240, kFlowColumns = 426;

std::vector<report::BenchRow> bench_flow(const Device& device) {
  const auto plan =
      image::plan(device, image::FlowProblem{.rows = kFlowRows, .columns = kFlowColumns}, {.effort = Effort::quick});
  const image::Image first = moving_discs(kFlowRows, kFlowColumns, 0),
                     second = moving_discs(kFlowRows, kFlowColumns, 1);
  image::Image flow({.rows = kFlowRows, .columns = kFlowColumns, .channels = 2, .depth = image::Depth::f32});
  const planner::Decision& decision = plan.decisions().front();
  report::BenchRow row;
  row.problem = fmt::format("flow {}x{}", kFlowColumns, kFlowRows);
  row.device = device.id();
  row.variant = decision.trials[decision.winner].name;
  row.chosen = true;
  row.seconds = base::best_seconds([&] { plan.run(first, second, flow); }, {.seconds = 0.2, .at_least = 2});
  row.gflops = plan.flops() / row.seconds * 1e-9;
  row.gbytes_per_s = plan.bytes() / row.seconds * 1e-9;
  row.roof_share = decision.roof_seconds / row.seconds;
  row.more["pairs_per_s"] = 1 / row.seconds;
  return {row};
}

// Only on devices whose kernels compile within seconds.
void add_flows(const Device& device, std::vector<TourCase>& cases) {
  if (!device.is_host() && device.info().backend != Backend::cuda) return;
  cases.push_back({kImages, device.id(), fmt::format("flow {}x{}", kFlowColumns, kFlowRows),
                   [device] { return bench_flow(device); }});
}

}  // namespace

std::vector<report::Bench> tour_benches() {
  std::vector<report::Bench> benches(5);
  benches[kImages].title = "Images";
  benches[kImages].note =
      "Dense optical flow of two small frames, from host memory to host memory. The roofline ceiling counts the "
      "operations of its definition.";
  benches[kTranspose].title = "Matrix transpose";
  benches[kTranspose].note =
      "A transpose reads and writes every byte once: the roofline ceiling is the copy bandwidth.";
  benches[kFft].title = "Fourier transforms";
  benches[kFft].note =
      "GFLOP/s counts 5 N log2 N per transform. The roofline ceiling is the lower of peak arithmetic and memory "
      "bandwidth; on devices a copy of the same bytes.";
  benches[kStencil].title = "Stencils";
  benches[kStencil].beyond_roof = report::kSeveralSteps;
  benches[kStencil].note =
      "Many steps of a 5-point stencil in 2D and a 7-point stencil in 3D. The roofline ceiling counts one read and one "
      "write per cell and step; runs that compute several steps per pass exceed it. The peer is a plain loop, or a "
      "plain kernel.";
  benches[kFilterbank].title = "The polyphase filter bank";
  benches[kFilterbank].note =
      "256 channels of 16 taps, 16 stations of two polarizations: 8-bit samples in, floats out, filtered and "
      "transformed in one pass. The roofline ceiling is memory or arithmetic, whichever is lower; on devices a copy "
      "of as many bytes.";
  return benches;
}

std::vector<TourCase> tour_cases(const std::vector<Device>& devices, bool quick) {
  // PoCL takes seconds to compile a kernel, so its cases run last and do not delay the first page.
  std::vector<Device> order = devices;
  std::stable_sort(order.begin(), order.end(), [](const Device& a, const Device& b) {
    const auto rank = [](const Device& one) { return one.is_host() ? 0 : one.info().backend == Backend::cuda ? 1 : 2; };
    return rank(a) < rank(b);
  });
  std::vector<TourCase> cases;
  for (const Device& device : order) {
    add_transposes(device, quick, cases);
    add_ffts(device, quick, cases);
    add_stencils(device, quick, cases);
    add_filterbanks(device, quick, cases);
    add_flows(device, cases);
  }
  return cases;
}

std::optional<report::Illustration> tour_picture() {
  if (!io::have_png()) return std::nullopt;
  const std::size_t side = 256, steps = 240;
  const auto scenario = stencil::euler_scenario<float>({.shape = {side, side}, .flow = "blast"});
  const auto domain =
      stencil::local_domain<float>(host(), scenario.update, scenario.problem, {.planner = {.effort = Effort::quick}});
  domain->start(scenario.initial);
  const double start = base::now();
  domain->run(steps);
  const double seconds = base::now() - start;
  report::Illustration made;
  made.caption =
      fmt::format("ridge stencil euler --flow blast --size {0}x{0}: density after {1} steps, {2} on the host", side,
                  steps, base::human_seconds(seconds));
  domain->show([&](const stencil::SlabReader<float>& read) {
    const io::Picture picture =
        io::draw_field(views_of(scenario, read), 0, {.map = scenario.colours, .longest = 2 * side});
    const std::string png = io::encode_png(picture.raster);
    io::Base64 text;
    made.png_base64 = text.add(png.data(), png.size());
    made.png_base64 += text.finish();
  });
  return made;
}

std::optional<report::Illustration> tour_flow_picture() {
  if (!io::have_png()) return std::nullopt;
  constexpr std::size_t rows = kFlowRows, columns = kFlowColumns;
  const auto plan =
      image::plan(host(), image::FlowProblem{.rows = rows, .columns = columns}, {.effort = Effort::quick});
  const image::Image first = moving_discs(rows, columns, 0), second = moving_discs(rows, columns, 1);
  image::Image flow({.rows = rows, .columns = columns, .channels = 2, .depth = image::Depth::f32});
  const double start = base::now();
  plan.run(first, second, flow);
  const double seconds = base::now() - start;
  const image::Image colours = image::flow_picture(flow);
  io::Raster raster;  // the frame above its flow
  raster.width = columns;
  raster.height = 2 * rows;
  for (const image::Image& part : {first, colours}) {
    for (std::size_t r = 0; r < rows; ++r) {
      const auto* row = part.row<std::uint8_t>(r);
      raster.values.insert(raster.values.end(), row, row + 3 * columns);
    }
  }
  const std::string png = io::encode_png(raster);
  io::Base64 text;
  report::Illustration made;
  made.png_base64 = text.add(png.data(), png.size());
  made.png_base64 += text.finish();
  made.caption = fmt::format(
      "ridge flow a.png b.png flow.flo --picture flow.png: a frame of discs that move over a moving "
      "background, and the motion of each pixel (direction is hue, length saturation); {}x{} vectors in {} on the host",
      columns, rows, base::human_seconds(seconds));
  return made;
}

}  // namespace ridge::cli
