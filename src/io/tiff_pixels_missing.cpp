// In place of libtiff, where this was built without it.
#include <ridge/error.hpp>

#include "io/pixels.hpp"

namespace ridge::io {
namespace {

[[noreturn]] void missing() {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without libtiff: install libtiff-dev and build again for TIFF images");
}

}  // namespace

Pixels decode_tiff(std::string_view, const std::string&) { missing(); }
std::string encode_tiff(const Pixels&) { missing(); }

}  // namespace ridge::io
