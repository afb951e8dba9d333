// Reports image libraries that were not found when this was built; CMakeLists.txt defines RIDGE_WITHOUT_<LIBRARY>.
#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/images/pixels.hpp"
#include "io/images/png.hpp"

namespace ridge::io {

[[noreturn]] [[maybe_unused]] static void without(const char* library, const char* format) {
  throw Error(
      ErrorKind::unavailable,
      fmt::format("this ridge was built without {0}: install {0}-dev and build again for {1} images", library, format));
}

#if defined(RIDGE_WITHOUT_PNG)
bool have_png() { return false; }
std::string encode_png(const Raster&) { without("libpng", "PNG"); }
Raster read_png(const std::filesystem::path&) { without("libpng", "PNG"); }
Pixels decode_png(std::string_view, const std::string&) { without("libpng", "PNG"); }
std::string encode_png(const Pixels&) { without("libpng", "PNG"); }
#endif
#if defined(RIDGE_WITHOUT_JPEG)
Pixels decode_jpeg(std::string_view, const std::string&) { without("libjpeg", "JPEG"); }
std::string encode_jpeg(const Pixels&, int) { without("libjpeg", "JPEG"); }
#endif
#if defined(RIDGE_WITHOUT_TIFF)
Pixels decode_tiff(std::string_view, const std::string&) { without("libtiff", "TIFF"); }
std::string encode_tiff(const Pixels&) { without("libtiff", "TIFF"); }
#endif

}  // namespace ridge::io
