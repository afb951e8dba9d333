// Imports and exports the text of FFTW's own wisdom.
#include "fftw/foreign_wisdom.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace ridge::fftw::wisdom {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The text up to the next parenthesis, with runs of blanks reduced to one and trimmed.
std::string words(std::string_view text, std::size_t& at) {
  std::string result;
  for (; at < text.size() && text[at] != '(' && text[at] != ')'; ++at) {
    if (!is_blank(text[at])) {
      result += text[at];
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

bool parse(std::string_view text, List& list) {
  std::size_t at = 0;
  const auto take = [&](char wanted) {
    while (at < text.size() && is_blank(text[at])) ++at;
    return at < text.size() && text[at] == wanted ? (++at, true) : false;
  };
  if (!take('(')) return false;
  list.head = words(text, at);
  while (take('(')) {
    list.entries.push_back(words(text, at));
    if (!take(')')) return false;
  }
  return take(')');
}

bool is_foreign_head(const std::string& head, const std::string& name) {
  std::istringstream stream(head);
  std::vector<std::string> parts;
  for (std::string part; stream >> part;) parts.push_back(part);
  if (parts.size() < 2 || parts[1] != name) return false;
  if (parts[0].starts_with("ridgeline-")) return true;
  return parts[0].starts_with("fftw-") && parts.size() == 6 &&
         std::all_of(parts.begin() + 2, parts.end(), [](const std::string& part) { return part.starts_with("#x"); });
}

bool ForeignLists::take(const std::vector<List>& lists) {
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    auto kept =
        std::find_if(lists_.begin(), lists_.end(), [&](const Kept& one) { return one.list.head == list->head; });
    if (kept == lists_.end()) {
      kept = lists_.insert(lists_.end(), Kept{.list = {.head = list->head, .entries = {}}, .known = {}});
      bytes_ += list->head.size();
    }
    for (const std::string& entry : list->entries) {
      if (kept->known.contains(entry)) continue;
      if (bytes_ + entry.size() > kMostBytes) return false;
      bytes_ += entry.size();
      kept->list.entries.push_back(entry);
      kept->known.insert(entry);
    }
    std::rotate(lists_.begin(), kept, kept + 1);
  }
  return true;
}

std::string ForeignLists::text(bool more) const {
  std::string text;
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    text += "(" + lists_[i].list.head + "\n";
    for (const std::string& entry : lists_[i].list.entries) text += "  (" + entry + ")\n";
    text += i + 1 < lists_.size() || more ? "\n)\n" : ")\n";
  }
  return text;
}

}  // namespace ridge::fftw::wisdom
