// FITS headers and big-endian values, for the writers of PSRFITS and UVFITS.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ridge::io {

inline constexpr std::size_t kFitsBlock = 2880;

// A header of 80-character cards, padded to whole FITS blocks.
class FitsCards {
 public:
  void text(const std::string& key, const std::string& value) {
    card(key, fmt::format("'{:<8}'", value.substr(0, 60)));
  }
  void flag(const std::string& key, bool value) { card(key, fmt::format("{:>20}", value ? 'T' : 'F')); }
  void integer(const std::string& key, std::int64_t value) { card(key, fmt::format("{:>20}", value)); }
  void number(const std::string& key, double value) {
    card(key, fmt::format("{:>20}", fmt::format("{:#.15G}", value)));
  }
  std::string finish() {
    text_ += fmt::format("{:<80}", "END");
    text_.resize((text_.size() + kFitsBlock - 1) / kFitsBlock * kFitsBlock, ' ');
    return std::move(text_);
  }

 private:
  void card(const std::string& key, const std::string& value) {
    text_ += fmt::format("{:<80}", fmt::format("{:<8}= {}", key, value));
  }
  std::string text_;
};

// Appends the value's bytes, most significant byte first.
template <class T>
void append_fits(std::vector<std::byte>& to, T value) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  if constexpr (std::endian::native == std::endian::little) std::reverse(bytes, bytes + sizeof value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

// Number of zero bytes that complete a FITS block.
inline std::size_t fits_padding(std::uint64_t position) { return (kFitsBlock - position % kFitsBlock) % kFitsBlock; }

}  // namespace ridge::io
