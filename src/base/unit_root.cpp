#include "base/unit_root.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace ridge::base {

// The angle is reduced to the first octant in integers: symmetric entries come out equal to the last bit, and the
// library's sine and cosine see only small arguments.
template <class Wide>
UnitRoot unit_root(std::size_t k, std::size_t n) {
  // In units of 1/8 turn: octant and remainder r / (8 n).
  const std::size_t scaled = 8 * (k % n);
  const std::size_t octant = scaled / n;
  const std::size_t rest = scaled % n;
  const bool mirrored = octant % 2 == 1;
  const std::size_t small = mirrored ? n - rest : rest;
  const Wide angle = std::numbers::pi_v<Wide> / 4 * static_cast<Wide>(small) / static_cast<Wide>(n);
  Wide c = std::cos(angle), s = std::sin(angle);
  if (mirrored) std::swap(c, s);
  Wide re = c, im = s;
  switch (octant / 2) {
    case 1:
      re = -s, im = c;
      break;
    case 2:
      re = -c, im = -s;
      break;
    case 3:
      re = s, im = -c;
      break;
    default:
      break;
  }
  im = -im;
  const auto re_high = static_cast<double>(re), im_high = static_cast<double>(im);
  return {re_high, im_high, static_cast<double>(re - re_high), static_cast<double>(im - im_high)};
}

template UnitRoot unit_root<double>(std::size_t, std::size_t);
template UnitRoot unit_root<long double>(std::size_t, std::size_t);

}  // namespace ridge::base
