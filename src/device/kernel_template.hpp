// Kernel files (src/<module>/**/<name>.cl) with placeholders, which a generator completes.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge::detail {

// The text of a kernel file with values in place of @words@. The comment above the file's first blank line explains the
// placeholders and is left out, with the blank line. A line that consists of a placeholder is replaced by the lines of
// the value, and vanishes if there are none. Values that the file does not name are ignored. Error{internal} if the
// comment or a value is missing.
std::string fill_kernel_text(std::string_view name,
                             const std::vector<std::pair<std::string_view, std::string>>& values = {});

}  // namespace ridge::detail
