// PNG of 8 and 16 bits through libpng's full interface: the simplified one converts 16 bits to linear light.
#include <csetjmp>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <png.h>
#include <ridge/error.hpp>

#include "base/library.hpp"
#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

const base::Library libpng{base::png_library, "PNG images"};
const base::Function<decltype(::png_create_info_struct)> png_create_info_struct{libpng, "png_create_info_struct"};
const base::Function<decltype(::png_create_read_struct)> png_create_read_struct{libpng, "png_create_read_struct"};
const base::Function<decltype(::png_create_write_struct)> png_create_write_struct{libpng, "png_create_write_struct"};
const base::Function<decltype(::png_destroy_read_struct)> png_destroy_read_struct{libpng, "png_destroy_read_struct"};
const base::Function<decltype(::png_destroy_write_struct)> png_destroy_write_struct{libpng, "png_destroy_write_struct"};
const base::Function<decltype(::png_error)> png_error{libpng, "png_error"};
const base::Function<decltype(::png_get_bit_depth)> png_get_bit_depth{libpng, "png_get_bit_depth"};
const base::Function<decltype(::png_get_channels)> png_get_channels{libpng, "png_get_channels"};
const base::Function<decltype(::png_get_error_ptr)> png_get_error_ptr{libpng, "png_get_error_ptr"};
const base::Function<decltype(::png_get_image_height)> png_get_image_height{libpng, "png_get_image_height"};
const base::Function<decltype(::png_get_image_width)> png_get_image_width{libpng, "png_get_image_width"};
const base::Function<decltype(::png_get_io_ptr)> png_get_io_ptr{libpng, "png_get_io_ptr"};
const base::Function<decltype(::png_get_rowbytes)> png_get_rowbytes{libpng, "png_get_rowbytes"};
const base::Function<decltype(::png_read_end)> png_read_end{libpng, "png_read_end"};
const base::Function<decltype(::png_read_image)> png_read_image{libpng, "png_read_image"};
const base::Function<decltype(::png_read_info)> png_read_info{libpng, "png_read_info"};
const base::Function<decltype(::png_read_update_info)> png_read_update_info{libpng, "png_read_update_info"};
const base::Function<decltype(::png_set_IHDR)> png_set_IHDR{libpng, "png_set_IHDR"};
const base::Function<decltype(::png_set_chunk_malloc_max)> png_set_chunk_malloc_max{libpng, "png_set_chunk_malloc_max"};
const base::Function<decltype(::png_set_compression_level)> png_set_compression_level{libpng,
                                                                                      "png_set_compression_level"};
const base::Function<decltype(::png_set_expand)> png_set_expand{libpng, "png_set_expand"};
const base::Function<decltype(::png_set_interlace_handling)> png_set_interlace_handling{libpng,
                                                                                        "png_set_interlace_handling"};
const base::Function<decltype(::png_set_longjmp_fn)> png_set_longjmp_fn{libpng, "png_set_longjmp_fn"};
const base::Function<decltype(::png_set_read_fn)> png_set_read_fn{libpng, "png_set_read_fn"};
const base::Function<decltype(::png_set_swap)> png_set_swap{libpng, "png_set_swap"};
const base::Function<decltype(::png_set_user_limits)> png_set_user_limits{libpng, "png_set_user_limits"};
const base::Function<decltype(::png_set_write_fn)> png_set_write_fn{libpng, "png_set_write_fn"};
const base::Function<decltype(::png_write_end)> png_write_end{libpng, "png_write_end"};
const base::Function<decltype(::png_write_image)> png_write_image{libpng, "png_write_image"};
const base::Function<decltype(::png_write_info)> png_write_info{libpng, "png_write_info"};

struct Source {
  const char* at;
  std::size_t left;
};
struct State {
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool reading = true;
  char message[200] = {};
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (png == nullptr) return;  // libpng may be missing
    if (reading) {
      png_destroy_read_struct(&png, &info, nullptr);
    } else {
      png_destroy_write_struct(&png, &info);
    }
  }
};

void on_error(png_structp png, png_const_charp text) {
  auto* state = static_cast<State*>(png_get_error_ptr(png));
  std::strncpy(state->message, text, sizeof state->message - 1);
  std::longjmp(png_jmpbuf(png), 1);  // NOLINT: libpng's own way
}
void on_warning(png_structp, png_const_charp) {}
void take(png_structp png, png_bytep to, std::size_t bytes) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (bytes > source->left) png_error(png, "it ends too early");
  std::memcpy(to, source->at, bytes);
  source->at += bytes;
  source->left -= bytes;
}
void give(png_structp png, png_bytep from, std::size_t bytes) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(from), bytes);
}

