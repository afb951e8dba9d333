// Distribution of a job over the host's threads.
#include "filterbank/host/host_variant.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "fft/variant.hpp"
#include "filterbank/host/output.hpp"

namespace ridge::filterbank {
namespace {

constexpr std::size_t kPiecesEach = 12;

// Large scratch memory is accessed with large strides, so it is enlarged until the allocator uses huge pages.
std::size_t scratch_complex(std::size_t floats) {
  constexpr std::size_t kSmall = (std::size_t{128} << 10) / 4, kHuge = (std::size_t{4} << 20) / 4;
  return ((floats > kSmall ? std::max(floats, kHuge) : floats) + 1) / 2;
}

}  // namespace

HostVariant::HostVariant(const Problem& problem, const Geometry& geometry, std::size_t scratch)
    : geometry_(geometry),
      bandpass_(problem.bandpass),
      scratch_(whole_lines(scratch)),
      pool_(std::make_unique<fft::ScratchPool<float>>(geometry.threads,
                                                      scratch_complex(scratch_ + Output::floats(geometry)), 0, 1)) {}

void HostVariant::run(const Job& job) const {
  const Geometry& g = geometry_;
  if (job.spectra == 0) return;
  // Dynamic scheduling, because cores differ in speed: 12 pieces per thread. Each piece re-reads the samples of its
  // first window, so pieces have at least 4 * taps spectra.
  const std::size_t longest = std::max<std::size_t>(1, job.spectra / (4 * g.taps));
  const std::size_t wanted = (kPiecesEach * g.threads + g.stations - 1) / g.stations;
  const std::size_t cuts = g.threads == 1 ? 1 : std::min(wanted, longest);
  const std::size_t pieces = g.stations * cuts;
  const auto loan = pool_->lend();
  std::atomic<std::size_t> next{0};
  const auto task = [&](std::size_t thread, std::size_t) {
    auto* const scratch = reinterpret_cast<float*>(loan->of_thread[thread]);
    for (std::size_t i = next++; i < pieces; i = next++) {
      // Consecutive stations are adjacent in the output, so threads write adjacent memory at the same time.
      const base::Share times = base::share(job.spectra, i / g.stations, cuts);
      const Piece piece{.raw = job.raw,
                        .station = i % g.stations,
                        .first = job.first + times.begin,
                        .spectra = times.end - times.begin,
                        .weights = job.weights,
                        .out = job.out,
                        .job_first = job.first,
                        .job_spectra = job.spectra,
                        .phases = job.phases};
      Output output(g, bandpass_, piece, scratch + scratch_);
      work(piece, output, scratch);
    }
  };
  const std::size_t threads = std::min(g.threads, pieces);
  if (threads == 1) {
    task(0, 1);
  } else {
    base::parallel(threads, task);
  }
}

std::shared_ptr<const fft::LineKernel<float>> channel_fft(std::size_t channels) {
  return fft::default_line<float>(channels);
}

planner::Cost host_cost(const Geometry& geometry, double efficiency, double passes) {
  const auto values = static_cast<double>(geometry.spectrum_size());
  return {.flops = geometry.flops(),
          .bytes = geometry.bytes() + passes * 16 * values,
          .launches = geometry.threads > 1 ? 1.0 : 0.0,
          .efficiency = efficiency,
          .threads = geometry.threads};
}

std::string needs_critical(const Geometry& geometry) {
  return geometry.critical() ? std::string()
                             : fmt::format(
                                   "needs critical sampling, got {} samples per spectrum for {} channels; "
                                   "simd_channels and fused oversample",
                                   geometry.hop, geometry.channels);
}

}  // namespace ridge::filterbank
