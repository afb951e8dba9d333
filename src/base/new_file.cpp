// Creates the temporary file beside a target, keeps the target's permissions, and renames it when it is complete.
#include "base/new_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::base {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-ridge-";
constexpr std::size_t kLongestName = 200;  // characters before the mark; file systems allow 255
constexpr int kMostLinks = 40;             // same limit as Linux

[[noreturn]] void cannot_write(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path.string(), why));
}

std::string reason_of(int error) { return std::generic_category().message(error); }

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : fs::path("."); }

// The process number in "NAME.tmp-ridge-PROCESS-NUMBER".
std::optional<pid_t> process_in(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0) return std::nullopt;
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  unsigned number = 0;
  const auto first = std::from_chars(name.data() + mark + kMark.size(), end, process);
  if (first.ec != std::errc{} || process <= 0 || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, number);
  return second.ec == std::errc{} && second.ptr == end ? std::optional(process) : std::nullopt;
}

bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

// Removes one temporary unless the process that writes it holds its lock.
void remove_unlocked(int folder, const char* name) {
  const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && ::flock(file, LOCK_EX | LOCK_NB) == 0)
    ::unlinkat(folder, name, 0);
  ::close(file);
}

bool first_search_of(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path>& searched = *new std::set<fs::path>;  // never destroyed: traces are written at exit
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error);
  const std::lock_guard lock(mutex);
  return searched.insert(error ? folder : whole).second;
}

}  // namespace

fs::path link_target(const fs::path& path) {
  fs::path target = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(target, error))) return target;
    const fs::path next = fs::read_symlink(target, error);
    if (error) cannot_write(path, error.message());
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  cannot_write(path, reason_of(ELOOP));
}

void check_replaceable(const fs::path& target) {
  if (!target.has_filename()) cannot_write(target, "the path has no file name");
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) return;
  // A rename over /dev/null or a pipe would replace it.
  if (!S_ISREG(status.st_mode)) cannot_write(target, S_ISDIR(status.st_mode) ? "it is a folder" : "not a regular file");
  // rename() checks only the folder's permission, but a user who write-protects a file expects it to stay.
  if (::access(target.c_str(), W_OK) != 0 && errno == EACCES) cannot_write(target, "it is read-only");
}

void keep_permissions(const fs::path& target, int descriptor) {
  struct stat before {
  }, now{};
  if (::stat(target.c_str(), &before) != 0 || ::fstat(descriptor, &now) != 0) return;
  mode_t mode = before.st_mode & 0777;
  const bool same_group =
      before.st_gid == now.st_gid || ::fchown(descriptor, static_cast<uid_t>(-1), before.st_gid) == 0;
  if (!same_group) mode &= ~static_cast<mode_t>(070);  // these permissions were meant for the former group
  // Only root can change the owner; for other users the new file becomes their own.
  [[maybe_unused]] const bool same_owner =
      before.st_uid == now.st_uid || ::fchown(descriptor, before.st_uid, static_cast<gid_t>(-1)) == 0;
  ::fchmod(descriptor, mode);
}

fs::path temporary_beside(const fs::path& target, pid_t process, unsigned number) {
  return folder_of(target) / fmt::format("{}{}{}-{}", target.filename().string().substr(0, kLongestName), kMark,
                                         static_cast<long>(process), number);
}

unsigned next_temporary_number() {
  static std::atomic<unsigned> counter{0};
  return counter++;
}

bool claim_temporary(const fs::path& temporary, int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(temporary.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

void remove_stale_temporaries(const fs::path& folder) {
  if (!first_search_of(folder)) return;
  DIR* const listing = ::opendir(folder.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing)) {
    const auto process = process_in(entry->d_name);
    if (process && !is_running(*process)) remove_unlocked(::dirfd(listing), entry->d_name);
  }
  ::closedir(listing);
}

NewFile::NewFile(const fs::path& path, mode_t mode, Links links)
    : path_(path), target_(links == Links::follow ? link_target(path) : path) {
  check_replaceable(target_);
  remove_stale_temporaries(folder_of(target_));
  // A killed process with the same number may have left this name behind.
  for (int attempt = 0; attempt < 1000 && descriptor_ < 0; ++attempt) {
    temporary_ = temporary_beside(target_, ::getpid(), next_temporary_number());
    name_ = TemporaryName(temporary_);
    do {
      descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    } while (descriptor_ < 0 && errno == EINTR);
    const int error = errno;
    name_.made();
    if (descriptor_ < 0 && error != EEXIST) fail(error);
    if (descriptor_ >= 0 && !claim_temporary(temporary_, descriptor_)) ::close(std::exchange(descriptor_, -1));
  }
  if (descriptor_ < 0) fail(EEXIST);
  if (links == Links::follow) keep_permissions(target_, descriptor_);
}

NewFile::~NewFile() {
  if (!committed_) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void NewFile::fail(int error) const { cannot_write(path_, reason_of(error)); }

void NewFile::commit() {
  // EINVAL, ENOTSUP: the file system cannot flush; the file is complete anyway.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(errno);
  // A network file system may report a full disk only when the file is closed.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  committed_ = true;
  name_.forget();
  flush_folder(folder_of(target_));
}

}  // namespace ridge::base
