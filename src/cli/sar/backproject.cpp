// ridge sar --method backprojection, factorized, omega-k: focuses frames one after another, without a deadline.
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/sar/omega_k.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/arrays/npy_file.hpp"
#include "cli/sar/runs.hpp"
#include "command/options.hpp"

namespace ridge::cli {
namespace {

std::vector<sar::Offset> read_track(const std::string& path, std::size_t pulses) {
  if (path.empty()) return {};
  const NpyFile file(path);
  if (io::is_complex(file.header.type) || file.header.shape != std::vector<std::size_t>{pulses, 2}) {
    mistake(fmt::format("{}: needs real offsets of shape {}x2, along the track and towards the scene", path, pulses));
  }
  const std::vector<double> numbers = file.reals<double>();
  std::vector<sar::Offset> track(pulses);
  for (std::size_t i = 0; i < pulses; ++i) track[i] = {.along_m = numbers[2 * i], .range_m = numbers[2 * i + 1]};
  return track;
}

}  // namespace

void run_backprojection(const SarOptions& options) {
  const bool omega_k = options.method == "omega-k", direct = options.method == "backprojection";
  if (omega_k && !options.device.empty() && options.device != "host") {
    mistake(fmt::format("--method {} needs --device host, got {}", options.method, options.device));
  }
  if (options.rate > 0) mistake("--rate needs --method range-doppler");
  if (omega_k && (!options.track.empty() || options.autofocus > 0))
    mistake("--track and --autofocus need --method backprojection or factorized: omega-k assumes a straight track");
  if (!options.track.empty() && options.autofocus > 0)
    mistake("--autofocus estimates the track from a straight one, got --track too: give one of them");
  const std::vector<sar::Offset> track = read_track(options.track, options.problem.pulses);
  const bool simulated = options.in.empty();
  std::vector<sar::Complex> image(options.problem.pulses * options.problem.samples);
  std::vector<sar::Complex> echoes = simulated ? sar::simulate(options.problem, targets_of(options.problem), track)
                                               : std::vector<sar::Complex>(image.size());
  const auto frames = simulated ? nullptr : std::make_unique<SarFrames>(options);
  SarImages images(options);
  sar::BackprojectionProblem problem{
      .frame = options.problem, .method = direct ? sar::Method::direct : sar::Method::factorized, .track = track};
  const base::Progress progress = base::terminal_progress();
  std::size_t count = 0;
  problem.progress = [&](double share) { progress(share, fmt::format("focusing frame {}", count + 1)); };
  const Device device = options.device.empty() ? host() : ridge::device(options.device);
  std::optional<sar::OmegaK> exact;
  std::optional<sar::Backprojection> focus;
  omega_k ? void(exact.emplace(options.problem)) : void(focus.emplace(device, problem));
  double seconds = 0;
  while (simulated ? count == 0 : frames->read(echoes)) {
    const double start = base::now();
    if (options.autofocus > 0) {
      problem.track = sar::autofocus(options.problem, echoes, {.iterations = options.autofocus});
      focus.emplace(device, problem);
    }
    if (options.explain && count == 0) fmt::print("{}", omega_k ? exact->explain() : focus->explain());
    omega_k ? exact->run(echoes, image) : focus->run(echoes, image);
    seconds += base::now() - start;
    images.write(image);
    ++count;
  }
  if (count == 0) throw Error(ErrorKind::io, options.in + ": contains no frame");
  images.finish();
  base::clear_progress();
  if (!options.png.empty()) draw_image(options, image);
  if (options.out == "-") return;  // standard output carries the images
  if (simulated) print_points(options.problem, image);
  const double each = seconds / static_cast<double>(count);
  fmt::print(
      "{} frames, {} per frame{}\n", count, base::human_seconds(each),
      omega_k ? "" : fmt::format(", {} of the direct method", base::human_rate(focus->updates() / each, "updates/s")));
}

}  // namespace ridge::cli
