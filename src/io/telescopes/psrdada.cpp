// Parses PSRDADA headers, and reads the samples of consecutive files.
#include "io/telescopes/psrdada.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

constexpr std::size_t kLeastHeader = 4096, kMostHeader = std::size_t{1} << 20;
constexpr std::size_t kDadaPiece = std::size_t{1} << 20;  // bytes per read, or one sample if that is longer
constexpr std::size_t kSeam = 16;                         // bytes; longer than the text that identifies a header
constexpr std::int64_t kMostDadaBytes = std::int64_t{1} << 60;

// True if the text contains lines of a header. NCHAN is in every header; with the characters around it, it occurs once
// in 7e16 bytes of noise.
bool holds_header(std::string_view text) {
  for (std::size_t at = text.find("NCHAN"); at != std::string_view::npos; at = text.find("NCHAN", at + 1)) {
    const bool line =
        at > 0 && text[at - 1] == '\n' && at + 5 < text.size() && (text[at + 5] == ' ' || text[at + 5] == '\t');
    if (line) return true;
  }
  return text.find("HDR_SIZE") != std::string_view::npos || text.find("HDR_VERSION") != std::string_view::npos;
}

// UTC_START usually holds whole seconds, with the fraction in PICOSECONDS. Text without digits ("UNKNOWN") means no
// time.
StartTime psrdada_start(const HeaderFields& fields) {
  const std::string text = fields.text("UTC_START");
  if (text.find_first_of("0123456789") == std::string::npos) {
    const double mjd = fields.number("MJD_START", 0, 1e6, 0), day = std::floor(mjd);
    return StartTime{static_cast<std::int64_t>(day), (mjd - day) * 86400};
  }
  const auto start = parse_utc(text);
  if (!start) fields.fail(fmt::format("UTC_START is \"{}\"; yyyy-mm-dd-hh:mm:ss is needed", text));
  return start->after(static_cast<double>(fields.integer("PICOSECONDS", 0, 999'999'999'999, 0)) * 1e-12);
}

// Parses "KEY value # comment" lines up to the first NUL.
HeaderFields parse(std::string_view text, const std::string& name) {
  HeaderFields fields("PSRDADA", name);
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    constexpr std::string_view kSpace = " \t\r";
    const auto key = line.find_first_not_of(kSpace);
    if (key == std::string_view::npos) continue;
    const auto key_end = std::min(line.find_first_of(kSpace, key), line.size());
    const auto value = line.find_first_not_of(kSpace, key_end);
    const std::string word(line.substr(key, key_end - key));
    for (const char c : word) {
      if (c <= ' ' || c > 126) fields.fail("a keyword with unprintable characters");
    }
    if (value == std::string_view::npos) {
      fields.set(word, "");
      continue;
    }
    const auto last = line.find_last_not_of(kSpace);
    fields.set(word, std::string(line.substr(value, last - value + 1)));
  }
  return fields;
}

class PsrdadaReader final : public SampleReader {
 public:
  explicit PsrdadaReader(std::unique_ptr<InputStream> in) : in_(std::move(in)) {
    if (!read_psrdada_header(*in_, first_)) {
      throw Error(ErrorKind::io, fmt::format("{}: an empty PSRDADA stream", in_->name()));
    }
    HeaderFields fields("PSRDADA", in_->name());
    if (first_.dimensions != 2) fields.fail("NDIM is 1: real samples; the filter bank takes complex ones");
    if (first_.polarizations > 2) fields.fail(fmt::format("NPOL is {}; 1 and 2 are read", first_.polarizations));
    info_.format = "PSRDADA";
    info_.type = first_.bits == 4    ? SampleType::int4
                 : first_.bits == 8  ? SampleType::int8
                 : first_.bits == 16 ? SampleType::int16
                                     : SampleType::float32;
    info_.streams = first_.channels;
    info_.polarizations = first_.polarizations;
    info_.block = 1;
    info_.sample_seconds = first_.sample_seconds;
    info_.stream_step_mhz = first_.bandwidth_mhz / static_cast<double>(first_.channels);
    info_.frequency_mhz = first_.frequency_mhz - first_.bandwidth_mhz / 2 + info_.stream_step_mhz / 2;
    info_.start =
        first_.start.after(static_cast<double>(first_.offset / first_.sample_bytes()) * first_.sample_seconds);
    info_.source = first_.source;
    info_.telescope = first_.telescope;
    left_ = first_.file_bytes;
    expected_ = first_.offset;
    whole_ = std::max<std::size_t>(1, kDadaPiece / first_.sample_bytes()) * first_.sample_bytes();
  }

  std::vector<std::string> remarks() const override {
    if (missing_ == 0) return {};
    return {fmt::format("the last file holds {} bytes less than its FILE_SIZE", missing_)};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { HeaderFields("PSRDADA", in_->name()).fail(what); }

  bool next(std::vector<std::byte>& piece) override {
    if (first_.file_bytes > 0 && left_ == 0) {
      if (in_->peek(1).empty()) return false;
      open_next();
    }
    const std::size_t wanted =
        first_.file_bytes == 0 ? whole_ : static_cast<std::size_t>(std::min<std::uint64_t>(whole_, left_));
    in_->read_growing(piece, wanted);
    note_lost(*in_, piece.size(), 1);
    if (first_.file_bytes > 0) {
      // The last file of an observation may be shorter.
      if (piece.size() < wanted) missing_ = left_ - piece.size();
      left_ = piece.size() < wanted ? 0 : left_ - piece.size();
    }
    look_for_header(piece);
    expected_ += piece.size();
    if (first_.overlap > 0) remember_end(piece);
    if (piece.size() % first_.sample_bytes() != 0) {  // whole samples were requested
      fail(fmt::format("it ends within a sample of NCHAN {} x NPOL {} x NDIM 2 x NBIT {}", first_.channels,
                       first_.polarizations, first_.bits));
    }
    return !piece.empty();
  }

  // A file joined to another without FILE_SIZE, or shorter than it, is followed by a header in the middle of the
  // samples.
  void look_for_header(const std::vector<std::byte>& piece) {
    const std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
    const std::string seam = before_ + std::string(text.substr(0, kSeam));
    const bool in_seam = holds_header(seam);
    if (in_seam || holds_header(text)) {
      fail(
          fmt::format("another header follows {} {} bytes of samples: files joined without FILE_SIZE, or shorter than "
                      "it; channelize them one by one",
                      in_seam ? "about" : "at most", expected_ - first_.offset + (in_seam ? 0 : piece.size())));
    }
    before_ = (before_ + std::string(text.substr(text.size() - std::min(text.size(), kSeam))));
    before_.erase(0, before_.size() - std::min(before_.size(), kSeam));
  }

  // Keeps the end of a file, which the next file repeats.
  void remember_end(const std::vector<std::byte>& piece) {
    end_.insert(end_.end(), piece.begin(), piece.end());
    if (end_.size() > 2 * first_.overlap)
      end_.erase(end_.begin(), end_.end() - static_cast<std::ptrdiff_t>(first_.overlap));
  }

  void open_next() {
    PsrdadaHeader header;
    if (!read_psrdada_header(*in_, header)) return;
    before_.clear();
    const auto same = [&](const char* field, const auto& first, const auto& now) {
      if (first != now) {
        fail(fmt::format("{} is {}, and was {} in the first file: files of one observation follow each other", field,
                         now, first));
      }
    };
    same("NBIT", first_.bits, header.bits);
    same("NDIM", first_.dimensions, header.dimensions);
    same("NPOL", first_.polarizations, header.polarizations);
    same("NCHAN", first_.channels, header.channels);
    same("TSAMP", first_.sample_seconds * 1e6, header.sample_seconds * 1e6);
    same("FREQ", first_.frequency_mhz, header.frequency_mhz);
    same("BW", first_.bandwidth_mhz, header.bandwidth_mhz);
    same("UTC_START (MJD)", first_.start.mjd(), header.start.mjd());
    same("SOURCE", first_.source, header.source);
    same("TELESCOPE", first_.telescope, header.telescope);
    if (header.file_bytes == 0) fail("FILE_SIZE is missing in a file after the first");
    left_ = header.file_bytes;
    if (header.offset >= expected_) {
      add_gap((header.offset - expected_) / first_.sample_bytes());
    } else {
      // Skips the repeated samples.
      const std::uint64_t again = expected_ - header.offset;
      if (again > first_.overlap || again > left_) {
        fail(fmt::format("OBS_OFFSET is {}, before {}, the end of the previous file", header.offset, expected_));
      }
      std::vector<std::byte> repeated;
      if (in_->read_growing(repeated, static_cast<std::size_t>(again)) != again) fail("it ends within OBS_OVERLAP");
      if (again > end_.size() ||
          !std::equal(repeated.begin(), repeated.end(), end_.end() - static_cast<std::ptrdiff_t>(again))) {
        fail(
            fmt::format("the {} bytes of OBS_OVERLAP differ from the end of the file before: files of one observation "
                        "follow each other",
                        again));
      }
      left_ -= again;
    }
    expected_ = std::max(expected_, header.offset);
  }

  std::unique_ptr<InputStream> in_;
  PsrdadaHeader first_;
  std::size_t whole_ = 0;       // bytes per read: whole samples
  std::uint64_t left_ = 0;      // bytes of samples left in this file
  std::uint64_t expected_ = 0;  // OBS_OFFSET of the next byte
  std::uint64_t missing_ = 0;   // bytes by which the last file is shorter than FILE_SIZE
  std::string before_;          // the last bytes of the previous read
  std::vector<std::byte> end_;  // the last bytes of this file, at least OBS_OVERLAP
};

}  // namespace

bool looks_like_psrdada(std::string_view first_bytes) {
  for (const std::string_view word : {"HEADER ", "HDR_VERSION", "HDR_SIZE", "HEADER\t"}) {
    if (first_bytes.substr(0, word.size()) == word) return true;
  }
  return false;
}

PsrdadaHeader psrdada_header(const HeaderFields& fields) {
  PsrdadaHeader header;
  header.header_bytes = static_cast<std::size_t>(fields.integer("HDR_SIZE", kLeastHeader, kMostHeader, kLeastHeader));
  header.bits = static_cast<std::size_t>(fields.integer("NBIT", 1, 32));
  if (header.bits != 4 && header.bits != 8 && header.bits != 16 && header.bits != 32) {
    fields.fail(fmt::format("NBIT is {}; 4, 8, 16 and 32 are read", header.bits));
  }
  header.dimensions = static_cast<std::size_t>(fields.integer("NDIM", 1, 2));
  header.polarizations = static_cast<std::size_t>(fields.integer("NPOL", 1, 4));
  header.channels = static_cast<std::size_t>(fields.integer("NCHAN", 1, 1 << 20));
  header.sample_seconds = fields.number("TSAMP", 0, 1e12, 0) * 1e-6;
  header.frequency_mhz = fields.number("FREQ", -1e12, 1e12, 0);
  header.bandwidth_mhz = fields.number("BW", -1e12, 1e12, 0);
  header.start = psrdada_start(fields);
  header.offset = static_cast<std::uint64_t>(fields.integer("OBS_OFFSET", 0, kMostDadaBytes, 0));
  header.overlap = static_cast<std::uint64_t>(fields.integer("OBS_OVERLAP", 0, 1 << 30, 0));
  header.file_bytes = static_cast<std::uint64_t>(fields.integer("FILE_SIZE", 0, kMostDadaBytes, 0));
  header.source = fields.text("SOURCE");
  header.telescope = fields.text("TELESCOPE");
  const std::size_t sample_bits = header.channels * header.polarizations * header.dimensions * header.bits;
  if (sample_bits % 8 != 0)
    fields.fail(fmt::format("NBIT {} x NDIM {} is not a whole number of bytes", header.bits, header.dimensions));
  const std::size_t sample = sample_bits / 8;
  for (const auto& [key, value] :
       {std::pair{"OBS_OFFSET", header.offset}, {"OBS_OVERLAP", header.overlap}, {"FILE_SIZE", header.file_bytes}}) {
    if (value % sample != 0)
      fields.fail(fmt::format("{} is {}, not a whole number of samples of {} bytes", key, value, sample));
  }
  if (header.file_bytes > 0 && header.overlap >= header.file_bytes) {
    fields.fail(fmt::format("OBS_OVERLAP is {}, all of FILE_SIZE {}", header.overlap, header.file_bytes));
  }
  return header;
}

bool read_psrdada_header(InputStream& in, PsrdadaHeader& header) {
  std::string text(kLeastHeader, '\0');
  const std::size_t got = in.read(text.data(), text.size());
  if (got == 0) return false;
  HeaderFields fields = parse(std::string_view(text).substr(0, got), in.name());
  if (got != kLeastHeader) fields.fail(fmt::format("it ends within the header, after {} bytes", got));
  const auto size = static_cast<std::size_t>(fields.integer("HDR_SIZE", kLeastHeader, kMostHeader, kLeastHeader));
  if (size > kLeastHeader) {
    text.resize(size);
    if (in.read(text.data() + kLeastHeader, size - kLeastHeader) != size - kLeastHeader) {
      fields.fail(fmt::format("it ends within a header of HDR_SIZE {}", size));
    }
    fields = parse(text, in.name());
  }
  header = psrdada_header(fields);
  return true;
}

PsrdadaHeader read_psrdada_lines(const std::string& name) {
  InputStream in(name);
  std::string text(kMostHeader, '\0');
  text.resize(in.read(text.data(), text.size()));
  const std::size_t padding = text.find('\0');
  if (text.empty() || padding == 0) throw Error(ErrorKind::io, name + ": holds no PSRDADA header");
  return psrdada_header(parse(std::string_view(text).substr(0, padding), in.name()));
}

std::string psrdada_text(const PsrdadaHeader& header) {
  std::string out = fmt::format(
      "HEADER DADA\nHDR_VERSION 1.0\nHDR_SIZE {}\nNBIT {}\nNDIM {}\nNPOL {}\nNCHAN {}\nTSAMP {}\nFREQ {}\nBW {}\n"
      "OBS_OFFSET {}\nOBS_OVERLAP {}\nRESOLUTION {}\n",
      header.header_bytes, header.bits, header.dimensions, header.polarizations, header.channels,
      decimal_text(header.sample_seconds * 1e6), decimal_text(header.frequency_mhz), decimal_text(header.bandwidth_mhz),
      header.offset, header.overlap, header.sample_bytes());
  if (header.file_bytes > 0) out += fmt::format("FILE_SIZE {}\n", header.file_bytes);
  if (header.start.known()) {
    const UtcText utc = utc_text(header.start);
    out += fmt::format("UTC_START {}\n", utc.text);
    if (utc.picoseconds > 0) out += fmt::format("PICOSECONDS {}\n", utc.picoseconds);
  }
  for (const auto& [key, value] : {std::pair{"SOURCE", &header.source}, {"TELESCOPE", &header.telescope}}) {
    if (!value->empty()) out += fmt::format("{} {}\n", key, *value);
  }
  if (out.size() >= header.header_bytes) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a PSRDADA header of {} bytes does not fit HDR_SIZE {}", out.size(), header.header_bytes));
  }
  out.resize(header.header_bytes, '\0');
  return out;
}

std::unique_ptr<SampleReader> psrdada_reader(std::unique_ptr<InputStream> in) {
  return std::make_unique<PsrdadaReader>(std::move(in));
}

}  // namespace ridge::io
