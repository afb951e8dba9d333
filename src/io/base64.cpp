#include "io/base64.hpp"

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

}  // namespace ridge::io
