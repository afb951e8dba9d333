// The `fused` variant: FIR and FFT of a few spectra at a time, while their samples and branches are in the first-level
// cache, so that memory is read once and written once. Critical sampling uses the register-tiled FIR, oversampling one
// spectrum at a time.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filterbank/host/fresh_lines.hpp"
#include "filterbank/host/late_stores.hpp"
#include "filterbank/host/output.hpp"
#include "filterbank/host/window.hpp"

namespace ridge::filterbank {
namespace {

// Window rows: 0 means that rows are read from the stream's bytes without a window.
constexpr std::size_t kNoWindow = 0;

class Fused final : public HostVariant {
 public:
  // `rows`: rows beyond the filter's own that the window holds before it moves; kNoWindow: critical sampling only.
  Fused(const Problem& problem, const Geometry& g, std::size_t steps, std::size_t rows, std::size_t past_bytes)
      : Fused(problem, g, steps, capacity(g, steps, rows), past_bytes, channel_fft(g.channels)) {}
  // `line` null: writes the FIR's branches without an FFT.
  Fused(const Problem& problem, const Geometry& g, std::size_t steps, std::size_t capacity, std::size_t past_bytes,
        std::shared_ptr<const fft::LineKernel<float>> line)
      : HostVariant(problem, g,
                    source_floats(g, steps, capacity) + (kernels().store_past == nullptr ? 1 : 2) * batch(g, steps) +
                        (line == nullptr ? 0 : 2 * line->scratch()) + 64),
        steps_(steps),
        capacity_(capacity),
        past_bytes_(past_bytes),
        line_(std::move(line)),
        bare_(line_ == nullptr ? fft::BareLine<float>() : line_->bare(fft::Direction::forward)) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return window_weights(geometry(), prototype);
  }
  // Window rows for batches of `steps` spectra, with `more` rows before the window moves.
  static std::size_t capacity(const Geometry& g, std::size_t steps, std::size_t more) {
    return more == kNoWindow ? kNoWindow : least_rows(g, steps) + more;
  }

 private:
  static std::size_t source_floats(const Geometry& g, std::size_t steps, std::size_t capacity) {
    return whole_lines(capacity == kNoWindow ? DirectRows::floats(g, steps) : SampleWindow::floats(g, capacity));
  }
  // Floats for the branches, or the spectra, of a batch of steps.
  static std::size_t batch(const Geometry& g, std::size_t steps) {
    return (steps + kernels().tile) * g.polarizations * filtered_row(g);
  }

  void work(const Piece& piece, Output& output, float* scratch) const override {
    const Geometry& g = geometry();
    if (capacity_ == kNoWindow) {
      DirectRows rows(g, steps_, scratch);
      work(piece, output, scratch, [&](std::uint64_t spectrum, std::size_t times, float* filtered, LateStores* late) {
        rows.filter(piece, spectrum, times, filtered, late);
      });
      return;
    }
    SampleWindow window(g, capacity_, scratch);
    work(piece, output, scratch, [&](std::uint64_t spectrum, std::size_t times, float* filtered, LateStores* late) {
      if (g.critical()) return filter_many(g, window, piece, spectrum, times, filtered, late);
      for (std::size_t i = 0; i < times; ++i) {
        filter_one(g, window, piece, spectrum + i, filtered + i * g.polarizations * filtered_row(g));
      }
    });
  }

  template <class Filter>
  void work(const Piece& piece, Output& output, float* scratch, const Filter& filter) const {
    const Geometry& g = geometry();
    float* const filtered = scratch + source_floats(g, steps_, capacity_);
    if (!goes_past_caches(g, piece, past_bytes_)) {
      auto* const fft_scratch = reinterpret_cast<std::complex<float>*>(filtered + batch(g, steps_));
      for (std::size_t t = 0; t < piece.spectra; t += steps_) {
        const std::size_t now = std::min(steps_, piece.spectra - t);
        filter(piece.first + t, now, filtered, nullptr);
        transform(piece, output, t, now, filtered, fft_scratch);
      }
      return;
    }
    // The spectra of a batch, computed in place of its branches, are written to memory while the next batch is
    // computed.
    float* const spectra[2] = {filtered, filtered + batch(g, steps_)};
    auto* const fft_scratch = reinterpret_cast<std::complex<float>*>(filtered + 2 * batch(g, steps_));
    LateStores late[2] = {{steps_ * g.polarizations, 2 * g.channels}, {steps_ * g.polarizations, 2 * g.channels}};
    for (std::size_t t = 0, current = 0; t < piece.spectra; t += steps_, current = 1 - current) {
      const std::size_t now = std::min(steps_, piece.spectra - t);
      filter(piece.first + t, now, spectra[current], &late[1 - current]);
      transform_late(output, t, now, spectra[current], late[1 - current], late[current], fft_scratch);
    }
  }

  void to_channels(const float* filtered, std::complex<float>* out, std::complex<float>* scratch) const {
    const auto* branches = reinterpret_cast<const std::complex<float>*>(filtered);
    if (bare_) {
      bare_.run(filtered, reinterpret_cast<float*>(out));
    } else if (line_ == nullptr) {
      if (out != branches) std::copy_n(branches, geometry().channels, out);
    } else {
      line_->run(fft::Direction::forward, branches, out, scratch);
    }
  }

