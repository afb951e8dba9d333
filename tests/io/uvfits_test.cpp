// UVFITS files: parsed here from the bytes, and read through cfitsio where it is installed. Phases and coordinates are
// compared with the sky: a plane wave at each station, from altitude and azimuth formulas that the writer does not use.
#include "io/telescopes/fits/uvfits.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>

#include "format_support.hpp"
#include "support/error_of.hpp"

#if __has_include(<fitsio.h>)
#include <fitsio.h>

#include "base/files.hpp"
#include "base/library.hpp"
#include "io/telescopes/fits/psrfits.hpp"
#endif

namespace ridge::io::formats {
namespace {

using Value = std::complex<float>;
using testing::HasSubstr;
constexpr double kRadians = std::numbers::pi / 180, kLight = 299792458.0;

UvfitsHeader array_of(std::size_t stations, std::size_t polarizations, std::size_t channels) {
  UvfitsHeader header{.longitude = 21.4,
                      .latitude = -30.7,
                      .height = 1053,
                      .right_ascension = 201.5,
                      .declination = -43.25,
                      .polarizations = polarizations,
                      .channels = channels,
                      .first_hz = 1.4e9,
                      .step_hz = -2e6,
                      .start = {60735, 52123.456789},
                      .seconds = 0.5,
                      .telescope = "RIDGE",
                      .source = "Cen A"};
  for (std::size_t s = 0; s < stations; ++s) {
    const auto x = static_cast<double>(s);
    header.stations.push_back({37 * x - 3 * x * x, 11 * x + 5 * x * x, 0.5 * x});
  }
  return header;
}

// A whole file.
std::string file_of(const UvfitsHeader& header, const std::vector<std::vector<Value>>& integrations,
                    const std::vector<double>& weights) {
  const Uvfits uvfits(header);
  std::vector<std::byte> body;
  for (std::size_t t = 0; t < integrations.size(); ++t) uvfits.append(t, integrations[t], weights[t], body);
  EXPECT_EQ(body.size(), integrations.size() * uvfits.integration_bytes());
  EXPECT_EQ(uvfits.head(0).size(), uvfits.head(integrations.size()).size());
  const auto tail = uvfits.tail(integrations.size());
  body.insert(body.end(), tail.begin(), tail.end());
  return uvfits.head(integrations.size()) + std::string(reinterpret_cast<const char*>(body.data()), body.size());
}

// Keywords of the header at `at`; `at` moves behind it.
std::map<std::string, std::string> keywords(const std::string& file, std::size_t& at) {
  std::map<std::string, std::string> found;
  for (;; at += 80) {
    const std::string card = file.substr(at, 80);
    const std::string key = card.substr(0, card.find_first_of(" ="));
    if (key == "END") break;
    EXPECT_EQ(card.substr(8, 2), "= ") << card;
    EXPECT_EQ(found.count(key), 0U) << key;
    found[key] = card.substr(10);
  }
  at = (at / 2880 + 1) * 2880;
  return found;
}

float float_at(const std::string& file, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<std::uint8_t>(file[at + i]);
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

struct GroupData {
  std::vector<float> parameters, values;
};

std::vector<GroupData> groups_of(const std::string& file) {
  std::size_t at = 0;
  auto keys = keywords(file, at);
  const auto number = [&](const std::string& key) { return std::stoul(keys.at(key)); };
  std::vector<GroupData> groups(number("GCOUNT"));
  const std::size_t values = number("NAXIS2") * number("NAXIS3") * number("NAXIS4");
  for (GroupData& group : groups) {
    for (std::size_t i = 0; i < number("PCOUNT"); ++i, at += 4) group.parameters.push_back(float_at(file, at));
    for (std::size_t i = 0; i < values; ++i, at += 4) group.values.push_back(float_at(file, at));
  }
  return groups;
}

double double_of(const std::string& file, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word = word << 8 | static_cast<std::uint8_t>(file[at + i]);
  double value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// Direction in metres east, north and up of a source, by the formulas of altitude and azimuth.
std::array<double, 3> horizon(const UvfitsHeader& header, double ra, double dec, double hours_after) {
  // Greenwich sidereal time of 2025-03-01 00:00 UT1 from the Astronomical Almanac's expression, in seconds.
  const double centuries = (60735 - 51544.5) / 36525;
  const double midnight = 24110.54841 + 8640184.812866 * centuries + 0.093104 * centuries * centuries;
  const double seconds = midnight + 1.00273790935 * (header.start.second + 3600 * hours_after);
  const double hour = (seconds / 240 + header.longitude - ra) * kRadians;
  const double d = dec * kRadians, phi = header.latitude * kRadians;
  const double altitude = std::asin(std::sin(phi) * std::sin(d) + std::cos(phi) * std::cos(d) * std::cos(hour));
  const double azimuth = std::atan2(-std::cos(d) * std::sin(hour),
                                    std::sin(d) * std::cos(phi) - std::cos(d) * std::cos(hour) * std::sin(phi));
  return {std::cos(altitude) * std::sin(azimuth), std::cos(altitude) * std::cos(azimuth), std::sin(altitude)};
}

// Sums of `weight` products of a plane wave from (ra, dec): the station nearer to the source is ahead in phase.
std::vector<Value> plane_wave(const UvfitsHeader& header, double ra, double dec, std::size_t integration,
                              double weight) {
  const auto s = horizon(header, ra, dec, (static_cast<double>(integration) + 0.5) * header.seconds / 3600);
  const auto voltage = [&](std::size_t station, std::size_t channel, std::size_t p) {
    const auto& r = header.stations[station];
    const double f = header.first_hz + header.step_hz * static_cast<double>(channel);
    const double cycles = f * (r[0] * s[0] + r[1] * s[1] + r[2] * s[2]) / kLight;
    return std::polar(p == 0 ? 1.0 : 0.5, 2 * std::numbers::pi * cycles + (p == 0 ? 0 : 0.3));
  };
  std::vector<Value> sums;
  for (std::size_t j = 0; j < header.stations.size(); ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      for (std::size_t k = 0; k < header.channels; ++k) {
        for (std::size_t p = 0; p < header.polarizations; ++p) {
          for (std::size_t q = 0; q < header.polarizations; ++q)
            sums.emplace_back(weight * voltage(i, k, p) * std::conj(voltage(j, k, q)));
        }
      }
    }
  }
  return sums;
}

// Every visibility of a point source must have the phase that its position and the file's own u, v, w imply.
void expect_phases(const UvfitsHeader& header, double ra, double dec) {
  const double weight = 40;
  std::vector<std::vector<Value>> integrations;
  for (std::size_t t = 0; t < 3; ++t) integrations.push_back(plane_wave(header, ra, dec, t, weight));
  const auto groups = groups_of(file_of(header, integrations, {weight, weight, weight}));
  const std::size_t baselines = header.stations.size() * (header.stations.size() + 1) / 2;
  ASSERT_EQ(groups.size(), 3 * baselines);
  const double d = dec * kRadians, d0 = header.declination * kRadians, a = (ra - header.right_ascension) * kRadians;
  const double l = std::cos(d) * std::sin(a), m = std::sin(d) * std::cos(d0) - std::cos(d) * std::sin(d0) * std::cos(a);
  const double n = std::sin(d) * std::sin(d0) + std::cos(d) * std::cos(d0) * std::cos(a);
  const double feeds[] = {1, 0.25, 0.5, 0.5}, turns[] = {0, 0, 0.3, -0.3};  // XX, YY, XY, YX of conj(E_1) E_2
  for (const GroupData& group : groups) {
    const double u = static_cast<double>(group.parameters[0]), v = static_cast<double>(group.parameters[1]);
    const double w = static_cast<double>(group.parameters[2]);
    for (std::size_t k = 0; k < header.channels; ++k) {
      const double f = header.first_hz + header.step_hz * static_cast<double>(k);
      for (std::size_t s = 0; s < header.polarizations * header.polarizations; ++s) {
        const auto at = 3 * (k * header.polarizations * header.polarizations + s);
        const std::complex<double> got(group.values[at], group.values[at + 1]);
        const auto expected =
            std::polar(feeds[s], -2 * std::numbers::pi * f * (u * l + v * m + w * (n - 1)) + turns[s]);
        // u, v, w are floats: 6e-8 of 1e-6 s at 1.4 GHz are 1e-3 radians.
        ASSERT_LE(std::abs(got - expected), 4e-3) << "baseline " << group.parameters[5] << " channel " << k << " " << s;
        ASSERT_EQ(group.values[at + 2], 40.0F);
      }
    }
  }
}

class UvfitsFiles : public FormatTest {};

TEST_F(UvfitsFiles, PhasesAreThoseOfTheSky) {
  for (const std::size_t polarizations : {1, 2}) {
    const UvfitsHeader header = array_of(5, polarizations, 3);
    expect_phases(header, header.right_ascension, header.declination);
    expect_phases(header, header.right_ascension + 0.7, header.declination + 0.4);
    expect_phases(header, header.right_ascension - 1.1, header.declination - 0.6);
  }
}

// With delays that follow the phase centre the values are only divided and conjugated.
TEST_F(UvfitsFiles, TrackedSamplesAreNotRotated) {
  UvfitsHeader header = array_of(3, 2, 2);
  header.tracked = true;
  std::vector<Value> sums;
  for (std::size_t i = 0; i < 6 * 2 * 4; ++i) sums.emplace_back(static_cast<float>(i), static_cast<float>(i % 5));
  const auto groups = groups_of(file_of(header, {sums}, {2}));
  const std::size_t order[] = {0, 3, 1, 2};
  for (std::size_t b = 0; b < 6; ++b) {
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t s = 0; s < 4; ++s) {
        const Value from = sums[(b * 2 + k) * 4 + order[s]];
        EXPECT_EQ(groups[b].values[3 * (4 * k + s)], from.real() / 2);
        EXPECT_EQ(groups[b].values[3 * (4 * k + s) + 1], -from.imag() / 2);
      }
    }
  }
  EXPECT_EQ(groups[1].parameters[5], 256.0F * 1 + 2);
  EXPECT_EQ(groups[4].parameters[5], 256.0F * 2 + 3);
}

TEST_F(UvfitsFiles, ValuesThatAreMissingHaveNoWeight) {
  const UvfitsHeader header = array_of(2, 1, 2);
  std::vector<Value> sums(6, Value(3, 4));
  sums[3] = {std::numeric_limits<float>::quiet_NaN(), 1};
  sums[4] = {1, std::numeric_limits<float>::infinity()};
  const auto groups = groups_of(file_of(header, {sums, std::vector<Value>(6, Value(0))}, {5, 0}));
  ASSERT_EQ(groups.size(), 6U);
  EXPECT_EQ(groups[1].values[2], 5.0F);
  for (const auto& [group, at] : {std::pair{1, 3}, {2, 0}, {3, 0}, {4, 3}, {5, 0}}) {
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(groups[static_cast<std::size_t>(group)].values[static_cast<std::size_t>(at) + i], 0.0F) << group;
  }
}

TEST_F(UvfitsFiles, HeadersAreComplete) {
  const UvfitsHeader header = array_of(300, 2, 4);
  std::vector<Value> sums(300 * 301 / 2 * 4 * 4, Value(1, 0));
  const std::string file = file_of(header, {sums}, {1});
  EXPECT_EQ(file.size() % 2880, 0U);
  std::size_t at = 0;
  auto keys = keywords(file, at);
  EXPECT_THAT(keys["GROUPS"], HasSubstr("T"));
  EXPECT_THAT(keys["CTYPE4"], HasSubstr("FREQ"));
  EXPECT_EQ(std::stod(keys["CRVAL4"]), 1.4e9);
  EXPECT_EQ(std::stod(keys["CDELT4"]), -2e6);
  EXPECT_EQ(std::stod(keys["CRVAL3"]), -5);
  EXPECT_EQ(std::stod(keys["CRVAL6"]), 201.5);
  EXPECT_EQ(std::stod(keys["PZERO4"]), 2460735.5);
  EXPECT_THAT(keys["DATE-OBS"], HasSubstr("'2025-03-01'"));
  EXPECT_NEAR(std::stod(keys["EPOCH"]), 2025.165, 0.01);
  const auto groups = groups_of(file);
  const auto& last = groups.back().parameters;
  EXPECT_EQ(last[5], 2048.0F * 300 + 300 + 65536);
  const double day = static_cast<double>(last[3]) + static_cast<double>(last[4]);
  EXPECT_NEAR(day * 86400, 52123.456789 + 0.25, 5e-6);
  at += groups.size() * (7 + 48) * 4;
  at = (at + 2879) / 2880 * 2880;
  auto antennas = keywords(file, at);
  EXPECT_THAT(antennas["EXTNAME"], HasSubstr("'AIPS AN '"));
  EXPECT_EQ(std::stoul(antennas["NAXIS2"]), 300U);
  // MeerKAT's reference, 30:42:39.8 S, 21:26:38.0 E, 1086.6 m: 5109360.1, 2006852.6, -3238948.1 m.
  UvfitsHeader other = array_of(1, 1, 1);
  other.longitude = 21.44388889, other.latitude = -30.71105556, other.height = 1086.6;
  const std::string small = file_of(other, {{Value(1)}}, {1});
  at = 2880 * 2 + 2880;
  at = small.find("XTENSION");
  auto table = keywords(small, at);
  EXPECT_NEAR(std::stod(table["ARRAYX"]), 5109360.1, 2);
  EXPECT_NEAR(std::stod(table["ARRAYY"]), 2006852.6, 2);
  EXPECT_NEAR(std::stod(table["ARRAYZ"]), -3238948.1, 2);
  EXPECT_EQ(small.substr(at, 8), "ANT1    ");
}

// One kilometre north of the site: the station's geocentric position minus that of the array.
TEST_F(UvfitsFiles, AntennasAreGeocentric) {
  UvfitsHeader header = array_of(2, 1, 1);
  header.stations = {{0, 1000, 0}, {0, 0, 10}};
  const std::string file = file_of(header, {std::vector<Value>(3)}, {1});
  std::size_t at = file.find("XTENSION");
  keywords(file, at);
  const double phi = header.latitude * kRadians, lambda = header.longitude * kRadians;
  EXPECT_NEAR(double_of(file, at + 8), -1000 * std::sin(phi) * std::cos(lambda), 1e-9);
  EXPECT_NEAR(double_of(file, at + 16), -1000 * std::sin(phi) * std::sin(lambda), 1e-9);
  EXPECT_NEAR(double_of(file, at + 24), 1000 * std::cos(phi), 1e-9);
  EXPECT_NEAR(double_of(file, at + 54 + 8), 10 * std::cos(phi) * std::cos(lambda), 1e-9);
  EXPECT_NEAR(double_of(file, at + 54 + 24), 10 * std::sin(phi), 1e-9);
}

TEST_F(UvfitsFiles, RefusesIncompleteHeaders) {
  UvfitsHeader header = array_of(2, 1, 1);
  header.start = {};
  EXPECT_THAT(test::error_of([&] { Uvfits{header}; }, ErrorKind::invalid_argument), HasSubstr("needs the start time"));
  header = array_of(2, 1, 1);
  header.first_hz = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(test::error_of([&] { Uvfits{header}; }, ErrorKind::invalid_argument), HasSubstr("needs the frequency"));
  header.stations.clear();
  EXPECT_THAT(test::error_of([&] { Uvfits{header}; }, ErrorKind::invalid_argument),
              HasSubstr("needs 1 to 2047 stations, got 0"));
}

#if __has_include(<fitsio.h>)
TEST_F(UvfitsFiles, CfitsioReadsThem) {
  if (!have_psrfits()) GTEST_SKIP() << "built without cfitsio";
  static const base::Library library{base::cfitsio_library, "UVFITS files"};
#define RIDGE_CFITSIO(name) const base::Function<decltype(::name)> name{library, #name}
  RIDGE_CFITSIO(ffdkopn);
  RIDGE_CFITSIO(ffclos);
  RIDGE_CFITSIO(ffggpe);
  RIDGE_CFITSIO(ffgpve);
  RIDGE_CFITSIO(ffmnhd);
  RIDGE_CFITSIO(ffgcvd);
  RIDGE_CFITSIO(ffgkyd);
#undef RIDGE_CFITSIO
  const UvfitsHeader header = array_of(4, 2, 3);
  const std::vector<std::vector<Value>> integrations{plane_wave(header, 201, -43, 0, 8),
                                                     plane_wave(header, 201, -43, 1, 6)};
  const std::string file = file_of(header, integrations, {8, 6}), path = (folder_ / "vis.uvfits").string();
  base::write_file(path, file);
  const auto groups = groups_of(file);
  fitsfile* fits = nullptr;
  int status = 0, any = 0;
  ffdkopn(&fits, path.c_str(), READONLY, &status);
  for (std::size_t g = 0; g < groups.size() && status == 0; ++g) {
    std::vector<float> parameters(7), values(groups[g].values.size());
    ffggpe(fits, static_cast<long>(g + 1), 1, 7, parameters.data(), &status);
    ffgpve(fits, static_cast<long>(g + 1), 1, static_cast<long>(values.size()), 0, values.data(), &any, &status);
    EXPECT_EQ(values, groups[g].values);
    EXPECT_EQ(parameters[0], groups[g].parameters[0]);
    EXPECT_EQ(parameters[5], groups[g].parameters[5]);
  }
  ffmnhd(fits, BINARY_TBL, const_cast<char*>("AIPS AN"), 0, &status);
  double position[3] = {}, sidereal = 0;
  ffgcvd(fits, 2, 4, 1, 3, 0, position, &any, &status);
  ffgkyd(fits, "GSTIA0", &sidereal, nullptr, &status);
  EXPECT_EQ(status, 0);
  EXPECT_NEAR(std::hypot(position[0], position[1], position[2]), std::hypot(84, 78, 1.5), 1e-9);
  EXPECT_NEAR(sidereal, 158.9, 0.2);  // 10h36m at midnight of March 1
  ffclos(fits, &status);
}
#endif

}  // namespace
}  // namespace ridge::io::formats
