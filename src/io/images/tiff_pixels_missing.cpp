// Built instead of tiff_pixels_libtiff.cpp if libtiff was not found.
#include <ridge/error.hpp>

#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

[[noreturn]] void no_tiff_library() {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without libtiff: install libtiff-dev and build again for TIFF images");
}

}  // namespace

Pixels decode_tiff(std::string_view, const std::string&) { no_tiff_library(); }
std::string encode_tiff(const Pixels&) { no_tiff_library(); }

}  // namespace ridge::io