  void transform_late(Output& output, std::size_t first, std::size_t count, float* spectra, LateStores& before,
                      LateStores& now, std::complex<float>* scratch) const {
    const Geometry& g = geometry();
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t p = 0; p < g.polarizations; ++p, spectra += filtered_row(g)) {
        auto* const values = reinterpret_cast<std::complex<float>*>(spectra);
        to_channels(spectra, values, scratch);
        output.finish(first + t, p, values);
        now.add(spectra, reinterpret_cast<float*>(output.row(first + t, p)));
        before.beside_fft(blocks_of(g));
      }
    }
    before.rest();
  }

  void transform(const Piece& piece, Output& output, std::size_t first, std::size_t count, const float* filtered,
                 std::complex<float>* scratch) const {
    const Geometry& g = geometry();
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t p = 0; p < g.polarizations; ++p, filtered += filtered_row(g)) {
        std::complex<float>* const out = output.row(first + t, p);
        prefetch(piece, output, (first + t) * g.polarizations + p);
        to_channels(filtered, out, scratch);
        output.finish(first + t, p);
      }
    }
  }

  // Prepares the output memory of a later spectrum while this one is computed. Long spectra allocate cache lines
  // without reading memory where the processor can do that. Short ones are prefetched for writing to the second-level
  // cache, which leaves the working set in the first level.
  void prefetch(const Piece& piece, const Output& output, std::size_t now) const {
    const Geometry& g = geometry();
    const bool fresh = g.channels >= 512 && can_make_fresh();
    const std::size_t then = now + (g.channels >= 512 ? 2 : 1), bytes = g.channels * sizeof(std::complex<float>);
    if (g.by_channel || then >= piece.spectra * g.polarizations) return;
    const std::size_t time = g.polarizations == 2 ? then / 2 : then;
    auto* place = reinterpret_cast<char*>(output.row(time, g.polarizations == 2 ? then % 2 : 0));
    if (fresh) return make_fresh(place, bytes);
    for (std::size_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(place + byte, 1, 2);
  }

  std::size_t steps_, capacity_, past_bytes_;
  std::shared_ptr<const fft::LineKernel<float>> line_;
  fft::BareLine<float> bare_;
};

}  // namespace

namespace {

// As many steps as keep their branches within `room` bytes of cache.
std::size_t steps_within(std::size_t room, const Geometry& geometry) {
  const std::size_t bytes = geometry.polarizations * filtered_row(geometry) * sizeof(float);
  const std::size_t tile = std::max<std::size_t>(1, kernels().tile / geometry.polarizations);
  return std::clamp<std::size_t>(room / bytes / tile * tile, tile, 64);
}

// Cache sizes to try in kilobytes, the best so far first: a plan that measures nothing uses it.
std::array<std::size_t, 3> rooms() {
  using Sizes = std::array<std::size_t, 3>;
  return kernels().store_past == nullptr ? Sizes{540, 128, 32} : Sizes{128, 540, 32};
}

}  // namespace

void list_host_fused(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  double efficiency = 0.5;
  const auto add = [&](std::size_t room, std::size_t rows, std::size_t past_bytes) {
    const std::size_t steps = steps_within(room, geometry);
    planner::Candidate candidate{
        .variant = "fused",
        .parameters = {{"steps", fmt::format("{}", steps)},
                       {"rows", rows == kNoWindow ? std::string("raw") : fmt::format("{}", rows)}},
        .refusal = rows == kNoWindow ? needs_critical(geometry) : std::string(),
        .cost = host_cost(geometry, efficiency)};
    if (past_bytes == 0) candidate.parameters.push_back({"stores", "past"});
    efficiency *= 0.98;
    const bool there = std::any_of(entries.begin(), entries.end(),
                                   [&](const Entry& entry) { return entry.candidate.name() == candidate.name(); });
    if (there) return;
    entries.push_back({std::move(candidate), {}, [problem, geometry, steps, rows, past_bytes] {
                         return std::make_shared<Fused>(problem, geometry, steps, rows, past_bytes);
                       }});
  };
  for (const std::size_t kilobytes : rooms()) {
    // Windows of many channels exceed the second-level cache, which two threads may share.
    for (const std::size_t rows : {std::size_t{96}, std::size_t{32}, std::size_t{8}, kNoWindow}) {
      if (rows == 8 && geometry.channels < 512) continue;
      add(kilobytes << 10, rows, kPastBytes);
    }
  }
  if (kernels().store_past != nullptr) add(std::size_t{32} << 10, 32, 0);
}

std::shared_ptr<const Variant> host_fir_alone(const Problem& problem, const Geometry& geometry) {
  const std::size_t steps = steps_within(rooms()[0] << 10, geometry);
  return std::make_shared<Fused>(problem, geometry, steps, Fused::capacity(geometry, steps, 96), kPastBytes, nullptr);
}

}  // namespace ridge::filterbank
