// In place of libpng, where this was built without it.
#include <ridge/error.hpp>

#include "io/pixels.hpp"

namespace ridge::io {
namespace {

[[noreturn]] void missing() {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without libpng: install libpng-dev and build again for PNG images");
}

}  // namespace

Pixels decode_png(std::string_view, const std::string&) { missing(); }
std::string encode_png(const Pixels&) { missing(); }

}  // namespace ridge::io
