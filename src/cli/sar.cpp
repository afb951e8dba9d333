// ridge sar: frames of radar echoes in, focused images out, with a deadline.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/sar.hpp>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "device/timing.hpp"
#include "io/npy.hpp"
#include "io/picture.hpp"
#include "io/stream.hpp"
#include "machine/energy.hpp"

namespace ridge::cli {
namespace {

struct SarWishes {
  std::string in, out, png, device, window = "hamming";
  sar::Problem problem;
  std::size_t frames = 100;
  double rate = 0;
  bool measure = false, explain = false;
};

// The places of the simulated targets, as shares of the frame: inside what pulse and aperture leave whole.
constexpr double kTargets[][3] = {{0.12, 0.40, 1}, {0.25, 0.52, 0.5}, {0.33, 0.60, 2}, {0.51, 0.44, 1}};

std::vector<sar::Target> targets(const sar::Problem& problem) {
  std::vector<sar::Target> out;
  for (const auto& [range, along, amplitude] : kTargets) {
    out.push_back({.along_m = along * static_cast<double>(problem.pulses) * along_cell(problem.radar),
                   .range_m = problem.radar.near_range_m +
                              range * static_cast<double>(problem.samples) * range_cell(problem.radar),
                   .amplitude = amplitude});
  }
  return out;
}

// Frames to focus: simulated ones without end, or those of a file or pipe.
class Frames {
 public:
  explicit Frames(const SarWishes& wishes) : frame_(wishes.problem.pulses * wishes.problem.samples) {
    if (wishes.in.empty()) {
      frame_ = simulate(wishes.problem, targets(wishes.problem));
      return;
    }
    in_ = std::make_unique<io::InputStream>(wishes.in);
    if (!io::looks_like_npy(in_->peek(6))) return;
    const auto header = io::read_npy_header(*in_);
    const auto& shape = header.shape;
    if (header.type != io::ElementType::complex64 || shape.size() < 2 || shape.size() > 3 ||
        shape[shape.size() - 2] != wishes.problem.pulses || shape.back() != wishes.problem.samples) {
      throw Error(
          ErrorKind::io,
          fmt::format("{}: expected complex64 of shape {}x{}, or frames of it; it holds {} of {}", wishes.in,
                      wishes.problem.pulses, wishes.problem.samples, io::name_of(header.type), fmt::join(shape, "x")));
    }
  }
  bool simulated() const { return in_ == nullptr; }
  std::span<const sar::Complex> frame() const { return frame_; }
  bool next() {
    if (simulated()) return true;
    const std::size_t bytes = frame_.size() * sizeof(sar::Complex);
    const std::size_t got = in_->read(frame_.data(), bytes);
    if (got != 0 && got != bytes) {
      throw Error(ErrorKind::io,
                  fmt::format("{}: the last frame is cut short, {} of {} bytes", in_->name(), got, bytes));
    }
    return got == bytes;
  }

 private:
  std::vector<sar::Complex> frame_;
  std::unique_ptr<io::InputStream> in_;
};

// Images to a file: all of them, one after the other.
class Images {
 public:
  explicit Images(const SarWishes& wishes) : problem_(wishes.problem) {
    if (wishes.out.empty()) return;
    npy_ = wishes.out.ends_with(".npy");
    out_ = std::make_unique<io::OutputStream>(wishes.out);
    if (npy_ && out_->is_pipe()) throw Error(ErrorKind::invalid_argument, "a pipe takes raw images: leave out .npy");
    if (npy_) write_header(false);
  }
  void write(std::span<const sar::Complex> image) {
    if (!out_) return;
    out_->write(image.data(), image.size_bytes());
    ++count_;
  }
  void finish() {
    if (!out_) return;
    if (npy_) write_header(true);
    out_->finish();
  }

