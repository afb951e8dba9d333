// The `separate` variant: the FIR and the FFT of the fused variant, run one after the other over a whole push with the
// branches in memory, as a baseline for fusion.
#include <algorithm>

#include "filterbank/host/output.hpp"
#include "filterbank/host/window.hpp"

namespace ridge::filterbank {
namespace {

// Memory that no push uses is never touched.
constexpr std::size_t kSeparateMoreRows = 32, kMostBytes = std::size_t{128} << 20;

class Separate final : public HostVariant {
 public:
  Separate(const Problem& problem, const Geometry& g) : Separate(problem, g, channel_fft(g.channels)) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return window_weights(geometry(), prototype);
  }

 private:
  Separate(const Problem& problem, const Geometry& g, std::shared_ptr<const fft::LineKernel<float>> line)
      : HostVariant(problem, g,
                    SampleWindow::floats(g, capacity(g)) + (stretch(g) * g.polarizations + 1) * filtered_row(g) +
                        2 * line->scratch() + 64),
        line_(std::move(line)) {}
  static std::size_t steps(const Geometry& g) { return std::max<std::size_t>(kernels().tile / g.polarizations, 8); }
  static std::size_t capacity(const Geometry& g) { return least_rows(g, steps(g)) + kSeparateMoreRows; }
  static std::size_t stretch(const Geometry& g) {
    const std::size_t bytes = g.polarizations * filtered_row(g) * sizeof(float);
    return std::max<std::size_t>(kMostBytes / bytes / steps(g), 1) * steps(g);
  }

  void work(const Piece& piece, Output& output, float* scratch) const override {
    const Geometry& g = geometry();
    SampleWindow window(g, capacity(g), scratch);
    float* const filtered = scratch + whole_lines(SampleWindow::floats(g, capacity(g)));
    const std::size_t row = filtered_row(g), each = g.polarizations * row;
    float* const spectrum = filtered + stretch(g) * each;
    auto* const fft_scratch = reinterpret_cast<std::complex<float>*>(spectrum + row);
    const bool past = goes_past_caches(g, piece);
    LateStores stores(1, 2 * g.channels);
    for (std::size_t first = 0; first < piece.spectra; first += stretch(g)) {
      const std::size_t count = std::min(stretch(g), piece.spectra - first);
      for (std::size_t t = 0; t < count; t += steps(g)) {
        filter_many(g, window, piece, piece.first + first + t, std::min(steps(g), count - t), filtered + t * each);
      }
      for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t p = 0; p < g.polarizations; ++p) {
          const float* from = filtered + t * each + p * row;
          std::complex<float>* const place = output.row(first + t, p);
          auto* const out = past ? reinterpret_cast<std::complex<float>*>(spectrum) : place;
          line_->run(fft::Direction::forward, reinterpret_cast<const std::complex<float>*>(from), out, fft_scratch);
          output.finish(first + t, p, out);
          if (!past) continue;
          stores.add(spectrum, reinterpret_cast<float*>(place));
          stores.rest();
        }
      }
    }
  }

  std::shared_ptr<const fft::LineKernel<float>> line_;
};

}  // namespace

void list_host_separate(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  entries.push_back(
      {planner::Candidate{
           .variant = "separate", .refusal = needs_critical(geometry), .cost = host_cost(geometry, 0.4, 1)},
       {},
       [problem, geometry] { return std::make_shared<Separate>(problem, geometry); }});
}

}  // namespace ridge::filterbank
