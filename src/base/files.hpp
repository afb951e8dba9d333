// Files that survive: whole-file reads with a bound, atomic writes, locks between processes, the cache folder.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::base {

// RIDGE_CACHE_DIR, else XDG_CACHE_HOME/ridge, else HOME/.cache/ridge, else a folder under /tmp of this user's own.
// Created when missing; empty where nothing can be written (then nothing is saved, and that is no error).
std::filesystem::path cache_folder();

// The whole file, or nothing when it is not there. Error{io} when it is longer than `limit` or cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// Writes the file under a temporary name beside it, flushes and renames it (base/new_file.hpp). Symbolic links are
// followed and permissions are kept. Error{io} names the path.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Holds an exclusive lock on `path` + ".lock" while it lives; waits at most `seconds`, then Error{io}. Works between
// processes and between threads, and fairly: who waits comes before who has just had it. The lock's file and that of
// its queue, ".lock-next", are empty and stay.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path, double seconds = 10);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace ridge::base
