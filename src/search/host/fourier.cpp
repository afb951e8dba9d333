// Dedispersion in the Fourier domain on the host: see fourier_plan.hpp. Frequencies are processed in blocks of 64,
// which are the contiguous axis of the grid.
#include <algorithm>
#include <mutex>
#include <numbers>
#include <numeric>
#include <vector>

#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "search/fourier_plan.hpp"
#include "search/variant.hpp"

namespace ridge::search {
namespace {

using Complex = std::complex<float>;
constexpr std::size_t kBinsAtOnce = 64;
planner::Options quick_plan() { return {.effort = Effort::quick}; }

class HostFourier final : public Variant {
 public:
  explicit HostFourier(const Layout& layout)
      : layout_(layout),
        tables_(fourier_tables(layout)),
        stride_((tables_.bins() + kBinsAtOnce - 1) / kBinsAtOnce * kBinsAtOnce),
        over_time_(host(), {.shape = {tables_.length}, .kind = fft::Kind::real, .threads = 1}, quick_plan()),
        over_grid_(host(),
                   {.shape = {tables_.grid},
                    .batch = kBinsAtOnce,
                    .input = {.axes = {kBinsAtOnce}, .batch = 1},
                    .output = {.axes = {kBinsAtOnce}, .batch = 1},
                    .in_place = true,
                    .threads = 1,
                    .store_inverse = {.multiply = tables_.factor},
                    .directions = fft::Directions::inverse},
                   quick_plan()) {}

