// ridge sar: focuses frames of radar echoes and reports the rate against a deadline.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/fft/fft.hpp"
#include "cli/sar/runs.hpp"
#include "command/command.hpp"
#include "command/output_folder.hpp"
#include "command/process.hpp"
#include "io/images/picture.hpp"

namespace ridge::cli {

// Draws magnitudes in dB relative to the brightest point, down to -60 dB.
void draw_image(const SarOptions& options, std::span<const sar::Complex> image) {
  float brightest = 0;
  for (const auto& value : image) brightest = std::max(brightest, std::abs(value));
  const std::size_t pulses = options.problem.pulses;
  const io::GridSource source{.shape = {options.problem.samples, pulses},
                              .type = io::ElementType::float32,
                              .names = {"dB"},
                              .read = [&](std::size_t, std::size_t begin, std::size_t end, void* to) {
                                auto* out = static_cast<float*>(to);
                                for (std::size_t i = begin * pulses; i < end * pulses; ++i) {
                                  *out++ = 20 * std::log10(std::max(std::abs(image[i]) / brightest, 1e-3F));
                                }
                              }};
  const auto picture = io::draw_field(
      source, 0,
      {.map = "ember",
       .low = -60,
       .high = 0,
       .title = "dB below the peak",
       .y_up = false,
       .x = io::PictureAxis{.name = "along the track, m", .step = sar::along_cell(options.problem.radar)},
       .y = {.name = "range, m",
             .first = options.problem.radar.near_range_m,
             .step = sar::range_cell(options.problem.radar)}});
  io::write_png(options.png, picture.raster);
}

void print_points(const sar::Problem& problem, std::span<const sar::Complex> image) {
  const auto ideal = expected(problem);
  std::vector<std::vector<std::string>> rows{{"target", "range cell", "along cell", "range width", "along width",
                                              "range side lobe", "along side lobe", "peak"}};
  for (const auto& [range, along, amplitude] : simulated_targets()) {
    const double r = range * static_cast<double>(problem.samples), p = along * static_cast<double>(problem.pulses);
    const auto found = measure(problem, image, r, p);
    rows.push_back({fmt::format("{:.2f}, {:.2f}", r, p), fmt::format("{:+.3f}", found.range.position - r),
                    fmt::format("{:+.3f}", found.along.position - p), fmt::format("{:.3f}", found.range.width),
                    fmt::format("{:.3f}", found.along.width), fmt::format("{:.2f} dB", found.range.side_lobe_db),
                    fmt::format("{:.2f} dB", found.along.side_lobe_db), fmt::format("{:.3f}", found.peak / amplitude)});
  }
  rows.push_back({"theory", "0", "0", fmt::format("{:.3f}", ideal.range.width),
                  fmt::format("{:.3f}", ideal.along.width), fmt::format("{:.2f} dB", ideal.range.side_lobe_db),
                  fmt::format("{:.2f} dB", ideal.along.side_lobe_db), "1"});
  fmt::print("{}", base::table(rows));
}

namespace {

std::string energy_text(const SarTimes& times, double frames) {
  return times.why_not.empty() ? fmt::format("{:.3g} J per frame ({})", times.joules / frames, times.counter)
                               : "energy not measured: " + times.why_not;
}

void print_stream(const SarOptions& options, const SarTimes& times) {
  const auto count = static_cast<double>(times.frames.size());
  const double mean = times.total / count;
  auto sorted = times.frames;
  std::sort(sorted.begin(), sorted.end());
  fmt::print("{} frames with transfers, {}: {:.1f} per second, {} per frame (median {}, worst {}), {}\n", sorted.size(),
             !options.in.empty() ? "read and written at the same time"
             : options.copies    ? "copied from and to pageable memory"
                                 : "in the stream's own memory",
             1 / mean, base::human_seconds(mean), base::human_seconds(sorted[sorted.size() / 2]),
             base::human_seconds(sorted.back()), energy_text(times, count));
  if (options.rate <= 0) return;
  const double deadline = 1 / options.rate;
  const auto late = std::count_if(sorted.begin(), sorted.end(), [&](double t) { return t > deadline; });
  fmt::print("deadline {} ({} frames per second): {} late, margin {:.2f}x, utilisation {:.0f} %\n",
             base::human_seconds(deadline), options.rate, late, deadline / mean, 100 * mean / deadline);
}

void print_paced(const SarOptions& options, const SarTimes& times) {
  auto sorted = times.frames;
  std::sort(sorted.begin(), sorted.end());
  const auto late = std::count_if(sorted.begin(), sorted.end(), [&](double t) { return t > 1 / options.rate; });
  fmt::print(
      "{} frames arriving {} times per second: latency {} (median), {} (worst); {} later than one frame's "
      "time; {}\n",
      sorted.size(), options.rate, base::human_seconds(sorted[sorted.size() / 2]), base::human_seconds(sorted.back()),
      late, energy_text(times, static_cast<double>(sorted.size())));
}

void run_sar(SarOptions options) {
  static const std::map<std::string, sar::Window> windows{
      {"none", sar::Window::none}, {"hamming", sar::Window::hamming}, {"taylor", sar::Window::taylor}};
  options.problem.window = windows.at(options.window);
  sar::check(options.problem);
  if (options.method != "range-doppler") return run_backprojection(options);
  if (!options.track.empty() || options.autofocus > 0)
    mistake("--track and --autofocus need --method backprojection or factorized");
  const std::vector<Device> devices =
      options.device.empty() ? std::vector{ridge::device("")} : parse_joined_devices(options.device);
  const Device device = devices.front();
  const planner::Options planning{.effort = options.measure ? Effort::measured : Effort::quick};
  if (options.in.empty() && !options.schedule.empty())
    mistake("--schedule needs --in: simulated frames have one stage");
  if (!options.in.empty() && options.copies) mistake("--copies is for simulated frames: leave it out with --in");
  const auto source = std::make_shared<SarFrames>(options);
  const SarFrames& frames = *source;
  SarImages images(options);
  std::vector<sar::Complex> image;  // the last image
  sar::Stream stream(devices, options.problem, planning);
  if (options.explain) {
    for (const Device& each : devices) fmt::print("{}\n", sar::Plan(each, options.problem, planning).explain());
  }
  const bool keep = !options.png.empty() || frames.simulated();
  std::size_t seen = 0;
  const HaveImage have = [&](std::span<const sar::Complex> finished) {
    images.write(finished);
    // The number of frames in a file is unknown, so every image is kept as the possibly last one.
    if (keep && (!frames.simulated() || ++seen == options.frames)) image.assign(finished.begin(), finished.end());
  };
  const SarTimes times = frames.simulated() ? run_as_fast_as_possible(options, stream, device, *source, have)
                                            : run_files(options, stream, device, source, have);
  if (times.frames.empty()) throw Error(ErrorKind::io, options.in + ": contains no frame");
  images.finish();
  if (!options.png.empty()) draw_image(options, image);
  if (options.out == "-") return;  // standard output carries the images
  if (frames.simulated()) print_points(options.problem, image);
  print_stream(options, times);
  if (devices.size() > 1) {
    const double rate = static_cast<double>(times.frames.size()) / times.total;
    fmt::print("{}{:.2f} of the sum of the rates of the devices in use, {:.1f} frames per second\n", stream.explain(),
               rate / stream.ideal_rate(), stream.ideal_rate());
  }
  if (!frames.simulated()) return;
  if (options.rate > 0) print_paced(options, run_at_a_rate(options, stream, device));
  if (devices.size() > 1) return;
  const sar::Plan focus(device, options.problem, planning);
  const SarTimes resident = run_in_place(focus, frames.frame());
  fmt::print("data resident: {:.1f} frames per second, {} per frame, {}, {}\n", 1 / resident.total,
             base::human_seconds(resident.total), base::human_rate(focus.flops() / resident.total, "FLOP/s"),
             energy_text(resident, 1));
}

}  // namespace

void add_sar(Command& program) {
  Command& command = program.subcommand("sar", "Focus frames of radar echoes, and report the rate against a deadline");
  command.footer(
      "\nExamples:\n"
      "  ridge sar --png scene.png                        four simulated point targets, focused and measured\n"
      "  ridge sar --device cuda:0 --frames 1000 --rate 1555\n"
      "  ridge sar --device host+cuda:0 --frames 1000     whole frames shared by the measured rates\n"
      "  ridge sar --in echoes.npy --out images.npy       frames of complex64, pulses x samples\n"
      "  ridge sar --method factorized --track offsets.npy --png scene.png     a platform that leaves the straight "
      "line\n"
      "  receiver | ridge sar --in - --out - | display    raw complex floats, frame after frame\n"
      "\nEchoes are pulses x samples at baseband, images ranges x pulses. Range-Doppler algorithm: range compression,\n"
      "transpose, Doppler transform, migration correction, azimuth compression. On a device, transfers of one frame\n"
      "overlap with the computation of another. Files and pipes are read, focused and written at the same time\n"
      "(--schedule - shows which of the three limits the rate).\n"
      "With --rate, simulated frames are processed first at full speed, then at this rate.");
  auto options = std::make_shared<SarOptions>();
  auto& radar = options->problem.radar;
  command.option("--in", options->in, "Input frames: a .npy or raw file, or - (default: simulated targets)").reads();
  command.option("--out", options->out, "Output images: a .npy or raw file, or -").writes();
  command.option("--png", options->png, "Write the last image, in dB, as .png").writes().ends_in({".png"});
  command.option("--device", options->device,
                 "Device: host, cuda:0, opencl:pocl or best; several, as host+cuda:0, share frames");
  add_schedule_option(command, options->schedule);
  command.option("--frames", options->frames, "Number of simulated frames").shows_default().positive();
  command.option("--rate", options->rate, "Required frames per second, which gives the deadline").positive();
  command.option("--pulses", options->problem.pulses, "Pulses per frame").shows_default();
  command.option("--samples", options->problem.samples, "Samples per echo").shows_default();
  command
      .option("--method", options->method, "range-doppler, backprojection (direct), factorized, or on the host omega-k")
      .one_of({"range-doppler", "backprojection", "factorized", "omega-k"})
      .shows_default();
  command
      .option("--migration", options->problem.migration,
              "Range cell migration correction: taps (interpolation), chirp_z (by FFT, exact) or phase (by FFT, one "
              "reference range); default: the planner's choice")
      .one_of({"taps", "chirp_z", "phase"});
  command
      .option(
          "--track", options->track,
          "Back-projection: the platform's offsets in metres, .npy of pulses x 2 (along the track, towards the scene)")
      .reads();
  command
      .option("--autofocus", options->autofocus,
              "Back-projection: estimate the platform's offsets from the brightest points, in this many iterations")
      .between(0, 100);
  command.option("--window", options->window, "Window function: none, hamming or taylor")
      .one_of({"none", "hamming", "taylor"})
      .shows_default();
  command.option("--carrier", radar.carrier_hz, "Carrier frequency, Hz").shows_default();
  command.option("--bandwidth", radar.bandwidth_hz, "Bandwidth of the chirp, Hz").shows_default();
  command.option("--pulse", radar.pulse_s, "Length of a pulse, s").shows_default();
  command.option("--sample-rate", radar.sample_rate_hz, "Sample rate, Hz").shows_default();
  command.option("--pulse-rate", radar.pulse_rate_hz, "Pulse repetition frequency, Hz").shows_default();
  command.option("--speed", radar.speed_m_s, "Speed of the platform, m/s").shows_default();
  command.option("--near-range", radar.near_range_m, "Range of the first sample, m").shows_default();
  command.option("--beam", radar.beam_rad, "Beam width between the nulls, rad").shows_default();
  command.option("--doppler-share", options->problem.doppler_share, "Processed fraction of the beam's Doppler band")
      .shows_default();
  command.threads(options->problem.threads);
  command.flag("--copies", options->copies, "Use pageable memory, staged by several threads");
  command.flag("--measure", options->measure, "Time the best variants first and save the winners");
  command.flag("--explain", options->explain, "Print the plans");
  command.runs([options] { run_sar(*options); });
}

}  // namespace ridge::cli
