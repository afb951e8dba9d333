// Output of a piece's spectra: each is finished (bandpass, delay phase) while it is in cache; with Order::channel,
// spectra are gathered until a block of times can be written in contiguous runs.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "filterbank/host/host_variant.hpp"

namespace ridge::filterbank {

class Output {
 public:
  // Floats of scratch per thread.
  static std::size_t floats(const Geometry& geometry);
  Output(const Geometry& geometry, const std::vector<std::complex<float>>& bandpass, const Piece& piece,
         float* scratch);

  // Destination of the FFT of the piece's spectrum t, per polarization.
  std::complex<float>* row(std::size_t t, std::size_t polarization) const {
    if (!geometry_.by_channel) {
      return piece_.out + ((t + ahead_) * geometry_.polarizations + polarization) * stride_ +
             piece_.station * geometry_.channels;
    }
    const std::uint64_t within = (piece_.first + t) % geometry_.times;
    return rows_ + (static_cast<std::size_t>(within) * geometry_.polarizations + polarization) * staged_row(geometry_);
  }
  // Finishes a spectrum that is in row(t, polarization). Spectra are finished in order, all polarizations of one before
  // the next.
  void finish(std::size_t t, std::size_t polarization) { finish(t, polarization, row(t, polarization)); }
  // As above, for values that are stored elsewhere until they are written; Order::time only.
  void finish(std::size_t t, std::size_t polarization, std::complex<float>* values);

 private:
  // Padded by one cache line, because the rows of a block are read in parallel.
  static std::size_t staged_row(const Geometry& geometry) { return (geometry.channels + 7) / 8 * 8 + 8; }
  void write_block(std::uint64_t first, std::uint64_t end) const;

  const Geometry& geometry_;
  const Piece& piece_;
  const std::complex<float>* bandpass_;  // for polarization 0 of the station, or null
  std::size_t bandpass_stride_;          // between polarizations
  std::complex<float>* rows_;
  std::size_t stride_, ahead_;
};

}  // namespace ridge::filterbank
