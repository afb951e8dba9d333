// Parses and writes lists of wisdom, and remembers which problems were planned.
#include "fftw/wisdom.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "fftw/foreign.hpp"
#include "fftw/foreign_wisdom.hpp"

namespace ridge::fftw::wisdom {
namespace {

struct Store {
  std::mutex mutex;
  std::map<std::string, Rigor> entries;
  ForeignLists foreign;
};

Store& store(bool single) {
  static Store* const stores = new Store[2];  // never destroyed
  return stores[single ? 1 : 0];
}

std::string name(bool single) { return single ? "fftwf_wisdom" : "fftw_wisdom"; }
std::string head(bool single) { return "ridgeline-1 " + name(single); }

constexpr std::size_t kMostEntries = 100000, kLongestKey = 4096;

bool is_key(std::string_view text) {
  if (text.empty() || text.size() > kLongestKey) return false;
  for (const char c : text) {
    const bool fine =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'S' || c == ',' || c == '-' || c == '.' || c == '+';
    if (!fine) return false;
  }
  return true;
}

// Reads up to the closing parenthesis of the list and no further.
std::string read_list(const std::function<int()>& next) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  std::string text;
  int depth = 0;
  for (int c = next(); c != EOF && text.size() < kMostBytes; c = next()) {
    text += static_cast<char>(c);
    if (c == '(') ++depth;
    if (c == ')' && --depth <= 0) break;
  }
  return text;
}

// Parses the entries of our own list, "KEY RIGOR". Takes none if one is malformed.
bool parse_entries(const List& list, std::map<std::string, Rigor>& taken) {
  std::map<std::string, Rigor> read;
  for (const std::string& entry : list.entries) {
    const std::size_t blank = entry.find(' ');
    if (blank == std::string::npos || !is_key(entry.substr(0, blank)) || entry.size() != blank + 2 ||
        entry.back() < '0' || entry.back() > '3' || read.size() >= kMostEntries) {
      return false;
    }
    read[entry.substr(0, blank)] = static_cast<Rigor>(entry.back() - '0');
  }
  taken.merge(read);
  return true;
}

// fftw_mpi plans with the real library, which has its own wisdom.
std::string real_name(bool single, const char* call) { return (single ? "fftwf_" : "fftw_") + std::string(call); }

void take_from_mpi(bool single) {
  if (!mpi_is_loaded(single)) return;
  char* const text = call_real<char*()>(real_name(single, "export_wisdom_to_string").c_str());
  List list;
  if (text != nullptr && parse(text, list) && !list.entries.empty() && is_foreign_head(list.head, name(single))) {
    Store& s = store(single);
    const std::lock_guard lock(s.mutex);
    s.foreign.take({list});
  }
  std::free(text);
}

// The real library reads the lists of its own configuration and rejects the others.
void give_to_mpi(bool single, const std::vector<List>& lists) {
  if (!mpi_is_loaded(single)) return;
  for (const List& list : lists) {
    ForeignLists one;
    one.take({list});
    call_real<int(const char*)>(real_name(single, "import_wisdom_from_string").c_str(), one.text(false).c_str());
  }
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
  s.foreign.forget();
  if (mpi_is_loaded(single)) call_real<void()>(real_name(single, "forget_wisdom").c_str());
}

std::string export_text(bool single) {
  take_from_mpi(single);
  Store& s = store(single);
  const std::lock_guard lock(s.mutex);
  if (s.entries.empty() && !s.foreign.empty()) return s.foreign.text(false);
  std::string text = s.foreign.text(true) + "(" + head(single) + "\n";
  for (const auto& [key, rigor] : s.entries) {
    text += "  (" + key + " " + std::to_string(static_cast<int>(rigor)) + ")\n";
  }
  return text + ")\n";
}

bool import_from(bool single, const std::function<int()>& next) {
  bool good = true, more = true;
  std::vector<List> foreign;
  std::map<std::string, Rigor> own;
  while (more) {
    const std::string text = read_list(next);
    more = text.ends_with("\n\n)");
    List list;
    if (!parse(text, list)) {
      good = false;
    } else if (list.head == head(single)) {
      good = parse_entries(list, own) && good;
    } else if (is_foreign_head(list.head, name(single))) {
      foreign.push_back(std::move(list));
    } else {
      good = false;
    }
  }
  for (const auto& [key, rigor] : own) remember(single, key, rigor);
  if (!foreign.empty()) {
    Store& s = store(single);
    const std::lock_guard lock(s.mutex);
    good = s.foreign.take(foreign) && good;
  }
  give_to_mpi(single, foreign);
  return good;
}

}  // namespace ridge::fftw::wisdom
