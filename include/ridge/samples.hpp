// Number types of samples in memory; a complex sample is a pair of them.
#pragma once

namespace ridge {

enum class Samples {
  same,  // the plan's own: float, or double for an FFT planned in double
  int4,  // complex only, one byte: low nibble real, high nibble imaginary, two's complement
  int8,
  int16,
  float32,
};

constexpr const char* to_string(Samples samples) {
  constexpr const char* kNames[] = {"same", "int4", "int8", "int16", "float32"};
  return kNames[static_cast<int>(samples)];
}

}  // namespace ridge
