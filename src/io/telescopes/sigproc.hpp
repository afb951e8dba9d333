// SIGPROC filterbank files (.fil): a header of keywords with binary values, then power by time, IF and channel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "io/telescopes/stream.hpp"

namespace ridge::io {

struct SigprocHeader {
  std::string source_name{}, rawdatafile{};
  int telescope_id = 0, machine_id = 0, data_type = 1;  // 1: filterbank
  int barycentric = 0, pulsarcentric = 0;
  double az_start = 0, za_start = 0;
  double src_raj = 0, src_dej = 0;  // hhmmss.s, ddmmss.s
  double tstart = 0;                // MJD of the first sample
  double tsamp = 0;                 // seconds
  double fch1 = 0, foff = 0;        // MHz: centre of the first channel, and step to the next
  int nchans = 0, nifs = 1, nbits = 32;
  int nbeams = 1, ibeam = 1;
  double refdm = 0;
  bool is_signed = false;         // 8 bits: signed
  std::int64_t nsamples = 0;      // 0: as many as the file holds
  std::size_t row_bytes() const;  // per output time
};

inline constexpr std::size_t kMaxSigprocHeader = std::size_t{1} << 21;
inline constexpr std::string_view kSigprocStart("\x0c\0\0\0HEADER_START", 16);  // first bytes of a file

bool looks_like_sigproc(std::string_view first_bytes);  // sixteen bytes are enough

// Throws Error{io} with the field name. Afterwards the stream is at the first value.
SigprocHeader read_sigproc_header(InputStream& in);

// The telescope_id as numbered by SIGPROC and PRESTO; 0 if unknown.
int sigproc_telescope(const std::string& name);
std::string sigproc_telescope_name(int id);  // "unknown" for other numbers

std::string sigproc_header(const SigprocHeader& header);

}  // namespace ridge::io
