// Parses the cards of GUPPI RAW, drops the overlap of blocks, and counts lost packets.
#include "io/telescopes/guppi.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

constexpr std::size_t kCard = 80, kMaxCards = 1024, kDirectIo = 512;
constexpr std::int64_t kMostGuppiBytes = std::int64_t{1} << 32;

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// Parses "KEY     = value / comment"; text is quoted.
void take_card(std::string_view card, HeaderFields& fields) {
  const auto equals = card.find('=');
  if (equals == std::string_view::npos || equals > 9)
    fields.fail(fmt::format("card \"{}\" has no value", trimmed(card.substr(0, 20))));
  const std::string key = trimmed(card.substr(0, equals));
  for (const char c : key) {
    if (c <= ' ' || c > 126) fields.fail("a keyword with unprintable characters");
  }
  if (key.empty()) fields.fail("a card without a keyword");
  std::string value = trimmed(card.substr(equals + 1));
  if (!value.empty() && value.front() == '\'') {
    const auto end = value.find('\'', 1);
    if (end == std::string::npos) fields.fail(fmt::format("{}: its text does not end", key));
    value = trimmed(std::string_view(value).substr(1, end - 1));
  } else {
    value = trimmed(std::string_view(value).substr(0, value.find('/')));
  }
  fields.set(key, value);
}

std::int64_t expected_packets(const HeaderFields& fields, const GuppiHeader& header) {
  if (fields.has("PIPERBLK")) return fields.integer("PIPERBLK", 1, kMostGuppiBytes);
  if (!fields.has("PKTSIZE")) return 0;
  const std::int64_t packet = fields.integer("PKTSIZE", 1, kMostGuppiBytes);
  const std::size_t sample = header.block_bytes / header.samples();
  const auto fresh = static_cast<std::int64_t>(header.block_bytes - header.overlap * sample);
  if (fresh % packet != 0) {
    fields.fail(
        fmt::format("PKTSIZE is {}, which does not divide the {} bytes of a block without OVERLAP", packet, fresh));
  }
  return fresh / packet;
}

class GuppiReader final : public SampleReader {
 public:
  explicit GuppiReader(std::unique_ptr<InputStream> in) : in_(std::move(in)) {
    if (!read_guppi_header(*in_, first_)) {
      throw Error(ErrorKind::io, fmt::format("{}: an empty GUPPI RAW stream", in_->name()));
    }
    ahead_ = first_;
    info_.format = "GUPPI RAW";
    info_.type = first_.bits == 4 ? SampleType::int4 : first_.bits == 8 ? SampleType::int8 : SampleType::int16;
    info_.streams = first_.channels;
    info_.polarizations = first_.polarizations;
    info_.block = first_.time_first ? 1 : fresh();
    info_.sample_seconds = first_.sample_seconds;
    info_.stream_step_mhz = first_.bandwidth_mhz / static_cast<double>(first_.channels);
    info_.frequency_mhz = first_.frequency_mhz - first_.bandwidth_mhz / 2 + info_.stream_step_mhz / 2;
    info_.start = first_.start;
    if (first_.packets > 0) {
      const double blocks =
          static_cast<double>(first_.packet - first_.first_packet) / static_cast<double>(first_.packets);
      info_.start = info_.start.after(blocks * static_cast<double>(fresh()) * first_.sample_seconds);
    } else if (first_.packet != first_.first_packet) {
      info_.start = {};  // later than the start of the observation by an unknown time
    }
    info_.source = first_.source;
    info_.telescope = first_.telescope;
  }

