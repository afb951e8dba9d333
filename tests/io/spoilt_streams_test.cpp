// Every stream format, joined, reordered, repeated and truncated at every header boundary: each outcome is correct
// samples with a correct count of losses, or a one-line error.
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "format_support.hpp"
#include "io/arrays/npy.hpp"
#include "io/telescopes/guppi.hpp"
#include "io/telescopes/psrdada.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::io::formats {
namespace {

constexpr std::size_t kStreams = 2, kPolarizations = 2;
const StartTime kEpoch{59000, 43200};  // time index 0

// The value of one component of a sample, never 0: every stream holds the same signal at the same time. Another `sky`
// is another observation at the same time.
std::int8_t signal_at(std::uint64_t time, std::size_t stream, std::size_t polarization, std::size_t part, int sky) {
  std::uint64_t z = (time * 8 + stream * 4 + polarization * 2 + part + 1) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(sky) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 29)) * 0x94d049bb133111ebu;
  return static_cast<std::int8_t>(1 + (z >> 33) % 100);
}

// The smallest part of a file that has a header.
struct Unit {
  std::string bytes{};
  std::size_t header = 0;
  std::uint64_t first = 0, samples = 0;  // times in the unit
  int sky = 0;
  std::optional<std::size_t> thread{};  // VDIF: the only stream and polarization of the unit
  bool whole = true;
};
using Units = std::vector<Unit>;

struct Recording {
  std::uint64_t first = 0;  // time index
  std::size_t times = 24;
  int sky = 0;
  double frequency = 1400;
};

struct Format {
  std::string name{};
  double sample_seconds = 1e-3;
  std::uint64_t unit_samples = 8;
  std::function<Units(const Recording&)> write{};
  std::function<std::unique_ptr<SampleReader>(std::unique_ptr<InputStream>)> open{};
};

// --- the formats -------------------------------------------------------------------------------------------------

// A thread per stream and polarization, 8 samples per frame.
Units write_vdif(const Recording& recording, std::uint64_t frames_per_second, double rate) {
  Units units;
  for (std::size_t t = 0; t < recording.times / 2; ++t) {
    const std::uint64_t number = recording.first / 8 + t;
    for (std::uint32_t thread = 0; thread < kStreams * kPolarizations; ++thread) {
      VdifHeader header;
      header.epoch = 40;  // 2020-01-01, MJD 58849
      header.seconds = static_cast<std::uint32_t>(151 * 86400 + 43200 + number / frames_per_second);
      header.frame = static_cast<std::uint32_t>(number % frames_per_second);
      header.frame_bytes = 32 + 16;
      header.thread = thread;
      header.sample_rate = rate;
      Unit unit{vdif_header(header), 32, number * 8, 8, recording.sky, thread};
      for (std::uint64_t n = unit.first; n < unit.first + 8; ++n) {
        for (std::size_t part = 0; part < 2; ++part) {
          unit.bytes += static_cast<char>(
              signal_at(n, thread / kPolarizations, thread % kPolarizations, part, recording.sky) ^ '\x80');
        }
      }
      units.push_back(unit);
    }
  }
  return units;
}

void append_sample(std::string& to, std::uint64_t time, std::size_t stream, int sky) {
  for (std::size_t p = 0; p < kPolarizations; ++p) {
    for (std::size_t part = 0; part < 2; ++part) to += static_cast<char>(signal_at(time, stream, p, part, sky));
  }
}

Units write_psrdada(const Recording& recording, bool sized, std::uint64_t overlap) {
  Units units;
  const std::uint64_t each = kStreams * kPolarizations * 2, step = 8 - overlap;
  for (std::size_t i = 0; i < (sized ? recording.times / 4 : 1); ++i) {
    PsrdadaHeader header;
    header.channels = kStreams;
    header.sample_seconds = 1e-3;
    header.frequency_mhz = recording.frequency;
    header.bandwidth_mhz = 2;
    header.start = kEpoch;
    header.overlap = overlap * each;
    header.file_bytes = sized ? 8 * each : 0;
    Unit unit{{}, header.header_bytes, recording.first + i * step, sized ? 8 : recording.times, recording.sky};
    header.offset = unit.first * each;
    unit.bytes = psrdada_text(header);
    for (std::uint64_t n = unit.first; n < unit.first + unit.samples; ++n) {
      for (std::size_t s = 0; s < kStreams; ++s) append_sample(unit.bytes, n, s, recording.sky);
    }
    units.push_back(unit);
  }
  return units;
}

