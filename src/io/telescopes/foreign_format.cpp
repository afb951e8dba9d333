// Names the format of a file by its first bytes, for error messages.
#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/telescopes/guppi.hpp"
#include "io/telescopes/header_fields.hpp"
#include "io/telescopes/psrdada.hpp"
#include "io/telescopes/stream.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::io {
namespace {

struct Mark {
  std::string_view name, bytes;
};

using namespace std::string_view_literals;
constexpr Mark kMarks[] = {
    {"PNG", "\x89PNG\r\n\x1a\n"sv},
    {"FITS", "SIMPLE  ="sv},
    {".npy", "\x93NUMPY"sv},
    {"HDF5", "\x89HDF\r\n\x1a\n"sv},
    {"xz", "\xfd\x37zXZ\0"sv},
    {"SIGPROC", "\x0c\0\0\0HEADER_START"sv},
    {"JPEG", "\xff\xd8\xff\xe0"sv},
    {"JPEG", "\xff\xd8\xff\xe1"sv},
    {"JPEG", "\xff\xd8\xff\xdb"sv},
    {"TIFF", "II*\0"sv},
    {"TIFF", "MM\0*"sv},
    {"gzip", "\x1f\x8b\x08\0"sv},
    {"gzip", "\x1f\x8b\x08\x08"sv},
    {"bzip2", "BZh91AY&SY"sv},
    {"zstd", "\x28\xb5\x2f\xfd"sv},
    {"zip", "PK\x03\x04"sv},
    {"PDF", "%PDF"sv},
    {".flo", "PIEH"sv},
    {"WAV", "RIFF"sv},
    {"WAV", "RF64"sv},
    {"VTK", "<VTKFile"sv},
    {"XML", "<?xml "sv},
};

}  // namespace

std::string_view foreign_format(std::string_view first_bytes, bool sure) {
  for (const Mark& mark : kMarks) {
    if ((!sure || mark.bytes.size() >= 6) && first_bytes.starts_with(mark.bytes)) return mark.name;
  }
  return {};
}

void refuse_foreign(InputStream& in, bool sure) {
  const std::string_view start = in.peek(64);
  std::string_view found = foreign_format(start, sure);
  if (looks_like_guppi(start)) found = "GUPPI RAW";
  if (looks_like_psrdada(start)) found = "PSRDADA";
  if (found.empty() && !sure && looks_like_vdif(in)) found = "VDIF";
  if (found.empty()) return;
  throw Error(ErrorKind::invalid_argument, fmt::format("{} is a {} file, not raw samples", in.name(), found));
}

}  // namespace ridge::io
