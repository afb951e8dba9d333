// Where a piece's spectra go: each is finished (bandpass, delay) while it is in cache, and in order of channels
// gathered until a block of times can be written in runs.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "filterbank/host/host_variant.hpp"

namespace ridge::filterbank {

class Output {
 public:
  // Floats of scratch a thread needs.
  static std::size_t floats(const Geometry& geometry);
  Output(const Geometry& geometry, const std::vector<std::complex<float>>& bandpass, const Piece& piece,
         float* scratch);

  // Where the FFT of the piece's spectrum t leaves a polarization.
  std::complex<float>* row(std::size_t t, std::size_t polarization) const {
    if (!geometry_.by_channel) {
      return piece_.out + ((t + ahead_) * geometry_.polarizations + polarization) * stride_ +
             piece_.station * geometry_.channels;
    }
    const std::uint64_t within = (piece_.first + t) % geometry_.times;
    return rows_ + (static_cast<std::size_t>(within) * geometry_.polarizations + polarization) * staged_row(geometry_);
  }
  // It is there. Spectra are finished in order, all polarizations of one before the next.
  void finish(std::size_t t, std::size_t polarization) { finish(t, polarization, row(t, polarization)); }
  // The same for values that lie elsewhere until they are written; not in order of channels.
  void finish(std::size_t t, std::size_t polarization, std::complex<float>* values);

 private:
  // An odd number of cache lines: the rows of a block are read side by side.
  static std::size_t staged_row(const Geometry& geometry) { return (geometry.channels + 7) / 8 * 8 + 8; }
  void write_block(std::uint64_t first, std::uint64_t end) const;

  const Geometry& geometry_;
  const Piece& piece_;
  const std::complex<float>* bandpass_;  // of polarization 0 of the station, or null
  std::size_t bandpass_stride_;          // to the next polarization's
  std::complex<float>* rows_;
  std::size_t stride_, ahead_;
};

}  // namespace ridge::filterbank
