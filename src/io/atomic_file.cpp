// Writes NAME.part, flushes it and renames it to NAME.
#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/new_file.hpp"

namespace ridge::io {
namespace fs = std::filesystem;

AtomicFile::AtomicFile(const fs::path& path) : path_(base::link_target(path)), part_(path_.string() + ".part") {
  base::check_replaceable(path_);
  // Between open and lock, the previous holder may have renamed the part to its final name or removed it. Then the open
  // file is a finished one, and a new part must be created.
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    open_part();
    if (still_named()) break;
    discard();
    if (attempt == 1000) fail(EBUSY);
  }
  try {
    known_ = base::TemporaryName(part_);
    known_.made();
    if (::ftruncate(descriptor_, 0) != 0) fail(errno);
    base::keep_permissions(path_, descriptor_);
  } catch (...) {
    remove();
    throw;
  }
}

AtomicFile::~AtomicFile() { remove(); }

void AtomicFile::remove() {
  if (descriptor_ >= 0 && still_named()) ::unlink(part_.c_str());
  discard();
}

void AtomicFile::open_part() {
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) fail(errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  discard();
  if (error == EWOULDBLOCK) {
    throw Error(ErrorKind::io, fmt::format("cannot write {}: another process is writing it", path_.string()));
  }
  fail(error);
}

bool AtomicFile::still_named() const {
  struct stat open {
  }, named{};
  return ::fstat(descriptor_, &open) == 0 && ::lstat(part_.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

void AtomicFile::discard() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void AtomicFile::fail(int error) const {
  throw Error(ErrorKind::io,
              fmt::format("cannot write {}: {}", path_.string(), std::generic_category().message(error)));
}

void AtomicFile::write(const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, at, std::min<std::size_t>(bytes, 1u << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    at += done;
    bytes -= static_cast<std::size_t>(done);
    written_ += static_cast<std::size_t>(done);
  }
}

void AtomicFile::commit(const fs::path& keep) {
  // EINVAL: the file system does not support fsync; the data are complete nevertheless.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(errno);
  if (!still_named()) {
    throw Error(ErrorKind::io,
                fmt::format("cannot write {}: {} was removed while it was written", path_.string(), part_.string()));
  }
  const bool kept = !keep.empty() && ::rename(path_.c_str(), keep.c_str()) == 0;
  if (!keep.empty() && !kept && errno != ENOENT) fail(errno);
  known_.forget();  // before the name is free: a signal from here on leaves the part, which the next writer takes over
  if (::rename(part_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    if (kept) ::rename(keep.c_str(), path_.c_str());
    fail(error);
  }
  // A network file system may report a full disk only on close, after the rename.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
  base::flush_folder(path_.parent_path());
}

}  // namespace ridge::io
