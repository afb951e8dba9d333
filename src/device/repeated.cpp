// Launches the kernels of repeated.cl.
#include "device/repeated.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/kernel_text.hpp"

namespace ridge {
namespace {

constexpr std::size_t kMostGroups = 4096;

}  // namespace

std::size_t RepeatedAxis::source(std::size_t i) const {
  if (i < head) return i;
  return i >= whole - head ? i - (whole - small) : head + (i - head) % period;
}

RepeatedAxis repeated_axis(std::size_t whole, std::size_t reach, std::size_t period) {
  const std::size_t ends = 2 * reach;
  if (whole < ends + 2 * period) return {whole, whole, whole, 1};
  return {whole, ends + period + (whole - ends - period) % period, reach, period};
}

std::size_t Repetition::rows() const { return fields * axes[0].whole * axes[1].whole; }
std::size_t Repetition::whole() const { return rows() * axes[2].whole; }
std::size_t Repetition::small() const { return fields * axes[0].small * axes[1].small * axes[2].small; }

RepeatedArrays::RepeatedArrays(const Device& device, const Repetition& repetition, const std::string& element,
                               std::size_t pitch)
    : device_(device), repetition_(repetition), wide_(device.limits().float64) {
  std::vector<std::pair<std::string, std::string>> defines{{"ELEMENT", element}, {"WIDE", wide_ ? "double" : "float"}};
  const char* names[] = {"_Z", "_Y", "_X"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const RepeatedAxis& one = repetition.axes[axis];
    const auto define = [&](const std::string& what, std::size_t value) {
      defines.emplace_back(what + names[axis], std::to_string(value) + "UL");
    };
    define("WHOLE", one.whole);
    define("SMALL", one.small);
    define("HEAD", one.head);
    define("PERIOD", one.period);
  }
  defines.emplace_back("PITCH", std::to_string(pitch == 0 ? repetition.axes[2].whole : pitch) + "UL");
  const Program program =
      device.compile({.name = "repeated arrays", .text = detail::kernel_text("device/repeated"), .defines = defines});
  expand_ = program.kernel("expand");
  compare_ = program.kernel("compare");
}

Launch RepeatedArrays::launch() const {
  const std::size_t down = std::clamp<std::size_t>((repetition_.rows() + 3) / 4, 1, kMostGroups);
  const std::size_t across = std::clamp<std::size_t>(repetition_.axes[2].whole / 64, 1, kMostGroups / down);
  return {.groups = {down, across}, .items = {64, 4}};
}

void RepeatedArrays::expand(Queue& queue, const Buffer& small, const Buffer& whole) const {
  queue.launch(expand_, launch(), {small, whole, static_cast<std::uint32_t>(repetition_.rows())});
}

RepeatedArrays::Difference RepeatedArrays::compare(Queue& queue, const Buffer& whole, const Buffer& small) const {
  const Launch shape = launch();
  const std::size_t items = shape.groups[0] * shape.groups[1] * 256, bytes = wide_ ? sizeof(double) : sizeof(float);
  const Buffer worst = device_.buffer(items * bytes, {.name = "largest differences"});
  const Buffer places = device_.buffer(items * sizeof(std::uint64_t), {.name = "places of differences"});
  queue.launch(compare_, shape, {whole, small, worst, places, static_cast<std::uint32_t>(repetition_.rows())});
  std::vector<double> found(items);
  std::vector<float> narrow(wide_ ? 0 : items);
  std::vector<std::uint64_t> at(items);
  wide_ ? queue.download(worst, std::span<double>(found)) : queue.download(worst, std::span<float>(narrow));
  queue.download(places, std::span<std::uint64_t>(at));
  queue.finish();
  std::copy(narrow.begin(), narrow.end(), found.begin());
  Difference result;
  for (std::size_t i = 0; i < items; ++i) {
    if (found[i] <= result.worst || std::isnan(result.worst)) continue;
    result = {found[i], at[i]};
  }
  return result;
}

}  // namespace ridge
