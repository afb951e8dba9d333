// Built instead of png_libpng.cpp if libpng was not found.
#include <ridge/error.hpp>

#include "io/images/png.hpp"

namespace ridge::io {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unavailable,
              "this ridge was built without libpng, so it reads and writes no PNG images "
              "(apt-get install libpng-dev, then build again)");
}

}  // namespace

bool have_png() { return false; }
std::string encode_png(const Raster&) { refuse(); }
Raster read_png(const std::filesystem::path&) { refuse(); }

}  // namespace ridge::io
