// Replaces whole words in generated text, never parts of longer ones.
#pragma once
#include <functional>
#include <map>
#include <string>

namespace ridge::place::text {

bool letter(char c);  // letter, digit or underscore
// Replaces every word by replacement(word, at); `at` is the position after the word and may be advanced.
std::string each_word(const std::string& text,
                      const std::function<std::string(const std::string& word, std::size_t& at)>& replacement);
std::string replaced(const std::string& text, const std::map<std::string, std::string>& words);
std::string replaced(const std::string& text, const std::string& word, const std::string& by);
bool names(const std::string& text, const std::string& word);

std::string joined(const auto& list) {  // with commas
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace ridge::place::text
