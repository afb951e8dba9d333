// Reads the wisdom file once, finds entries by problem and device, and stores new ones under a lock.
#include "plan/wisdom.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/fork_gate.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "plan/wisdom_file.hpp"

namespace ridge::wisdom {
namespace {

std::string named_file() {
  const char* name = std::getenv("RIDGE_WISDOM");
  return name != nullptr ? name : "";
}

// The path and state of the file that a book was read from.
struct Identity {
  std::string path;
  bool exists = false;
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::time_t seconds = 0;
  long nanoseconds = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const std::string& path) {
  Identity identity{.path = path};
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return identity;
  identity.exists = true;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.size = status.st_size;
  identity.seconds = status.st_mtim.tv_sec;
  identity.nanoseconds = status.st_mtim.tv_nsec;
  return identity;
}

// A snapshot of the file's contents; immutable once other threads can see it.
struct Book {
  Identity identity;
  std::vector<Stored> entries;  // oldest first
  std::unordered_map<std::string, std::size_t> index;
  bool damaged = false;

  void build_index() {
    index.clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      index.insert_or_assign(key_of(entries[i].entry, entries[i].version), i);
    }
  }
  // Adds the newest entry at the end, unless the problem's entry is pinned.
  void put(const Stored& stored) {
    const auto known = index.find(key_of(stored.entry, stored.version));
    if (known != index.end() && entries[known->second].entry.pinned) return;
    std::erase_if(entries, [&](const Stored& old) {
      return std::tie(old.entry.fingerprint, old.entry.workload, old.entry.problem, old.version) ==
             std::tie(stored.entry.fingerprint, stored.entry.workload, stored.entry.problem, stored.version);
    });
    if (entries.size() >= kMostEntries)
      entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kMostEntries - 1));
    entries.push_back(stored);
    build_index();
  }
};

Book read_book(const Identity& identity) {
  Book book;
  book.identity = identity;
  if (!identity.exists) return book;
  const auto file = base::read_json_or_warn(identity.path, kBounds);
  book.damaged = !file;
  if (!file) return book;
  try {
    std::size_t skipped = 0;
    book.entries = from_json(*file, skipped);
    if (skipped > 0) base::warn(fmt::format("{}: {} damaged entries are ignored", identity.path, skipped));
  } catch (const Error& error) {
    book.damaged = true;
    base::warn(fmt::format("{}: {}; the file is ignored", identity.path, error.what()));
  }
  book.build_index();
  return book;
}

std::mutex update_mutex;  // one update at a time in this process, so that threads need not poll for the file's lock
std::mutex current_mutex;
std::shared_ptr<const Book> current_book;

void publish(Book book) {
  auto shared = std::make_shared<const Book>(std::move(book));
  const std::lock_guard lock(current_mutex);
  current_book = std::move(shared);
}

std::shared_ptr<const Book> current() {
  // Taken before the file is read: if the file changes in between, the next call reads it again.
  const Identity identity = identity_of(path());
  const std::lock_guard lock(current_mutex);
  if (!current_book || current_book->identity != identity)
    current_book = std::make_shared<const Book>(read_book(identity));
  return current_book;
}

// Throws if RIDGE_WISDOM names a file with other contents. A damaged file in the cache folder may be replaced; a file
// that the user named may be anything.
void write_book(Book& book) {
  if (book.damaged && book.identity.size > 0 && book.identity.path == named_file())
    throw Error(ErrorKind::io,
                fmt::format("RIDGE_WISDOM names a file that is not overwritten: {} holds no wisdom; remove "
                            "it or name another file",
                            book.identity.path));
  base::write_file(book.identity.path, to_text(book.entries));
  book.identity = identity_of(book.identity.path);
  book.damaged = false;
}

}  // namespace

std::string path() {
  if (std::string file = named_file(); !file.empty()) return file;
  const std::filesystem::path folder = base::cache_folder();
  return folder.empty() ? "" : (folder / "wisdom.json").string();
}

