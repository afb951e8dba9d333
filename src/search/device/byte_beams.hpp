// Beams of many stations between a filter bank and the search, all on one device: spectra rounded to bytes, weighted
// sums on the matrix units, their power, and bytes of power per beam. The weighted sums are also computed of 16-bit
// floats.
#pragma once
#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::search {

struct ByteBeamProblem {
  std::size_t stations = 0, beams = 0, channels = 1, polarizations = 2;
  std::size_t times = 0;  // spectra per call, a multiple of 64
  bool float16 = false;   // values are 16-bit floats instead of bytes: the caller packs them
  std::size_t row_bytes() const { return float16 ? (stations + 15) / 16 * 64 : (stations + 31) / 32 * 64; }  // packed
  std::size_t packed_bytes() const { return channels * polarizations * times * row_bytes(); }  // of one call
  std::size_t weight_bytes() const { return channels * polarizations * padded() * 2 * row_bytes(); }
  std::size_t warps() const { return beams > 64 ? 8 : beams > 32 ? 4 : beams > 16 ? 2 : 1; }         // per work-group
  std::size_t padded() const { return (beams + 16 * warps() - 1) / (16 * warps()) * 16 * warps(); }  // beams
  double operations() const;                                                                         // of one call
};

// The power of `bins` sums of 8 spectra of all polarizations: beams x channels x bins floats.
class ByteBeams {
 public:
  // `warp_groups`: products by warp groups (Hopper), for more than 64 beams of rows that all polarizations together
  // fill to 128 or 256 bytes.
  ByteBeams(const Device& device, const ByteBeamProblem& problem, bool warp_groups = false);
  static std::string refusal(const Device& device, const ByteBeamProblem& problem);  // empty: the device can do it
  static std::string warp_group_refusal(const Device& device, const ByteBeamProblem& problem);
  static KernelSource source(const ByteBeamProblem& problem, bool warp_groups = false);
  static KernelSource warp_group_source(const ByteBeamProblem& problem);

  // Spectra (times, polarizations, stations, channels) times `scale`, rounded to -127 .. 127. Channels are reversed: a
  // centred filter bank begins with the lowest frequency, all later stages with the highest.
  // Only power() of an object with the same `warp_groups` can read the packed rows.
  void pack(Queue& queue, const Buffer& spectra, float scale, const Buffer& packed) const;
  // The same with spectra that a bank has rounded to pairs of bytes (byte_designs()), of an even number of channels.
  void pack(Queue& queue, const Buffer& spectra, const Buffer& packed) const;
  // Offset in the packed samples of a byte of a row: of (re, im) of the first station, the second, and so on.
  std::size_t place(std::size_t channel, std::size_t polarization, std::size_t time, std::size_t byte) const {
    const std::size_t row = problem_.row_bytes(), signal = channel * problem_.polarizations + polarization;
    if (!warp_groups_) return (signal * problem_.times + time) * row + byte;
    const std::size_t part = signal * (row / 128) + byte / 128, chunk = byte % 128 / 16 ^ time % 8;
    return (part * problem_.times + time) * 128 + chunk * 16 + byte % 16;
  }
  // Writes times / 8 sums from bin `first` on, which is even, as is `bins`.
  void power(Queue& queue, const Buffer& packed, const Buffer& weights, const Buffer& out, std::size_t bins,
             std::size_t first) const;
  // Writes the square of `factor` times the sums of `parts` neighbouring powers, of `length` per channel, as channels x
  // rows x bins floats; rows after the last beam are not written.
  void join(Queue& queue, const Buffer& power, std::size_t length, std::size_t parts, float factor, const Buffer& out,
            std::size_t rows, std::size_t bins) const;
  // The power of beams from `beam` on, one per plane and at most 8, as bytes of mean 60 and deviation 10 per channel:
  // bins / joined samples from `first` on in planes of channels x row; at most 2048. Adds `joined` neighbouring bins.
  void bytes(Queue& queue, const Buffer& power, std::size_t beam, std::size_t bins, std::size_t joined,
             std::span<const Buffer> planes, std::size_t row, std::size_t first) const;
  // Weights (channels, polarizations, beams, stations), multiplied by `scale` and rounded, in the order of the kernel.
  std::vector<std::byte> weights(std::span<const std::complex<float>> of, float scale) const;

 private:
  ByteBeamProblem problem_;
  bool warp_groups_;
  Kernel pack_, pack_bytes_, power_, join_, bytes_;
};

}  // namespace ridge::search
