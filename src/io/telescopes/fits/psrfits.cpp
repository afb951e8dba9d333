// Writes PSRFITS; reports a missing cfitsio.
#include "io/telescopes/fits/psrfits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/telescopes/fits/cards.hpp"

namespace ridge::io {
namespace {

constexpr std::size_t kMostBlockRows = 4096, kTableRowBytes = std::size_t{4} << 20;

std::string sexagesimal(double packed) {
  const double whole = std::abs(packed);
  const auto first = static_cast<int>(whole / 10000), minutes = static_cast<int>(whole / 100) % 100;
  return fmt::format("{}{:02}:{:02}:{:07.4f}", packed < 0 ? "-" : "", first, minutes,
                     whole - first * 10000.0 - minutes * 100.0);
}

// PSRFITS has the first sample in the highest bits of a byte, SIGPROC in the lowest.
std::byte reversed(std::byte byte, std::size_t bits) {
  auto value = std::to_integer<unsigned>(byte);
  if (bits <= 4) value = (value & 0x0f) << 4 | value >> 4;
  if (bits <= 2) value = (value & 0x33) << 2 | (value & 0xcc) >> 2;
  if (bits <= 1) value = (value & 0x55) << 1 | (value & 0xaa) >> 1;
  return static_cast<std::byte>(value);
}

}  // namespace

bool looks_like_fits(std::string_view first_bytes) { return first_bytes.starts_with("SIMPLE  ="); }

PsrfitsWriter::PsrfitsWriter(const std::string& path, const SigprocHeader& header)
    : header_(header), out_(path), row_bytes_(header.row_bytes()) {
  const int bits = header.nbits;
  if ((bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != 32) ||
      static_cast<std::size_t>(header.nchans) * static_cast<std::size_t>(header.nifs * bits) % 8 != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("PSRFITS: needs rows of whole bytes and 1, 2, 4, 8, 16 or 32 bits, got {} channels of {} "
                            "bits",
                            header.nchans, bits));
  }
  block_rows_ = std::clamp<std::size_t>(kTableRowBytes / row_bytes_, 1, kMostBlockRows);
  const std::string text = head();
  out_.write(text.data(), text.size());
}

// The primary header and that of the table; its number of rows is known at the end.
std::string PsrfitsWriter::head() const {
  const SigprocHeader& h = header_;
  const auto channels = static_cast<std::size_t>(h.nchans), width = channels * static_cast<std::size_t>(h.nifs);
  const auto day = static_cast<std::int64_t>(std::floor(h.tstart));
  const double second = (h.tstart - static_cast<double>(day)) * 86400, whole = std::floor(second);
  FitsCards primary;
  primary.flag("SIMPLE", true), primary.integer("BITPIX", 8), primary.integer("NAXIS", 0), primary.flag("EXTEND", true);
  primary.text("FITSTYPE", "PSRFITS"), primary.text("HDRVER", "6.1"), primary.text("OBS_MODE", "SEARCH");
  primary.text("TELESCOP", sigproc_telescope_name(h.telescope_id)), primary.text("SRC_NAME", h.source_name);
  primary.text("RA", sexagesimal(h.src_raj)), primary.text("DEC", sexagesimal(h.src_dej));
  primary.number("OBSFREQ", h.fch1 + h.foff * (h.nchans - 1) / 2), primary.number("OBSBW", h.foff * h.nchans);
  primary.integer("OBSNCHAN", h.nchans), primary.integer("STT_IMJD", day);
  primary.integer("STT_SMJD", static_cast<std::int64_t>(whole)), primary.number("STT_OFFS", second - whole);
  const std::size_t fixed = 16 + 8 * channels + 4 * channels + 8 * width;  // bytes before the samples
  const std::size_t samples = block_rows_ * row_bytes_;
  FitsCards table;
  table.text("XTENSION", "BINTABLE"), table.integer("BITPIX", 8), table.integer("NAXIS", 2);
  table.integer("NAXIS1", static_cast<std::int64_t>(fixed + samples));
  table.integer("NAXIS2", static_cast<std::int64_t>(blocks_)), table.integer("PCOUNT", 0), table.integer("GCOUNT", 1);
  table.integer("TFIELDS", 7);
  const std::string data = h.nbits == 16   ? fmt::format("{}I", samples / 2)
                           : h.nbits == 32 ? fmt::format("{}E", samples / 4)
                                           : fmt::format("{}B", samples);
  const std::pair<const char*, std::string> columns[] = {{"TSUBINT", "1D"},
                                                         {"OFFS_SUB", "1D"},
                                                         {"DAT_FREQ", fmt::format("{}D", channels)},
                                                         {"DAT_WTS", fmt::format("{}E", channels)},
                                                         {"DAT_OFFS", fmt::format("{}E", width)},
                                                         {"DAT_SCL", fmt::format("{}E", width)},
                                                         {"DATA", data}};
  int number = 0;
  for (const auto& [name, form] : columns) {
    ++number;
    table.text(fmt::format("TTYPE{}", number), name), table.text(fmt::format("TFORM{}", number), form);
  }
  table.text("TDIM7", fmt::format("({},{},{})", h.nbits < 8 ? h.nchans * h.nbits / 8 : h.nchans, h.nifs, block_rows_));
  if (h.nbits == 16) table.integer("TZERO7", 32768), table.integer("TSCAL7", 1);  // unsigned numbers
  table.text("EXTNAME", "SUBINT"), table.number("TBIN", h.tsamp), table.integer("NCHAN", h.nchans);
  table.integer("NPOL", h.nifs), table.text("POL_TYPE", h.nifs == 1 ? "AA+BB" : h.nifs == 2 ? "AABB" : "IQUV");
  table.integer("NBITS", h.nbits), table.integer("NSBLK", static_cast<std::int64_t>(block_rows_));
  table.integer("NSUBOFFS", 0), table.number("CHAN_BW", h.foff), table.number("ZERO_OFF", 0);
  table.integer("SIGNINT", h.is_signed ? 1 : 0), table.integer("NSTOT", static_cast<std::int64_t>(rows_));
  return primary.finish() + table.finish();
}

