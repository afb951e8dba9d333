// UVFITS files: correlations of every pair of stations as FITS random groups, with u, v, w, time, baseline and weights,
// and a table of antennas ("AIPS AN"). Written as AIPS Memo 117 defines them.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/telescopes/start_time.hpp"

namespace ridge::io {

struct UvfitsHeader {
  std::vector<std::array<double, 3>> stations{};   // metres east, north and up of the site
  double longitude = 0, latitude = 0, height = 0;  // of the site: degrees (WGS 84), metres
  double right_ascension = 0, declination = 0;     // of the phase centre: degrees, equinox of date
  bool tracked = false;                            // the samples' delays already follow the phase centre
  bool circular = false;                           // polarizations are R and L instead of X and Y
  std::size_t polarizations = 1, channels = 1;
  double first_hz = 0, step_hz = 0;  // centre of the first channel, distance to the next
  StartTime start{};                 // begin of the first integration, UTC
  double seconds = 0;                // per integration
  std::string telescope{}, source{};
};

// Mean sidereal time of Greenwich in degrees, 0 to 360; UT1 is taken as UTC.
double sidereal_degrees(const StartTime& time);
// Right ascension and declination of the zenith of the site, in degrees.
std::array<double, 2> zenith(const UvfitsHeader& header, const StartTime& time);

// Visibilities are <conj(E_1) E_2> for station 1 before station 2 with (u, v, w) = r_1 - r_2 in seconds, so a source at
// direction cosines (l, m, n) has the phase -2 pi f (u l + v m + w (n - 1)).
class Uvfits {
 public:
  // Error{invalid_argument} for more than 2047 stations, an unknown start time or frequency.
  explicit Uvfits(UvfitsHeader header);
  std::string head(std::uint64_t integrations) const;
  std::size_t integration_bytes() const;
  // Appends one integration. `sums` are X_i,p conj(X_j,q), slowest to fastest: baseline j (j + 1) / 2 + i with i <= j,
  // channel, p, q, each a sum of `weight` products; channels in the file's order. They are divided by `weight`. Values
  // that are not finite, and all values if `weight` is 0, are zeros of weight 0.
  void append(std::uint64_t integration, std::span<const std::complex<float>> sums, double weight,
              std::vector<std::byte>& to) const;
  // Padding and the antenna table, after `integrations` integrations.
  std::vector<std::byte> tail(std::uint64_t integrations) const;

 private:
  using Vector = std::array<double, 3>;
  // Rows of the matrix from (meridian, east, pole) to (u, v, w) at this time.
  std::array<Vector, 3> towards_centre(const StartTime& time) const;
  std::string antenna_head() const;

  UvfitsHeader header_;
  std::vector<Vector> stations_;  // metres towards the equator on the meridian, east and the pole
};

}  // namespace ridge::io
