#include "sar/device/backproject.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "sar/tables.hpp"

namespace ridge::sar {
namespace {

constexpr std::size_t kPixels = 64;  // per work-group

template <class T>
Buffer uploaded(const Device& device, Queue& queue, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  queue.upload(std::span<const T>(values), buffer);
  queue.finish();
  return buffer;
}

}  // namespace

KernelSource backproject_source() {
  return {.name = "sar_backproject",
          .text = ridge::detail::kernel_text("codegen/quick_functions") + ridge::detail::kernel_text("sar/backproject"),
          .defines = {{"ITEMS_PER_GROUP", fmt::format("{}", kPixels)},
                      {"FINE", fmt::format("{}", kFine)},
                      {"WEIGHTS", fmt::format("{}", kWeights)}}};
}

fft::Problem compression_problem(const Problem& frame) {
  const std::size_t negative = frame.samples / 2;
  fft::Problem range{.shape = {frame.samples},
                     .batch = frame.pulses,
                     .threads = frame.threads,
                     .directions = fft::Directions::forward,
                     .wanted = {.first = {frame.samples - negative}, .count = {frame.samples}}};
  range.wanted.first[0] %= frame.samples;
  range.store_forward.multiply = range_compression(frame);
  std::rotate(range.store_forward.multiply.begin(), range.store_forward.multiply.end() - static_cast<long>(negative),
              range.store_forward.multiply.end());
  return range;
}

fft::Problem refinement_problem(const Problem& frame) {
  const std::size_t n = kFine * frame.samples;
  return {.shape = {n},
          .batch = frame.pulses,
          .threads = frame.threads,
          .directions = fft::Directions::inverse,
          .wanted = {.first = {n - frame.samples / 2}, .count = {frame.samples}}};
}

DeviceBackprojection::DeviceBackprojection(const Device& device, const BackprojectionProblem& problem,
                                           const Geometry& geometry, const std::vector<float>& weights,
                                           const std::vector<float>& norms, const planner::Options& options)
    : kernel_(device.compile(backproject_source()).kernel("backproject")),
      launch_{.groups = {(problem.frame.pulses + kPixels - 1) / kPixels, problem.frame.samples}, .items = {kPixels}},
      compress_(device, compression_problem(problem.frame), options),
      refine_(device, refinement_problem(problem.frame), options),
      staging_(device, "sar") {
  const Problem& frame = problem.frame;
  Queue queue = device.queue();
  spectra_ = device.buffer(frame.pulses * frame.samples * sizeof(Complex), {.name = "sar spectra"});
  profiles_ = device.buffer(kFine * frame.pulses * frame.samples * sizeof(Complex), {.name = "sar profiles"});
  std::vector<float> track(2 * frame.pulses);
  float farthest = 0;
  for (std::size_t i = 0; i < problem.track.size(); ++i) {
    track[2 * i] = static_cast<float>(problem.track[i].along_m);
    track[2 * i + 1] = static_cast<float>(problem.track[i].range_m);
    farthest = std::max({farthest, std::abs(track[2 * i]), std::abs(track[2 * i + 1])});
  }
  track_ = uploaded(device, queue, track, "sar track");
  weights_ = uploaded(device, queue, weights, "sar weights");
  norms_ = uploaded(device, queue, norms, "sar norms");
  numbers_ = {static_cast<std::int32_t>(frame.pulses),
              static_cast<std::int32_t>(kFine * frame.samples),
              static_cast<float>(frame.radar.near_range_m),
              static_cast<float>(geometry.cell),
              static_cast<float>(geometry.along),
              static_cast<float>(geometry.turns_per_metre),
              static_cast<float>(geometry.widest_sine),
              static_cast<float>(geometry.widest_tangent),
              farthest};
}

void DeviceBackprojection::run(std::span<const Complex> echoes, std::span<Complex> image) const {
  staging_.run(
      {.in = echoes.data(), .in_bytes = image.size_bytes(), .out = image.data(), .out_bytes = image.size_bytes()},
      [this](Queue& queue, const Buffer& in, const Buffer& out) {
        compress_.enqueue_forward(queue, in, spectra_);
        refine_.enqueue_inverse(queue, spectra_, profiles_);
        std::vector<Argument> arguments{profiles_, track_, weights_, norms_, out};
        arguments.insert(arguments.end(), numbers_.begin(), numbers_.end());
        queue.launch(kernel_, launch_, arguments);
      });
}

}  // namespace ridge::sar
