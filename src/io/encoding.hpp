// Base64 text of .vti files, and the CRC-32C checksum of checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace ridge::io {

// Encodes bytes as base64, in chunks of any length. Three bytes become four characters, so up to two bytes wait for the
// next chunk.
class Base64 {
 public:
  std::string add(const void* bytes, std::size_t count);
  std::string finish();  // encodes the remaining bytes, padded with '='

 private:
  unsigned char waiting_[3] = {};
  std::size_t count_ = 0;
};

// CRC-32C (Castagnoli), the checksum of storage and networks. Detects every burst of up to 32 bits.
// Checksum of `bytes` bytes that follow those with checksum `before` (0 at the start).
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace ridge::io
