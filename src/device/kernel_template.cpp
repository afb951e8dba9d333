// Fills in the placeholders of kernel files.
#include "device/kernel_template.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "device/kernel_text.hpp"

namespace ridge::detail {

std::string fill_kernel_text(std::string_view name,
                             const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string_view left = kernel_text(name);
  const std::size_t blank = left.find("\n\n");
  if (!left.starts_with("//") || blank == std::string_view::npos)
    throw Error(ErrorKind::internal,
                fmt::format("kernel file {} needs a comment and a blank line above its text", name));
  left.remove_prefix(blank + 2);
  std::string text;
  for (std::size_t begin = left.find('@'); begin != std::string_view::npos; begin = left.find('@')) {
    const std::size_t end = left.find('@', begin + 1);
    const std::string_view word =
        end == std::string_view::npos ? std::string_view() : left.substr(begin + 1, end - begin - 1);
    const auto value =
        std::find_if(values.begin(), values.end(), [&](const auto& candidate) { return candidate.first == word; });
    if (value == values.end())
      throw Error(ErrorKind::internal, fmt::format("kernel file {} has no value for @{}@", name, word));
    const bool whole_line =
        (begin == 0 ? text.empty() || text.back() == '\n' : left[begin - 1] == '\n') && left.substr(end + 1, 1) == "\n";
    text += left.substr(0, begin);
    text += value->second;
    left.remove_prefix(end + (whole_line ? 2 : 1));
  }
  return text += left;
}

}  // namespace ridge::detail