 private:
  void write_header(bool again) {
    constexpr std::size_t kRoom = 192;
    const std::string header = io::npy_header(
        {.type = io::ElementType::complex64, .shape = {count_, problem_.samples, problem_.pulses}}, kRoom);
    if (again) {
      out_->rewrite_start(header);
    } else {
      out_->write(header.data(), header.size());
    }
  }
  sar::Problem problem_;
  std::unique_ptr<io::OutputStream> out_;
  std::size_t count_ = 0;
  bool npy_ = false;
};

// Magnitudes in dB below the brightest point, 60 dB deep.
void draw(const SarWishes& wishes, std::span<const sar::Complex> image) {
  float brightest = 0;
  for (const auto& value : image) brightest = std::max(brightest, std::abs(value));
  const std::size_t pulses = wishes.problem.pulses;
  const io::GridSource source{.shape = {wishes.problem.samples, pulses},
                              .type = io::ElementType::float32,
                              .names = {"dB"},
                              .read = [&](std::size_t, std::size_t begin, std::size_t end, void* to) {
                                auto* out = static_cast<float*>(to);
                                for (std::size_t i = begin * pulses; i < end * pulses; ++i) {
                                  *out++ = 20 * std::log10(std::max(std::abs(image[i]) / brightest, 1e-3F));
                                }
                              }};
  const auto picture =
      io::draw_field(source, 0, {.map = "ember", .low = -60, .high = 0, .title = "dB below the peak", .y_up = false});
  io::write_png(wishes.png, picture.raster);
}

void print_points(const sar::Problem& problem, std::span<const sar::Complex> image) {
  const auto ideal = expected(problem);
  std::vector<std::vector<std::string>> rows{{"target", "range cell", "along cell", "range width", "along width",
                                              "range side lobe", "along side lobe", "peak"}};
  for (const auto& [range, along, amplitude] : kTargets) {
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

struct Times {
  std::vector<double> frames;  // seconds between one image and the next
  double total = 0, joules = 0;
};

void print_times(const SarWishes& wishes, const Times& times, const std::string& energy) {
  const auto count = static_cast<double>(times.frames.size());
  const double mean = times.total / count;
  auto sorted = times.frames;
  std::sort(sorted.begin(), sorted.end());
  fmt::print("{} frames with transfers: {:.1f} a second, {} a frame (median {}, worst {})\n", times.frames.size(),
             1 / mean, base::human_seconds(mean), base::human_seconds(sorted[sorted.size() / 2]),
             base::human_seconds(sorted.back()));
  fmt::print("energy: {}\n", energy);
  if (wishes.rate <= 0) return;
  const double deadline = 1 / wishes.rate;
  const auto late = std::count_if(sorted.begin(), sorted.end(), [&](double t) { return t > deadline; });
  fmt::print("deadline {} ({} frames a second): {} late, margin {:.2f}x, utilisation {:.0f} %\n",
             base::human_seconds(deadline), wishes.rate, late, deadline / mean, 100 * mean / deadline);
}

// Frames a second with the data where the device has it.
double resident_seconds(const sar::Focus& focus, std::span<const sar::Complex> frame) {
  if (focus.device().is_host()) {
    std::vector<sar::Complex> image(frame.size());
    return base::best_seconds([&] { focus.run(frame, image); }, {.seconds = 0.5});
  }
  const Buffer echoes = focus.device().buffer(frame.size_bytes(), {.name = "echoes"});
  const Buffer image = focus.device().buffer(frame.size_bytes(), {.name = "image"});
  Queue queue = focus.device().queue();
  queue.upload(frame, echoes);
  return best_device_seconds(queue, {[&] { focus.run(echoes, image, queue); }}, {.seconds = 0.5})[0];
}

Times focus_all(const SarWishes& wishes, const Device& device, const planner::Options& options, Frames& frames,
                Images& images, std::vector<sar::Complex>& image) {
  Times times;
  sar::Stream stream(device, wishes.problem, options);
  const auto progress = base::terminal_progress();
  auto counter = machine::EnergyCounter::open(device);
  if (frames.simulated()) {  // the first frame warms up
    stream.push(frames.frame(), image);
    while (stream.finish(image)) {
    }
  }
  const double joules = counter.readable() ? counter.joules() : 0;
  const double start = base::now();
  double before = start;
  const auto have = [&] {
    const double now = base::now();
    times.frames.push_back(now - before);
    before = now;
    images.write(image);
    if (frames.simulated()) {
      progress(static_cast<double>(times.frames.size()) / static_cast<double>(wishes.frames), "focusing");
    }
  };
  for (std::size_t i = 0; (!frames.simulated() || i < wishes.frames) && frames.next(); ++i) {
    if (stream.push(frames.frame(), image)) have();
  }
  while (stream.finish(image)) have();
  times.total = base::now() - start;
  if (counter.readable()) times.joules = counter.joules() - joules;
  return times;
}

void run_sar(SarWishes wishes) {
  static const std::map<std::string, sar::Window> windows{
      {"none", sar::Window::none}, {"hamming", sar::Window::hamming}, {"taylor", sar::Window::taylor}};
  wishes.problem.window = windows.at(wishes.window);
  check(wishes.problem);
  if (wishes.frames == 0) throw Error(ErrorKind::invalid_argument, "--frames 0: there is nothing to focus");
  const Device device = ridge::device(wishes.device);
  const planner::Options options{.effort = wishes.measure ? Effort::measured : Effort::quick};
  Frames frames(wishes);
  Images images(wishes);
  std::vector<sar::Complex> image(wishes.problem.pulses * wishes.problem.samples);
  const sar::Focus focus(device, wishes.problem, options);
  if (wishes.explain) fmt::print("{}\n", focus.explain());
  const Times times = focus_all(wishes, device, options, frames, images, image);
  images.finish();
  if (times.frames.empty()) throw Error(ErrorKind::io, wishes.in + ": no frame in it");
  if (!wishes.png.empty()) draw(wishes, image);
  if (wishes.out == "-") return;  // standard output is the images'
  if (frames.simulated()) print_points(wishes.problem, image);
  auto counter = machine::EnergyCounter::open(device);
  print_times(wishes, times,
              counter.readable()
                  ? fmt::format("{:.3g} J a frame ({})", times.joules / static_cast<double>(times.frames.size()),
                                counter.counter())
                  : "not counted: " + counter.why_not());
  if (!frames.simulated()) return;
  const double resident = resident_seconds(focus, frames.frame());
  fmt::print("data in place: {:.1f} frames a second, {} a frame, {}\n", 1 / resident, base::human_seconds(resident),
             base::human_rate(focus.flops() / resident, "FLOP/s"));
}

}  // namespace

void add_sar(CLI::App& program) {
  auto* command = program.add_subcommand("sar", "Focus frames of radar echoes in a stream, and report the deadline");
  command->footer(
      "\nExamples:\n"
      "  ridge sar --png scene.png                        four simulated point targets, focused and measured\n"
      "  ridge sar --device cuda:0 --frames 1000 --rate 1555\n"
      "  ridge sar --in echoes.npy --out images.npy       frames of complex64, pulses x samples\n"
      "  receiver | ridge sar --in - --out - | display    raw complex floats, frame after frame\n"
      "\nEchoes are pulses x samples at baseband, images ranges x pulses. Range-Doppler algorithm: range compression,\n"
      "corner turn, Doppler transform, migration correction, azimuth compression. On a device, transfers of one frame\n"
      "run beside the work on another.");
  auto wishes = std::make_shared<SarWishes>();
  auto& radar = wishes->problem.radar;
  command->add_option("--in", wishes->in, "Frames from a .npy or raw file, or - (default: simulated targets)");
  command->add_option("--out", wishes->out, "Images to a .npy or raw file, or -");
  command->add_option("--png", wishes->png, "The last image, in dB");
  command->add_option("--device", wishes->device, "Where to run");
  command->add_option("--frames", wishes->frames, "Simulated frames")->capture_default_str();
  command->add_option("--rate", wishes->rate, "Frames a second that are needed: the deadline");
  command->add_option("--pulses", wishes->problem.pulses)->capture_default_str();
  command->add_option("--samples", wishes->problem.samples, "Of a pulse's echo")->capture_default_str();
  command->add_option("--window", wishes->window, "none, hamming or taylor")
      ->check(CLI::IsMember({"none", "hamming", "taylor"}))
      ->capture_default_str();
  command->add_option("--carrier", radar.carrier_hz, "Hz")->capture_default_str();
  command->add_option("--bandwidth", radar.bandwidth_hz, "Of the chirp, Hz")->capture_default_str();
  command->add_option("--pulse", radar.pulse_s, "Length, s")->capture_default_str();
  command->add_option("--sample-rate", radar.sample_rate_hz, "Hz")->capture_default_str();
  command->add_option("--pulse-rate", radar.pulse_rate_hz, "Hz")->capture_default_str();
  command->add_option("--speed", radar.speed_m_s, "m/s")->capture_default_str();
  command->add_option("--near-range", radar.near_range_m, "Of the first sample, m")->capture_default_str();
  command->add_option("--beam", radar.beam_rad, "Full width between nulls, rad")->capture_default_str();
  command->add_option("--doppler-share", wishes->problem.doppler_share, "Of the beam's band, what is processed")
      ->capture_default_str();
  command->add_option("--threads", wishes->problem.threads, "Host: threads (0: all)");
  command->add_flag("--measure", wishes->measure, "Time the best variants first, and remember the winners");
  command->add_flag("--explain", wishes->explain, "Print the plans");
  command->callback([wishes] { run_sar(*wishes); });
}

}  // namespace ridge::cli
