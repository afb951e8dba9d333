// Reads and writes checkpoints of waves.
#include "cli/stencil/wave_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "command/options.hpp"
#include "io/arrays/checkpoint.hpp"

namespace ridge::cli {

base::Json wave_parameters(const WaveOptions& options, const char* backward, const std::vector<std::size_t>& shape,
                           double dt, double frequency) {
  base::Json all = base::Json::object();
  all["kind"] = options.gradient.empty() ? "traces" : backward;
  all["size"] = fmt::format("{}", fmt::join(shape, "x"));
  all["steps"] = static_cast<double>(options.steps);
  all["dt"] = dt;
  all["spacing"] = options.spacing;
  all["frequency"] = frequency;
  all["accuracy"] = options.accuracy;
  all["layer"] = static_cast<double>(options.layer);
  all["free surface"] = options.free_surface;
  all["type"] = options.type;
  return all;
}

WaveCheckpoint::WaveCheckpoint(const WaveOptions& options, const mpi::Communicator& processes, base::Json parameters)
    : file_(options.checkpoint),
      every_(options.checkpoint_every > 0 ? options.checkpoint_every : std::max<std::size_t>(1, options.steps / 10)),
      root_(processes.root()),
      parameters_(std::move(parameters)) {
  if (!root_) file_ += fmt::format(".rank{}", processes.rank());
  parameters_["processes"] = static_cast<double>(processes.count());
  if (!options.resume) return;
  const auto newest = io::newest_checkpoint(file_);
  if (!newest) {
    if (root_) fmt::print("no checkpoint {} yet: starting from the beginning\n", file_.string());
    return;
  }
  for (const auto& [key, value] : parameters_.items()) {
    const base::Json& there = newest->state().parameters;
    const std::string was = there.contains(key) ? there[key].dump() : "unknown";
    if (was != value.dump())
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("checkpoint {} was made with {} {}, but this run has {}; give the same options and files, "
                      "or another checkpoint file",
                      file_.string(), key, was, value.dump()));
  }
  if (newest->type() != io::ElementType::uint8 || newest->shape().size() != 1)
    throw Error(ErrorKind::invalid_argument, fmt::format("checkpoint {} is not that of a wave", file_.string()));
  found_.resize(newest->shape()[0]);
  newest->read(0, 0, found_.size(), found_.data());
  io::set_aside_damaged(*newest, file_);
}

bool WaveCheckpoint::due(std::size_t step) const { return step % every_ == 0 || StopSignals::came(); }

void WaveCheckpoint::take(void* to, std::size_t bytes) {
  if (bytes > found_.size() - read_)
    throw Error(ErrorKind::io, fmt::format("checkpoint {} is shorter than its contents", file_.string()));
  if (bytes > 0) std::memcpy(to, found_.data() + read_, bytes);
  read_ += bytes;
}

void WaveCheckpoint::write_file(std::size_t number, const std::vector<std::byte>& bytes, const std::string& where) {
  io::GridSource source;
  source.shape = {bytes.size()};
  source.type = io::ElementType::uint8;
  source.names = {"waves"};
  source.read = [&](std::size_t, std::size_t begin, std::size_t end, void* to) {
    io::copy_slabs(bytes.data(), 1, begin, end, to);
  };
  io::write_checkpoint(file_, {.step = number, .parameters = parameters_}, source);
  if (!StopSignals::came()) return;
  if (root_) fmt::print(stderr, "ridge: stopped {}; --resume continues from {}\n", where, file_.string());
  throw ExitWith{128 + StopSignals::number()};
}

}  // namespace ridge::cli
