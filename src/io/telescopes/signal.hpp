// Synthetic samples: noise per station and polarization that depends only on the position in the stream, and tones
// common to all stations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/telescopes/samples.hpp"

namespace ridge::io {

struct Tone {
  double frequency = 0;  // cycles per sample
  double amplitude = 0;  // relative to the largest value of the type
};

class Signal {
 public:
  // info: type, streams, polarizations, block (at least 1).
  Signal(const SampleInfo& info, std::uint64_t seed, std::vector<Tone> tones);
  // Fills in the stream's bytes from `at` on. Tones need whole samples.
  void fill(std::uint64_t at, std::span<std::byte> to) const;

 private:
  void add_tones(std::uint64_t at, std::span<std::byte> to) const;

  SampleInfo info_;
  std::uint64_t seed_;
  std::vector<Tone> tones_;
};

}  // namespace ridge::io
