#pragma once
#include <cstddef>
#include <string>

namespace ridge::io {

// Bytes as text, in pieces of any length: three bytes become four letters, so up to two wait for the next piece.
class Base64 {
 public:
  std::string add(const void* bytes, std::size_t count);
  std::string finish();  // what waits, padded with '='

 private:
  unsigned char waiting_[3] = {};
  std::size_t count_ = 0;
};

}  // namespace ridge::io