void PsrfitsWriter::write(std::span<const std::byte> rows) {
  const std::size_t whole = block_rows_ * row_bytes_;
  while (!rows.empty()) {
    const std::size_t some = std::min(rows.size(), whole - block_.size());
    block_.insert(block_.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(some));
    rows = rows.subspan(some);
    if (block_.size() == whole) write_block();
  }
}

void PsrfitsWriter::write_block() {
  const SigprocHeader& h = header_;
  const auto bits = static_cast<std::size_t>(h.nbits);
  const double seconds = static_cast<double>(block_rows_) * h.tsamp;
  rows_ += block_.size() / row_bytes_;
  std::vector<std::byte> row;
  append_fits(row, seconds);
  append_fits(row, (static_cast<double>(blocks_) + 0.5) * seconds);
  for (int c = 0; c < h.nchans; ++c) append_fits(row, h.fch1 + h.foff * c);
  for (int c = 0; c < h.nchans; ++c) append_fits(row, 1.0F);
  for (int i = 0; i < h.nchans * h.nifs; ++i) append_fits(row, 0.0F);
  for (int i = 0; i < h.nchans * h.nifs; ++i) append_fits(row, 1.0F);
  block_.resize(block_rows_ * row_bytes_);  // zeros after the last sample, which NSTOT counts
  for (std::size_t i = 0; i < block_.size(); i += std::max<std::size_t>(bits / 8, 1)) {
    if (bits <= 8) {
      row.push_back(reversed(block_[i], bits));
    } else if (bits == 16) {
      std::uint16_t value = 0;
      std::memcpy(&value, &block_[i], sizeof value);
      append_fits(row, static_cast<std::uint16_t>(value ^ 0x8000U));
    } else {
      float value = 0;
      std::memcpy(&value, &block_[i], sizeof value);
      append_fits(row, value);
    }
  }
  out_.write(row.data(), row.size());
  ++blocks_;
  block_.clear();
}

void PsrfitsWriter::finish() {
  if (!block_.empty()) write_block();
  const std::vector<std::byte> zeros(fits_padding(out_.position()));
  out_.write(zeros.data(), zeros.size());
  out_.rewrite_start(head());
  out_.finish();
}

#if defined(RIDGE_WITHOUT_CFITSIO)
bool have_psrfits() { return false; }
struct PsrfitsReader::Impl {};
PsrfitsReader::PsrfitsReader(const std::string&) {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without cfitsio: install libcfitsio-dev and build again to read PSRFITS files");
}
PsrfitsReader::~PsrfitsReader() = default;
PsrfitsReader::PsrfitsReader(PsrfitsReader&&) noexcept = default;
const SigprocHeader& PsrfitsReader::header() const { throw Error(ErrorKind::internal, "PSRFITS: no reader"); }
std::uint64_t PsrfitsReader::rows_left() const { return 0; }
std::size_t PsrfitsReader::read(float*, std::size_t) { return 0; }
#endif

}  // namespace ridge::io
