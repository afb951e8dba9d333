// Computes u, v and w, and writes groups and the table of antennas.
#include "io/telescopes/fits/uvfits.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/telescopes/fits/cards.hpp"

namespace ridge::io {
namespace {

constexpr double kLight = 299792458.0, kRadians = std::numbers::pi / 180;
constexpr double kSiderealDay = 360.98564736629;  // degrees by which the Earth rotates per day
constexpr std::size_t kMostStations = 2047, kParameters = 7;
constexpr double kJulianDay = 2400000.5;  // Julian day of MJD 0

// FITS: 256 i + j, with numbers from 1. Station numbers above 255 use Miriad's extension.
double baseline_number(std::size_t i, std::size_t j) {
  return static_cast<double>(j <= 255 ? 256 * i + j : 2048 * i + j + 65536);
}

double positive_degrees(double degrees) {
  const double rest = std::fmod(degrees, 360);
  return rest < 0 ? rest + 360 : rest;
}

std::array<double, 3> geocentric(const UvfitsHeader& header) {
  constexpr double kEquator = 6378137.0, kFlattening = 1 / 298.257223563, kSquare = kFlattening * (2 - kFlattening);
  const double latitude = header.latitude * kRadians, longitude = header.longitude * kRadians;
  const double normal = kEquator / std::sqrt(1 - kSquare * std::sin(latitude) * std::sin(latitude));
  const double across = (normal + header.height) * std::cos(latitude);
  return {across * std::cos(longitude), across * std::sin(longitude),
          (normal * (1 - kSquare) + header.height) * std::sin(latitude)};
}

double year_of(const StartTime& time) { return 2000 + (time.mjd() - 51544.5) / 365.25; }

std::string date_of(const StartTime& time) { return utc_text(time).text.substr(0, 10); }

}  // namespace

double sidereal_degrees(const StartTime& time) {
  const double days = static_cast<double>(time.day) - 51544.5, part = time.second / 86400;
  return positive_degrees(280.46061837 + positive_degrees(kSiderealDay * days) + kSiderealDay * part);
}

std::array<double, 2> zenith(const UvfitsHeader& header, const StartTime& time) {
  return {positive_degrees(sidereal_degrees(time) + header.longitude), header.latitude};
}

Uvfits::Uvfits(UvfitsHeader header) : header_(std::move(header)) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorKind::invalid_argument, "UVFITS: " + message);
  };
  if (header_.stations.empty() || header_.stations.size() > kMostStations)
    refuse(fmt::format("needs 1 to {} stations, got {}", kMostStations, header_.stations.size()));
  if (!header_.start.known()) refuse("needs the start time of the samples");
  if (!(header_.first_hz > 0) || !(header_.seconds > 0)) refuse("needs the frequency and the time between samples");
  const double latitude = header_.latitude * kRadians;
  for (const auto& [east, north, up] : header_.stations) {
    stations_.push_back({up * std::cos(latitude) - north * std::sin(latitude), east,
                         north * std::cos(latitude) + up * std::sin(latitude)});
  }
}

std::array<Uvfits::Vector, 3> Uvfits::towards_centre(const StartTime& time) const {
  const double hour = (sidereal_degrees(time) + header_.longitude - header_.right_ascension) * kRadians;
  const double sin_d = std::sin(header_.declination * kRadians), cos_d = std::cos(header_.declination * kRadians);
  const double sin_h = std::sin(hour), cos_h = std::cos(hour);
  return {{{sin_h, cos_h, 0}, {-sin_d * cos_h, sin_d * sin_h, cos_d}, {cos_d * cos_h, -cos_d * sin_h, sin_d}}};
}

