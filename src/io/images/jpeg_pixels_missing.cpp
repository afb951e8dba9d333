// Built instead of jpeg_pixels_libjpeg.cpp if libjpeg was not found.
#include <ridge/error.hpp>

#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

[[noreturn]] void no_jpeg_library() {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without libjpeg: install libjpeg-dev and build again for JPEG images");
}

}  // namespace

Pixels decode_jpeg(std::string_view, const std::string&) { no_jpeg_library(); }
std::string encode_jpeg(const Pixels&, int) { no_jpeg_library(); }

}  // namespace ridge::io
