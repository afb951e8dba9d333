// How variants of the filter bank are timed and judged while planning.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank {

// A stretch of stream, random, and room for its spectra, made when the first candidate is timed or compared.
class Trials final : public planner::Trials<Variant> {
 public:
  Trials(const Problem& problem, const Geometry& geometry);  // of a complete problem
  std::size_t spectra() const { return spectra_; }           // of one run
  double seconds(const Variant& variant) override;
  // Spectra spread over the stretch, every station and polarization among them, against the definition in double; and
  // no value of any other may be none.
  planner::Comparison compare(const Variant& variant) override;

 private:
  void fill();
  void run(const Variant& variant, const Weights& weights);
  void make_expected();
  std::string place_of(std::size_t value) const;

  // A spectrum that is compared.
  struct Line {
    std::size_t time, station, polarization;
  };
  const Problem& problem_;
  const Geometry& geometry_;
  std::size_t spectra_;
  std::uint64_t first_;  // spectrum of a run
  Phase phase_;          // of every delay: within half a turn over the band, as a sample's share is
  base::AlignedArray<std::byte> in_;
  base::AlignedArray<std::complex<float>> out_;
  std::vector<Phase> phases_;
  std::vector<Line> lines_;
  std::vector<float> expected_, got_;  // line after line, real and imaginary
};

}  // namespace ridge::filterbank
