// Computes roots of unity by reducing the angle to an eighth of a turn, in double or double-double.
#include "base/unit_root.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace ridge::base {

namespace {

template <class Wide>
struct CosineSine {
  Wide cosine, sine;
};

CosineSine<double> eighth_turn_part(double part, double whole, double) {
  const double angle = std::numbers::pi / 4 * part / whole;
  return {std::cos(angle), std::sin(angle)};
}

std::array<DoubleDouble, 28> inverse_factorials() {
  std::array<DoubleDouble, 28> inverse;
  inverse[0] = 1;
  for (std::size_t k = 1; k < inverse.size(); ++k) inverse[k] = inverse[k - 1] / static_cast<double>(k);
  return inverse;
}

// Taylor series in double-double: long double is emulated in software on many processors and has only 64 bits on
// others. Terms below the last bit of double are summed in double.
CosineSine<DoubleDouble> eighth_turn_part(double part, double whole, DoubleDouble) {
  const DoubleDouble kEighthTurn(0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55);
  static const std::array<DoubleDouble, 28> inverse = inverse_factorials();
  const DoubleDouble x = kEighthTurn * DoubleDouble(part) / whole, square = x * x;
  double cosine_tail = 0, sine_tail = 0;
  for (std::size_t k = 26; k >= 18; k -= 2) {
    cosine_tail = inverse[k].high - square.high * cosine_tail;
    sine_tail = inverse[k + 1].high - square.high * sine_tail;
  }
  DoubleDouble cosine = cosine_tail, sine = sine_tail;
  for (std::size_t k = 18; k >= 2; k -= 2) {
    cosine = inverse[k - 2] - square * cosine;
    sine = inverse[k - 1] - square * sine;
  }
  return {cosine, x * sine};
}

DoubleDouble root_of_half(DoubleDouble) { return {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55}; }
double root_of_half(double) { return std::numbers::sqrt2 / 2; }

double high(double value) { return value; }
double low(double) { return 0; }
double high(DoubleDouble value) { return value.high; }
double low(DoubleDouble value) { return value.low; }

}  // namespace

// Reduces the angle to the first octant in integers: symmetric entries are equal to the last bit, and sine and cosine
// get only small arguments.
template <class Wide>
UnitRoot unit_root(std::size_t k, std::size_t n) {
  // In units of 1/8 of a full circle: octant and remainder r / (8 n).
  const std::size_t scaled = 8 * (k % n);
  const std::size_t octant = scaled / n;
  const std::size_t rest = scaled % n;
  const bool mirrored = octant % 2 == 1;
  const std::size_t small = mirrored ? n - rest : rest;
  CosineSine<Wide> at = {Wide(1), Wide(0)};
  if (small == n) at = {root_of_half(Wide()), root_of_half(Wide())};
  if (small != 0 && small != n) at = eighth_turn_part(static_cast<double>(small), static_cast<double>(n), Wide());
  Wide c = at.cosine, s = at.sine;
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
  return {high(re), high(im), low(re), low(im)};
}

template UnitRoot unit_root<double>(std::size_t, std::size_t);
template UnitRoot unit_root<DoubleDouble>(std::size_t, std::size_t);

}  // namespace ridge::base
