// Writers for raw, GUPPI RAW, PSRDADA and VDIF.
#include "cli/channelize/signal_formats.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "command/options.hpp"
#include "io/telescopes/guppi.hpp"
#include "io/telescopes/psrdada.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::cli {
namespace {

const io::StartTime kSignalStart{60676, 0};  // 2025-01-01, VDIF's epoch 50

std::size_t bits_of(const io::SampleInfo& info) { return io::complex_bytes(info.type) * 4; }

double bandwidth_mhz(const io::SampleInfo& info) {
  return static_cast<double>(info.streams) / info.sample_seconds * 1e-6;
}
// Centre frequency of all streams, from that of the first stream.
double middle_mhz(const io::SampleInfo& info) {
  return info.frequency_mhz + 0.5 * (static_cast<double>(info.streams) - 1) / info.sample_seconds * 1e-6;
}

class Raw final : public SignalFormat {
 public:
  explicit Raw(io::OutputStream& out) : out_(out) {}
  void put(std::span<const std::byte> blocks) override { out_.write(blocks.data(), blocks.size()); }

 private:
  io::OutputStream& out_;
};

// Blocks have the layout of the format: channel, time, polarization.
class Guppi final : public SignalFormat {
 public:
  Guppi(const io::SampleInfo& info, std::uint64_t first, io::OutputStream& out)
      : bytes_(info.block * info.sample_bytes()), out_(out) {
    if (info.type == io::SampleType::float32) mistake("--format guppi: needs --samples i4, i8 or i16");
    header_.block_bytes = bytes_;
    header_.channels = info.streams;
    header_.polarizations = info.polarizations;
    header_.bits = bits_of(info);
    header_.start = kSignalStart;
    header_.counted = true;
    header_.packet = static_cast<std::int64_t>(first);
    header_.packets = 1;
    header_.sample_seconds = info.sample_seconds;
    header_.frequency_mhz = middle_mhz(info);
    header_.bandwidth_mhz = bandwidth_mhz(info);
    header_.source = "synthetic";
  }
  void put(std::span<const std::byte> blocks) override {
    for (; !blocks.empty(); blocks = blocks.subspan(bytes_), ++header_.packet) {
      const std::string cards = io::guppi_cards(header_);
      out_.write(cards.data(), cards.size());
      out_.write(blocks.data(), bytes_);
    }
  }

 private:
  std::size_t bytes_;
  io::GuppiHeader header_;
  io::OutputStream& out_;
};

class Psrdada final : public SignalFormat {
 public:
  Psrdada(const io::SampleInfo& info, std::uint64_t first, std::uint64_t bytes, io::OutputStream& out) : out_(out) {
    io::PsrdadaHeader header;
    header.bits = bits_of(info);
    header.polarizations = info.polarizations;
    header.channels = info.streams;
    header.sample_seconds = info.sample_seconds;
    header.frequency_mhz = middle_mhz(info);
    header.bandwidth_mhz = bandwidth_mhz(info);
    header.start = kSignalStart;
    header.offset = first * info.sample_bytes();
    header.file_bytes = bytes;
    header.source = "synthetic";
    const std::string text = io::psrdada_text(header);
    out.write(text.data(), text.size());
  }
  void put(std::span<const std::byte> blocks) override { out_.write(blocks.data(), blocks.size()); }