std::optional<Entry> find(const std::string& fingerprint, const std::string& workload, const std::string& problem) {
  const auto book = current();
  const auto found = book->index.find(key_of(fingerprint, workload, problem, this_version()));
  if (found == book->index.end()) return find_imported(fingerprint, workload, problem);
  return book->entries[found->second].entry;
}

std::optional<Entry> find(const DeviceInfo& device, const std::string& workload, const std::string& problem) {
  if (auto entry = find(device.fingerprint(), workload, problem)) return entry;
  return find_shipped(device, workload, problem);
}

void remember(const Entry& measured) {
  const std::lock_guard lock(update_mutex);
  Entry entry = measured;
  entry.measured_at = static_cast<std::int64_t>(std::time(nullptr));
  const Stored stored{entry, this_version()};
  gather(entry, Rigor::measured);
  if (const std::string file = path(); !file.empty()) {
    try {
      const base::FileLock between_processes(file);
      Book book = *current();  // includes entries that other processes have written
      book.put(stored);
      write_book(book);
      publish(std::move(book));
      return;
    } catch (const Error& error) {
      base::warn(fmt::format("wisdom is not saved: {}", error.what()));
    }
  }
  Book book = *current();
  book.put(stored);
  publish(std::move(book));
}

std::vector<Entry> all() {
  const base::ForkGate gate;
  std::vector<Entry> entries;
  const auto book = current();  // shared ownership: another thread may replace the current book
  for (const Stored& stored : book->entries) entries.push_back(stored.entry);
  return entries;
}

std::vector<Entry> all_of_this_version() {
  std::vector<Entry> entries;
  const auto book = current();
  for (const Stored& stored : book->entries)
    if (stored.version == this_version()) entries.push_back(stored.entry);
  return entries;
}

std::size_t forget(const std::string& workload) {
  const base::ForkGate gate;
  const std::lock_guard lock(update_mutex);
  forget_in_memory_of(workload);
  const std::string file = path();
  const auto forget_in = [&](Book& book) {
    return std::erase_if(book.entries,
                         [&](const Stored& stored) { return workload.empty() || stored.entry.workload == workload; });
  };
  if (!identity_of(file).exists) {  // only entries that this process could not save
    Book book = *current();
    const std::size_t forgotten = forget_in(book);
    book.build_index();
    publish(std::move(book));
    return forgotten;
  }
  const base::FileLock between_processes(file);
  Book book = *current();
  const std::size_t forgotten = forget_in(book);
  if (forgotten > 0 || book.damaged) {
    book.build_index();
    write_book(book);
    publish(std::move(book));
  }
  return forgotten;
}

namespace {

// Changes the entries of this version that `change` accepts, in the file if there is one. Returns their number.
template <class Change>
std::size_t change_entries(const Change& change) {
  const base::ForkGate gate;
  const std::lock_guard lock(update_mutex);
  const auto apply = [&](Book& book) {
    std::size_t changed = 0;
    for (Stored& stored : book.entries) changed += stored.version == this_version() && change(stored.entry) ? 1 : 0;
    return changed;
  };
  const std::string file = path();
  std::optional<base::FileLock> between_processes;
  const bool in_file = identity_of(file).exists;  // otherwise only entries that this process could not save
  if (in_file) between_processes.emplace(file);
  Book book = *current();
  const std::size_t changed = apply(book);
  if (changed == 0) return 0;
  if (in_file) write_book(book);
  publish(std::move(book));
  return changed;
}

}  // namespace

std::size_t pin(const std::string& problem, const std::string& variant) {
  return change_entries([&](Entry& entry) {
    if (entry.problem != problem) return false;
    if (!variant.empty() && entry.winner != variant) {
      entry.winner = variant;
      entry.seconds = 0;
      entry.measured_at = 0;
    }
    return entry.pinned = true;
  });
}

std::size_t unpin(const std::string& problem) {
  return change_entries([&](Entry& entry) {
    return (problem.empty() || entry.problem == problem) && std::exchange(entry.pinned, false);
  });
}

}  // namespace ridge::wisdom
