// Splits text into words and replaces them.
#include "place/text/words.hpp"

#include <cctype>

namespace ridge::place::text {

bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string each_word(const std::string& text,
                      const std::function<std::string(const std::string& word, std::size_t& at)>& replacement) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (!letter(text[at])) {
      result += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && letter(text[end])) ++end;
    const std::string word = text.substr(at, end - at);
    at = end;
    result += replacement(word, at);
  }
  return result;
}

std::string replaced(const std::string& text, const std::map<std::string, std::string>& words) {
  return each_word(text, [&](const std::string& word, std::size_t&) {
    const auto found = words.find(word);
    return found == words.end() ? word : found->second;
  });
}

std::string replaced(const std::string& text, const std::string& word, const std::string& by) {
  return replaced(text, std::map<std::string, std::string>{{word, by}});
}

bool names(const std::string& text, const std::string& word) {
  bool found = false;
  each_word(text, [&](const std::string& w, std::size_t&) {
    found |= w == word;
    return std::string();
  });
  return found;
}

}  // namespace ridge::place::text
