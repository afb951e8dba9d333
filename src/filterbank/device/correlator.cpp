// Products of all pairs of signals on a device: a group has one channel and a tile of signals x signals, whose times
// come through local memory; an item sums a square of products in registers. Sums are floats over a stretch of times;
// a total of two floats (a sum and what its roundings lost) takes stretch after stretch, always the same ones.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "filterbank/correlator.hpp"
#include "filterbank/device/compiled_bank.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kSide = 16;      // items of a group: kSide x kSide
constexpr std::size_t kStaged = 16;    // times in local memory
constexpr std::size_t kStretch = 128;  // times of one sum of floats, about
constexpr std::size_t kFinishItems = 128;

class DeviceCorrelator final : public CorrelatorState {
 public:
  DeviceCorrelator(const Device& device, const Problem& problem, const Correlation& correlation)
      : CorrelatorState(problem, correlation), device_(device), queue_(device.queue()) {
    const Geometry& g = geometry_;
    const std::size_t signals = g.stations * g.polarizations, each = signals > 2 * kSide ? 4 : 2;
    // Whole output blocks, so that a push can always be taken up to such a stretch's end.
    stretch_ = std::min(correlation.times, std::max<std::size_t>(1, kStretch / g.times) * g.times);
    const std::size_t tile = kSide * each, tiles = (signals + tile - 1) / tile;
    std::vector<std::int32_t> list;
    for (std::size_t column = 0; column < tiles; ++column) {
      for (std::size_t row = 0; row <= column; ++row) {
        list.push_back(static_cast<std::int32_t>(row));
        list.push_back(static_cast<std::int32_t>(column));
      }
    }
    groups_ = list.size() / 2 * g.channels;
    tiles_ = uploaded(device, std::span<const std::int32_t>(list), "correlator tiles");
    totals_ = device.buffer(baselines() * products() * g.channels * 4 * sizeof(float), {.name = "correlator totals"});
    result_ = device.buffer(size() * sizeof(std::complex<float>), {.name = "correlator result"});
    const auto number = [](std::size_t value) { return fmt::format("{}", value); };
    const Program program = device.compile({.name = "filter bank correlator",
                                            .text = ridge::detail::kernel_text("filterbank/correlate"),
                                            .defines = {{"SIDE", number(kSide)},
                                                        {"EACH", number(each)},
                                                        {"STAGED", number(kStaged)},
                                                        {"STAGES", number((stretch_ + kStaged - 1) / kStaged)},
                                                        {"FINISH_ITEMS", number(kFinishItems)},
                                                        {"CHANNELS", number(g.channels)},
                                                        {"SUMMED", number(correlation.channels)},
                                                        {"SIGNALS", number(signals)},
                                                        {"BASELINES", number(baselines())},
                                                        {"POLARIZATIONS", number(g.polarizations)},
                                                        {"PLACE_OF(time, signal)", place()}}});
    correlate_ = program.kernel("correlate");
    finish_ = program.kernel("finish");
  }

  void push(std::span<const std::complex<float>> spectra, std::complex<float>* out) override {
    const std::size_t each = geometry_.spectrum_size();
    while (!spectra.empty()) {
      const std::size_t within = static_cast<std::size_t>(count_ % correlation_.times);
      // To the end of the stretch, which an integration's end cuts off.
      const std::size_t end = std::min(correlation_.times, (within / stretch_ + 1) * stretch_);
      const std::size_t now = std::min(spectra.size() / each, end - within);
      held_.insert(held_.end(), spectra.begin(), spectra.begin() + static_cast<std::ptrdiff_t>(now * each));
      spectra = spectra.subspan(now * each);
      count_ += now;
      if (within + now < end) return;
      const std::size_t times = held_.size() / each;
      if (!samples_) {
        samples_ = device_.buffer(stretch_ * each * sizeof(std::complex<float>), {.name = "correlator spectra"});
      }
      queue_.upload(held_.data(), samples_, held_.size() * sizeof held_[0]);
      add(queue_, samples_, 0, times, end <= stretch_);
      if (end == correlation_.times) {
        finish(queue_, result_, 0);
        queue_.download(result_, out, size() * sizeof *out);
        out += size();
      }
      queue_.finish();
      held_.clear();
    }
  }

  void enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out) override {
    for (std::size_t done = 0; done < times; done += correlation_.times) {
      for (std::size_t t = 0; t < correlation_.times; t += stretch_) {
        add(queue, spectra, done + t, std::min(stretch_, correlation_.times - t), t == 0);
      }
      finish(queue, out, done / correlation_.times * size());
    }
  }

 private:
  // A value's place among spectra that begin an output block.
  std::string place() const {
    const Geometry& g = geometry_;
    if (!g.by_channel) {
      return fmt::format("(((ulong)(time) * {0} + (signal) % {0}) * {1} + (signal) / {0}) * {2} + channel",
                         g.polarizations, g.stations, g.channels);
    }
    return fmt::format("(((ulong)((time) / {0}) * {1} + channel) * {2} + (signal)) * {0} + (time) % {0}", g.times,
                       g.channels, g.stations * g.polarizations);
  }

  void add(Queue& queue, const Buffer& spectra, std::size_t first, std::size_t times, bool begins) {
    queue.launch(correlate_, {.groups = {groups_}, .items = {kSide * kSide}},
                 {spectra, totals_, tiles_, static_cast<std::int32_t>(first), static_cast<std::int32_t>(times),
                  static_cast<std::int32_t>(begins ? 1 : 0)});
  }
  void finish(Queue& queue, const Buffer& out, std::size_t offset) {
    const auto values = static_cast<std::uint64_t>(size());
    queue.launch(finish_, {.groups = {(values + kFinishItems - 1) / kFinishItems}, .items = {kFinishItems}},
                 {totals_, out, static_cast<std::uint64_t>(offset), values});
  }

  Device device_;
  Queue queue_;
  Kernel correlate_, finish_;
  Buffer tiles_, totals_, result_, samples_;
  std::size_t groups_ = 0, stretch_ = 1;
  std::vector<std::complex<float>> held_;  // of the stretch so far
};

}  // namespace

std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation) {
  return std::make_unique<DeviceCorrelator>(device, problem, correlation);
}

}  // namespace ridge::filterbank::on_device