 private:
  io::OutputStream& out_;
};

// One VDIF thread per station and polarization, one frame of each per block; offset binary.
class Vdif final : public SignalFormat {
 public:
  Vdif(const io::SampleInfo& info, std::uint64_t first, io::OutputStream& out)
      : info_(info), number_(first), part_(io::complex_bytes(info.type)), payload_(info.block * part_), out_(out) {
    if (info.type != io::SampleType::int8 && info.type != io::SampleType::int16)
      mistake("--format vdif: needs --samples i8 or i16");
    const double rate = 1 / info.sample_seconds, frames = rate / static_cast<double>(info.block);
    if (std::abs(frames - std::round(frames)) > 1e-9 * frames || frames >= 16777216) {
      mistake(fmt::format("--format vdif: {} frames of {} samples per second; --rate must be a multiple of --block",
                          frames, info.block));
    }
    frames_ = static_cast<std::uint64_t>(std::llround(frames));
    if (info.streams * info.polarizations > 1024) mistake("--format vdif: at most 1024 stations x polarizations");
    if (payload_.size() % 8 != 0)
      mistake("--format vdif: the frame size must be a multiple of 8 bytes; use another --block");
    header_.bits = static_cast<std::uint32_t>(bits_of(info));
    header_.frame_bytes = static_cast<std::uint32_t>(32 + payload_.size());
    header_.epoch = 50;
    if (std::fmod(rate, 1000) == 0) {
      header_.extended = 3;
      header_.sample_rate = rate;
    }
  }
  void put(std::span<const std::byte> blocks) override {
    const std::size_t bytes = info_.block * info_.sample_bytes();
    for (; !blocks.empty(); blocks = blocks.subspan(bytes), ++number_) {
      header_.seconds = static_cast<std::uint32_t>(number_ / frames_);
      header_.frame = static_cast<std::uint32_t>(number_ % frames_);
      for (std::size_t s = 0; s < info_.streams; ++s) {
        for (std::size_t p = 0; p < info_.polarizations; ++p) frame(blocks, s, p);
      }
    }
  }

 private:
  void frame(std::span<const std::byte> block, std::size_t station, std::size_t polarization) {
    for (std::size_t n = 0; n < info_.block; ++n) {
      const std::size_t from = ((station * info_.block + n) * info_.polarizations + polarization) * part_;
      for (std::size_t i = 0; i < part_; ++i) {
        // The sign is the highest bit of a number's last byte.
        const bool sign = i % (part_ / 2) == part_ / 2 - 1;
        payload_[n * part_ + i] = block[from + i] ^ (sign ? std::byte{0x80} : std::byte{0});
      }
    }
    header_.thread = static_cast<std::uint32_t>(station * info_.polarizations + polarization);
    const std::string words = io::vdif_header(header_);
    out_.write(words.data(), words.size());
    out_.write(payload_.data(), payload_.size());
  }

  io::SampleInfo info_;
  std::uint64_t number_, frames_ = 0;
  std::size_t part_;  // bytes per complex sample
  std::vector<std::byte> payload_;
  io::VdifHeader header_;
  io::OutputStream& out_;
};

}  // namespace

std::string signal_format_name(const std::string& format, const std::string& out) {
  if (format != "auto") return format;
  if (out.ends_with(".dada")) return "dada";
  if (out.ends_with(".vdif")) return "vdif";
  if (out.ends_with(".fil") || out.ends_with(".npy")) {
    mistake(
        fmt::format("{}: signal writes raw samples, GUPPI RAW, PSRDADA (.dada) or VDIF (.vdif); use --format raw for "
                    "raw samples of that name",
                    out));
  }
  return "raw";
}

// VDIF needs a whole number of frames per second.
double default_rate(const std::string& format) { return format == "vdif" ? 256000 : 195312.5; }

std::unique_ptr<SignalFormat> signal_format(const std::string& name, const io::SampleInfo& info, std::uint64_t first,
                                            std::uint64_t bytes, io::OutputStream& out) {
  if (name == "guppi") return std::make_unique<Guppi>(info, first, out);
  if (name == "dada") return std::make_unique<Psrdada>(info, first, bytes, out);
  if (name == "vdif") return std::make_unique<Vdif>(info, first, out);
  return std::make_unique<Raw>(out);
}

std::size_t block_of_format(const std::string& name, std::size_t wanted) { return name == "dada" ? 1 : wanted; }

}  // namespace ridge::cli
