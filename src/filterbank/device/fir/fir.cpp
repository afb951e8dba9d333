// Functions that the FIR methods share: properties of designs, and helpers of listers.
#include "filterbank/device/fir/fir.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "codegen/butterfly.hpp"

namespace ridge::filterbank::on_device {

KernelText text_of(const KernelDesign& design) { return design.fir->text(design); }

std::size_t KernelDesign::station_groups() const {
  return (geometry.stations + streams - 1) / streams * (fir->splits_polarizations ? split() : 1) * channel_groups;
}

std::size_t KernelDesign::iteration() const { return fir->iteration != nullptr ? fir->iteration(*this) : steps; }

std::size_t KernelDesign::period() const { return std::max(iteration(), summed > 0 ? unit : 0); }

FirWeights float_weights(const KernelDesign&, std::span<const double> prototype) {
  FirWeights out;
  for (const double weight : prototype) out.words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(weight)));
  return out;
}

std::vector<KernelDesign> fused_designs(const Device& device, const Problem& problem, const Geometry& g) {
  std::vector<KernelDesign> all;
  for (const Fir* fir : fir_methods()) fir->list(device, problem, g, all);
  return all;
}

std::optional<KernelDesign> as_power(KernelDesign design, Products products, std::size_t times) {
  design.products = products;
  if (design.fir->sum_power == nullptr || !design.fir->sum_power(design, times)) return {};
  return design;
}

std::optional<KernelDesign> as_bytes(KernelDesign design) {
  if (!design.fir->writes_bytes || design.geometry.by_channel) return {};
  design.bytes = true;
  return design;
}

Factors factors_of(const Problem& problem, const Geometry& g) {
  if (problem.bandpass.empty()) return Factors::none;
  return problem.bandpass.size() == g.channels && g.spectrum_size() != g.channels ? Factors::channels : Factors::all;
}

// PoCL 3.1 miscompiles a barrier within a loop whose end is not a compile-time constant.
std::size_t fixed_rounds(const Device& device, std::size_t period) {
  if (device.limits().private_arrays_in_registers) return 0;
  return std::max<std::size_t>(1, 64 / period);
}

std::size_t local_memory(const Device& device) {
  return device.info().backend == Backend::opencl ? std::min<std::size_t>(device.limits().local_memory, 48 << 10)
                                                  : device.limits().local_memory;
}

void add_first_fitting(const Device& device, const Problem& problem, const Geometry& g, const Fir& fir,
                       const std::vector<GroupSize>& sizes, std::vector<KernelDesign>& all) {
  KernelDesign d{.geometry = g, .fir = &fir, .parts = 4};
  d.factors = factors_of(problem, g);
  for (const GroupSize& size : sizes) {
    d.items = size.items;
    d.steps = size.steps;
    d.rounds = fixed_rounds(device, d.steps);
    const std::size_t bytes = text_of(d).local_bytes, local = device.limits().local_memory;
    if (bytes > local) continue;
    d.resident = std::clamp<std::size_t>(local / (bytes + 1024), 1, std::max<std::size_t>(1, 512 / d.items));
    all.push_back(d);
    return;
  }
}

std::vector<std::complex<float>> block_tables(const KernelDesign& design) {
  const std::size_t channels = design.geometry.channels, items = design.items;
  std::vector<std::complex<float>> table;
  const auto root = [&](std::size_t number, std::size_t of) {
    table.emplace_back(std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(number) / static_cast<double>(of)));
  };
  for (std::size_t u = 0; u < items / 16; ++u) {
    for (const std::complex<float> each : codegen::twiddled_roots_of(16, items, u)) table.push_back(each);
  }
  for (std::size_t r = 1; r < channels / items; ++r) {
    for (std::size_t c = 0; c < items; ++c) root(c * r, channels);
  }
  return table;
}

}  // namespace ridge::filterbank::on_device
