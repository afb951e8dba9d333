// Finishing of spectra (bandpass, delay phase) and output in either order.
#include "filterbank/host/output.hpp"

#include <algorithm>

#include "filterbank/host/factors.hpp"

namespace ridge::filterbank {

std::size_t Output::floats(const Geometry& geometry) {
  return geometry.by_channel ? 2 * geometry.times * geometry.polarizations * staged_row(geometry) : 0;
}

Output::Output(const Geometry& g, const std::vector<std::complex<float>>& bandpass, const Piece& piece, float* scratch)
    : geometry_(g),
      piece_(piece),
      bandpass_(bandpass.empty() ? nullptr : bandpass.data()),
      bandpass_stride_(0),
      rows_(reinterpret_cast<std::complex<float>*>(scratch)),
      stride_(g.stations * g.channels),
      ahead_(static_cast<std::size_t>(piece.first - piece.job_first)) {
  if (bandpass.size() == g.spectrum_size() && g.spectrum_size() != g.channels) {
    bandpass_ += piece.station * g.channels;
    bandpass_stride_ = stride_;
  }
}

void Output::finish(std::size_t t, std::size_t polarization, std::complex<float>* values) {
  const Geometry& g = geometry_;
  const std::complex<float>* const factors =
      bandpass_ == nullptr ? nullptr : bandpass_ + polarization * bandpass_stride_;
  if (!piece_.phases.empty()) {
    const Phase& phase = piece_.phases[((t + ahead_) * g.polarizations + polarization) * g.stations + piece_.station];
    factor_kernels().rotate({.values = values,
                             .channels = g.channels,
                             .first = g.centred ? -static_cast<std::int64_t>(g.channels / 2) : 0,
                             .wrap = g.centred ? g.channels : (g.channels + 1) / 2,
                             .start = phase.start,
                             .slope = phase.slope,
                             .factors = factors});
  } else if (factors != nullptr) {
    factor_kernels().multiply(values, factors, g.channels);
  }
  if (!g.by_channel || polarization + 1 < g.polarizations) return;
  const std::uint64_t spectrum = piece_.first + t;
  const bool last = t + 1 == piece_.spectra;
  if ((spectrum + 1) % g.times != 0 && !last) return;
  write_block(std::max(piece_.first, spectrum / g.times * g.times), spectrum + 1);
}

// Writes the times `first` to `end` of one block; those of a channel and polarization are contiguous in the output.
void Output::write_block(std::uint64_t first, std::uint64_t end) const {
  const Geometry& g = geometry_;
  const std::size_t row = staged_row(g), count = static_cast<std::size_t>(end - first);
  constexpr std::size_t kChannels = 8;  // one cache line of each row
  for (std::size_t k = 0; k < g.channels; k += kChannels) {
    const std::size_t last = std::min(k + kChannels, g.channels);
    for (std::size_t p = 0; p < g.polarizations; ++p) {
      const std::complex<float>* from = rows_ + (first % g.times * g.polarizations + p) * row;
      for (std::size_t channel = k; channel < last; ++channel) {
        std::complex<float>* to = piece_.out + g.place(piece_.job_first, first, p, piece_.station, channel);
        for (std::size_t t = 0; t < count; ++t) to[t] = from[t * g.polarizations * row + channel];
      }
    }
  }
}

}  // namespace ridge::filterbank