std::string Uvfits::head(std::uint64_t integrations) const {
  const UvfitsHeader& h = header_;
  const std::size_t stations = stations_.size(), products = h.polarizations * h.polarizations;
  FitsCards cards;
  cards.flag("SIMPLE", true), cards.integer("BITPIX", -32), cards.integer("NAXIS", 7), cards.integer("NAXIS1", 0);
  cards.integer("NAXIS2", 3), cards.integer("NAXIS3", static_cast<std::int64_t>(products));
  cards.integer("NAXIS4", static_cast<std::int64_t>(h.channels));
  for (const char* axis : {"NAXIS5", "NAXIS6", "NAXIS7"}) cards.integer(axis, 1);
  cards.flag("EXTEND", true), cards.flag("GROUPS", true), cards.integer("PCOUNT", kParameters);
  cards.integer("GCOUNT", static_cast<std::int64_t>(integrations * (stations * (stations + 1) / 2)));
  struct Axis {
    const char* type;
    double value, step;
  };
  const Axis axes[] = {{"COMPLEX", 1, 1},
                       {"STOKES", h.circular ? -1.0 : -5.0, -1},
                       {"FREQ", h.first_hz, h.step_hz},
                       {"IF", 1, 1},
                       {"RA", h.right_ascension, 1},
                       {"DEC", h.declination, 1}};
  for (std::size_t i = 0; i < std::size(axes); ++i) {
    const std::string number = std::to_string(i + 2);
    cards.text("CTYPE" + number, axes[i].type), cards.number("CRVAL" + number, axes[i].value);
    cards.number("CDELT" + number, axes[i].step), cards.number("CRPIX" + number, 1);
    cards.number("CROTA" + number, 0);
  }
  const std::pair<const char*, double> parameters[kParameters] = {
      {"UU---SIN", 0}, {"VV---SIN", 0}, {"WW---SIN", 0}, {"DATE", static_cast<double>(h.start.day) + kJulianDay},
      {"DATE", 0},     {"BASELINE", 0}, {"INTTIM", 0}};
  for (std::size_t i = 0; i < kParameters; ++i) {
    const std::string number = std::to_string(i + 1);
    cards.text("PTYPE" + number, parameters[i].first), cards.number("PSCAL" + number, 1);
    cards.number("PZERO" + number, parameters[i].second);
  }
  cards.text("OBJECT", h.source), cards.text("TELESCOP", h.telescope), cards.text("INSTRUME", h.telescope);
  cards.text("DATE-OBS", date_of(h.start)), cards.text("BUNIT", "UNCALIB"), cards.number("BSCALE", 1);
  cards.number("BZERO", 0), cards.number("EPOCH", year_of(h.start)), cards.number("EQUINOX", year_of(h.start));
  cards.number("OBSRA", h.right_ascension), cards.number("OBSDEC", h.declination), cards.text("ORIGIN", "Ridgeline");
  return cards.finish();
}

std::size_t Uvfits::integration_bytes() const {
  const std::size_t values = 3 * header_.channels * header_.polarizations * header_.polarizations;
  return stations_.size() * (stations_.size() + 1) / 2 * (kParameters + values) * sizeof(float);
}

void Uvfits::append(std::uint64_t integration, std::span<const std::complex<float>> sums, double weight,
                    std::vector<std::byte>& to) const {
  const UvfitsHeader& h = header_;
  const std::size_t p = h.polarizations, each = h.channels * p * p;
  const StartTime middle = h.start.after((static_cast<double>(integration) + 0.5) * h.seconds);
  const std::array<Vector, 3> rows = towards_centre(middle);
  // The first DATE is a multiple of 2^-12 days, so that the sum of both floats is accurate to microseconds.
  const double date = static_cast<double>(middle.day - h.start.day) + middle.second / 86400;
  const double coarse = std::floor(date * 4096) / 4096;
  // Products of polarizations in the order XX, YY, XY, YX.
  const std::vector<std::size_t> order = p == 1 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 3, 1, 2};
  for (std::size_t j = 0; j < stations_.size(); ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      double uvw[3] = {};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        for (std::size_t k = 0; k < 3; ++k) uvw[axis] += rows[axis][k] * (stations_[i][k] - stations_[j][k]) / kLight;
        append_fits(to, static_cast<float>(uvw[axis]));
      }
      append_fits(to, static_cast<float>(coarse)), append_fits(to, static_cast<float>(date - coarse));
      append_fits(to, static_cast<float>(baseline_number(i + 1, j + 1)));
      append_fits(to, static_cast<float>(h.seconds));
      const std::complex<float>* from = sums.data() + (j * (j + 1) / 2 + i) * each;
      for (std::size_t k = 0; k < h.channels; ++k) {
        const double cycles = h.tracked ? 0 : uvw[2] * (h.first_hz + h.step_hz * static_cast<double>(k));
        const auto rotation = std::polar(1.0, 2 * std::numbers::pi * (cycles - std::round(cycles)));
        for (const std::size_t product : order) {
          const std::complex<double> sum = std::conj(std::complex<double>(from[k * p * p + product]));
          const bool good = weight > 0 && std::isfinite(sum.real()) && std::isfinite(sum.imag());
          const std::complex<double> value = good ? sum * rotation / weight : std::complex<double>(0);
          append_fits(to, static_cast<float>(value.real())), append_fits(to, static_cast<float>(value.imag()));
          append_fits(to, static_cast<float>(good ? weight : 0));
        }
      }
    }
  }
}

