// Reader of PSRDADA: a header of "KEY value" lines padded to HDR_SIZE, then samples by time, channel, polarization,
// re/im. The instrument's channels become the streams. Files of one observation with FILE_SIZE may follow each other in
// one stream; a header among the samples, or one of another observation, is an error.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/telescopes/header_fields.hpp"
#include "io/telescopes/samples.hpp"

namespace ridge::io {

struct PsrdadaHeader {
  std::size_t header_bytes = 4096;  // HDR_SIZE
  std::size_t bits = 8;             // NBIT, per component
  std::size_t dimensions = 2;       // NDIM: 2 is complex
  std::size_t polarizations = 2, channels = 1;
  double sample_seconds = 0;     // TSAMP is in microseconds
  double frequency_mhz = 0;      // FREQ, the middle of all channels
  double bandwidth_mhz = 0;      // BW, signed
  StartTime start{};             // UTC_START and PICOSECONDS, or MJD_START
  std::uint64_t offset = 0;      // OBS_OFFSET: bytes of samples before this file
  std::uint64_t overlap = 0;     // OBS_OVERLAP: bytes that the next file repeats
  std::uint64_t file_bytes = 0;  // FILE_SIZE: bytes of samples; 0: to the end of the stream
  std::string source{}, telescope{};
  std::size_t sample_bytes() const { return channels * polarizations * dimensions * bits / 8; }
};

bool looks_like_psrdada(std::string_view first_bytes);  // 64 bytes are enough

bool read_psrdada_header(InputStream& in, PsrdadaHeader& header);  // false at the end of the stream
PsrdadaHeader read_psrdada_lines(const std::string& name);         // a text file, which need not be padded to HDR_SIZE
PsrdadaHeader psrdada_header(const HeaderFields& fields);
std::string psrdada_text(const PsrdadaHeader& header);  // header_bytes long

std::unique_ptr<SampleReader> psrdada_reader(std::unique_ptr<InputStream> in);

}  // namespace ridge::io
