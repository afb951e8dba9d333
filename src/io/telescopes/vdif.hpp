// Reader of VDIF: frames of packed samples from several threads, reordered within a few frames. Missing and invalid
// frames become zeros. A frame counter that runs backwards is an error: two recordings in one stream.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/telescopes/samples.hpp"

namespace ridge::io {

struct VdifHeader {
  bool invalid = false, legacy = false;
  std::uint32_t seconds = 0;  // since the epoch
  std::uint32_t epoch = 0;    // half years since 2000
  std::uint32_t frame = 0;    // within the second
  std::uint32_t version = 0;
  std::uint32_t channels_log2 = 0;
  std::uint32_t frame_bytes = 0;  // header included
  bool is_complex = true;
  std::uint32_t bits = 8;  // per component
  std::uint32_t thread = 0, station = 0;
  std::uint32_t extended = 0;  // EDV; 1 and 3 contain the rate
  double sample_rate = 0;      // Hz, per channel; 0: not given

  std::size_t header_bytes() const { return legacy ? 16 : 32; }
  std::size_t channels() const { return std::size_t{1} << channels_log2; }
  std::size_t samples() const;  // per channel and frame
  StartTime start() const;      // time of the frame's second
};

// Returns false at the end of the stream. Throws Error{io} with the field name.
bool read_vdif_header(InputStream& in, VdifHeader& header);
std::string vdif_header(const VdifHeader& header);

// VDIF has no signature: true if two frames of at most 64 KiB begin with headers that follow each other. Consumes
// nothing.
bool looks_like_vdif(InputStream& in);

// Value of a raw sample: 8 and 16 bits minus half their range; fewer bits as odd numbers around 0 (2 bits: -3, -1, 1,
// 3), which has no offset.
int vdif_level(std::uint32_t raw, std::uint32_t bits);

// Threads in ascending order and their channels become the streams, `polarizations` neighbours forming one; real
// samples get an imaginary part of 0. Up to 8 bits become int8, up to 16 int16. `rate` in samples per second is for
// headers without it; without either, the number of frames in the first second is used.
std::unique_ptr<SampleReader> vdif_reader(std::unique_ptr<InputStream> in, std::size_t polarizations = 0,
                                          double rate = 0);

}  // namespace ridge::io
