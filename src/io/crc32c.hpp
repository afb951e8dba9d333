// CRC-32C (Castagnoli): the checksum of storage and networks. Finds every burst of up to 32 bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::io {

// Of `bytes` bytes after those whose checksum is `before` (0 at the start).
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace ridge::io
