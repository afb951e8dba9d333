// Reads and writes JPEG images with libjpeg.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>
#include <ridge/error.hpp>

#include "base/library.hpp"
#include "base/log.hpp"
#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

const base::Library libjpeg{base::jpeg_library, "JPEG images"};
const base::Function<decltype(::jpeg_CreateCompress)> jpeg_CreateCompress{libjpeg, "jpeg_CreateCompress"};
const base::Function<decltype(::jpeg_CreateDecompress)> jpeg_CreateDecompress{libjpeg, "jpeg_CreateDecompress"};
const base::Function<decltype(::jpeg_destroy_compress)> jpeg_destroy_compress{libjpeg, "jpeg_destroy_compress"};
const base::Function<decltype(::jpeg_destroy_decompress)> jpeg_destroy_decompress{libjpeg, "jpeg_destroy_decompress"};
const base::Function<decltype(::jpeg_finish_compress)> jpeg_finish_compress{libjpeg, "jpeg_finish_compress"};
const base::Function<decltype(::jpeg_finish_decompress)> jpeg_finish_decompress{libjpeg, "jpeg_finish_decompress"};
const base::Function<decltype(::jpeg_mem_dest)> jpeg_mem_dest{libjpeg, "jpeg_mem_dest"};
const base::Function<decltype(::jpeg_mem_src)> jpeg_mem_src{libjpeg, "jpeg_mem_src"};
const base::Function<decltype(::jpeg_read_header)> jpeg_read_header{libjpeg, "jpeg_read_header"};
const base::Function<decltype(::jpeg_read_scanlines)> jpeg_read_scanlines{libjpeg, "jpeg_read_scanlines"};
const base::Function<decltype(::jpeg_set_defaults)> jpeg_set_defaults{libjpeg, "jpeg_set_defaults"};
const base::Function<decltype(::jpeg_set_quality)> jpeg_set_quality{libjpeg, "jpeg_set_quality"};
const base::Function<decltype(::jpeg_start_compress)> jpeg_start_compress{libjpeg, "jpeg_start_compress"};
const base::Function<decltype(::jpeg_start_decompress)> jpeg_start_decompress{libjpeg, "jpeg_start_decompress"};
const base::Function<decltype(::jpeg_std_error)> jpeg_std_error{libjpeg, "jpeg_std_error"};
const base::Function<decltype(::jpeg_write_scanlines)> jpeg_write_scanlines{libjpeg, "jpeg_write_scanlines"};

struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  bool ended, missing;  // the file ended early; pixels were missing
};
void on_error(j_common_ptr common) {
  auto* errors = reinterpret_cast<Errors*>(common->err);
  errors->manager.format_message(common, errors->message);
  std::longjmp(errors->jump, 1);  // NOLINT: libjpeg's own way
}
void on_message(j_common_ptr) {}
// libjpeg fills what is missing with grey and only warns.
void on_warning(j_common_ptr common, int level) {
  if (level >= 0) return;
  auto* errors = reinterpret_cast<Errors*>(common->err);
  if (errors->manager.num_warnings++ == 0) errors->manager.format_message(common, errors->message);
  errors->ended |= errors->manager.msg_code == JWRN_JPEG_EOF;
  errors->missing |= errors->manager.msg_code == JWRN_HIT_MARKER;
}

// Functions that a longjmp may leave hold no object with a destructor.
bool read_header(jpeg_decompress_struct& jpeg, Errors& errors, const unsigned char* bytes, unsigned long size) {
  if (setjmp(errors.jump) != 0) return false;  // NOLINT
  jpeg_mem_src(&jpeg, bytes, size);
  jpeg_read_header(&jpeg, TRUE);
  return true;
}
bool read_rows(jpeg_decompress_struct& jpeg, Errors& errors, unsigned char* to, std::size_t row) {
  if (setjmp(errors.jump) != 0) return false;  // NOLINT
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW line = to + jpeg.output_scanline * row;
    jpeg_read_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}
bool write_rows(jpeg_compress_struct& jpeg, Errors& errors, const Pixels& pixels, int quality, unsigned char** out,
                unsigned long* size) {
  if (setjmp(errors.jump) != 0) return false;  // NOLINT
  jpeg_mem_dest(&jpeg, out, size);
  jpeg.image_width = static_cast<JDIMENSION>(pixels.width);
  jpeg.image_height = static_cast<JDIMENSION>(pixels.height);
  jpeg.input_components = static_cast<int>(pixels.channels);
  jpeg.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* line = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(pixels.bytes.data())) +
                 jpeg.next_scanline * pixels.width * pixels.channels;
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  return true;
}

}  // namespace

Pixels decode_jpeg(std::string_view bytes, const std::string& name) {
  Errors errors{};
  jpeg_decompress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_error;
  errors.manager.output_message = on_message;
  errors.manager.emit_message = on_warning;
  jpeg_create_decompress(&jpeg);
  const auto end = [&](const std::string& why) {
    jpeg_destroy_decompress(&jpeg);
    return Error(ErrorKind::io, fmt::format("{}: not a JPEG image that can be used: {}", name, why));
  };
  if (!read_header(jpeg, errors, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
    throw end(errors.message);
  Pixels pixels;
  pixels.width = jpeg.image_width;
  pixels.height = jpeg.image_height;
  pixels.channels = jpeg.num_components == 1 ? 1 : 3;
  jpeg.out_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  if (jpeg.num_components == 4) throw end("four inks (CMYK); convert it to RGB");
  try {
    check_size(name, pixels.width, pixels.height, pixels.channels);
    // A block of 64 pixels takes at least one bit, except with arithmetic coding. Larger claims are rejected as
    // decompression bombs.
    if (pixels.width * pixels.height / (jpeg.arith_code != FALSE ? 65536 : 1024) > bytes.size()) {
      throw Error(ErrorKind::io, fmt::format("{}: {}x{} pixels cannot be in {} bytes", name, pixels.width,
                                             pixels.height, bytes.size()));
    }
    pixels.bytes.resize(pixels.width * pixels.height * pixels.channels);
  } catch (...) {
    jpeg_destroy_decompress(&jpeg);
    throw;
  }
  if (!read_rows(jpeg, errors, reinterpret_cast<unsigned char*>(pixels.bytes.data()), pixels.width * pixels.channels)) {
    throw end(errors.message);
  }
  if (errors.ended && errors.missing) throw end("it ends too early");
  if (errors.manager.num_warnings > 0) base::warn(fmt::format("{}: a damaged JPEG image: {}", name, errors.message));
  jpeg_destroy_decompress(&jpeg);
  return pixels;
}

std::string encode_jpeg(const Pixels& pixels, int quality) {
  if (pixels.sample != Sample::u8 || (pixels.channels != 1 && pixels.channels != 3)) {
    throw Error(ErrorKind::invalid_argument, "JPEG images hold 8 bits in 1 or 3 channels: use .png or .tiff");
  }
  Errors errors{};
  jpeg_compress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_error;
  errors.manager.output_message = on_message;
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  const bool done = write_rows(jpeg, errors, pixels, quality, &memory, &size);
  jpeg_destroy_compress(&jpeg);
  std::string out(reinterpret_cast<const char*>(memory), done ? size : 0);
  std::free(memory);  // NOLINT: libjpeg took it with malloc
  if (!done)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("JPEG of {}x{}: {}", pixels.width, pixels.height, errors.message));
  return out;
}

}  // namespace ridge::io