Units write_guppi(const Recording& recording, std::uint64_t overlap, bool counted, std::int64_t packets, bool direct_io,
                  bool time_first) {
  Units units;
  for (std::size_t i = 0; i < recording.times / 2; ++i) {
    GuppiHeader header;
    header.channels = kStreams;
    header.overlap = overlap;
    header.block_bytes = kStreams * (8 + overlap) * kPolarizations * 2;
    header.counted = counted;
    header.packets = packets;
    header.packet =
        static_cast<std::int64_t>(recording.first / 8 + i) * (packets > 0 ? packets : 4) + (packets > 0 ? 100 : 0);
    header.first_packet = packets > 0 ? 100 : 0;
    header.sample_seconds = 1e-3;
    header.frequency_mhz = recording.frequency;
    header.bandwidth_mhz = -2;
    header.start = kEpoch;
    header.direct_io = direct_io;
    header.time_first = time_first;
    Unit unit{guppi_cards(header), 0, recording.first + i * 8, 8 + overlap, recording.sky};
    unit.header = unit.bytes.size();
    for (std::uint64_t k = 0; k < kStreams * unit.samples; ++k) {
      const std::uint64_t n = time_first ? k / kStreams : k % unit.samples;
      append_sample(unit.bytes, unit.first + n, time_first ? k % kStreams : k / unit.samples, recording.sky);
    }
    units.push_back(unit);
  }
  return units;
}

Units write_npy(const Recording& recording) {
  Unit unit{npy_header({ElementType::int8, {recording.times, kStreams, kPolarizations, 2}}, 0), 0, recording.first,
            recording.times, recording.sky};
  unit.header = unit.bytes.size();
  for (std::uint64_t n = unit.first; n < unit.first + unit.samples; ++n) {
    for (std::size_t s = 0; s < kStreams; ++s) append_sample(unit.bytes, n, s, recording.sky);
  }
  return {unit};
}

// Opens it as the command does; a .npy file has no time and starts at index 0.
std::unique_ptr<SampleReader> open_npy(std::unique_ptr<InputStream> in) {
  read_npy_header(*in);
  SampleInfo info;
  info.format = ".npy";
  info.streams = kStreams;
  info.block = 1;
  info.start = kEpoch;
  return raw_reader(std::move(in), info);
}

std::vector<Format> every_format() {
  const auto vdif = [](double rate) {
    return [rate](std::unique_ptr<InputStream> in) { return vdif_reader(std::move(in), 2, rate); };
  };
  const auto dada = [](std::unique_ptr<InputStream> in) { return psrdada_reader(std::move(in)); };
  const auto guppi = [](std::unique_ptr<InputStream> in) { return guppi_reader(std::move(in)); };
  std::vector<Format> formats;
  formats.push_back(
      {"VDIF with its rate", 1e-3, 8, [](const Recording& r) { return write_vdif(r, 125, 1000); }, vdif(0)});
  formats.push_back(
      {"VDIF with --rate", 1 / 64.0, 8, [](const Recording& r) { return write_vdif(r, 8, 0); }, vdif(64)});
  formats.push_back({"PSRDADA", 1e-3, 8, [](const Recording& r) { return write_psrdada(r, true, 0); }, dada});
  formats.push_back(
      {"PSRDADA overlapping", 1e-3, 8, [](const Recording& r) { return write_psrdada(r, true, 3); }, dada});
  formats.push_back(
      {"PSRDADA without FILE_SIZE", 1e-3, 8, [](const Recording& r) { return write_psrdada(r, false, 0); }, dada});
  formats.push_back(
      {"GUPPI RAW", 1e-3, 8, [](const Recording& r) { return write_guppi(r, 0, true, 4, false, false); }, guppi});
  formats.push_back({"GUPPI RAW overlapping", 1e-3, 8,
                     [](const Recording& r) { return write_guppi(r, 3, true, 16, true, false); }, guppi});
  formats.push_back(
      {"GUPPI RAW by time", 1e-3, 8, [](const Recording& r) { return write_guppi(r, 0, true, 1, true, true); }, guppi});
  formats.push_back({"GUPPI RAW without PIPERBLK", 1e-3, 8,
                     [](const Recording& r) { return write_guppi(r, 0, true, 0, false, false); }, guppi});
  formats.push_back({"GUPPI RAW without PKTIDX", 1e-3, 8,
                     [](const Recording& r) { return write_guppi(r, 0, false, 0, false, false); }, guppi});
  formats.push_back({".npy", 1e-3, 8, write_npy, open_npy});
  return formats;
}

