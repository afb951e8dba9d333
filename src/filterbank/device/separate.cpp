#include "filterbank/device/separate.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kItems = 128;
constexpr std::size_t kLargeValues = std::size_t{1} << 22, kSmallValues = std::size_t{1} << 16;

// Channels to their place, times the bandpass.
constexpr const char* kFinish = R"(
KERNEL WORK_GROUP(ITEMS, 1, 1) void finish(GLOBAL const float2* RESTRICT in, GLOBAL float2* RESTRICT out,
                                           GLOBAL const float2* RESTRICT factors, ulong offset, uint values) {
  const uint i = GLOBAL_ID(0);
  if (i >= values) return;
  const float2 v = LOAD_ONCE(in + i);
#if FACTORS > 0
  const float2 f = LOAD_CACHED(factors + i % FACTORS);
  STORE_ONCE(out + offset + i, make_float2(FMA(v.x, f.x, -(v.y * f.y)), FMA(v.x, f.y, v.y * f.x)));
#else
  STORE_ONCE(out + offset + i, v);
#endif
}
)";

KernelSource finish_source(const Geometry& g, Factors factors) {
  const std::size_t period = factors == Factors::none ? 0 : factors == Factors::all ? g.spectrum_size() : g.channels;
  return {.name = "filter bank finish",
          .text = kFinish,
          .defines = {{"ITEMS", fmt::format("{}", kItems)}, {"FACTORS", fmt::format("{}", period)}}};
}

}  // namespace

SeparateBank::SeparateBank(const Device& device, const KernelDesign& fir, const Problem& problem, bool one_each)
    : geometry_(fir.geometry),
      fir_(device, fir, {}),
      finish_(device.compile(finish_source(fir.geometry, factors_of(problem, fir.geometry))).kernel("finish")),
      kind_(factors_of(problem, fir.geometry)) {
  const std::complex<float> none = 1.0f;
  factors_ = uploaded(
      device, problem.bandpass.empty() ? std::span(&none, 1) : std::span<const std::complex<float>>(problem.bandpass),
      "filter bank bandpass");
  const std::size_t each = geometry_.spectrum_size();
  std::vector<std::size_t> wanted{1};
  if (!one_each)
    wanted = {std::max<std::size_t>(1, kLargeValues / each), std::max<std::size_t>(1, kSmallValues / each)};
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (const std::size_t spectra : wanted) sizes_.push_back(size(device, spectra));
}

SeparateBank::Size SeparateBank::size(const Device& device, std::size_t spectra) const {
  const Geometry& g = geometry_;
  const std::size_t bytes = spectra * g.spectrum_size() * sizeof(std::complex<float>);
  return {spectra,
          fft::Plan<float>(device, {.shape = {g.channels}, .batch = spectra * g.polarizations * g.stations},
                           {.effort = Effort::quick}),
          device.buffer(bytes, {.name = "filter bank branches"}),
          device.buffer(bytes, {.name = "filter bank channels"})};
}

std::shared_ptr<const DeviceWeights> SeparateBank::prepare(std::span<const double> prototype) const {
  return fir_.prepare(prototype);
}

void SeparateBank::enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const {
  std::size_t done = 0;
  while (done < stretch.count) {
    const std::size_t left = stretch.count - done;
    // The smallest that holds what is left, else the largest. Lines behind the last are transformed and not looked at.
    const Size* size = &sizes_.front();
    for (const Size& one : sizes_) {
      if (one.spectra >= left) size = &one;
    }
    const std::size_t now = std::min(left, size->spectra);
    fir_.enqueue(queue,
                 {.samples = stretch.samples,
                  .start = stretch.start,
                  .spectra = size->branches,
                  .first = stretch.first + done,
                  .count = now},
                 weights);
    size->transform.forward(size->branches, size->channels, queue);
    const auto values = static_cast<std::uint32_t>(now * geometry_.spectrum_size());
    queue.launch(finish_, {.groups = {(values + kItems - 1) / kItems}, .items = {kItems}},
                 {size->channels, stretch.spectra, factors_,
                  static_cast<std::uint64_t>(stretch.out_offset + done * geometry_.spectrum_size()), values});
    done += now;
  }
}

}  // namespace ridge::filterbank::on_device
