// The engine of shear-form lines, for Arm cores without complex instructions.
#if defined(__aarch64__)
#include "fft/host/power2/engines.hpp"

namespace ridge::fft::power2 {

const Engine<float>& shear_engine() {
  static const Engine<float> engine = [] {
    Engine<float> same = simd_engine<float>();
    same.name = "neon/shear";
    same.lines = shear_lines();
    return same;
  }();
  return engine;
}

}  // namespace ridge::fft::power2
#endif
