// TIFF images in memory: strips of 8 and 16 bits or float, grey or RGB, interleaved channels.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <tiffio.h>
#include <ridge/error.hpp>

#include "base/library.hpp"
#include "base/log.hpp"
#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

const base::Library libtiff{base::tiff_library, "TIFF images"};
const base::Function<decltype(::TIFFClientOpen)> TIFFClientOpen{libtiff, "TIFFClientOpen"};
const base::Function<decltype(::TIFFClose)> TIFFClose{libtiff, "TIFFClose"};
const base::Function<decltype(::TIFFDefaultStripSize)> TIFFDefaultStripSize{libtiff, "TIFFDefaultStripSize"};
const base::Function<decltype(::TIFFGetField)> TIFFGetField{libtiff, "TIFFGetField"};
const base::Function<decltype(::TIFFGetFieldDefaulted)> TIFFGetFieldDefaulted{libtiff, "TIFFGetFieldDefaulted"};
const base::Function<decltype(::TIFFIsTiled)> TIFFIsTiled{libtiff, "TIFFIsTiled"};
const base::Function<decltype(::TIFFLastDirectory)> TIFFLastDirectory{libtiff, "TIFFLastDirectory"};
const base::Function<decltype(::TIFFReadScanline)> TIFFReadScanline{libtiff, "TIFFReadScanline"};
const base::Function<decltype(::TIFFScanlineSize64)> TIFFScanlineSize64{libtiff, "TIFFScanlineSize64"};
const base::Function<decltype(::TIFFSetErrorHandler)> TIFFSetErrorHandler{libtiff, "TIFFSetErrorHandler"};
const base::Function<decltype(::TIFFSetField)> TIFFSetField{libtiff, "TIFFSetField"};
const base::Function<decltype(::TIFFSetWarningHandler)> TIFFSetWarningHandler{libtiff, "TIFFSetWarningHandler"};
const base::Function<decltype(::TIFFWriteScanline)> TIFFWriteScanline{libtiff, "TIFFWriteScanline"};

struct Memory {
  std::string out = {};
  std::string_view in = {};
  std::uint64_t at = 0;
  bool writing = false;
  std::uint64_t size() const { return writing ? out.size() : in.size(); }
};
Memory& memory_of(thandle_t handle) { return *static_cast<Memory*>(handle); }
tmsize_t take(thandle_t handle, void* to, tmsize_t bytes) {
  Memory& memory = memory_of(handle);
  if (memory.at >= memory.size() || bytes < 0) return 0;
  const auto count = std::min<std::uint64_t>(static_cast<std::uint64_t>(bytes), memory.size() - memory.at);
  std::memcpy(to, (memory.writing ? memory.out.data() : memory.in.data()) + memory.at, count);
  memory.at += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t give(thandle_t handle, void* from, tmsize_t bytes) {
  Memory& memory = memory_of(handle);
  if (!memory.writing || bytes < 0) return 0;
  const auto end = memory.at + static_cast<std::uint64_t>(bytes);
  if (memory.out.size() < end) memory.out.resize(end);
  std::memcpy(memory.out.data() + memory.at, from, static_cast<std::size_t>(bytes));
  memory.at = end;
  return bytes;
}
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Memory& memory = memory_of(handle);
  memory.at = whence == SEEK_CUR ? memory.at + offset : whence == SEEK_END ? memory.size() + offset : offset;
  return memory.at;
}
int close_it(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return memory_of(handle).size(); }
int no_map(thandle_t, void**, toff_t*) { return 0; }
void no_unmap(thandle_t, void*, toff_t) {}

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using File = std::unique_ptr<TIFF, Close>;
File open(Memory& memory, const std::string& name, const char* mode) {
  TIFFSetErrorHandler(nullptr);  // our own errors describe the defect
  TIFFSetWarningHandler(nullptr);
  return File(TIFFClientOpen(name.c_str(), mode, &memory, take, give, seek, close_it, size_of, no_map, no_unmap));
}

}  // namespace

Pixels decode_tiff(std::string_view bytes, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{}: not a TIFF image that can be used: {}", name, why));
  };
  Memory memory;
  memory.in = bytes;
  const File file = open(memory, name, "rm");
  if (!file) throw refuse("its directory is damaged");
  TIFF* tiff = file.get();
  std::uint32_t width = 0, height = 0;
  std::uint16_t bits = 1, channels = 1, format = SAMPLEFORMAT_UINT, planar = PLANARCONFIG_CONTIG,
                photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  check_size(name, width, height, channels);
  Pixels pixels;
  pixels.width = width;
  pixels.height = height;
  pixels.channels = channels;
  if (format == SAMPLEFORMAT_IEEEFP && bits == 32) {
    pixels.sample = Sample::f32;
  } else if (format == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16)) {
    pixels.sample = bits == 8 ? Sample::u8 : Sample::u16;
  } else {
    throw refuse(fmt::format("{} bits of sample format {}; 8 and 16 bits and 32-bit float are read", bits, format));
  }
  if (planar != PLANARCONFIG_CONTIG && channels > 1)
    throw refuse("channels in planes of their own; save it with them interleaved");
  if (photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_RGB) {
    throw refuse(fmt::format("photometric interpretation {}; grey and RGB are read", photometric));
  }
  if (TIFFIsTiled(tiff) != 0) throw refuse("tiles; save it in strips");
  const std::size_t row = pixels.width * pixels.channels * bytes_of(pixels.sample);
  if (static_cast<std::size_t>(TIFFScanlineSize64(tiff)) != row) throw refuse("rows of an unexpected length");
  // Uncompressed strips must be present; compressed ones expand by at most 30000. Larger claims are rejected.
  if (row * pixels.height / 30000 > bytes.size()) {
    throw refuse(fmt::format("{}x{} pixels cannot be in {} bytes", width, height, bytes.size()));
  }
  pixels.bytes.resize(row * pixels.height);
  for (std::uint32_t r = 0; r < height; ++r) {
    if (TIFFReadScanline(tiff, pixels.bytes.data() + r * row, r, 0) < 0)
      throw refuse(fmt::format("row {} is damaged", r));
  }
  if (TIFFLastDirectory(tiff) == 0) base::warn(fmt::format("{}: holds several images; the first is read", name));
  return pixels;
}

std::string encode_tiff(const Pixels& pixels) {
  Memory memory;
  memory.writing = true;
  {
    const File file = open(memory, "image", "wm");
    TIFF* tiff = file.get();
    if (tiff == nullptr) throw Error(ErrorKind::internal, "libtiff cannot write");
    const auto bits = static_cast<std::uint16_t>(8 * bytes_of(pixels.sample));
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(pixels.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(pixels.height));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<std::uint16_t>(pixels.channels));
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, pixels.sample == Sample::f32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, pixels.channels < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    if (pixels.channels == 2 || pixels.channels == 4) {
      std::uint16_t extra = EXTRASAMPLE_UNSPECIFIED;
      TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &extra);
    }
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, 0));
    const std::size_t row = pixels.width * pixels.channels * bytes_of(pixels.sample);
    for (std::size_t r = 0; r < pixels.height; ++r) {
      auto* line = const_cast<std::byte*>(pixels.bytes.data()) + r * row;  // libtiff reads only
      if (TIFFWriteScanline(tiff, line, static_cast<std::uint32_t>(r), 0) < 0)
        throw Error(ErrorKind::internal, "libtiff cannot write a row");
    }
  }
  return std::move(memory.out);
}

}  // namespace ridge::io
