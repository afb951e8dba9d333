// GUPPI RAW: blocks of samples, each behind a header of 80-character cards. Within a block: channel, time,
// polarization, re/im. The instrument's channels become the streams.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/header_fields.hpp"
#include "io/samples.hpp"

namespace ridge::io {

struct GuppiHeader {
  std::size_t block_bytes = 0;    // BLOCSIZE
  std::size_t channels = 0;       // OBSNCHAN
  std::size_t polarizations = 2;  // NPOL: 1, or 4 (and 2) for two
  std::size_t bits = 8;           // NBITS, of a component
  std::size_t overlap = 0;        // OVERLAP: samples at a block's end that its successor begins with
  bool counted = false;           // PKTIDX is there
  std::int64_t packet = 0;        // PKTIDX of the first packet
  std::int64_t first_packet = 0;  // PKTSTART: PKTIDX at the start time
  std::int64_t packets = 0;       // PKTIDX from a block to the next (PIPERBLK, PKTSIZE); 0: not said
  double sample_seconds = 0;      // TBIN
  double frequency_mhz = 0;       // OBSFREQ, the middle of all channels
  double bandwidth_mhz = 0;       // OBSBW, signed, of all channels
  StartTime start{};              // STT_IMJD, STT_SMJD, STT_OFFS: of the observation
  bool direct_io = false;         // DIRECTIO: headers are padded to 512 bytes
  bool time_first = false;        // PKTFMT SIMPLE: time before channel
  std::string source{}, telescope{};
  std::size_t samples() const;  // of a channel in a block, the overlap included
};

bool looks_like_guppi(std::string_view first_bytes);  // 64 are enough

// The next block's header; nothing at the end of the stream. Error{io} naming the field. `bytes` counts the header with
// its padding.
bool read_guppi_header(InputStream& in, GuppiHeader& header);
GuppiHeader guppi_header(const HeaderFields& fields);

// Cards, END and padding.
std::string guppi_cards(const GuppiHeader& header);

// Blocks in order; lost ones become zeros. The overlap of the last block is not part of the samples. A PKTIDX that does
// not rise, or another start time or band, is an error: another recording.
std::unique_ptr<SampleReader> guppi_reader(std::unique_ptr<InputStream> in);

}  // namespace ridge::io
