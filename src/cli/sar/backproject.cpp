// ridge sar --method backprojection, factorized: focuses frames of any track on the host.
#include <memory>

#include <fmt/format.h>
#include <ridge/sar/backprojection.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/fft/convert.hpp"
#include "cli/sar/runs.hpp"
#include "command/options.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::cli {
namespace {

std::vector<sar::Offset> read_track(const std::string& path, std::size_t pulses) {
  if (path.empty()) return {};
  io::InputStream in(path);
  const io::NpyHeader header = io::read_npy_header(in);
  if (io::is_complex(header.type) || header.shape != std::vector<std::size_t>{pulses, 2}) {
    mistake(fmt::format("{}: needs real offsets of shape {}x2, along the track and towards the scene", path, pulses));
  }
  std::vector<std::byte> bytes;
  const std::size_t size = 2 * pulses * io::bytes_of(header.type);
  if (in.read_growing(bytes, size) != size) throw Error(ErrorKind::io, fmt::format("{}: is truncated", path));
  std::vector<double> numbers(2 * pulses);
  convert_numbers(header.type, bytes.data(), numbers.size(), numbers.data());
  std::vector<sar::Offset> track(pulses);
  for (std::size_t i = 0; i < pulses; ++i) track[i] = {.along_m = numbers[2 * i], .range_m = numbers[2 * i + 1]};
  return track;
}

}  // namespace

void run_backprojection(const SarOptions& options) {
  if (!options.device.empty() && options.device != "host") {
    mistake(fmt::format("--method {} needs --device host, got {}", options.method, options.device));
  }
  if (options.rate > 0) mistake("--rate needs --method range-doppler");
  const std::vector<sar::Offset> track = read_track(options.track, options.problem.pulses);
  const sar::Backprojection focus(
      {.frame = options.problem,
       .method = options.method == "factorized" ? sar::Method::factorized : sar::Method::direct,
       .track = track});
  if (options.explain) fmt::print("{}", focus.explain());
  const bool simulated = options.in.empty();
  std::vector<sar::Complex> image(options.problem.pulses * options.problem.samples);
  std::vector<sar::Complex> echoes = simulated ? sar::simulate(options.problem, targets_of(options.problem), track)
                                               : std::vector<sar::Complex>(image.size());
  const auto frames = simulated ? nullptr : std::make_unique<SarFrames>(options);
  SarImages images(options);
  std::size_t count = 0;
  double seconds = 0;
  while (simulated ? count == 0 : frames->read(echoes)) {
    const double start = base::now();
    focus.run(echoes, image);
    seconds += base::now() - start;
    images.write(image);
    ++count;
  }
  if (count == 0) throw Error(ErrorKind::io, options.in + ": contains no frame");
  images.finish();
  if (!options.png.empty()) draw_image(options, image);
  if (options.out == "-") return;  // standard output carries the images
  if (simulated) print_points(options.problem, image);
  const double each = seconds / static_cast<double>(count);
  fmt::print("{} frames, {} per frame, {} of the direct method\n", count, base::human_seconds(each),
             base::human_rate(focus.updates() / each, "updates/s"));
}

}  // namespace ridge::cli