// --- what becomes of them ----------------------------------------------------------------------------------------

struct Spoilt {
  std::string what{};
  Units units{};
};

std::vector<Spoilt> every_fault(const Format& format) {
  const std::uint64_t first = 13 * format.unit_samples;
  const Recording usual{.first = format.name == ".npy" ? 0 : first};
  const Units units = format.write(usual);
  const std::size_t n = units.size();
  std::vector<Spoilt> all{{"as written", units}};
  const auto joined = [](Units a, const Units& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const auto with = [&](const Recording& changed, const std::string& what) {
    const Units other = format.write(changed);
    all.push_back({what + " behind", joined(units, other)});
    all.push_back({what + " in front", joined(other, units)});
    Units mixed;
    for (std::size_t i = 0; i < n; ++i) {
      mixed.push_back(units[i]);
      mixed.push_back(other[i]);
    }
    all.push_back({what + " in between", mixed});
    all.push_back({"one unit of " + what + " behind", joined(units, {other[0]})});
    all.push_back(
        {"two units of " + what + " in front", joined({other.begin(), other.begin() + (n > 1 ? 2 : 1)}, units)});
    all.push_back({"one unit of " + what, joined({other[0]}, {units[0]})});
  };
  for (const std::uint64_t away : {0, 1, 12, 30, 500}) {
    Recording later = usual, earlier = usual;
    later.first += away * format.unit_samples;
    earlier.first -= std::min(away * format.unit_samples, usual.first);
    with(later, fmt::format("the signal {} units later", away));
    with(earlier, fmt::format("the signal {} units earlier", away));
    later.sky = earlier.sky = 1;
    with(later, fmt::format("another signal {} units later", away));
    with(earlier, fmt::format("another signal {} units earlier", away));
  }
  Recording band = usual;
  band.frequency = 1500;
  band.first += 24 * format.unit_samples;
  with(band, "another band");
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const Units before(units.begin(), units.begin() + at), behind(units.begin() + at + 1, units.end());
    all.push_back({fmt::format("without unit {}", i), joined(before, behind)});
    all.push_back({fmt::format("unit {} twice", i), joined(joined(before, {units[i], units[i]}), behind)});
    all.push_back({fmt::format("unit {} again at the end", i), joined(units, {units[i]})});
    all.push_back({fmt::format("unit {} first", i), joined({units[i]}, joined(before, behind))});
    all.push_back({fmt::format("units from {} on first", i), joined({units.begin() + at, units.end()}, before)});
    all.push_back({fmt::format("cut before unit {}", i), before});
    for (const std::size_t bytes : {std::size_t{1}, units[i].header / 2, units[i].header - 1, units[i].header,
                                    units[i].header + 1, units[i].header + 16, units[i].bytes.size() - 1}) {
      if (bytes >= units[i].bytes.size()) continue;
      Unit part = units[i];
      part.bytes.resize(bytes);
      part.whole = false;
      all.push_back({fmt::format("cut {} bytes into unit {}", bytes, i), joined(before, {part})});
      // A disk that was full for a while.
      all.push_back({fmt::format("unit {} {} bytes long", i, bytes), joined(joined(before, {part}), behind)});
    }
    for (const std::size_t j : {i + 1, i + 3, i + 9, i + 40}) {
      if (j >= n) break;
      Units swapped = units;
      std::swap(swapped[i], swapped[j]);
      all.push_back({fmt::format("units {} and {} swapped", i, j), swapped});
    }
  }
  all.push_back({"backwards", {units.rbegin(), units.rend()}});
  return all;
}

class SpoiltStreams : public FormatTest {
 protected:
  enum class Kind { right, error, uncounted };

