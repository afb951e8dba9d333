// CRC-32C (Castagnoli), the checksum of storage and networks. Detects every burst of up to 32 bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::io {

// Checksum of `bytes` bytes that follow those with checksum `before` (0 at the start).
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace ridge::io
