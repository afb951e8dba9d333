// The `simd_channels` variant: vectors across channels, one spectrum at a time. Every tap is a multiply-add of a row of
// samples with a row of weights. Any oversampling.
#include "filterbank/host/output.hpp"
#include "filterbank/host/window.hpp"

namespace ridge::filterbank {
namespace {

constexpr std::size_t kSimdMoreRows = 64;

class SimdChannels final : public HostVariant {
 public:
  SimdChannels(const Problem& problem, const Geometry& g) : SimdChannels(problem, g, channel_fft(g.channels)) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return window_weights(geometry(), prototype);
  }

 private:
  SimdChannels(const Problem& problem, const Geometry& g, std::shared_ptr<const fft::LineKernel<float>> line)
      : HostVariant(
            problem, g,
            SampleWindow::floats(g, capacity(g)) + g.polarizations * filtered_row(g) + 2 * line->scratch() + 64),
        line_(std::move(line)) {}
  static std::size_t capacity(const Geometry& g) { return g.taps + 1 + kSimdMoreRows; }

  void work(const Piece& piece, Output& output, float* scratch) const override {
    const Geometry& g = geometry();
    SampleWindow window(g, capacity(g), scratch);
    float* const filtered = scratch + whole_lines(SampleWindow::floats(g, capacity(g)));
    auto* const fft_scratch = reinterpret_cast<std::complex<float>*>(filtered + g.polarizations * filtered_row(g));
    for (std::size_t t = 0; t < piece.spectra; ++t) {
      filter_one(g, window, piece, piece.first + t, filtered);
      for (std::size_t p = 0; p < g.polarizations; ++p) {
        std::complex<float>* const out = output.row(t, p);
        line_->run(fft::Direction::forward,
                   reinterpret_cast<const std::complex<float>*>(filtered + p * filtered_row(g)), out, fft_scratch);
        output.finish(t, p);
      }
    }
  }

  std::shared_ptr<const fft::LineKernel<float>> line_;
};

}  // namespace

void list_host_simd_channels(const Device&, const Problem& problem, const Geometry& geometry,
                             std::vector<Entry>& entries) {
  entries.push_back({planner::Candidate{.variant = "simd_channels", .cost = host_cost(geometry, 0.3)},
                     {},
                     [problem, geometry] { return std::make_shared<SimdChannels>(problem, geometry); }});
}

}  // namespace ridge::filterbank
