// Portable grey, colour and float maps: P2, P3, P5, P6, Pf, PF.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/log.hpp"
#include "base/number.hpp"
#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

class Text {
 public:
  Text(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::io, fmt::format("{}: not a PNM image that can be used: {}", name_, why));
  }
  std::string_view word() {
    while (at_ < bytes_.size() && (std::isspace(byte()) != 0 || byte() == '#')) {
      if (byte() == '#') {
        while (at_ < bytes_.size() && byte() != '\n') ++at_;
      } else {
        ++at_;
      }
    }
    const std::size_t first = at_;
    while (at_ < bytes_.size() && std::isspace(byte()) == 0) ++at_;
    if (first == at_) refuse("it ends too early");
    return bytes_.substr(first, at_ - first);
  }
  std::uint64_t number(const char* what, std::uint64_t most) {
    const std::string_view text = word();
    std::uint64_t value = 0;
    if (text.size() > 18) refuse(fmt::format("{} of {} digits", what, text.size()));
    for (const char digit : text) {
      if (digit < '0' || digit > '9') refuse(fmt::format("{} \"{}\" is not a number", what, text));
      value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    if (value > most) refuse(fmt::format("{} {} is more than {}", what, value, most));
    return value;
  }
  std::string_view rest() {  // one white space ends the header
    return bytes_.substr(std::min(at_ + 1, bytes_.size()));
  }
  // Warns of what follows the image: `data` bytes of rest(), or the words read.
  void end(std::size_t data) {
    at_ = std::min(bytes_.size(), at_ + data + (data > 0 ? 1 : 0));
    while (at_ < bytes_.size() && std::isspace(byte()) != 0) ++at_;
    if (at_ == bytes_.size()) return;
    base::warn(fmt::format("{}: {} bytes follow the image and are not read", name_, bytes_.size() - at_));
  }

 private:
  int byte() const { return static_cast<unsigned char>(bytes_[at_]); }
  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::uint16_t swapped(std::uint16_t value) { return static_cast<std::uint16_t>(value << 8 | value >> 8); }

void read_float_map(Text& text, Pixels& pixels) {
  pixels.sample = Sample::f32;
  const std::string scale(text.word());
  const double factor = base::number_of(scale).value_or(0);
  if (!(factor != 0)) text.refuse(fmt::format("scale \"{}\" is not a number other than 0", scale));
  const std::size_t row = pixels.width * pixels.channels * 4;
  const std::string_view data = text.rest();
  if (data.size() < row * pixels.height) text.refuse("it ends too early");
  pixels.bytes.resize(row * pixels.height);
  text.end(row * pixels.height);
  for (std::size_t r = 0; r < pixels.height; ++r) {  // the last row is stored first
    std::memcpy(pixels.bytes.data() + (pixels.height - 1 - r) * row, data.data() + r * row, row);
  }
  if (factor > 0) {  // big-endian
    for (std::size_t i = 0; i < pixels.bytes.size(); i += 4) std::reverse(&pixels.bytes[i], &pixels.bytes[i] + 4);
  }
}

// Scales values 0 to `most` to the full range.
std::uint16_t to_full_range(std::uint64_t value, std::uint64_t most, std::uint64_t full) {
  return static_cast<std::uint16_t>((std::min(value, most) * full + most / 2) / most);
}

}  // namespace

Pixels decode_pnm(std::string_view bytes, const std::string& name) {
  Text text(bytes, name);
  const std::string_view magic = text.word();
  const char kind = magic.size() == 2 && magic[0] == 'P' ? magic[1] : '?';
  if (std::string_view("2356fF").find(kind) == std::string_view::npos)
    text.refuse(fmt::format("kind \"{}\"; P2, P3, P5, P6, Pf and PF are read", magic.substr(0, 8)));
  Pixels pixels;
  pixels.width = text.number("width", UINT32_MAX);
  pixels.height = text.number("height", UINT32_MAX);
  pixels.channels = kind == '3' || kind == '6' || kind == 'F' ? 3 : 1;
  check_size(name, pixels.width, pixels.height, pixels.channels);
  if (kind == 'f' || kind == 'F') {
    read_float_map(text, pixels);
    return pixels;
  }
  const std::uint64_t most = text.number("greatest value", 65535);
  if (most == 0) text.refuse("its greatest value is 0");
  const std::uint64_t full = most < 256 ? 255 : 65535;
  pixels.sample = most < 256 ? Sample::u8 : Sample::u16;
  const std::size_t count = pixels.width * pixels.height * pixels.channels, each = bytes_of(pixels.sample);
  const bool plain = kind == '2' || kind == '3';
  // A value takes at least one byte: nothing is allocated for more values than bytes.
  if (text.rest().size() + 1 < count) text.refuse("it ends too early");
  const std::string_view data = plain ? std::string_view{} : text.rest();
  if (!plain && data.size() < count * each) text.refuse("it ends too early");
  pixels.bytes.resize(count * each);
  if (!plain) text.end(count * each);
  if (!plain && most == full && each == 1) {  // the usual case: values are unchanged
    std::memcpy(pixels.bytes.data(), data.data(), count);
    return pixels;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    if (plain) {
      value = text.number("value", 65535);
    } else {
      value = static_cast<unsigned char>(data[i * each]);
      if (each == 2) value = value << 8 | static_cast<unsigned char>(data[i * 2 + 1]);
    }
    const std::uint16_t out = to_full_range(value, most, full);
    if (each == 1) {
      pixels.bytes[i] = static_cast<std::byte>(out);
    } else {
      std::memcpy(&pixels.bytes[i * 2], &out, 2);
    }
  }
  if (plain) text.end(0);
  return pixels;
}

std::string encode_pnm(const Pixels& pixels) {
  if (pixels.channels != 1 && pixels.channels != 3) {
    throw Error(ErrorKind::invalid_argument, fmt::format("PNM images have 1 or 3 channels, not {}", pixels.channels));
  }
  const bool color = pixels.channels == 3;
  if (pixels.sample == Sample::f32) {
    std::string out = fmt::format("{}\n{} {}\n-1.0\n", color ? "PF" : "Pf", pixels.width, pixels.height);
    const std::size_t row = pixels.width * pixels.channels * 4;
    for (std::size_t r = pixels.height; r-- > 0;) {
      out.append(reinterpret_cast<const char*>(pixels.bytes.data()) + r * row, row);
    }
    return out;
  }
  std::string out = fmt::format("{}\n{} {}\n{}\n", color ? "P6" : "P5", pixels.width, pixels.height,
                                pixels.sample == Sample::u8 ? 255 : 65535);
  const std::size_t header = out.size();
  out.append(reinterpret_cast<const char*>(pixels.bytes.data()), pixels.bytes.size());
  if (pixels.sample == Sample::u16 && std::endian::native == std::endian::little) {
    for (std::size_t i = header; i + 1 < out.size(); i += 2) {
      std::uint16_t value = 0;
      std::memcpy(&value, &out[i], 2);
      value = swapped(value);
      std::memcpy(&out[i], &value, 2);
    }
  }
  return out;
}

}  // namespace ridge::io
