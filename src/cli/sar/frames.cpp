// Simulates, reads and writes SAR frames and images.
#include "cli/sar/frames.hpp"

#include <fmt/format.h>

#include "io/arrays/npy.hpp"
#include "io/telescopes/header_fields.hpp"

namespace ridge::cli {

// Positions whose echoes and apertures are completely inside the frame.
const std::vector<SimulatedTarget>& simulated_targets() {
  static const std::vector<SimulatedTarget> targets{
      {0.12, 0.40, 1}, {0.25, 0.52, 0.5}, {0.33, 0.60, 2}, {0.51, 0.44, 1}};
  return targets;
}

std::vector<sar::Target> targets_of(const sar::Problem& problem) {
  std::vector<sar::Target> out;
  for (const auto& [range, along, amplitude] : simulated_targets()) {
    out.push_back({.along_m = along * static_cast<double>(problem.pulses) * along_cell(problem.radar),
                   .range_m = problem.radar.near_range_m +
                              range * static_cast<double>(problem.samples) * range_cell(problem.radar),
                   .amplitude = amplitude});
  }
  return out;
}

SarFrames::SarFrames(const SarOptions& options) {
  if (options.in.empty()) {
    frame_ = simulate(options.problem, targets_of(options.problem));
    return;
  }
  in_ = std::make_unique<io::InputStream>(options.in);
  if (!io::looks_like_npy(in_->peek(6)) && !options.in.ends_with(".npy")) {
    io::refuse_foreign(*in_);
    return;
  }
  const auto header = io::read_npy_header(*in_);
  const auto& shape = header.shape;
  if (header.type != io::ElementType::complex64 || shape.size() < 2 || shape.size() > 3 ||
      shape[shape.size() - 2] != options.problem.pulses || shape.back() != options.problem.samples) {
    throw Error(
        ErrorKind::io,
        fmt::format("{}: needs complex64 of shape {}x{}, or several such frames; it holds {} of {}", options.in,
                    options.problem.pulses, options.problem.samples, io::name_of(header.type), fmt::join(shape, "x")));
  }
}

bool SarFrames::read(std::span<sar::Complex> to) {
  const std::size_t got = in_->read(to.data(), to.size_bytes());
  if (got != 0 && got != to.size_bytes()) {
    throw Error(ErrorKind::io,
                fmt::format("{}: the last frame is truncated: {} of {} bytes", in_->name(), got, to.size_bytes()));
  }
  return got != 0;
}

SarImages::SarImages(const SarOptions& options) : problem_(options.problem) {
  if (options.out.empty()) return;
  npy_ = options.out.ends_with(".npy");
  out_ = std::make_unique<io::OutputStream>(options.out);
  if (npy_ && out_->is_pipe())
    throw Error(ErrorKind::invalid_argument, "a pipe needs raw images: the output name must not end in .npy");
  if (npy_) write_header(false);
}

void SarImages::write(std::span<const sar::Complex> image) {
  if (!out_) return;
  out_->write(image.data(), image.size_bytes());
  ++count_;
}

void SarImages::finish() {
  if (!out_) return;
  if (npy_) write_header(true);
  out_->finish();
}

void SarImages::write_header(bool again) {
  constexpr std::size_t kRoom = 192;
  const std::string header =
      io::npy_header({.type = io::ElementType::complex64, .shape = {count_, problem_.samples, problem_.pulses}}, kRoom);
  if (again) {
    out_->rewrite_start(header);
  } else {
    out_->write(header.data(), header.size());
  }
}

}  // namespace ridge::cli
