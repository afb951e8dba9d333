// Wisdom of this process in memory, imported and exported as text.
#include "plan/wisdom.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ridge/error.hpp>

#include "base/fork_gate.hpp"
#include "base/json.hpp"
#include "plan/wisdom_file.hpp"

namespace ridge::wisdom {
namespace {

struct Held {
  Stored stored;
  bool imported = false;
  std::size_t number = 0;  // order of export
};

struct Memory {
  std::mutex mutex;
  std::unordered_map<std::string, Held> entries;
  std::size_t numbers = 0;

  // Does not replace an entry of higher rigor.
  void put(const Stored& stored, bool imported) {
    const std::string key = key_of(stored.entry, stored.version);
    const auto found = entries.find(key);
    if (found != entries.end() && found->second.stored.rigor > stored.rigor) return;
    entries.insert_or_assign(key, Held{stored, imported, numbers++});
    if (entries.size() <= kMostEntries) return;
    entries.erase(std::min_element(entries.begin(), entries.end(),
                                   [](const auto& a, const auto& b) { return a.second.number < b.second.number; }));
  }
};

// Never destroyed: a static object's destructor may still plan.
Memory& memory() {
  static Memory* const the_memory = new Memory;
  return *the_memory;
}

// The JSON object at the start of the text; the whole text if the object has no end.
std::string_view first_object(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      return text.substr(0, i + 1);
    }
  }
  return text;
}

}  // namespace

std::string export_text() {
  const base::ForkGate gate;
  std::vector<Held> held;
  {
    const std::lock_guard lock(memory().mutex);
    for (const auto& [key, one] : memory().entries) held.push_back(one);
  }
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) { return a.number < b.number; });
  std::vector<Stored> entries;
  for (Held& one : held) entries.push_back(std::move(one.stored));
  return to_text(entries);
}

std::size_t import_text(std::string_view text) {
  std::size_t skipped = 0;
  const std::vector<Stored> entries = from_json(base::parse_json(first_object(text), kBounds), skipped);
  const base::ForkGate gate;
  const std::lock_guard lock(memory().mutex);
  for (const Stored& stored : entries) memory().put(stored, true);
  return entries.size();
}

void gather(const Entry& entry, Rigor rigor) {
  const std::lock_guard lock(memory().mutex);
  memory().put({entry, this_version(), rigor}, false);
}

std::optional<Rigor> rigor_in_memory(const std::string& fingerprint, const std::string& workload,
                                     const std::string& problem) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().entries.find(key_of(fingerprint, workload, problem, this_version()));
  return found == memory().entries.end() ? std::nullopt : std::optional(found->second.stored.rigor);
}

std::optional<Entry> find_imported(const std::string& fingerprint, const std::string& workload,
                                   const std::string& problem) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().entries.find(key_of(fingerprint, workload, problem, this_version()));
  if (found == memory().entries.end() || !found->second.imported) return std::nullopt;
  const Stored& stored = found->second.stored;
  return stored.rigor == Rigor::estimated ? std::nullopt : std::optional(stored.entry);
}

std::size_t forget_in_memory_of(const std::string& workload) {
  const std::lock_guard lock(memory().mutex);
  return std::erase_if(memory().entries, [&](const auto& one) {
    return workload.empty() || one.second.stored.entry.workload == workload;
  });
}

std::size_t forget_in_memory() { return forget_in_memory_of(""); }

}  // namespace ridge::wisdom
