// Files that are known by their first bytes and hold no raw samples.
#pragma once
#include <string_view>

namespace ridge::io {

// The name of the format ("PNG"), or nothing. 64 bytes are enough. `sure` asks for marks of six bytes and more only,
// which raw samples do not begin with by chance.
std::string_view foreign_format(std::string_view first_bytes, bool sure = false);

}  // namespace ridge::io
