// FIR, FFT and finishing as separate kernels.
#include "filterbank/device/separate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/any_size.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kFinishRowItems = 128;
constexpr std::size_t kLargeValues = std::size_t{1} << 22, kSmallValues = std::size_t{1} << 16;

// Kernel that applies delay phases and bandpass and writes channels in output order.
KernelSource finish_source(const KernelDesign& design) {
  const Geometry& g = design.geometry;
  codegen::Text text;
  text.raw(ridge::detail::kernel_text("filterbank/multiply"));
  text.raw(finish_macros(design));
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void finish(GLOBAL const float2* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL "
      "const float2* RESTRICT factors, ulong out_offset, uint values, int within{})",
      kFinishRowItems, delay_arguments(g));
  text.line("const uint i = GLOBAL_ID(0);");
  text.line("if (i >= values) return;");
  text.line("const int k = (int)(i % {0}u), station = (int)(i / {0}u % {1}u);", g.channels, g.stations);
  text.line("const int pol = (int)(i / {}u % {}u), time = (int)(i / {}u);", g.channels * g.stations, g.polarizations,
            g.spectrum_size());
  open_finish(text, design, "time");
  text.line("const float2 v = LOAD_ONCE(in + i);");
  text.line("STORE_ONCE(out + (out_offset + {}), {});", place_text(g, "time", "k"), finished(design, "v", "k"));
  text.close();
  return {.name = "filter bank finish", .text = text.str()};
}

KernelDesign finish_design(const Problem& problem, const Geometry& g) {
  return {.geometry = g, .factors = factors_of(problem, g)};
}

void add_separate(const Device& device, const Problem& problem, const Geometry& g, KernelDesign design, bool one_each,
                  const char* variant, double efficiency, std::vector<Entry>& entries) {
  if (one_each) {
    design.steps = 1;
    design.rounds = 1;
    design.constant_weights = g.channels * g.taps * sizeof(float) <= device.limits().constant_memory;
  }
  planner::Candidate candidate{.variant = variant, .cost = device_cost(g, efficiency, 2, 3)};
  entries.push_back({std::move(candidate), [design, problem] { return SeparateBank::kernels(design, problem); },
                     [device, problem, g, design, one_each] {
                       return std::make_shared<DeviceVariant>(
                           device, g, std::make_shared<SeparateBank>(device, design, problem, one_each),
                           Transfers::overlapped);
                     }});
}

}  // namespace

SeparateBank::SeparateBank(const Device& device, const KernelDesign& fir, const Problem& problem, bool one_each)
    : geometry_(resolve(problem)),
      fir_(device, fir, {}),
      finish_(device.compile(finish_source(finish_design(problem, geometry_))).kernel("finish")) {
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

std::vector<KernelSource> SeparateBank::kernels(const KernelDesign& fir, const Problem& problem) {
  return {text_of(fir).source, finish_source(finish_design(problem, resolve(problem)))};
}

SeparateBank::Size SeparateBank::size(const Device& device, std::size_t spectra) const {
  const Geometry& g = geometry_;
  const std::size_t bytes = spectra * g.spectrum_size() * sizeof(std::complex<float>);
  Size made{spectra,
            fft::Plan<float>(device, {.shape = {g.channels}, .batch = spectra * g.polarizations * g.stations},
                             {.effort = Effort::quick}),
            device.buffer(bytes, {.name = "filter bank branches"}),
            device.buffer(bytes, {.name = "filter bank channels"})};
  // The FFT covers whole batches, so unused rows must hold defined values.
  Queue queue = device.queue();
  queue.fill(made.branches, std::byte{0});
  queue.finish();
  return made;
}

std::shared_ptr<const DeviceWeights> SeparateBank::prepare(std::span<const double> prototype) const {
  return fir_.prepare(prototype);
}

void SeparateBank::enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const {
  std::size_t done = 0;
  while (done < stretch.count) {
    const std::size_t left = stretch.count - done;
    // The smallest size that holds the remaining spectra, or the largest. Results of unused rows are ignored.
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
                  .count = now,
                  .shifts = stretch.shifts,
                  .phases = stretch.phases},
                 weights);
    size->transform.enqueue_forward(queue, size->branches, size->channels);
    const auto values = static_cast<std::uint32_t>(now * geometry_.spectrum_size());
    const std::uint64_t first = stretch.first + done;
    std::vector<Argument> arguments{
        size->channels, stretch.spectra,
        factors_,       static_cast<std::uint64_t>(stretch.out_offset + block_place(geometry_, stretch.first, first)),
        values,         static_cast<std::int32_t>(first % geometry_.times)};
    if (geometry_.delayed) {
      arguments.emplace_back(stretch.shifts);
      arguments.emplace_back(stretch.phases);
      arguments.emplace_back(static_cast<std::int32_t>(stretch.first_phase + done));
    }
    queue.launch(finish_, {.groups = {(values + kFinishRowItems - 1) / kFinishRowItems}, .items = {kFinishRowItems}},
                 arguments);
    done += now;
  }
}

std::shared_ptr<const CompiledBank> fir_alone(const Device& device, const Problem& problem, const Geometry& g) {
  const bool registers = g.critical() && g.taps <= 64;
  const std::size_t parts = g.polarizations == 2 && (g.taps <= 16 || !registers) ? 4 : 2;
  const KernelDesign design =
      registers ? registers_alone(device, problem, g, parts) : gather_alone(device, problem, g, parts);
  return std::make_shared<CompiledBank>(device, design, std::span<const std::complex<float>>());
}

void list_separate(const Device& device, const Problem& problem, const Geometry& g, std::vector<Entry>& entries) {
  const std::size_t all = 2 * g.polarizations;
  // CPUs lose their cache contents between the kernels and keep delay lines in memory: measured at 1/20 of fused.
  const double share = device.limits().private_arrays_in_registers ? 1 : 0.05;
  add_separate(device, problem, g, gather_alone(device, problem, g, 2), true, "reference", 0.01 * share, entries);
  add_separate(device, problem, g, gather_alone(device, problem, g, all), false, "gathered", 0.3 * share, entries);
  const std::string why =
      !g.critical()
          ? fmt::format(
                "needs critical sampling, got {} samples per spectrum for {} channels; fused and gathered oversample",
                g.hop, g.channels)
      : g.taps > 64 ? fmt::format("needs at most 64 taps for a delay line in registers, got {}", g.taps)
                    : std::string();
  if (!why.empty()) {
    refuse("batched", why, entries);
    refuse("vectorized", why, entries);
    return;
  }
  add_separate(device, problem, g, registers_alone(device, problem, g, 2), false, "batched", 0.5 * share, entries);
  if (g.polarizations == 2 && g.taps <= 32) {
    add_separate(device, problem, g, registers_alone(device, problem, g, 4), false, "vectorized", 0.55 * share,
                 entries);
  } else {
    refuse("vectorized",
           g.polarizations == 1
               ? std::string("needs two polarizations, got 1")
               : fmt::format("needs at most 32 taps for the delay lines of both polarizations in registers, got {}",
                             g.taps),
           entries);
  }
}

}  // namespace ridge::filterbank::on_device
