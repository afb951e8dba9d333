// Synthetic samples: noise of every station and polarization, the same at the same place of the stream wherever it is
// begun, and tones that all stations see.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/samples.hpp"

namespace ridge::io {

struct Tone {
  double frequency = 0;  // cycles a sample
  double amplitude = 0;  // of the largest number
};

class Signal {
 public:
  // info: type, streams, polarizations, block (at least 1).
  Signal(const SampleInfo& info, std::uint64_t seed, std::vector<Tone> tones);
  // The stream's bytes from `at` on. Tones need whole samples.
  void fill(std::uint64_t at, std::span<std::byte> to) const;

 private:
  void add_tones(std::uint64_t at, std::span<std::byte> to) const;

  SampleInfo info_;
  std::uint64_t seed_;
  std::vector<Tone> tones_;
};

}  // namespace ridge::io
