// Reads whole files, writes them atomically, locks them, and finds the cache folder.
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/log.hpp"
#include "base/new_file.hpp"

namespace ridge::base {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::io, fmt::format("{} {}: {}", what, path.string(), why));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

int open_retrying(const fs::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// The reason why another user could have written the file; empty if none could.
std::string why_untrusted(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it (chmod go-w)";
  return "";
}

// --- the cache folder -----------------------------------------------------------------------------------------------

std::string why_unusable(const fs::path& folder) {
  if (auto why = make_private_folder(folder); !why.empty()) return why;
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) return reason(errno);
  return "";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Any user may create names under /tmp, so the folder must be a real directory of this user, closed to others.
fs::path folder_under_tmp() {
  const fs::path folder = fmt::format("/tmp/ridge-{}", ::geteuid());
  if (!why_unusable(folder).empty()) return {};
  struct stat status {};
  const bool ours = ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
                    (status.st_mode & 077) == 0;
  return ours ? folder : fs::path{};
}

// --- writing --------------------------------------------------------------------------------------------------------

void write_new_file(NewFile& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.descriptor(), bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) file.fail(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  file.commit();
}

// --- locks ----------------------------------------------------------------------------------------------------------

using Deadline = std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>>;

// A descriptor that holds the lock until it is closed, or nothing if another thread or process holds it.
std::optional<int> try_lock(const fs::path& name) {
  Descriptor file(open_retrying(name, O_RDONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0666));
  if (!file) fail("cannot lock", name, reason(errno));
  struct stat ours {
  }, named{};
  if (::fstat(file.get(), &ours) != 0) fail("cannot lock", name, reason(errno));
  if (!S_ISREG(ours.st_mode)) fail("cannot lock", name, "not a regular file");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail("cannot lock", name, reason(errno));
    return std::nullopt;
  }
  // The lock file may have been deleted since it was opened; then another process can lock a new file of that name.
  const bool still_named =
      ::stat(name.c_str(), &named) == 0 && named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
  return still_named ? std::optional(file.release()) : std::nullopt;
}

int lock(const fs::path& name, double seconds, Deadline deadline) {
  for (;;) {
    if (const auto descriptor = try_lock(name)) return *descriptor;
    if (std::chrono::steady_clock::now() >= deadline)
      fail("cannot lock", name, fmt::format("another process still holds it after {:g} s", seconds));
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

}  // namespace

std::string make_private_folder(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0) return S_ISDIR(status.st_mode) ? "" : "not a folder";
  if (errno != ENOENT) return reason(errno);
  const fs::path parent = folder.parent_path();
  if (!parent.empty() && parent != folder) {
    if (auto why = make_private_folder(parent); !why.empty()) return why;
  }
  // EEXIST: another process has created it since.
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return reason(errno);
  return "";
}

std::string why_untrusted(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return reason(errno);
  return why_untrusted(status);
}

fs::path cache_folder() {
  if (const std::string chosen = environment("RIDGE_CACHE_DIR"); !chosen.empty()) {
    std::error_code error;
    const fs::path folder = fs::absolute(chosen, error);
    const std::string why = error ? error.message() : why_unusable(folder);
    if (why.empty()) return folder;
    warn(fmt::format("RIDGE_CACHE_DIR={} cannot be used ({}): nothing is saved", chosen, why));
    return {};
  }
  // XDG base directory specification: relative paths are ignored.
  if (const fs::path base = environment("XDG_CACHE_HOME"); base.is_absolute() && why_unusable(base / "ridge").empty())
    return base / "ridge";
  if (const fs::path home = environment("HOME"); home.is_absolute() && why_unusable(home / ".cache/ridge").empty())
    return home / ".cache/ridge";
  return folder_under_tmp();
}

namespace {

std::optional<std::string> read_whole(const fs::path& path, std::size_t limit, bool trusted) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer forever.
  const int follow = trusted ? O_NOFOLLOW : 0;
  const Descriptor file(open_retrying(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | follow));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail("cannot read", path, reason(errno));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("cannot read", path, reason(errno));
  if (!S_ISREG(status.st_mode)) fail("cannot read", path, "not a regular file");
  if (trusted) {
    // Checks the open file, because its name may refer to another file by now.
    if (const std::string why = why_untrusted(status); !why.empty()) fail("will not use", path, why);
  }
  const auto too_long = [&] { fail("cannot read", path, fmt::format("longer than {} bytes", limit)); };
  if (static_cast<std::uintmax_t>(status.st_size) > limit) too_long();

  std::string bytes;
  // The size is only a hint: files of /proc report 0, and another process may be writing.
  std::size_t room = static_cast<std::size_t>(status.st_size) + 1;
  for (std::size_t have = 0;;) {
    bytes.resize(have + room);
    const ssize_t got = ::read(file.get(), bytes.data() + have, room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path, reason(errno));
    have += static_cast<std::size_t>(got);
    if (have > limit) too_long();
    if (got == 0) {
      bytes.resize(have);
      return bytes;
    }
    room = std::max<std::size_t>(bytes.size() - have, 4096);
  }
}

}  // namespace

std::optional<std::string> read_file(const fs::path& path, std::size_t limit) { return read_whole(path, limit, false); }
std::optional<std::string> read_trusted_file(const fs::path& path, std::size_t limit) {
  return read_whole(path, limit, true);
}

std::optional<std::string_view> map_trusted_file(const fs::path& path) {
  const Descriptor file(open_retrying(path, O_RDONLY | O_NOCTTY | O_NOFOLLOW));
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) fail("cannot read", path, reason(errno));
  if (!S_ISREG(status.st_mode)) fail("cannot read", path, "not a regular file");
  if (const std::string why = why_untrusted(status); !why.empty()) fail("cannot trust", path, why);
  if (status.st_size == 0) return std::string_view();
  const auto size = static_cast<std::size_t>(status.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) fail("cannot read", path, reason(errno));
  return std::string_view(static_cast<const char*>(bytes), size);
}

void write_file(const fs::path& path, std::string_view bytes) {
  NewFile file(path);
  write_new_file(file, bytes);
}
void write_private_file(const fs::path& path, std::string_view bytes) {
  NewFile file(path, 0600, Links::replace);
  write_new_file(file, bytes);
}

FileLock::FileLock(const fs::path& path, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  // A waiting thread holds the queue lock. A process that saves repeatedly, and releases the main lock only for
  // moments, therefore queues behind it.
  const Descriptor next(lock(path.string() + ".lock-next", seconds, deadline));
  descriptor_ = lock(path.string() + ".lock", seconds, deadline);
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace ridge::base
