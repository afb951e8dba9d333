// Reads and writes image files without conversion: PNG, PNM (PGM, PPM, PFM), TIFF, JPEG, each by its library if
// available.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::io {

enum class Sample : std::uint8_t { u8, u16, f32 };
constexpr std::size_t bytes_of(Sample sample) { return sample == Sample::u8 ? 1 : sample == Sample::u16 ? 2 : 4; }

// Rows from the top, packed, in native byte order.
struct Pixels {
  std::size_t width = 0, height = 0, channels = 1;  // 1 grey, 2 with alpha, 3 colours, 4 with alpha
  Sample sample = Sample::u8;
  std::vector<std::byte> bytes = {};
};

// Limit of pixels per file: larger images are rejected before memory is allocated. 32768 x 32768 fits.
inline constexpr std::size_t kMostFilePixels = std::size_t{1} << 30;

// Decode a file's bytes; `name` appears in errors. Throw Error{io}, or Error{unavailable} if the library is missing.
Pixels decode_png(std::string_view bytes, const std::string& name);
Pixels decode_pnm(std::string_view bytes, const std::string& name);
Pixels decode_tiff(std::string_view bytes, const std::string& name);
Pixels decode_jpeg(std::string_view bytes, const std::string& name);
std::string encode_png(const Pixels& pixels);                     // 8 and 16 bits
std::string encode_pnm(const Pixels& pixels);                     // P5, P6 for 8 and 16 bits; Pf, PF for float
std::string encode_tiff(const Pixels& pixels);                    // all sample types
std::string encode_jpeg(const Pixels& pixels, int quality = 95);  // 8 bits, 1 or 3 channels

// Detects the format by the first bytes; also .npy arrays of shape (rows, columns) or (rows, columns, channels).
Pixels read_pixels(const std::filesystem::path& path);
// Chooses the format by the extension: .png .ppm .pgm .pnm .pfm .tif .tiff .jpg .jpeg .npy. Atomic.
void write_pixels(const std::filesystem::path& path, const Pixels& pixels);
void check_ending(const std::filesystem::path& path);  // Error{invalid_argument} for other extensions
// Throws as write_pixels would for such pixels, before they exist.
void check_format(const std::filesystem::path& path, std::size_t channels, Sample sample);

// Error{io}: "NAME: 100000x100000 pixels; more than ... are not read".
void check_size(const std::string& name, std::uint64_t width, std::uint64_t height, std::uint64_t channels);

// Dense optical flow, .flo: a magic number, width, height, then (x, y) per pixel. Values above 1e9 mean unknown.
struct FlowField {
  std::size_t width = 0, height = 0;
  std::vector<float> vectors = {};  // x, y
};
FlowField decode_flo(std::string_view bytes, const std::string& name);
FlowField read_flo(const std::filesystem::path& path);
std::string encode_flo(const FlowField& field);
bool known(float x, float y);

}  // namespace ridge::io
