// Reader of GUPPI RAW: blocks of samples, each after a header of 80-character cards. Order within a block: channel,
// time, polarization, re/im. The instrument's channels become the streams.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/telescopes/header_fields.hpp"
#include "io/telescopes/samples.hpp"

namespace ridge::io {

struct GuppiHeader {
  std::size_t block_bytes = 0;    // BLOCSIZE
  std::size_t channels = 0;       // OBSNCHAN
  std::size_t polarizations = 2;  // NPOL: 1, or 4 (also 2) for two
  std::size_t bits = 8;           // NBITS, per component
  std::size_t overlap = 0;        // OVERLAP: samples at a block's end that the next block repeats
  bool counted = false;           // PKTIDX is present
  std::int64_t packet = 0;        // PKTIDX of the first packet
  std::int64_t first_packet = 0;  // PKTSTART: PKTIDX at the start time
  std::int64_t packets = 0;       // PKTIDX step per block (PIPERBLK, PKTSIZE); 0: not given
  double sample_seconds = 0;      // TBIN
  double frequency_mhz = 0;       // OBSFREQ, the middle of all channels
  double bandwidth_mhz = 0;       // OBSBW, signed, of all channels
  StartTime start{};              // STT_IMJD, STT_SMJD, STT_OFFS: of the observation
  bool direct_io = false;         // DIRECTIO: headers are padded to 512 bytes
  bool time_first = false;        // PKTFMT SIMPLE: time before channel
  std::string source{}, telescope{};
  std::size_t samples() const;  // per channel and block, overlap included
};

bool looks_like_guppi(std::string_view first_bytes);  // 64 bytes are enough

// Reads the next block's header; returns false at the end of the stream. Throws Error{io} with the field name.
bool read_guppi_header(InputStream& in, GuppiHeader& header);
GuppiHeader guppi_header(const HeaderFields& fields);

// Returns cards, END and padding.
std::string guppi_cards(const GuppiHeader& header);

// Reads blocks in order; lost ones become zeros. The overlap of the last block is not part of the samples. Throws if
// PKTIDX does not rise, or if the start time or band changes: another recording.
std::unique_ptr<SampleReader> guppi_reader(std::unique_ptr<InputStream> in);

}  // namespace ridge::io