  bool counts_losses() const override { return first_.packets > 0; }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> found;
    if (first_.packets == 0) {
      found.emplace_back("losses cannot be counted: its headers hold no PKTIDX with PIPERBLK or PKTSIZE");
    }
    if (seams_ > 0) found.push_back(fmt::format("{} blocks do not begin with the OVERLAP of the block before", seams_));
    return found;
  }

 private:
  std::size_t fresh() const { return first_.samples() - first_.overlap; }  // new samples per block

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::io, fmt::format("{}: not a GUPPI RAW stream that can be used: block {}: {}", in_->name(),
                                           blocks_ + 1, what));
  }

  template <class T>
  void same(const char* field, T first, T now) const {
    if (first == now) return;
    fail(
        fmt::format("{} is {}, and was {} in the first block: two recordings in one stream? channelize them one by one",
                    field, now, first));
  }

  bool next(std::vector<std::byte>& piece) override {
    if (!ahead_) {
      GuppiHeader header;
      if (!read_guppi_header(*in_, header)) return false;
      same("BLOCSIZE", first_.block_bytes, header.block_bytes);
      same("OBSNCHAN", first_.channels, header.channels);
      same("NPOL", first_.polarizations, header.polarizations);
      same("NBITS", first_.bits, header.bits);
      same("OVERLAP", first_.overlap, header.overlap);
      same("OBSFREQ", first_.frequency_mhz, header.frequency_mhz);
      same("OBSBW", first_.bandwidth_mhz, header.bandwidth_mhz);
      same("TBIN", first_.sample_seconds, header.sample_seconds);
      same("start time (STT_IMJD, STT_SMJD, STT_OFFS)", first_.start.mjd(), header.start.mjd());
      same("SRC_NAME", first_.source, header.source);
      same("TELESCOP", first_.telescope, header.telescope);
      same("number of packets per block", first_.packets, header.packets);
      same("presence of PKTIDX", first_.counted, header.counted);
      check_order(header);
      ahead_ = header;
    }
    const std::size_t got = in_->read_growing(raw_, first_.block_bytes);
    if (got != first_.block_bytes)
      fail(fmt::format("it ends {} bytes into the BLOCSIZE of {}", got, first_.block_bytes));
    packet_ = ahead_->packet;
    ahead_.reset();
    ++blocks_;
    // Drops the samples that the next block repeats.
    const std::size_t sample = raw_.size() / first_.samples() / (first_.time_first ? 1 : first_.channels);
    const std::size_t runs = first_.time_first ? 1 : first_.channels, run = raw_.size() / runs, kept = fresh() * sample;
    piece.resize(runs * kept);
    for (std::size_t i = 0; i < runs; ++i) std::memcpy(piece.data() + i * kept, raw_.data() + i * run, kept);
    if (kept < run) compare_overlap(runs, run, run - kept);
    return true;
  }

  // The end of the previous block must equal the beginning of this one. Late packets may make them differ.
  void compare_overlap(std::size_t runs, std::size_t run, std::size_t bytes) {
    bool same = true;
    for (std::size_t i = 0; i < runs && !overlap_.empty(); ++i) {
      same &= std::memcmp(overlap_.data() + i * bytes, raw_.data() + i * run, bytes) == 0;
    }
    if (!same) ++seams_;
    overlap_.resize(runs * bytes);
    for (std::size_t i = 0; i < runs; ++i) {
      std::memcpy(overlap_.data() + i * bytes, raw_.data() + (i + 1) * run - bytes, bytes);
    }
  }

  void check_order(const GuppiHeader& header) {
    if (!first_.counted) return;  // reported by remarks()
    const std::int64_t step = header.packet - packet_;
    if (step <= 0) {
      fail(fmt::format("PKTIDX is {} after {}: it does not rise; blocks out of order or two recordings in one stream",
                       header.packet, packet_));
    }
    if (first_.packets == 0) {  // losses cannot be counted, but a constant step shows that there are none
      if (step_ != 0 && step != step_) {
        fail(
            fmt::format("PKTIDX rises by {} after steps of {}, and neither PIPERBLK nor PKTSIZE gives the packets per "
                        "block: losses cannot be counted",
                        step, step_));
      }
      step_ = step;
      return;
    }
    if (step % first_.packets != 0) {
      fail(fmt::format("PKTIDX rises by {}, not a whole number of blocks of {}", step, first_.packets));
    }
    if (step == first_.packets) return;
    overlap_.clear();
    add_gap(static_cast<std::uint64_t>(step / first_.packets - 1) * fresh());
  }

  std::unique_ptr<InputStream> in_;
  GuppiHeader first_;
  std::optional<GuppiHeader> ahead_;  // header already read, its block not yet
  std::vector<std::byte> raw_;
  std::vector<std::byte> overlap_;  // the end of the previous block, repeated by this one
  std::uint64_t seams_ = 0;         // blocks whose beginning differs from it
  std::int64_t packet_ = 0;
  std::int64_t step_ = 0;  // PKTIDX step per block, if headers do not give it
  std::uint64_t blocks_ = 0;
};

}  // namespace

std::size_t GuppiHeader::samples() const { return block_bytes * 8 / (channels * polarizations * 2 * bits); }

bool looks_like_guppi(std::string_view first_bytes) {
  if (first_bytes.starts_with("SIMPLE")) return false;  // FITS has cards too
  return first_bytes.size() >= 10 && first_bytes[8] == '=' && first_bytes[9] == ' ' &&
         first_bytes.substr(0, 8).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ") ==
             std::string_view::npos &&
         first_bytes[0] >= 'A' && first_bytes[0] <= 'Z';
}

