// Uploads, filters and downloads blocks of overlap-save.
#include "fft/panels/panel_convolution.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>
#include <ridge/device_memory.hpp>

#include "base/text.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kDevicePanel = std::size_t{8} << 20;  // bytes, on a device with its own memory
constexpr std::size_t kHostPanel = std::size_t{256} << 10;  // bytes, on a device that computes on the host's cores
constexpr std::size_t kBuffers = 3 * PanelStream::kAtOnce;  // panels that the buffers of a run hold, at most

std::size_t blocks_per_panel(const Device& device, std::size_t block_bytes) {
  const std::size_t wanted = device.info().runs_on_host_cores ? kHostPanel : kDevicePanel;
  return std::max<std::size_t>(1, std::min(wanted, device_memory(device) / kBuffers) / block_bytes);
}

template <class T>
Problem with_filter(Problem problem, std::span<const std::complex<T>> spectrum) {
  problem.store_forward.multiply.assign(spectrum.begin(), spectrum.end());
  return problem;
}

}  // namespace

template <class T, class Element>
Problem PanelConvolution<T, Element>::problem(Directions directions) const {
  const bool forward = directions == Directions::forward;
  Problem problem{.shape = {block_},
                  .batch = blocks_,
                  .kind = kKind,
                  .scale_inverse = 1 / static_cast<double>(block_),
                  .directions = directions};
  problem.input = {.axes = {1}, .batch = forward ? fresh() : block_};  // blocks of the signal overlap
  problem.output = {.axes = {1}, .batch = values()};
  return problem;
}

template <class T, class Element>
PanelConvolution<T, Element>::PanelConvolution(const Device& device, std::span<const std::complex<T>> spectrum,
                                               std::size_t filter, std::size_t block, const planner::Options& options)
    : device_(device),
      filter_(filter),
      block_(block),
      blocks_(blocks_per_panel(device, block * sizeof(std::complex<T>))),
      forward_(device, with_filter(problem(Directions::forward), spectrum), options),
      inverse_(device, problem(Directions::inverse), options),
      spectra_(device.buffer(blocks_ * values() * sizeof(std::complex<T>), {.name = "convolution spectra"})),
      stream_(device, "convolution") {}

template <class T, class Element>
void PanelConvolution<T, Element>::run(std::span<const Element> signal, std::span<Element> out,
                                       std::size_t first) const {
  const std::size_t step = blocks_ * fresh(), points = step + history();  // per panel: new values, and points read
  auto* const from = const_cast<Element*>(signal.data());
  struct Part {  // of the signal
    std::size_t begin, count, at;
  };
  const auto part_of = [&](std::size_t panel) -> Part {
    const std::size_t start = first + panel * step;  // first point of the panel, if history() zeros precede the signal
    const std::size_t at = start < history() ? history() - start : 0;
    const std::size_t begin = start + at - history();
    return {begin, begin < signal.size() ? std::min(points - std::min(at, points), signal.size() - begin) : 0, at};
  };
  PanelWork work{.panels = (out.size() + step - 1) / step};
  work.read = [&](std::size_t panel) -> std::vector<PanelRows> {
    const Part part = part_of(panel);
    if (part.count == 0) return {};
    return {{.data = reinterpret_cast<std::byte*>(from + part.begin),
             .bytes = part.count * sizeof(Element),
             .rows = 1,
             .pitch = 0,
             .at = part.at * sizeof(Element)}};
  };
  work.clears = [&](std::size_t panel) { return part_of(panel).count != points; };
  work.written = [&](std::size_t panel) {
    const std::size_t begin = panel * step, count = std::min(step, out.size() - begin);
    const std::size_t whole = count / fresh(), rest = count % fresh(), row = fresh() * sizeof(Element);
    auto* const data = reinterpret_cast<std::byte*>(out.data() + begin);
    std::vector<PanelRows> rows;
    if (whole > 0) {
      rows.push_back({.data = data,
                      .bytes = row,
                      .rows = whole,
                      .pitch = row,
                      .at = history() * sizeof(Element),
                      .at_pitch = block_ * sizeof(Element)});
    }
    if (rest > 0) {
      rows.push_back({.data = data + whole * row,
                      .bytes = rest * sizeof(Element),
                      .rows = 1,
                      .pitch = 0,
                      .at = (whole * block_ + history()) * sizeof(Element)});
    }
    return rows;
  };
  work.enqueue = [&](Queue& queue, std::size_t, const Buffer& in, const Buffer& result) {
    forward_.enqueue_forward(queue, in, spectra_);
    inverse_.enqueue_inverse(queue, spectra_, result);
  };
  stream_.run(work, points * sizeof(Element), blocks_ * block_ * sizeof(Element));
}

template <class T, class Element>
std::string PanelConvolution<T, Element>::explain() const {
  return fmt::format("panels of {} blocks\n{}", blocks_, forward_.explain());
}

template class PanelConvolution<float, float>;
template class PanelConvolution<double, double>;
template class PanelConvolution<float, std::complex<float>>;
template class PanelConvolution<double, std::complex<double>>;

}  // namespace ridge::fft
