// Encodes bytes as base64, and computes CRC-32C checksums.
#include "io/encoding.hpp"

#include <array>
#include <cstring>

namespace ridge::io {
namespace {

constexpr char kBase64Letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_four(const unsigned char (&three)[3], std::string& text) {
  const unsigned bits = (three[0] << 16u) | (three[1] << 8u) | three[2];
  for (const unsigned shift : {18u, 12u, 6u, 0u}) text += kBase64Letters[(bits >> shift) & 63u];
}

}  // namespace

std::string Base64::add(const void* bytes, std::size_t count) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  std::string text;
  text.reserve((count + 2) / 3 * 4 + 4);
  for (std::size_t i = 0; i < count; ++i) {
    waiting_[count_++] = from[i];
    if (count_ < 3) continue;
    append_four(waiting_, text);
    count_ = 0;
  }
  return text;
}

std::string Base64::finish() {
  std::string text;
  if (count_ == 0) return text;
  for (std::size_t i = count_; i < 3; ++i) waiting_[i] = 0;
  append_four(waiting_, text);
  for (std::size_t i = count_; i < 3; ++i) text[i + 1] = '=';
  count_ = 0;
  return text;
}

namespace {

// tables[k][b]: effect of byte b on the remainder k bytes later. Eight tables process eight bytes at a time.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0x82F63B78u : 0u);
    tables[0][byte] = remainder;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~before;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint32_t low = 0, high = 0;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
  }
  for (; bytes > 0; --bytes, ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return ~crc;
}

}  // namespace ridge::io
