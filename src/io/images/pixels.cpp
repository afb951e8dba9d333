// Chooses the reader by a file's first bytes and the writer by its suffix, and checks sizes.
#include "io/images/pixels.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/number.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::io {
namespace {

std::string ending_of(const std::filesystem::path& path) { return base::lower_case(path.extension().string()); }

constexpr ElementType kElements[] = {ElementType::uint8, ElementType::uint16, ElementType::float32};  // by Sample

Pixels read_npy(const std::filesystem::path& path) {
  InputStream in(path.string());
  const NpyHeader header = read_npy_header(in);
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{}: not an array that can be used as an image: {}", path.string(), why));
  };
  if (header.shape.size() != 2 && header.shape.size() != 3)
    throw refuse(fmt::format("{} axes; 2 or 3 are needed", header.shape.size()));
  Pixels pixels;
  pixels.height = header.shape[0];
  pixels.width = header.shape[1];
  pixels.channels = header.shape.size() == 3 ? header.shape[2] : 1;
  if (pixels.channels == 0 || pixels.channels > 4)
    throw refuse(fmt::format("{} channels; 1 to 4 are needed", pixels.channels));
  check_size(path.string(), pixels.width, pixels.height, pixels.channels);
  const auto sample = std::find(std::begin(kElements), std::end(kElements), header.type);
  if (sample == std::end(kElements))
    throw refuse(fmt::format("elements of {}; uint8, uint16 and float32 are read", name_of(header.type)));
  pixels.sample = static_cast<Sample>(sample - std::begin(kElements));
  const std::size_t wanted = header.elements() * bytes_of(pixels.sample);
  if (const auto left = in.remaining(); left && *left < wanted) throw refuse("it ends too early");
  pixels.bytes.resize(wanted);
  if (in.read(pixels.bytes.data(), wanted) != wanted) throw refuse("it ends too early");
  return pixels;
}

std::string encode_npy(const Pixels& pixels) {
  NpyHeader header{kElements[static_cast<std::size_t>(pixels.sample)], {pixels.height, pixels.width}};
  if (pixels.channels > 1) header.shape.push_back(pixels.channels);
  std::string out = npy_header(header);
  out.append(reinterpret_cast<const char*>(pixels.bytes.data()), pixels.bytes.size());
  return out;
}

}  // namespace

void check_size(const std::string& name, std::uint64_t width, std::uint64_t height, std::uint64_t channels) {
  if (width == 0 || height == 0) throw Error(ErrorKind::io, fmt::format("{}: {}x{} pixels", name, width, height));
  if (channels == 0 || channels > 4)
    throw Error(ErrorKind::io, fmt::format("{}: {} channels; 1 to 4 can be used", name, channels));
  if (width > kMostFilePixels / height) {
    throw Error(ErrorKind::io, fmt::format("{}: {}x{} pixels; more than {} million are not read", name, width, height,
                                           kMostFilePixels >> 20));
  }
}

Pixels read_pixels(const std::filesystem::path& path) {
  const auto bytes = base::read_file(path, std::size_t{1} << 34);
  if (!bytes) throw Error(ErrorKind::io, fmt::format("cannot read {}: no such file", path.string()));
  const std::string_view start = std::string_view(*bytes).substr(0, 8);
  const std::string name = path.string();
  if (start.substr(0, 4) == "\x89PNG") return decode_png(*bytes, name);
  if (start.substr(0, 2) == "\xff\xd8") return decode_jpeg(*bytes, name);
  if (start.substr(0, 4) == std::string_view("II*\0", 4) || start.substr(0, 4) == std::string_view("MM\0*", 4)) {
    return decode_tiff(*bytes, name);
  }
  if (looks_like_npy(start)) return read_npy(path);
  if (start.size() > 2 && start[0] == 'P' && std::string_view("2356fF").find(start[1]) != std::string_view::npos) {
    return decode_pnm(*bytes, name);
  }
  throw Error(ErrorKind::io,
              fmt::format("{}: not an image: its first bytes are none of PNG, PNM, PFM, TIFF, JPEG and .npy", name));
}

void check_ending(const std::filesystem::path& path) {
  static constexpr const char* kEndings[] = {".png", ".ppm",  ".pgm", ".pnm",  ".pfm",
                                             ".tif", ".tiff", ".jpg", ".jpeg", ".npy"};
  if (std::find(std::begin(kEndings), std::end(kEndings), ending_of(path)) == std::end(kEndings)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: the name must end in .png, .ppm, .pgm, .pfm, .tiff, .jpg or .npy", path.string()));
  }
}

std::string encode_pixels(const std::filesystem::path& path, const Pixels& pixels) {
  check_ending(path);
  const std::string ending = ending_of(path);
  if (ending == ".png") return encode_png(pixels);
  if (ending == ".tif" || ending == ".tiff") return encode_tiff(pixels);
  if (ending == ".jpg" || ending == ".jpeg") return encode_jpeg(pixels);
  if (ending == ".npy") return encode_npy(pixels);
  const bool floats = ending == ".pfm";
  if (floats != (pixels.sample == Sample::f32)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: {} hold {} pixels; use .tiff or .npy", path.string(),
                            floats ? ".pfm files" : "PGM and PPM files", floats ? "float" : "integer"));
  }
  if (ending == ".pgm" && pixels.channels != 1)
    throw Error(ErrorKind::invalid_argument, fmt::format("{}: a PGM file holds grey pixels; use .ppm", path.string()));
  return encode_pnm(pixels);
}

void check_format(const std::filesystem::path& path, std::size_t channels, Sample sample) {
  encode_pixels(path, {1, 1, channels, sample, std::vector<std::byte>(channels * bytes_of(sample))});
}

void write_pixels(const std::filesystem::path& path, const Pixels& pixels) {
  base::write_file(path, encode_pixels(path, pixels));
}

}  // namespace ridge::io
