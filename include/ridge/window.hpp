// Weights across a band or a filter: low side lobes against a wider peak.
#pragma once

namespace ridge {

enum class Window {
  none,      // side lobes of -13 dB
  hamming,   // -43 dB
  blackman,  // -58 dB
  kaiser,    // by its shape: beta
  gaussian,  // by its shape: sigma in half lengths
  taylor,    // -35 dB, the first four level
};

}  // namespace ridge
