// Parses the options of a correlation and fills in the header of its UVFITS file.
#include "cli/channelize/visibilities.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "command/options.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::cli {
namespace {

// Numbers separated by commas; `least` to `most` of them.
std::vector<double> numbers_of(const std::string& text, std::size_t least, std::size_t most, const char* needed) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (numbers.size() < most) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value)) break;
    numbers.push_back(value);
    at = next;
    if (at == end || *at != ',') break;
    ++at;
  }
  if (at != end || numbers.size() < least) mistake(fmt::format("{}, got {}", needed, text));
  return numbers;
}

}  // namespace

io::UvfitsHeader uvfits_header(const ChannelizeOptions& options, std::size_t stations, const io::StartTime& start) {
  if (options.positions.empty())
    mistake("a UVFITS file needs the stations' positions: give --positions FILE.npy (metres east, north, up)");
  if (options.site.empty()) mistake("a UVFITS file needs the position of the array: give --site LONGITUDE,LATITUDE");
  if (!start.known()) mistake("a UVFITS file needs the time of the first sample: give --start");
  io::UvfitsHeader header;
  header.stations = io::read_npy_vectors(options.positions);
  if (header.stations.size() != stations)
    mistake(fmt::format("{}: {} positions for {} stations", options.positions, header.stations.size(), stations));
  const auto site = numbers_of(options.site, 2, 3, "--site needs LONGITUDE,LATITUDE[,HEIGHT] in degrees and metres");
  header.longitude = site[0], header.latitude = site[1], header.height = site.size() > 2 ? site[2] : 0;
  if (std::abs(header.longitude) > 360 || std::abs(header.latitude) > 90)
    mistake(fmt::format("--site needs a latitude of -90 to 90 degrees, got {}", options.site));
  const auto zenith = io::zenith(header, start);
  header.right_ascension = zenith[0], header.declination = zenith[1];
  if (!options.phase_centre.empty()) {
    const auto centre = numbers_of(options.phase_centre, 2, 2, "--phase-centre needs RA,DEC in degrees");
    if (std::abs(centre[1]) > 90) mistake(fmt::format("--phase-centre: DEC is -90 to 90 degrees, got {}", centre[1]));
    header.right_ascension = centre[0], header.declination = centre[1];
  } else if (!options.delays.empty()) {
    mistake("--delays with a UVFITS file: give the direction that the delays follow as --phase-centre RA,DEC");
  }
  header.tracked = !options.delays.empty();
  header.circular = options.feeds == "circular";
  return header;
}

}  // namespace ridge::cli