GuppiHeader guppi_header(const HeaderFields& fields) {
  GuppiHeader header;
  header.block_bytes = static_cast<std::size_t>(fields.integer("BLOCSIZE", 1, kMostGuppiBytes));
  header.channels = static_cast<std::size_t>(fields.integer("OBSNCHAN", 1, 1 << 20));
  const std::int64_t polarizations = fields.integer("NPOL", 1, 4);
  if (polarizations == 3) fields.fail("NPOL is 3; 1, 2 and 4 exist");
  header.polarizations = polarizations == 1 ? 1 : 2;
  header.bits = static_cast<std::size_t>(fields.integer("NBITS", 1, 32));
  if (header.bits != 4 && header.bits != 8 && header.bits != 16) {
    fields.fail(fmt::format("NBITS is {}; 4, 8 and 16 are read", header.bits));
  }
  const std::size_t sample_bits = header.channels * header.polarizations * 2 * header.bits;
  if (header.block_bytes * 8 % sample_bits != 0) {
    fields.fail(fmt::format("BLOCSIZE is {}, not a whole number of samples of OBSNCHAN {} x NPOL {} x NBITS {}",
                            header.block_bytes, header.channels, polarizations, header.bits));
  }
  header.overlap = static_cast<std::size_t>(fields.integer("OVERLAP", 0, kMostGuppiBytes, 0));
  if (header.overlap >= header.samples()) {
    fields.fail(fmt::format("OVERLAP is {}, and a block holds {} samples", header.overlap, header.samples()));
  }
  header.time_first = fields.text("PKTFMT") == "SIMPLE";
  header.direct_io = fields.integer("DIRECTIO", INT32_MIN, INT32_MAX, 0) != 0;
  header.packet = fields.integer("PKTIDX", 0, INT64_MAX / 2, 0);
  header.counted = fields.has("PKTIDX");
  header.packets = header.counted ? expected_packets(fields, header) : 0;
  header.first_packet = fields.integer("PKTSTART", 0, INT64_MAX / 2, 0);
  header.frequency_mhz = fields.number("OBSFREQ", -1e9, 1e9, 0);
  header.bandwidth_mhz = fields.number("OBSBW", -1e9, 1e9, 0);
  const double channel = std::abs(header.bandwidth_mhz) * 1e6 / static_cast<double>(header.channels);
  header.sample_seconds = fields.number("TBIN", 0, 1e6, channel > 0 ? 1 / channel : 0);
  header.start = StartTime{fields.integer("STT_IMJD", 0, 1'000'000, 0), 0}.after(
      fields.number("STT_SMJD", 0, 86401, 0) + fields.number("STT_OFFS", -1, 86401, 0));
  header.source = fields.text("SRC_NAME");
  header.telescope = fields.text("TELESCOP");
  return header;
}

bool read_guppi_header(InputStream& in, GuppiHeader& header) {
  HeaderFields fields("GUPPI RAW", in.name());
  char card[kCard];
  for (std::size_t cards = 0;; ++cards) {
    if (cards == kMaxCards) fields.fail(fmt::format("no END within {} cards", kMaxCards));
    const std::size_t got = in.read(card, kCard);
    if (got == 0 && cards == 0) return false;
    if (got != kCard) fields.fail("it ends within a header");
    const std::string_view text(card, kCard);
    if (text.substr(0, 3) == "END" && trimmed(text.substr(3)).empty()) {
      header = guppi_header(fields);
      // No padding if the header already ends on a boundary.
      const std::size_t bytes = (cards + 1) * kCard, padding = (kDirectIo - bytes % kDirectIo) % kDirectIo;
      char waste[kDirectIo];
      if (header.direct_io && in.read(waste, padding) != padding) fields.fail("it ends within the padding of DIRECTIO");
      return true;
    }
    take_card(text, fields);
  }
}

std::string guppi_cards(const GuppiHeader& header) {
  std::string out;
  const auto card = [&](const char* key, const std::string& value) {
    out += fmt::format("{:<80}", fmt::format("{:<8}= {}", key, value)).substr(0, kCard);
  };
  const auto text = [](const std::string& value) { return fmt::format("'{:<8}'", value.substr(0, 60)); };
  card("BACKEND", text("GUPPI"));
  if (!header.source.empty()) card("SRC_NAME", text(header.source));
  if (!header.telescope.empty()) card("TELESCOP", text(header.telescope));
  card("OBSFREQ", decimal_text(header.frequency_mhz));
  card("OBSBW", decimal_text(header.bandwidth_mhz));
  card("OBSNCHAN", fmt::format("{}", header.channels));
  card("NPOL", header.polarizations == 2 ? "4" : "1");
  card("NBITS", fmt::format("{}", header.bits));
  card("TBIN", decimal_text(header.sample_seconds));
  card("OVERLAP", fmt::format("{}", header.overlap));
  card("BLOCSIZE", fmt::format("{}", header.block_bytes));
  if (header.counted) card("PKTIDX", fmt::format("{}", header.packet));
  if (header.first_packet > 0) card("PKTSTART", fmt::format("{}", header.first_packet));
  if (header.packets > 0) card("PIPERBLK", fmt::format("{}", header.packets));
  if (header.start.known()) {
    const double whole = std::floor(header.start.second);
    card("STT_IMJD", fmt::format("{}", header.start.day));
    card("STT_SMJD", fmt::format("{:.0f}", whole));
    card("STT_OFFS", fmt::format("{:.12g}", header.start.second - whole));
  }
  if (header.time_first) card("PKTFMT", text("SIMPLE"));
  card("DIRECTIO", header.direct_io ? "1" : "0");
  out += fmt::format("{:<80}", "END");
  if (header.direct_io) out.append((kDirectIo - out.size() % kDirectIo) % kDirectIo, ' ');
  return out;
}

std::unique_ptr<SampleReader> guppi_reader(std::unique_ptr<InputStream> in) {
  return std::make_unique<GuppiReader>(std::move(in));
}

}  // namespace ridge::io
