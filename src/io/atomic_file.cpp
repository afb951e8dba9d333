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

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void flush_folder(const fs::path& folder) {  // so that new names survive a power cut; the files are whole either way
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), part_(path_.string() + ".part") {
  struct stat status {};
  if (!path_.has_filename() || (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))) {
    throw Error(ErrorKind::io, fmt::format("cannot write {}: not the name of a file", path_.string()));
  }
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) fail(errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(std::exchange(descriptor_, -1));
    if (error == EWOULDBLOCK) {
      throw Error(ErrorKind::io, fmt::format("cannot write {}: another process is writing it", path_.string()));
    }
    fail(error);
  }
  if (::ftruncate(descriptor_, 0) != 0) fail(errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(part_.c_str());
  ::close(descriptor_);
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
  // EINVAL: a file system that cannot; the file is whole all the same.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(errno);
  if (!keep.empty() && ::rename(path_.c_str(), keep.c_str()) != 0 && errno != ENOENT) fail(errno);
  if (::rename(part_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    if (!keep.empty()) ::rename(keep.c_str(), path_.c_str());
    fail(error);
  }
  flush_folder(folder_of(path_));
  // A file system over a network may report a full disk only here, when the name is there already.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
}

}  // namespace ridge::io