  // Reads the stream and fails the test unless the samples are correct or an error gives the reason.
  Kind outcome(const Format& format, const Spoilt& spoilt) {
    std::string bytes;
    for (const Unit& unit : spoilt.units) bytes += unit.bytes;
    try {
      auto reader = format.open(open(bytes));
      const auto samples = all(*reader, 1 << 17);
      if (!reader->counts_losses() && format.name != ".npy") {
        EXPECT_FALSE(reader->remarks().empty()) << format.name << ", " << spoilt.what;
        return Kind::uncounted;
      }
      check(format, spoilt, *reader, samples);
      return Kind::right;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("stream"), std::string::npos)
          << error.what();  // contains the file's name
      return Kind::error;
    }
  }

  static void check(const Format& format, const Spoilt& spoilt, SampleReader& reader,
                    const std::vector<std::byte>& bytes) {
    SCOPED_TRACE(format.name + ", " + spoilt.what);
    const SampleInfo& info = reader.info();
    if (info.streams != kStreams) {  // missing threads are not streams
      ASSERT_LE(spoilt.units.size(), info.streams * kPolarizations);
      return;
    }
    ASSERT_TRUE(info.start.known());
    const double begun =
        (static_cast<double>(info.start.day - kEpoch.day) * 86400 + info.start.second - kEpoch.second) /
        format.sample_seconds;
    const auto first = static_cast<std::uint64_t>(std::llround(begun));
    ASSERT_NEAR(begun, static_cast<double>(first), 1e-3);
    ASSERT_EQ(bytes.size() % info.sample_bytes(), 0u);
    const std::uint64_t count = bytes.size() / info.sample_bytes();
    std::vector<bool> lost(count, false);
    std::uint64_t lost_count = 0;
    for (const Gap& gap : reader.gaps()) {
      ASSERT_LE(gap.first + gap.samples, count);
      for (std::uint64_t n = gap.first; n < gap.first + gap.samples; ++n) lost[n] = true;
      lost_count += gap.samples;
    }
    EXPECT_EQ(reader.samples_lost(), lost_count);
    // The recordings that hold a time of a stream and polarization.
    struct Held {
      std::set<int> skies{};
      bool whole = false;
    };
    std::map<std::pair<std::uint64_t, std::size_t>, Held> held;
    for (const Unit& unit : spoilt.units) {
      for (std::uint64_t n = unit.first; n < unit.first + unit.samples; ++n) {
        for (std::size_t thread = 0; thread < kStreams * kPolarizations; ++thread) {
          if (unit.thread.value_or(thread) != thread) continue;
          Held& at = held[{n, thread}];
          at.skies.insert(unit.sky);
          at.whole |= unit.whole;
        }
      }
    }
    for (std::uint64_t n = 0; n < count; ++n) {
      for (std::size_t k = 0; k < kStreams * kPolarizations * 2; ++k) {
        const std::size_t s = k / 4, p = k / 2 % 2;
        const std::size_t at =
            (((n / info.block * kStreams + s) * info.block + n % info.block) * kPolarizations + p) * 2 + k % 2;
        const auto value = static_cast<std::int8_t>(bytes[at]);
        if (lost[n] && value == 0) continue;  // other threads may be present
        bool right = false;
        for (const int sky : held[{first + n, k / 2}].skies) right |= value == signal_at(first + n, s, p, k % 2, sky);
        ASSERT_TRUE(right) << "sample " << n;
      }
    }
    if (!reader.remarks().empty()) return;  // remarks cover what the samples lack
    for (const auto& [place, found] : held) {
      if (!found.whole) continue;
      EXPECT_EQ(found.skies.size(), 1u) << "two recordings hold time " << place.first;
      // The overlap after the last block of GUPPI RAW is not used.
      EXPECT_TRUE(place.first >= first &&
                  place.first < first + count + spoilt.units.back().samples - format.unit_samples)
          << "time " << place.first << " is gone";
    }
  }
};

TEST_F(SpoiltStreams, GiveRightSamplesOrAnError) {
  for (const Format& format : every_format()) {
    std::map<Kind, std::size_t> kinds;
    for (const Spoilt& spoilt : every_fault(format)) {
      const Kind kind = outcome(format, spoilt);
      ++kinds[kind];
      EXPECT_FALSE(kind == Kind::error && spoilt.what == "as written") << format.name;
      if (HasFailure()) return;
    }
    EXPECT_GT(kinds[Kind::error], 20u) << format.name;
    EXPECT_GT(kinds[Kind::right] + kinds[Kind::uncounted], 0u) << format.name;
    RecordProperty(format.name, fmt::format("{} right, {} refused", kinds[Kind::right], kinds[Kind::error]));
  }
}

}  // namespace
}  // namespace ridge::io::formats
