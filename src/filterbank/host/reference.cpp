// The `reference` variant: the definition in double precision, too slow to be chosen, for comparison.
#include <algorithm>

#include "filterbank/host/output.hpp"
#include "filterbank/reference.hpp"

namespace ridge::filterbank {
namespace {

class Plain final : public Weights {
 public:
  explicit Plain(std::span<const double> prototype) : values(prototype.begin(), prototype.end()) {}
  std::vector<double> values;
};

class Reference final : public HostVariant {
 public:
  Reference(const Problem& problem, const Geometry& g)
      : HostVariant(problem, g, whole_lines(g.polarizations * g.sample_bytes)), problem_(problem) {
    problem_.bandpass.clear();  // the output multiplies by it, and by delay phases
  }
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return std::make_shared<Plain>(prototype);
  }

 private:
  void work(const Piece& piece, Output& output, float* scratch) const override {
    const Geometry& g = geometry();
    Problem problem = problem_;
    problem.weights = static_cast<const Plain&>(piece.weights).values;
    auto* const room = reinterpret_cast<std::byte*>(scratch);
    const std::int64_t from = g.oldest_row(piece.first) * static_cast<std::int64_t>(g.channels);
    std::vector<std::complex<double>> samples(
        static_cast<std::size_t>(g.newest(piece.first + piece.spectra - 1) + 1 - from));
    std::vector<std::complex<double>> spectra[2];
    for (std::size_t p = 0; p < g.polarizations; ++p) {
      for (std::size_t n = 0; n < samples.size(); ++n) {
        const std::byte* at = piece.raw.samples(g, piece.station, from + static_cast<std::int64_t>(n), 1, room);
        samples[n] = sample_at(g.samples, at, p);
      }
      spectra[p] = reference(problem, samples, piece.first, piece.spectra, from);
    }
    for (std::size_t t = 0; t < piece.spectra; ++t) {
      for (std::size_t p = 0; p < g.polarizations; ++p) {
        std::complex<float>* const out = output.row(t, p);
        for (std::size_t k = 0; k < g.channels; ++k) {
          out[k] = static_cast<std::complex<float>>(spectra[p][t * g.channels + k]);
        }
        output.finish(t, p);
      }
    }
  }

  Problem problem_;
};

}  // namespace

void list_host_reference(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  planner::Cost cost = host_cost(geometry, 0.02);
  // The direct DFT.
  cost.flops += 8.0 * static_cast<double>(geometry.spectrum_size()) * static_cast<double>(geometry.channels);
  cost.float64 = true;
  entries.push_back({planner::Candidate{.variant = "reference", .cost = cost}, {}, [problem, geometry] {
                       return std::make_shared<Reference>(problem, geometry);
                     }});
}

}  // namespace ridge::filterbank
