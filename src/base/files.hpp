// Whole-file reads with a size limit, atomic writes, locks between processes, and the cache folder.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::base {

// RIDGE_CACHE_DIR, else XDG_CACHE_HOME/ridge, else HOME/.cache/ridge, else a private folder under /tmp. Created if
// missing. Empty if nothing can be written; then nothing is saved, which is not an error.
std::filesystem::path cache_folder();

// The whole file, or nothing if it does not exist. Error{io} if it is longer than `limit` or cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// Writes the file under a temporary name beside it, flushes and renames it (base/new_file.hpp). Symbolic links are
// followed and permissions are kept. Error{io} names the path.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Holds an exclusive lock on `path` + ".lock" for its lifetime; waits at most `seconds`, then throws Error{io}. Works
// between processes and between threads. The lock is fair: a waiting thread comes before one that has just released it.
// The lock file and its queue file, ".lock-next", are empty and are not removed.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path, double seconds = 10);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Reads and writes files whose contents are executed: only this user or root may have written them.

// Like read_file(), but also Error{io} for a file that belongs to another user, is writable by others, or is a symbolic
// link.
std::optional<std::string> read_trusted_file(const std::filesystem::path& path, std::size_t limit);
// The same for a large file: mapped, and kept until the process ends. Nothing if there is none.
std::optional<std::string_view> map_trusted_file(const std::filesystem::path& path);
// Like write_file(), but only this user may read the file.
void write_private_file(const std::filesystem::path& path, std::string_view bytes);

// The reason why a folder is not trusted in this sense; empty if it is trusted.
std::string why_untrusted(const std::filesystem::path& folder);
// Creates a folder and its missing parents, accessible to this user only. Returns the reason of a failure, or empty.
std::string make_private_folder(const std::filesystem::path& folder);

}  // namespace ridge::base
