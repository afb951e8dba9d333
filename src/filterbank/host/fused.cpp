// FIR and FFT of a few steps at a time, while their samples and branches are in the nearest cache: one read and one
// write of memory. Critical sampling takes the register tile of the FIR, oversampling one spectrum at a time.
#include <algorithm>

#include <fmt/format.h>

#include "filterbank/host/output.hpp"
#include "filterbank/host/window.hpp"

namespace ridge::filterbank {
namespace {

class Fused final : public HostVariant {
 public:
  // `rows` beyond the filter's own that the window holds before it moves.
  Fused(const Problem& problem, const Geometry& g, std::size_t steps, std::size_t rows)
      : Fused(problem, g, steps, least_rows(g, steps) + rows, channel_fft(g.channels)) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return window_weights(geometry(), prototype);
  }

 private:
  Fused(const Problem& problem, const Geometry& g, std::size_t steps, std::size_t capacity,
        std::shared_ptr<const fft::LineKernel<float>> line)
      : HostVariant(problem, g,
                    SampleWindow::floats(g, capacity) + (steps + kernels().tile) * g.polarizations * filtered_row(g) +
                        2 * line->scratch() + 64),
        steps_(steps),
        capacity_(capacity),
        line_(std::move(line)) {}

  void work(const Piece& piece, Output& output, float* scratch) const override {
    const Geometry& g = geometry();
    SampleWindow window(g, capacity_, scratch);
    float* const filtered = scratch + whole_lines(SampleWindow::floats(g, capacity_));
    auto* const fft_scratch = reinterpret_cast<std::complex<float>*>(filtered + (steps_ + kernels().tile) *
                                                                                    g.polarizations * filtered_row(g));
    for (std::size_t t = 0; t < piece.spectra; t += steps_) {
      const std::size_t now = std::min(steps_, piece.spectra - t);
      if (g.critical()) {
        filter_many(g, window, piece, piece.first + t, now, filtered);
      } else {
        for (std::size_t i = 0; i < now; ++i) {
          filter_one(g, window, piece, piece.first + t + i, filtered + i * g.polarizations * filtered_row(g));
        }
      }
      transform(piece, output, t, now, filtered, fft_scratch);
    }
  }

  void transform(const Piece& piece, Output& output, std::size_t first, std::size_t count, const float* filtered,
                 std::complex<float>* scratch) const {
    const Geometry& g = geometry();
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t p = 0; p < g.polarizations; ++p, filtered += filtered_row(g)) {
        std::complex<float>* const out = output.row(first + t, p);
        prefetch(piece, output, (first + t) * g.polarizations + p);
        line_->run(fft::Direction::forward, reinterpret_cast<const std::complex<float>*>(filtered), out, scratch);
        output.finish(first + t, p);
      }
    }
  }

  // A later spectrum's place is fetched while this one is computed: the next, or where spectra are long the one after
  // it, to the second cache.
  void prefetch(const Piece& piece, const Output& output, std::size_t now) const {
    const Geometry& g = geometry();
    const bool far = g.channels > 512;
    const std::size_t then = now + (far ? 2 : 1);
    if (g.by_channel || then >= piece.spectra * g.polarizations) return;
    const auto* place = reinterpret_cast<const char*>(output.row(then / g.polarizations, then % g.polarizations));
    for (std::size_t byte = 0; byte < g.channels * sizeof(std::complex<float>); byte += 64) {
      if (far) {
        __builtin_prefetch(place + byte, 1, 2);
      } else {
        __builtin_prefetch(place + byte, 1, 3);
      }
    }
  }

  std::size_t steps_, capacity_;
  std::shared_ptr<const fft::LineKernel<float>> line_;
};

}  // namespace

void list_host_fused(const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  // As many steps as keep their branches within about half of the nearest cache.
  const std::size_t bytes = geometry.polarizations * filtered_row(geometry) * sizeof(float);
  double efficiency = 0.5;
  for (const std::size_t room : {std::size_t{32} << 10, std::size_t{128} << 10}) {
    const std::size_t tile = std::max<std::size_t>(1, kernels().tile / geometry.polarizations);
    const std::size_t steps = std::clamp<std::size_t>(room / bytes / tile * tile, tile, 64);
    for (const std::size_t rows : {std::size_t{32}, std::size_t{96}}) {
      planner::Candidate candidate{
          .variant = "fused",
          .parameters = {{"steps", fmt::format("{}", steps)}, {"rows", fmt::format("{}", rows)}},
          .cost = host_cost(geometry, efficiency)};
      efficiency *= 0.98;
      const bool there = std::any_of(entries.begin(), entries.end(),
                                     [&](const Entry& entry) { return entry.candidate.name() == candidate.name(); });
      if (there) continue;
      entries.push_back({std::move(candidate), [problem, geometry, steps, rows] {
                           return std::make_shared<Fused>(problem, geometry, steps, rows);
                         }});
    }
  }
}

}  // namespace ridge::filterbank
