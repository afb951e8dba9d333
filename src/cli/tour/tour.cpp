// ridge tour: this machine in two minutes, as a page.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "cli/bench/fft.hpp"
#include "cli/bench/filterbank.hpp"
#include "cli/bench/stencil.hpp"
#include "cli/bench/transpose.hpp"
#include "cli/command.hpp"
#include "cli/machine/profile.hpp"
#include "cli/stencil/output.hpp"
#include "io/base64.hpp"
#include "io/picture.hpp"
#include "report/page.hpp"
#include "stencil/domain.hpp"
#include "stencil/problems/scenario.hpp"

namespace ridge::cli {
namespace {

struct Wishes {
  ProfileWishes profile;
  std::string out = "report.html";
};

std::string title() {
  const auto& all = devices().devices;
  const DeviceInfo& host = all.front().info();
  std::string text =
      fmt::format("{}, {} core{}", host.name, host.limits.compute_units, host.limits.compute_units == 1 ? "" : "s");
  for (const Device& device : all) {
    if (device.info().backend == Backend::cuda) text += " and " + device.info().name;
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> facts(const DeviceInfo& info) {
  std::vector<std::pair<std::string, std::string>> list{
      {"instruction set", info.isa},
      {"compute units", fmt::to_string(info.limits.compute_units)},
      {"memory", base::human_bytes(static_cast<double>(info.limits.memory))},
      {"driver", info.driver}};
  if (info.backend != Backend::host) {
    list.emplace_back("work-group", fmt::format("{} items", info.limits.work_group));
    list.emplace_back("local memory", base::human_bytes(static_cast<double>(info.limits.local_memory)));
  }
  return list;
}

// What each device runs on the tour. A workload adds its cases here.
std::vector<TransposeCase> transpose_cases(const Device& device, bool quick) {
  const bool large = !quick && device.info().limits.memory > (std::size_t{4} << 30);
  const std::size_t side = large ? 8192 : 1024;
  TransposeCase square{.problem = {.rows = side, .columns = side}};
  TransposeCase batch{.problem = {.rows = 64, .columns = 64, .batch = large ? std::size_t{4096} : std::size_t{256}}};
  return {square, batch};
}

// One case's rows; what fails is left out with its reason, and the tour goes on.
void add_case(report::Bench& bench, const Device& device, const std::string& what,
              const std::function<std::vector<report::BenchRow>()>& run) {
  try {
    const auto rows = run();
    bench.rows.insert(bench.rows.end(), rows.begin(), rows.end());
  } catch (const Error& error) {
    base::warn(fmt::format("{}: {} left out: {}", device.id(), what, error.what()));
  }
}

report::Bench tour_transpose(bool quick, const base::Progress& progress) {
  report::Bench bench;
  bench.title = "The corner turn";
  bench.note = "Transposing moves every byte once in and once out: the roof is the copy bandwidth.";
  double done = 0;
  for (const Device& device : devices().devices) {
    for (const TransposeCase& one : transpose_cases(device, quick)) {
      const std::string what = fmt::format("corner turn {}x{}", one.problem.rows, one.problem.columns);
      progress(done, what + " on " + device.id());
      add_case(bench, device, what, [&] { return bench_transpose(device, one, "", quick ? 0.02 : 0.2, nullptr); });
      done += 0.5 / static_cast<double>(devices().devices.size());
    }
  }
  return bench;
}

// Short transforms in a batch, and on the host a long one.
std::vector<FftBench> fft_cases(const Device& device, bool quick) {
  const bool gpu = device.info().backend == Backend::cuda;
  const std::size_t points = std::size_t{1} << (quick ? 18 : gpu ? 26 : 22);
  FftBench batch, one;
  batch.problem = {.shape = {1024}, .batch = points / 1024, .threads = 0};
  one.problem = {.shape = {points}, .threads = 0};
  batch.seconds_each = one.seconds_each = quick ? 0.02 : 0.2;
  batch.trials = 2;  // on devices: each is a compilation
  if (!device.is_host()) return {batch};
  return {batch, one};
}

report::Bench tour_fft(bool quick, const base::Progress& progress) {
  report::Bench bench;
  bench.title = "Fourier transforms";
  bench.note =
      "GFLOP/s counts 5 N log2 N a transform. The roof is the machine's peak or its memory, whichever is nearer; on "
      "devices a copy of the same bytes.";
  double done = 0;
  for (const Device& device : devices().devices) {
    for (const FftBench& one : fft_cases(device, quick)) {
      const std::string what = fft_problem_text(one.problem);
      progress(done, what + " on " + device.id());
      add_case(bench, device, what, [&] { return bench_fft(device, one, {}).rows; });
      done += 0.5 / static_cast<double>(devices().devices.size());
    }
  }
  return bench;
}

// Bytes of sixteen stations to 256 channels of floats.
report::Bench tour_filterbank(bool quick, const base::Progress& progress) {
  report::Bench bench;
  bench.title = "The polyphase filter bank";
  bench.note =
      "256 channels of 16 taps, 16 stations of two polarizations: bytes in, floats out, filtered and transformed in "
      "one pass. The roof is memory or arithmetic, whichever is nearer; on devices a copy of as many bytes.";
  double done = 0;
  for (const Device& device : devices().devices) {
    const filterbank::Problem problem{.channels = 256, .taps = 16, .stations = 16, .threads = 0};
    FilterbankCases wanted;
    wanted.scenario = true;
    wanted.seconds = quick ? 0.02 : 0.2;
    wanted.size = quick ? 1e6 : device.info().backend == Backend::cuda ? 1e8 : 1.6e7;
    const std::string what = filterbank_text(problem);
    progress(done, what + " on " + device.id());
    add_case(bench, device, what, [&] { return bench_filterbank(device, problem, wanted, {}).rows; });
    done += 1.0 / static_cast<double>(devices().devices.size());
  }
  return bench;
}

// A gas after an explosion, as `ridge stencil euler` draws it: what the arithmetic above is for.
std::optional<report::Illustration> stencil_picture() {
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

// The plane and the cube that everyone measures, on every device.
report::Bench tour_stencil(bool quick, const base::Progress& progress) {
  report::Bench bench;
  bench.title = "Stencils";
  bench.note =
      "Many steps of a 5-point stencil in a plane and a 7-point stencil in a cube. The roof is that of one read and "
      "one "
      "write a cell and step; runs that take several steps in one pass go beyond it. The peer is a plain loop, or a "
      "plain "
      "kernel.";
  double done = 0;
  for (const Device& device : devices().devices) {
    for (const std::size_t dimensions : {2, 3}) {
      StencilBench one = stencil_case(device, dimensions, 1, false, false, quick);
      if (!quick && device.is_host()) one.steps = dimensions == 2 ? 32 : 16;  // seconds, not a minute
      one.seconds_each = quick ? 0.02 : 0.2;
      const std::string what = stencil_problem_text(one);
      progress(done, what + " on " + device.id());
      add_case(bench, device, what, [&] { return bench_stencil(device, one).rows; });
      done += 0.5 / static_cast<double>(devices().devices.size());
    }
  }
  if (auto picture = stencil_picture()) bench.illustrations.push_back(std::move(*picture));
  return bench;
}

std::string ceiling_line(const machine::DeviceProfile& device) {
  const machine::Ceilings& c = device.ceilings;
  const machine::Bandwidth& memory = c.memory().all;
  return fmt::format("{} ({}): {} float, {} double, memory copy {}{}", device.id, device.name,
                     base::human_rate(c.flops_float, "FLOP/s"), base::human_rate(c.flops_double, "FLOP/s"),
                     base::human_rate(std::max(memory.copy, memory.copy_streaming), "B/s"),
                     c.measured ? "" : " (estimated)");
}

// The best of each problem, in words.
std::vector<std::string> bench_lines(const report::Bench& bench) {
  std::vector<std::string> lines;
  for (const std::size_t i : report::best_rows(bench.rows)) {
    const auto& row = bench.rows[i];
    lines.push_back(fmt::format("{} on {}: {} by {}, {:.0f} % of the copy roof", row.problem, row.device,
                                base::human_rate(row.gbytes_per_s * 1e9, "B/s"), row.variant, 100 * row.roof_share));
  }
  return lines;
}

// The best of the last bench's problems into each device's roofline.
void add_points(report::Report& page) {
  for (auto& section : page.devices) {
    const auto points = report::points_of(page.benches.back().rows, section.profile.id, 1);
    section.points.insert(section.points.end(), points.begin(), points.end());
  }
}

void run(const Wishes& wishes) {
  const double start = base::now();
  const machine::Profile profile = profile_or_measure(wishes.profile);
  const auto progress = base::terminal_progress();
  report::Report page;
  page.title = title();
  page.hardware = profile.hardware;
  page.measured_at = profile.measured_at;
  page.seconds_taken = profile.seconds_taken;
  page.notes = devices().notes;
  for (const Device& device : devices().devices) {
    if (const auto* found = profile.find(device.id())) page.devices.push_back({*found, facts(device.info()), {}});
  }
  for (const auto& section : page.devices) page.summary.push_back(ceiling_line(section.profile));
  page.benches.push_back(tour_transpose(wishes.profile.quick, progress));
  for (const std::string& line : bench_lines(page.benches.back())) page.summary.push_back(line);
  for (auto& section : page.devices) section.points = report::points_of(page.benches.back().rows, section.profile.id);
  page.benches.push_back(tour_fft(wishes.profile.quick, progress));
  add_points(page);
  for (const auto& row : page.benches.back().rows) {
    page.summary.push_back(fmt::format("{} on {}: {} by {}", row.problem, row.device,
                                       base::human_rate(row.gflops * 1e9, "FLOP/s"), row.variant));
  }
  page.benches.push_back(tour_stencil(wishes.profile.quick, progress));
  add_points(page);
  for (const auto& row : page.benches.back().rows) {
    page.summary.push_back(fmt::format("{} on {}: {} by {}, {:.1f} times the two-access roof", row.problem, row.device,
                                       base::human_rate(row.more.at("gcells_per_s") * 1e9, "cell/s"), row.variant,
                                       row.roof_share));
  }
  page.benches.push_back(tour_filterbank(wishes.profile.quick, progress));
  add_points(page);
  for (const auto& row : page.benches.back().rows) {
    page.summary.push_back(fmt::format("{} on {}: {} by {}, {:.0f} % of the roof", row.problem, row.device,
                                       base::human_rate(row.gflops * 1e9, "FLOP/s"), row.variant,
                                       100 * row.roof_share));
  }
  progress(1, "");

  base::write_file(wishes.out, report::to_html(page));
  const auto json = std::filesystem::path(wishes.out).replace_extension(".json");
  base::write_file(json, report::to_json(page));
  fmt::print("{}\n", page.title);
  for (const std::string& line : page.summary) fmt::print("  {}\n", line);
  for (const std::string& note : page.notes) fmt::print("  {}\n", note);
  fmt::print("{} and {} written in {}; open the first in a browser\n", wishes.out, json.string(),
             base::human_seconds(base::now() - start));
}

}  // namespace

void add_tour(Command& program) {
  Command& command =
      program.subcommand("tour", "Measure this machine, run each workload on each device, write a page about it");
  auto wishes = std::make_shared<Wishes>();
  command.option("--out", wishes->out, "The page; its data goes beside it as .json").shows_default().value_name("FILE");
  command.flag("--quick", wishes->profile.quick,
               "Smaller problems and ceilings only: seconds instead of a minute or two");
  command.flag("--refresh", wishes->profile.refresh, "Measure the machine again although a saved profile exists");
  command.runs([wishes] { run(*wishes); });
}

}  // namespace ridge::cli
