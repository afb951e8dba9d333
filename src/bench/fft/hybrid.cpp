// Times one batch on several devices together and on each alone.
#include "bench/fft/fft.hpp"

#include <complex>

#include <fmt/format.h>
#include <ridge/fft/hybrid.hpp>

#include "base/text.hpp"
#include "device/random.hpp"

namespace ridge::cli {
namespace {

// Host memory, page-locked for the first device that is not the host if asked.
Mapping host_memory(const std::vector<Device>& devices, bool pinned, std::size_t bytes) {
  for (const Device& device : devices) {
    if (pinned && !device.is_host())
      return device.buffer(bytes, {.kind = MemoryKind::pinned, .name = "bench array"}).map();
  }
  return host().buffer(bytes, {.name = "bench array"}).map();
}

fft::HybridOptions options_of(const HybridBenchOptions& options) {
  fft::HybridOptions hybrid{.memory = options.pinned ? fft::CallersMemory::pinned : fft::CallersMemory::pageable,
                            .cores = options.cores,
                            .units = options.units,
                            .pin = !options.no_pin,
                            .seconds = options.seconds,
                            .planning = {.effort = Effort::measured}};
  if (!options.piece.empty()) {
    const auto bytes = base::parse_bytes(options.piece);
    if (!bytes || *bytes == 0)
      mistake(fmt::format("--piece {}: needs a size in bytes, as in 1M or 256K", options.piece));
    hybrid.piece_bytes = *bytes;
  }
  return hybrid;
}

template <class T>
BenchResult bench_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                         const HybridBenchOptions& options) {
  using Complex = std::complex<T>;
  if (wanted.problem.real) mistake("several devices at once need complex transforms: leave out --real");
  const fft::Problem problem{.shape = wanted.problem.shape, .batch = wanted.problem.batch};
  const fft::HybridPlan<T> hybrid(devices, problem, options_of(options));
  const fft::Plan<T> single(host(), problem, {.effort = Effort::quick});
  const Mapping in = host_memory(devices, options.pinned, single.input_size() * sizeof(Complex));
  const Mapping out = host_memory(devices, options.pinned, single.output_size() * sizeof(Complex));
  const Mapping expected = host_memory(devices, false, single.output_size() * sizeof(Complex));
  fill_random({in.data(), in.size()}, sizeof(T) == sizeof(float) ? Numbers::float32 : Numbers::float64);
  hybrid.forward(in.as<Complex>(), out.as<Complex>());
  single.forward(std::span<const Complex>(in.as<Complex>()), expected.as<Complex>());
  if (const double far = distance<T>(out.as<T>(), expected.as<T>());
      !(far < (sizeof(T) == sizeof(float) ? 1e-5 : 1e-13)))
    throw Error(ErrorKind::internal, fmt::format("{}: all devices together differ from the host alone by {:.2g}",
                                                 fft_problem_text(wanted.problem), far));

  report::BenchRow row = row_of(host(), fft_problem_text(wanted.problem), options.pinned ? "pinned" : "pageable",
                                hybrid.seconds(), single.flops(), single.bytes());
  row.roof_share = hybrid.ideal_seconds() / hybrid.seconds();
  row.chosen = true;
  row.more = {{"best_seconds", hybrid.best_seconds()}, {"ideal_seconds", hybrid.ideal_seconds()}};
  row.device.clear();
  for (const auto& share : hybrid.shares()) {
    row.device += (row.device.empty() ? "" : "+") + share.device;
    row.variant += fmt::format(" {}", share.transforms);
    row.peers[share.device + " alone"] = share.alone_seconds;
    row.more[share.device + "_transforms_per_s_together"] = share.rate;
  }
  return {.rows = {row}, .notes = {hybrid.explain()}};
}

}  // namespace

BenchResult bench_fft_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                             const HybridBenchOptions& options) {
  return wanted.problem.float64 ? bench_hybrid<double>(devices, wanted, options)
                                : bench_hybrid<float>(devices, wanted, options);
}

}  // namespace ridge::cli
