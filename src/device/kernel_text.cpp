// Looks up embedded kernels, and counts the parameters of a kernel in a text.
#include "device/kernel_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::detail {

const std::string& kernel_text(std::string_view name) {
  const auto found = embedded_kernels().find(name);
  if (found != embedded_kernels().end()) return found->second;
  throw Error(ErrorKind::internal, fmt::format("kernel file {} is not part of this build", name));
}

namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_comments(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size() - 1);
    if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 1;
      plain += ' ';
      continue;
    }
    plain += text[i];
  }
  return plain;
}

std::string_view word_before(std::string_view text, std::size_t end) {
  while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
  std::size_t begin = end;
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !in_word(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !in_word(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// `list` is the text between the parentheses.
std::optional<std::size_t> count_in(std::string_view list) {
  if (list.find_first_of("#{};") != std::string_view::npos) return std::nullopt;
  const std::size_t first = list.find_first_not_of(" \t\n");
  if (first == std::string_view::npos || list.substr(first, list.find_last_not_of(" \t\n") - first + 1) == "void") {
    return 0;
  }
  std::size_t count = 1;
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(') {
      if (depth++ == 0 && word_before(list, i) != "TILE_MAP") return std::nullopt;
      ++count;
    } else if (list[i] == ')') {
      --depth;
    } else if (list[i] == ',' && depth == 0) {
      ++count;
    }
  }
  return count;
}

}  // namespace

std::optional<std::size_t> parameter_count(const KernelSource& source, const std::string& kernel) {
  const std::string plain = without_comments(source.text);
  const std::string_view text = plain;
  std::optional<std::size_t> found;
  for (std::size_t at = text.find(kernel); at != std::string_view::npos; at = text.find(kernel, at + 1)) {
    if ((at > 0 && in_word(text[at - 1])) || word_before(text, at) != "void") continue;
    const std::size_t open = text.find_first_not_of(" \t\n", at + kernel.size());
    if (open == std::string_view::npos || text[open] != '(') continue;
    const std::size_t before = text.find_last_of(";}", at), begin = before == std::string_view::npos ? 0 : before;
    if (!has_word(text.substr(begin, at - begin), "KERNEL")) continue;
    int depth = 0;
    std::size_t close = open;
    do {
      if (text[close] == '(') ++depth;
      if (text[close] == ')') --depth;
    } while (depth > 0 && ++close < text.size());
    if (close == text.size()) return std::nullopt;
    const std::string_view list = text.substr(open + 1, close - open - 1);
    for (const auto& [name, value] : source.defines) {
      if (value.find(',') != std::string::npos && has_word(list, name)) return std::nullopt;
    }
    const std::optional<std::size_t> count = count_in(list);
    if (!count || (found && *found != *count)) return std::nullopt;
    found = count;
  }
  return found;
}

}  // namespace ridge::detail
