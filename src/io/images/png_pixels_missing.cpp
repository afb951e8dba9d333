// Built instead of png_pixels_libpng.cpp if libpng was not found.
#include <ridge/error.hpp>

#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

[[noreturn]] void no_png_library() {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without libpng: install libpng-dev and build again for PNG images");
}

}  // namespace

Pixels decode_png(std::string_view, const std::string&) { no_png_library(); }
std::string encode_png(const Pixels&) { no_png_library(); }

}  // namespace ridge::io
