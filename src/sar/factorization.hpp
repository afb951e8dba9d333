// Groups of pulses for factorized back-projection, and the grids on which their sums are kept.
//
// Every row of the image, all pixels at one range, is summed by itself. The sum of a group on a row is a function of
// the tangent t of the angle off broadside, seen from the group's centre: the point at t is range * t metres along the
// track from there. Without the phase of the distance to the centre the function varies slowly, by at most half a cycle
// per wavelength / (2 x length of the group), so few tangents suffice. Seen from a part of the group that is x metres
// back, the same point has the tangent t + x / range: sums of kMerged parts become the sum of their union by
// interpolation along the row alone.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include <ridge/sar/backprojection.hpp>

namespace ridge::sar {

inline constexpr std::size_t kMerged = 4;      // groups of a level that become one of the next
inline constexpr std::size_t kNeighbours = 6;  // points per interpolation
inline constexpr std::size_t kTapTerms = 5;    // coefficients of the polynomial of a tap

// Pulses [first, end) around a centre.
struct PulseGroup {
  std::size_t first = 0, end = 0;
  double along = 0, range = 0;  // centre
};

struct GroupLevel {
  std::size_t pulses = 0;       // per group
  double step = 1, length = 0;  // tangents per point; metres of the longest group
  std::vector<PulseGroup> groups{};
};

// The groups of all levels, from the shortest to the longest. Centres are the means of the pulses' positions, those of
// the last level at equal distances on a line.
struct Factorization {
  std::vector<GroupLevel> levels{};
  std::vector<Offset> platform{};  // at each pulse
  double widest_tangent = 0;       // of the processed band
  double away = 0;                 // largest offset towards or away from the scene, metres

  // Largest tangent at which a pixel of a row sees a group of this level within the processed band of one of its
  // pulses.
  double edge(const GroupLevel& level, double range) const;
  // Points of a row's grid on either side of tangent 0, with those that interpolation needs beyond the edge.
  std::size_t half(const GroupLevel& level, double range) const;
  std::size_t points(const GroupLevel& level, double range) const { return 2 * half(level, range) + 1; }
};

// Levels from groups of `first` to groups of `last` pulses. `migration`: cycles of the echo's bandwidth by which an
// echo moves through the range cells of a row per tangent, at the far end of the frame and the edge of the band.
Factorization factorize(const std::vector<Offset>& platform, double along, double turns_per_metre,
                        double widest_tangent, double migration, std::size_t first, std::size_t last);

// Interpolation weights of kNeighbours neighbours for a value between the middle two, with the least squared error over
// the band of a grid. Tap k is a polynomial in x = 2 f - 1, f the distance from the third neighbour; tap
// kNeighbours - 1 - k is the same one in -x.
using TapPolynomials = std::array<std::array<float, kTapTerms>, kNeighbours / 2>;
TapPolynomials tap_polynomials();
std::array<float, kNeighbours> taps_at(const TapPolynomials& polynomials, float fraction);

}  // namespace ridge::sar
