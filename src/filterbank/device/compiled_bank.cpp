// Compiles filter-bank kernels, uploads their tables and launches them.
#include "filterbank/device/compiled_bank.hpp"

#include <algorithm>
#include <limits>

#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {
namespace {

// Cost of the history rows that a group reads before its first spectrum, in spectra.
double history_steps(const KernelDesign& design) {
  const Geometry& g = design.geometry;
  const double in = static_cast<double>(g.sample_bytes), whole = in + 8;
  return static_cast<double>(g.taps - 1) * in / whole;
}

// Start-up and wind-down cost of a group, in spectra.
double idle_steps(const KernelDesign& design) {
  return design.fir->idle_blocks > 0 ? design.fir->idle_blocks * static_cast<double>(design.steps) : 4;
}

constexpr std::size_t kMostSpectra = std::size_t{1} << 20;  // per launch

}  // namespace

std::size_t rounds_for(const KernelDesign& design, std::size_t spectra, std::size_t slots) {
  if (design.rounds > 0) return design.rounds;
  const std::size_t period = design.period(), periods = (spectra + period - 1) / period;
  std::size_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t rounds = 1; rounds <= std::min<std::size_t>(periods, 512); ++rounds) {
    const std::size_t groups = (periods + rounds - 1) / rounds * design.station_groups();
    const auto waves = static_cast<double>((groups + slots - 1) / slots);
    // The last of several waves starts before the previous one has ended on all units, which fills part of its gaps.
    const double even = static_cast<double>(groups) / static_cast<double>(slots);
    const double cost = (0.5 * waves + 0.5 * std::max(even, 1.0)) *
                        (static_cast<double>(rounds * period) + history_steps(design) + idle_steps(design));
    if (cost < least) {
      least = cost;
      best = rounds;
    }
  }
  return best;
}

CompiledBank::CompiledBank(const Device& device, const KernelDesign& design,
                           std::span<const std::complex<float>> factors)
    : device_(device), design_(design) {
  const KernelText text = text_of(design);
  kernel_ = device.compile(text.source).kernel(text.kernel);
  local_bytes_ = text.local_bytes;
  if (design.fir->tables != nullptr) {
    const auto tables = design.fir->tables(design);
    tables_ = uploaded(device, std::span<const std::complex<float>>(tables), "filter bank roots");
  }
  const std::complex<float> none = 1.0f;
  factors_ = uploaded(device, design.factors == Factors::none ? std::span(&none, 1) : factors, "filter bank bandpass");
}

std::shared_ptr<const DeviceWeights> CompiledBank::prepare(std::span<const double> prototype) const {
  const FirWeights weights = design_.fir->weights(design_, prototype);
  return std::make_shared<DeviceWeights>(
      uploaded(device_, std::span<const std::uint32_t>(weights.words), "filter bank weights"),
      weights.tables.empty()
          ? tables_
          : uploaded(device_, std::span<const std::complex<float>>(weights.tables), "filter bank roots"));
}

void CompiledBank::enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const {
  const Geometry& g = design_.geometry;
  Stretch part = stretch;
  // Positions within a launch are 31-bit integers.
  std::size_t most = std::max<std::size_t>(1, std::min(kMostSpectra, (std::size_t{1} << 30) / g.hop));
  if (design_.summed > 0) most = std::max<std::size_t>(1, most / design_.unit) * design_.unit;
  for (std::size_t done = 0; done < stretch.count; done += part.count) {
    part.count = std::min(most, stretch.count - done);
    part.first = stretch.first + done;
    part.out_offset = stretch.out_offset +
                      (design_.summed > 0 ? done / design_.summed * g.stations * design_.product_count() * g.channels
                                          : block_place(g, stretch.first, part.first));
    part.first_phase = stretch.first_phase + done;
    launch(queue, part, weights);
  }
}

void CompiledBank::launch(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const {
  const Geometry& g = design_.geometry;
  // Groups of the matrix kernels start at multiples of 8 spectra, so that a spectrum's position within a product, and
  // therefore the order of its sum, does not depend on the launch.
  const auto before = static_cast<std::size_t>(stretch.first % design_.fir->start_multiple);
  const std::uint64_t first = stretch.first - before;
  const std::int64_t row = g.oldest_row(first);
  const std::int64_t origin = row * static_cast<std::int64_t>(g.channels) - stretch.start;
  const auto newest = g.newest(first) - row * static_cast<std::int64_t>(g.channels);
  const std::size_t count = stretch.count + before;
  const std::size_t slots = std::max<std::size_t>(1, device_.limits().compute_units * design_.resident);
  const std::size_t rounds = rounds_for(design_, count, slots), chunk = rounds * design_.period();
  const std::uint64_t groups = (count + chunk - 1) / chunk * design_.station_groups();
  const std::uint64_t offset =
      stretch.out_offset - before * g.spectrum_size();  // unsigned; may wrap, and the kernel's sum wraps back
  const auto within = static_cast<std::int32_t>(first % g.times);
  std::vector<Argument> arguments{stretch.samples,
                                  stretch.spectra,
                                  weights.buffer,
                                  weights.tables,
                                  factors_,
                                  static_cast<std::int32_t>(origin),
                                  static_cast<std::int32_t>(newest),
                                  static_cast<std::int32_t>(count),
                                  offset,
                                  static_cast<std::int32_t>(rounds * design_.period_rounds()),
                                  design_.fir->start_multiple > 1 ? static_cast<std::int32_t>(before) : within};
  if (g.delayed) {
    arguments.emplace_back(stretch.shifts);
    arguments.emplace_back(stretch.phases);
    arguments.emplace_back(static_cast<std::int32_t>(stretch.first_phase) - static_cast<std::int32_t>(before));
  }
  queue.launch(kernel_, {.groups = {groups}, .items = {design_.items}, .local_bytes = local_bytes_}, arguments);
}

}  // namespace ridge::filterbank::on_device