  void run(const std::uint8_t* in, float* out) const override {
    const std::lock_guard lock(mutex_);
    if (spectra_.size() == 0) {
      spectra_ = base::AlignedArray<Complex>(std::max(layout_.channels, layout_.trials) * stride_);
      std::fill(spectra_.begin(), spectra_.end(), Complex{});
    }
    std::vector<float> means(layout_.channels);
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(layout_.channels, thread, threads);
      std::vector<float> samples(tables_.length, 0.0F);
      for (std::size_t c = mine.begin; c < mine.end; ++c) {
        const std::uint8_t* row = in + c * layout_.row;
        means[c] = row_mean(row, layout_.row);
        for (std::size_t t = 0; t < layout_.row; ++t) samples[t] = static_cast<float>(row[t]) - means[c];
        over_time_.forward_unchecked(samples.data(), spectra_.data() + c * stride_);
      }
    });
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(stride_ / kBinsAtOnce, thread, threads);
      base::AlignedArray<Complex> grid(tables_.grid * kBinsAtOnce);
      for (std::size_t i = mine.begin; i < mine.end; ++i) {
        spread(i * kBinsAtOnce, grid.data());
        over_grid_.inverse_unchecked(grid.data(), grid.data());
        interpolate(i * kBinsAtOnce, grid.data());
      }
    });
    const float offset = std::accumulate(means.begin(), means.end(), 0.0F);
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(layout_.trials, thread, threads);
      std::vector<float> samples(tables_.length);
      const float scale = 1 / static_cast<float>(tables_.length);
      for (std::size_t d = mine.begin; d < mine.end; ++d) {
        over_time_.inverse_unchecked(spectra_.data() + d * stride_, samples.data());
        for (std::size_t t = 0; t < layout_.times; ++t) out[d * layout_.times + t] = samples[t] * scale + offset;
      }
    });
  }
  void enqueue(Queue&, const Buffer& in, const Buffer& out) const override {
    run(reinterpret_cast<const std::uint8_t*>(in.native()), reinterpret_cast<float*>(out.native()));
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return nearest_delays(layout_, trial); }
  std::size_t interpolates() const override { return tables_.length; }

 private:
  void spread(std::size_t first, Complex* grid) const {
    std::fill(grid, grid + tables_.grid * kBinsAtOnce, Complex{});
    for (std::size_t c = 0; c < layout_.channels; ++c) {
      const auto* x = reinterpret_cast<const float*>(spectra_.data() + c * stride_ + first);
      for (std::size_t i = 0; i < kTaps; ++i) {
        const Complex weight = tables_.weight[c * kTaps + i];
        const float wr = weight.real(), wi = weight.imag();
        std::size_t point = tables_.cell[c] + i;
        if (point >= tables_.grid) point -= tables_.grid;
        auto* to = reinterpret_cast<float*>(grid + point * kBinsAtOnce);
        for (std::size_t k = 0; k < 2 * kBinsAtOnce; k += 2) {
          to[k] += wr * x[k] - wi * x[k + 1];
          to[k + 1] += wr * x[k + 1] + wi * x[k];
        }
      }
    }
  }
  void interpolate(std::size_t first, const Complex* grid) const {
    const std::size_t count = std::min(kBinsAtOnce, tables_.bins() - std::min(first, tables_.bins()));
    const auto points = static_cast<std::int64_t>(tables_.grid);
    constexpr double kTurn = 2 * std::numbers::pi / static_cast<double>(std::uint64_t{1} << (kPositionBits + 2));
    for (std::size_t d = 0; d < layout_.trials; ++d) {
      const std::uint64_t step = tables_.step[d];
      // exp(pi i u), continued in double over the block.
      constexpr std::uint64_t kFourTurns = (std::uint64_t{1} << (kPositionBits + 2)) - 1;
      std::complex<double> phase = std::polar(1.0, kTurn * static_cast<double>(first * step & kFourTurns));
      const std::complex<double> each = std::polar(1.0, kTurn * static_cast<double>(step & kFourTurns));
      Complex* to = spectra_.data() + d * stride_ + first;
      for (std::size_t k = 0; k < count; ++k) {
        const std::uint64_t position = (first + k) * step;
        const std::uint64_t fine = position >> (kPositionBits - 20) & 0xfffff;  // 20 bits of the fraction
        constexpr std::size_t kBetween = (std::size_t{1} << 20) / kKernelSteps;
        const float* row = tables_.kernel.data() + fine / kBetween * kTaps;
        const float part = static_cast<float>(fine % kBetween) / kBetween;
        auto point =
            static_cast<std::int64_t>(position >> kPositionBits) - (std::int64_t{kTaps} / 2 - 1) - tables_.middle;
        if (point < 0) point += points;
        float real = 0, imaginary = 0;
        for (std::size_t i = 0; i < kTaps; ++i) {
          const float weight = row[i] + part * (row[i + kTaps] - row[i]);
          const Complex value = grid[static_cast<std::size_t>(point) * kBinsAtOnce + k];
          real += weight * value.real();
          imaginary += weight * value.imag();
          if (++point == points) point = 0;
        }
        const auto pr = static_cast<float>(phase.real()), pi = static_cast<float>(phase.imag());
        to[k] = {real * pr - imaginary * pi, real * pi + imaginary * pr};
        phase = {phase.real() * each.real() - phase.imag() * each.imag(),
                 phase.real() * each.imag() + phase.imag() * each.real()};
      }
    }
  }

  Layout layout_;
  FourierTables tables_;
  std::size_t stride_;
  fft::Plan<float> over_time_, over_grid_;
  mutable std::mutex mutex_;
  mutable base::AlignedArray<Complex>
      spectra_;  // of the channels; overwritten, block by block, with those of the trials
};

}  // namespace

void list_host_fourier(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  entries.push_back(
      {.candidate = planner::Candidate{.variant = "fourier",
                                       .parameters = {{"threads", std::to_string(layout.threads)}},
                                       .refusal = fourier_refusal(layout),
                                       .cost = {.flops = fourier_flops(layout),
                                                .bytes = 16.0 * static_cast<double>(fourier_length(layout)) *
                                                         static_cast<double>(layout.channels + layout.trials),
                                                .launches = 3,
                                                .efficiency = 0.06,
                                                .float64 = false,
                                                .threads = layout.threads}},
       .build = [layout] { return std::make_shared<HostFourier>(layout); }});
}

}  // namespace ridge::search
