#include "fftw/wisdom.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace ridge::fftw::wisdom {
namespace {

struct Store {
  std::mutex mutex;
  std::map<std::string, Rigor> entries;
};

Store& store(bool single) {
  static Store* const stores = new Store[2];  // never destroyed
  return stores[single ? 1 : 0];
}

const char* name(bool single) { return single ? "ridgeline-1 fftwf_wisdom" : "ridgeline-1 fftw_wisdom"; }

constexpr std::size_t kMostEntries = 100000, kLongestKey = 4096;

bool is_key(std::string_view text) {
  if (text.empty() || text.size() > kLongestKey) return false;
  for (const char c : text) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'S' || c == ',' || c == '-';
    if (!fine) return false;
  }
  return true;
}

}  // namespace

void remember(bool single, const std::string& key, Rigor rigor) {
  Store& s = store(single);
  const std::lock_guard lock(s.mutex);
  if (s.entries.size() >= kMostEntries && !s.entries.contains(key)) return;
  Rigor& known = s.entries.try_emplace(key, rigor).first->second;
  if (known < rigor) known = rigor;
}

bool knows(bool single, const std::string& key, Rigor rigor) {
  Store& s = store(single);
  const std::lock_guard lock(s.mutex);
  const auto found = s.entries.find(key);
  return found != s.entries.end() && found->second >= rigor;
}

void forget(bool single) {
  Store& s = store(single);
  const std::lock_guard lock(s.mutex);
  s.entries.clear();
}

std::string export_text(bool single) {
  Store& s = store(single);
  const std::lock_guard lock(s.mutex);
  std::string text = std::string("(") + name(single) + "\n";
  for (const auto& [key, rigor] : s.entries) {
    text += "  (" + key + " " + std::to_string(static_cast<int>(rigor)) + ")\n";
  }
  return text + ")\n";
}

bool import_text(bool single, std::string_view text) {
  std::size_t at = 0;
  const auto blanks = [&] {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) ++at;
  };
  const auto take = [&](std::string_view wanted) {
    blanks();
    if (text.substr(at, wanted.size()) != wanted) return false;
    at += wanted.size();
    return true;
  };
  if (!take("(") || !take(name(single))) return false;
  std::vector<std::pair<std::string, Rigor>> taken;
  while (take("(")) {
    blanks();
    const std::size_t end = text.find(' ', at);
    if (end == std::string_view::npos || !is_key(text.substr(at, end - at)) || taken.size() >= kMostEntries)
      return false;
    const std::string key(text.substr(at, end - at));
    at = end;
    blanks();
    if (at >= text.size() || text[at] < '0' || text[at] > '3') return false;
    taken.emplace_back(key, static_cast<Rigor>(text[at++] - '0'));
    if (!take(")")) return false;
  }
  if (!take(")")) return false;
  for (const auto& [key, rigor] : taken) remember(single, key, rigor);
  return true;
}

}  // namespace ridge::fftw::wisdom
