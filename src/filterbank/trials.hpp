// Timing and checking of filter-bank variants during planning.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank {

// Holds a random part of a stream and space for its spectra, allocated when the first candidate is timed or compared.
class Trials final : public planner::Trials<Variant> {
 public:
  Trials(const Problem& problem, const Geometry& geometry);  // `problem` is complete
  std::size_t spectra() const { return spectra_; }           // per run
  double seconds(const Variant& variant) override;
  // Compares spectra at equal distances over the run, of every station and polarization, with the definition in double,
  // and checks that all other values are finite.
  planner::Comparison compare(const Variant& variant) override;

 private:
  void fill();
  void run(const Variant& variant, const Weights& weights);
  double resident_seconds(const Device& device, const Variant& variant, const Weights& weights);
  void make_expected();
  std::string place_of(std::size_t value) const;

  // One spectrum that is compared.
  struct Line {
    std::size_t time, station, polarization;
  };
  const Problem& problem_;
  const Geometry& geometry_;
  std::size_t spectra_;
  std::uint64_t first_;  // first spectrum of a run
  Phase phase_;          // for all spectra: at most half a cycle over the band, like a fraction of a sample
  base::AlignedArray<std::byte> in_;
  base::AlignedArray<std::complex<float>> out_;
  std::vector<Phase> phases_;
  Buffer samples_, channels_;  // of the device: resident_count_ spectra
  std::size_t resident_count_ = 0;
  std::vector<Line> lines_;
  std::vector<float> expected_, got_;  // consecutive spectra, real and imaginary parts interleaved
};

}  // namespace ridge::filterbank
