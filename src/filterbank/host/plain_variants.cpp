// The LOFAR study's CPU variants: threads over stations, vectors across the two polarizations, and a ring of delayed
// rows that is unrolled with its index as a constant. FIR and FFT of a station run in one thread, one spectrum at a
// time.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "filterbank/host/kernels.hpp"
#include "filterbank/host/output.hpp"
#include "filterbank/host/plain_rows.hpp"

namespace ridge::filterbank {
namespace {

// Shared part: the ring of rows and the FFT.
class RingVariant : public HostVariant {
 public:
  RingVariant(const Problem& problem, const Geometry& g) : RingVariant(problem, g, channel_fft(g.channels)) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const final {
    return std::make_shared<TapWeights>(geometry(), prototype);
  }

 protected:
  // Computes the branches of one time, whose newest row is in slot `newest`.
  virtual void filter(const PlainScratch& rows, std::size_t newest, const TapWeights& weights) const = 0;

 private:
  RingVariant(const Problem& problem, const Geometry& g, std::shared_ptr<const fft::LineKernel<float>> line)
      : HostVariant(problem, g, PlainScratch::floats(g, *line)), line_(std::move(line)) {}

  void work(const Piece& piece, Output& output, float* scratch) const final {
    const Geometry& g = geometry();
    PlainScratch rows(g, scratch);
    const auto first = static_cast<std::int64_t>(piece.first);
    for (std::int64_t row = g.oldest_row(piece.first); row < first; ++row) rows.load(piece.raw, piece.station, row);
    for (std::size_t t = 0; t < piece.spectra; ++t) {
      const std::int64_t row = first + static_cast<std::int64_t>(t);
      rows.load(piece.raw, piece.station, row);
      filter(rows, rows.slot_of(row), static_cast<const TapWeights&>(piece.weights));
      for (std::size_t p = 0; p < g.polarizations; ++p) {
        std::complex<float>* const out = output.row(t, p);
        line_->run(fft::Direction::forward, reinterpret_cast<const std::complex<float>*>(rows.branches(p)), out,
                   rows.fft());
        output.finish(t, p);
      }
    }
  }

  std::shared_ptr<const fft::LineKernel<float>> line_;
};

class Stations final : public RingVariant {
 public:
  using RingVariant::RingVariant;

 private:
  void filter(const PlainScratch& rows, std::size_t newest, const TapWeights& weights) const override {
    const Geometry& g = geometry();
    for (std::size_t m = 0; m < g.channels; ++m) filter_channel(g, rows, newest, weights, m);
  }
};

class SimdPolarizations final : public RingVariant {
 public:
  using RingVariant::RingVariant;

 private:
  void filter(const PlainScratch& rows, std::size_t newest, const TapWeights& weights) const override {
    const Geometry& g = geometry();
    for (std::size_t m = 0; m < g.channels; m += kBlock) {
      // The kernel needs rows at a constant distance, so a block is first copied from the ring.
      for (std::size_t i = 0; i < g.taps; ++i) {
        const float* from = rows.slot(newest >= i ? newest - i : newest + g.taps - i) + 4 * m;
        std::copy(from, from + 4 * kBlock, rows.block() + i * 4 * kBlock);
      }
      kernels().fir_pairs({.rows = rows.block(),
                           .weights = weights.tap(0) + m,
                           .weight_stride = weights.stride(),
                           .taps = g.taps,
                           .polarizations = 2,
                           .times = 1,
                           .out = rows.branches(0) + 2 * m,
                           .time_stride = 0,
                           .polarization_stride = static_cast<std::size_t>(rows.branches(1) - rows.branches(0))});
    }
  }
};

// One function per position of the newest row in the ring: all indices are constants.
template <std::size_t kTaps, std::size_t kNewest>
void filter_at(const PlainScratch& rows, const TapWeights& weights, std::size_t channels, std::size_t polarizations) {
  const float* slot[kTaps];
  const float* tap[kTaps];
  for (std::size_t i = 0; i < kTaps; ++i) {
    slot[i] = rows.slot((kNewest + kTaps - i) % kTaps);
    tap[i] = weights.tap(i);
  }
  float* const x = rows.branches(0);
  float* const y = polarizations == 2 ? rows.branches(1) : nullptr;
  for (std::size_t m = 0; m < channels; ++m) {
    float sum[4] = {0, 0, 0, 0};
    if (polarizations == 2) {
#pragma GCC unroll 64
      for (std::size_t i = 0; i < kTaps; ++i) {
        for (std::size_t part = 0; part < 4; ++part) sum[part] += tap[i][m] * slot[i][4 * m + part];
      }
      y[2 * m] = sum[2], y[2 * m + 1] = sum[3];
    } else {
#pragma GCC unroll 64
      for (std::size_t i = 0; i < kTaps; ++i) {
        for (std::size_t part = 0; part < 2; ++part) sum[part] += tap[i][m] * slot[i][2 * m + part];
      }
    }
    x[2 * m] = sum[0], x[2 * m + 1] = sum[1];
  }
}

using FilterAt = void (*)(const PlainScratch&, const TapWeights&, std::size_t, std::size_t);

template <std::size_t kTaps, std::size_t... kNewest>
const FilterAt* table(std::index_sequence<kNewest...>) {
  static constexpr std::array<FilterAt, kTaps> functions{filter_at<kTaps, kNewest>...};
  return functions.data();
}

const FilterAt* table_for(std::size_t taps) {
  switch (taps) {
    case 4:
      return table<4>(std::make_index_sequence<4>());
    case 8:
      return table<8>(std::make_index_sequence<8>());
    case 16:
      return table<16>(std::make_index_sequence<16>());
    default:
      return nullptr;
  }
}

class UnrolledRing final : public RingVariant {
 public:
  UnrolledRing(const Problem& problem, const Geometry& g) : RingVariant(problem, g), table_(table_for(g.taps)) {}

 private:
  void filter(const PlainScratch& rows, std::size_t newest, const TapWeights& weights) const override {
    table_[newest](rows, weights, geometry().channels, geometry().polarizations);
  }
  const FilterAt* table_;
};

template <class Which>
void add(const char* name, const Problem& problem, const Geometry& geometry, double efficiency,
         const std::string& refusal, std::vector<Entry>& entries) {
  entries.push_back({planner::Candidate{.variant = name, .refusal = refusal, .cost = host_cost(geometry, efficiency)},
                     {},
                     [problem, geometry] { return std::make_shared<Which>(problem, geometry); }});
}

}  // namespace

void list_host_stations(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  add<Stations>("stations", problem, geometry, 0.05, needs_critical(geometry), entries);
}

void list_host_simd_polarizations(const Device&, const Problem& problem, const Geometry& geometry,
                                  std::vector<Entry>& entries) {
  std::string refusal = needs_critical(geometry);
  if (refusal.empty() && geometry.polarizations != 2)
    refusal = "needs two polarizations (they are the vector lanes), got 1";
  add<SimdPolarizations>("simd_polarizations", problem, geometry, 0.15, refusal, entries);
}

void list_host_unrolled_ring(const Device&, const Problem& problem, const Geometry& geometry,
                             std::vector<Entry>& entries) {
  std::string refusal = needs_critical(geometry);
  if (refusal.empty() && table_for(geometry.taps) == nullptr) {
    refusal = fmt::format("needs 4, 8 or 16 taps (unrolled), not {}", geometry.taps);
  }
  add<UnrolledRing>("unrolled_ring", problem, geometry, 0.12, refusal, entries);
}

}  // namespace ridge::filterbank