std::string Uvfits::antenna_head() const {
  const UvfitsHeader& h = header_;
  const auto [x, y, z] = geocentric(h);
  const std::pair<const char*, const char*> columns[] = {
      {"ANNAME", "8A"}, {"STABXYZ", "3D"}, {"ORBPARM", "0D"}, {"NOSTA", "1J"},  {"MNTSTA", "1J"}, {"STAXOF", "1E"},
      {"POLTYA", "1A"}, {"POLAA", "1E"},   {"POLCALA", "0E"}, {"POLTYB", "1A"}, {"POLAB", "1E"},  {"POLCALB", "0E"}};
  FitsCards cards;
  cards.text("XTENSION", "BINTABLE"), cards.integer("BITPIX", 8), cards.integer("NAXIS", 2);
  cards.integer("NAXIS1", 54), cards.integer("NAXIS2", static_cast<std::int64_t>(stations_.size()));
  cards.integer("PCOUNT", 0), cards.integer("GCOUNT", 1), cards.integer("TFIELDS", std::size(columns));
  for (std::size_t i = 0; i < std::size(columns); ++i) {
    const std::string number = std::to_string(i + 1);
    cards.text("TTYPE" + number, columns[i].first), cards.text("TFORM" + number, columns[i].second);
  }
  cards.text("TUNIT2", "METERS"), cards.text("EXTNAME", "AIPS AN"), cards.integer("EXTVER", 1);
  cards.number("ARRAYX", x), cards.number("ARRAYY", y), cards.number("ARRAYZ", z);
  cards.number("GSTIA0", sidereal_degrees({h.start.day, 0})), cards.number("DEGPDY", kSiderealDay);
  cards.number("FREQ", h.first_hz), cards.text("RDATE", date_of(h.start));
  for (const char* zero : {"POLARX", "POLARY", "UT1UTC", "DATUTC"}) cards.number(zero, 0);
  cards.text("TIMSYS", "UTC"), cards.text("ARRNAM", h.telescope), cards.text("XYZHAND", "RIGHT");
  cards.text("FRAME", "ITRF"), cards.integer("NUMORB", 0), cards.integer("NO_IF", 1), cards.integer("NOPCAL", 0);
  cards.integer("FREQID", -1), cards.text("POLTYPE", "");
  return cards.finish();
}

std::vector<std::byte> Uvfits::tail(std::uint64_t integrations) const {
  std::vector<std::byte> bytes(fits_padding(integrations * integration_bytes()));
  const std::string head = antenna_head();
  const auto* text = reinterpret_cast<const std::byte*>(head.data());
  bytes.insert(bytes.end(), text, text + head.size());
  const std::size_t begin = bytes.size();
  const double cosine = std::cos(header_.longitude * kRadians), sine = std::sin(header_.longitude * kRadians);
  const auto put_text = [&](const std::string& value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<std::byte>(i < value.size() ? value[i] : ' '));
  };
  for (std::size_t s = 0; s < stations_.size(); ++s) {
    const auto& [meridian, east, pole] = stations_[s];
    put_text(fmt::format("ANT{}", s + 1), 8);
    append_fits(bytes, meridian * cosine - east * sine), append_fits(bytes, meridian * sine + east * cosine);
    append_fits(bytes, pole), append_fits(bytes, static_cast<std::int32_t>(s + 1));
    append_fits(bytes, std::int32_t{0}), append_fits(bytes, 0.0F);
    for (const char* feed : header_.circular ? std::array{"R", "L"} : std::array{"X", "Y"}) {
      put_text(feed, 1);
      append_fits(bytes, 0.0F);
    }
  }
  bytes.resize(bytes.size() + fits_padding(bytes.size() - begin));
  return bytes;
}

}  // namespace ridge::io
