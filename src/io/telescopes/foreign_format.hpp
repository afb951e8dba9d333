// Recognizes common file formats by their first bytes, to reject them as raw samples.
#pragma once
#include <string_view>

namespace ridge::io {

// Returns the name of the format ("PNG"), or an empty text. 64 bytes are enough. `sure` uses only signatures of six
// bytes or more, which raw samples do not start with by chance.
std::string_view foreign_format(std::string_view first_bytes, bool sure = false);

}  // namespace ridge::io