// Functions that a longjmp may leave hold no object with a destructor.
bool read_header(State& state, Source& source) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;  // NOLINT
  png_set_read_fn(state.png, &source, take);
  png_set_user_limits(state.png, 0x7fffffff, 0x7fffffff);
  png_set_chunk_malloc_max(state.png, 64 << 20);
  png_read_info(state.png, state.info);
  return true;
}
bool prepare(State& state, bool swap) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;  // NOLINT
  png_set_expand(state.png);                             // palettes, fewer than 8 bits, transparency
  if (swap) png_set_swap(state.png);
  png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  return true;
}
bool read_rows(State& state, png_bytepp rows) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;  // NOLINT
  png_read_image(state.png, rows);
  png_read_end(state.png, nullptr);
  return true;
}
bool write_rows(State& state, std::string* out, png_bytepp rows, const Pixels& pixels, int type, bool swap) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;  // NOLINT
  png_set_write_fn(state.png, out, give, nullptr);
  png_set_IHDR(state.png, state.info, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height),
               pixels.sample == Sample::u8 ? 8 : 16, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(state.png, 3);
  png_write_info(state.png, state.info);
  if (swap) png_set_swap(state.png);
  png_write_image(state.png, rows);
  png_write_end(state.png, nullptr);
  return true;
}

const bool kLittle = [] {
  const std::uint16_t one = 1;
  unsigned char first = 0;
  std::memcpy(&first, &one, 1);
  return first == 1;
}();

}  // namespace

Pixels decode_png(std::string_view bytes, const std::string& name) {
  State state;
  const auto refuse = [&] {
    return Error(ErrorKind::io, fmt::format("{}: not a PNG image that can be used: {}", name, state.message));
  };
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) throw Error(ErrorKind::out_of_memory, "not enough memory for libpng");
  Source source{bytes.data(), bytes.size()};
  if (!read_header(state, source)) throw refuse();
  Pixels pixels;
  pixels.width = png_get_image_width(state.png, state.info);
  pixels.height = png_get_image_height(state.png, state.info);
  check_size(name, pixels.width, pixels.height, 4);
  const bool wide = png_get_bit_depth(state.png, state.info) == 16;
  if (!prepare(state, wide && kLittle)) throw refuse();
  pixels.channels = png_get_channels(state.png, state.info);
  pixels.sample = wide ? Sample::u16 : Sample::u8;
  const std::size_t row = png_get_rowbytes(state.png, state.info);
  if (row != pixels.width * pixels.channels * bytes_of(pixels.sample)) {
    throw Error(ErrorKind::io, fmt::format("{}: a PNG with rows of {} bytes", name, row));
  }
  // Deflate expands by at most 1032. Larger claims are rejected as decompression bombs.
  if (row * pixels.height / 1100 > bytes.size() + 65536) {
    throw Error(ErrorKind::io,
                fmt::format("{}: {}x{} pixels cannot be in {} bytes", name, pixels.width, pixels.height, bytes.size()));
  }
  pixels.bytes.resize(row * pixels.height);
  std::vector<png_bytep> rows(pixels.height);
  for (std::size_t r = 0; r < pixels.height; ++r) rows[r] = reinterpret_cast<png_bytep>(pixels.bytes.data()) + r * row;
  if (!read_rows(state, rows.data())) throw refuse();
  return pixels;
}

std::string encode_png(const Pixels& pixels) {
  if (pixels.sample == Sample::f32) {
    throw Error(ErrorKind::invalid_argument, "PNG images hold 8 or 16 bits, these have more: use .tiff or .npy");
  }
  State state;
  state.reading = false;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) throw Error(ErrorKind::out_of_memory, "not enough memory for libpng");
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  const std::size_t row = pixels.width * pixels.channels * bytes_of(pixels.sample);
  std::vector<png_bytep> rows(pixels.height);
  for (std::size_t r = 0; r < pixels.height; ++r) {
    rows[r] = reinterpret_cast<png_bytep>(const_cast<std::byte*>(pixels.bytes.data())) + r * row;  // libpng reads only
  }
  std::string out;
  if (!write_rows(state, &out, rows.data(), pixels, kTypes[pixels.channels - 1],
                  kLittle && pixels.sample == Sample::u16)) {
    throw Error(ErrorKind::internal,
                fmt::format("libpng refuses an image of {}x{}: {}", pixels.width, pixels.height, state.message));
  }
  return out;
}

}  // namespace ridge::io
