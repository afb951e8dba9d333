// VDIF: frames of packed samples from several threads, in any order within a few frames. Frames that are missing or
// marked invalid become zeros. A frame counter that runs back is an error: two recordings in one stream.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/samples.hpp"

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
  std::uint32_t bits = 8;  // of a component
  std::uint32_t thread = 0, station = 0;
  std::uint32_t extended = 0;  // EDV; 1 and 3 tell the rate
  double sample_rate = 0;      // Hz, of one channel; 0: not said

  std::size_t header_bytes() const { return legacy ? 16 : 32; }
  std::size_t channels() const { return std::size_t{1} << channels_log2; }
  std::size_t samples() const;  // of a channel in a frame
  StartTime start() const;      // of the frame's second
};

// False at the end of the stream. Error{io} naming the field.
bool read_vdif_header(InputStream& in, VdifHeader& header);
std::string vdif_header(const VdifHeader& header);

// What a sample of so many bits means as a number: 8 and 16 bits less half their range; fewer bits as odd numbers
// around 0 (2 bits: -3, -1, 1, 3), which has no offset.
int vdif_level(std::uint32_t raw, std::uint32_t bits);

// Threads in rising order and their channels become the streams, `polarizations` neighbours being one; real samples get
// an imaginary part of 0. Up to 8 bits become int8, up to 16 int16. `rate` in samples per second is for streams whose
// headers do not hold it; without either, the number of frames in the first second is taken for that of every second.
std::unique_ptr<SampleReader> vdif_reader(std::unique_ptr<InputStream> in, std::size_t polarizations = 0,
                                          double rate = 0);

}  // namespace ridge::io
