#include "search/values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "search/host/rows.hpp"

namespace ridge::search {

void check_bits(std::size_t bits, std::size_t channels) {
  if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != 32) {
    throw Error(ErrorKind::invalid_argument, fmt::format("search: needs 1, 2, 4, 8, 16 or 32 bits, got {}", bits));
  }
  if (bits * channels % 8 != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("search: {} channels of {} bits are not a whole number of bytes", channels, bits));
  }
}

void unpack(const std::byte* in, std::size_t bits, bool is_signed, float* out, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
  if (bits == 32) {
    std::memcpy(out, in, count * sizeof(float));
  } else if (bits == 16) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t value = 0;
      std::memcpy(&value, bytes + 2 * i, 2);
      out[i] = value;
    }
  } else if (bits == 8 && is_signed) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int8_t>(bytes[i]);
  } else if (bits == 8) {
    row_kernels().from_bytes(bytes, out, count);
  } else {
    const unsigned mask = (1U << bits) - 1, each = 8 / static_cast<unsigned>(bits);
    for (std::size_t i = 0; i < count; i += each) {
      const unsigned byte = bytes[i / each];
      for (unsigned k = 0; k < each; ++k) out[i + k] = static_cast<float>((byte >> (k * bits)) & mask);
    }
  }
}

void pack(const float* in, std::size_t bits, std::byte* out, std::size_t count) {
  if (bits == 32) return void(std::memcpy(out, in, count * sizeof(float)));
  const float most = static_cast<float>((1U << bits) - 1);
  const auto whole = [&](std::size_t i) {
    return static_cast<unsigned>(std::min(std::max(std::floor(in[i] + 0.5F), 0.0F), most));
  };
  if (bits == 16) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint16_t>(whole(i));
      std::memcpy(out + 2 * i, &value, 2);
    }
    return;
  }
  const std::size_t each = 8 / bits;
  for (std::size_t i = 0; i < count; i += each) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < each; ++k) byte |= whole(i + k) << (k * bits);
    out[i / each] = static_cast<std::byte>(byte);
  }
}

}  // namespace ridge::search
