// Reads and writes PNG images with libpng.
#include <cstring>

#include <fmt/format.h>
#include <png.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/library.hpp"
#include "io/images/png.hpp"

namespace ridge::io {
namespace {

const base::Library libpng_images{base::png_library, "PNG images"};
const base::Function<decltype(::png_image_begin_read_from_memory)> png_image_begin_read_from_memory{
    libpng_images, "png_image_begin_read_from_memory"};
const base::Function<decltype(::png_image_finish_read)> png_image_finish_read{libpng_images, "png_image_finish_read"};
const base::Function<decltype(::png_image_free)> png_image_free{libpng_images, "png_image_free"};
const base::Function<decltype(::png_image_write_to_memory)> png_image_write_to_memory{libpng_images,
                                                                                      "png_image_write_to_memory"};

}  // namespace

bool have_png() { return libpng_images.available(); }

std::string encode_png(const Raster& raster) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(raster.width);
  image.height = static_cast<png_uint_32>(raster.height);
  image.format = raster.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, raster.values.data(), 0, nullptr) == 0) {
    throw Error(ErrorKind::internal,
                fmt::format("libpng refuses an image of {}x{}: {}", raster.width, raster.height, image.message));
  }
  bytes.resize(size);
  return bytes;
}

Raster read_png(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& what) -> Error {
    return Error(ErrorKind::io, fmt::format("{}: not a PNG image that can be used: {}", path.string(), what));
  };
  const auto bytes = base::read_file(path, std::size_t{1} << 30);
  if (!bytes) throw Error(ErrorKind::io, fmt::format("cannot read {}: no such file", path.string()));
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes->data(), bytes->size()) == 0) throw refuse(image.message);
  Raster raster;
  raster.width = image.width;
  raster.height = image.height;
  raster.channels = (image.format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
  if (raster.height == 0 || raster.width > kMostPixels / raster.height) {
    png_image_free(&image);
    throw refuse(fmt::format("{}x{} pixels", raster.width, raster.height));
  }
  // Deflate expands by at most 1032, and a pixel has at least one bit: rejects images that cannot fit the file.
  if (raster.width * raster.height / (8 * 1032) > bytes->size()) {
    png_image_free(&image);
    throw refuse(fmt::format("{} bytes cannot hold {}x{} pixels", bytes->size(), raster.width, raster.height));
  }
  image.format = raster.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  raster.values.resize(raster.width * raster.height * raster.channels);
  const png_color background{255, 255, 255};
  if (png_image_finish_read(&image, &background, raster.values.data(), 0, nullptr) == 0) throw refuse(image.message);
  return raster;
}

}  // namespace ridge::io
