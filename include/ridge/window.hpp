// Window functions for bands and filters: lower side lobes at the cost of a wider main lobe.
#pragma once

namespace ridge {

enum class Window {
  none,      // side lobes of -13 dB
  hamming,   // -43 dB
  blackman,  // -58 dB
  kaiser,    // shape parameter: beta
  gaussian,  // shape parameter: sigma in half lengths
  taylor,    // -35 dB, the first four side lobes of equal height (nbar = 5)
};

}  // namespace ridge
