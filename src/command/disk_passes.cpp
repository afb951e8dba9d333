// Reads and writes panels of files with direct I/O, and notes finished panels in the ledger.
#include "command/disk_passes.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <system_error>

#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/new_file.hpp"
#include "base/temporaries.hpp"
#include "command/output_folder.hpp"

namespace ridge::cli {
namespace {

[[noreturn]] void fail_file(const std::string& path, const std::string& what, int error) {
  throw Error(ErrorKind::io, fmt::format("{}: cannot {}: {}", path, what, std::generic_category().message(error)));
}

constexpr const char* kWriting = "write it (continue with --resume)";

bool at_page(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % kDiskPage == 0; }

constexpr std::size_t kMostTransfer = std::size_t{8} << 20;

}  // namespace

std::size_t whole_pages(std::size_t bytes) { return (bytes + kDiskPage - 1) / kDiskPage * kDiskPage; }

WorkFile::WorkFile(std::string path, int flags, std::size_t chunk)
    : path_(std::move(path)), chunk_(chunk), descriptor_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail_file(path_, "open it", errno);
  const int access = flags & O_ACCMODE;
  direct_ = ::open(path_.c_str(), access | O_DIRECT | O_CLOEXEC);
}

WorkFile::~WorkFile() {
  if (direct_ >= 0) ::close(direct_);
  ::close(descriptor_);
}

std::byte* WorkFile::staging() const {
  if (staging_.size() == 0) staging_ = base::AlignedArray<std::byte>(chunk_ + kDiskPage);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(staging_.data()) % kDiskPage;
  return staging_.data() + (past == 0 ? 0 : kDiskPage - past);
}

bool WorkFile::refused() const {
  if (errno != EINVAL) return false;  // some file systems open with O_DIRECT and refuse the first transfer
  ::close(direct_);
  direct_ = -1;
  return true;
}

void WorkFile::read_buffered(void* to, std::size_t bytes, std::size_t offset) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got =
        ::pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file(path_, "read it", errno);
    if (got == 0)
      throw Error(ErrorKind::io,
                  fmt::format("{}: the file ends at byte {}, before its data are complete", path_, offset + done));
    done += static_cast<std::size_t>(got);
  }
}

void WorkFile::read(void* to, std::size_t bytes, std::size_t offset) const {
  const std::lock_guard lock(mutex_);
  while (direct_ >= 0 && bytes > 0) {
    const std::size_t first = offset / kDiskPage * kDiskPage, before = offset - first;
    const bool in_place = before == 0 && bytes >= kDiskPage && at_page(to);
    const std::size_t wanted = in_place ? std::min(kMostTransfer, bytes / kDiskPage * kDiskPage)
                                        : std::min(chunk_, whole_pages(before + bytes));
    const ssize_t got = ::pread(direct_, in_place ? to : staging(), wanted, static_cast<off_t>(first));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && !refused()) fail_file(path_, "read it", errno);
    if (got < 0) break;
    if (static_cast<std::size_t>(got) <= before)
      throw Error(ErrorKind::io, fmt::format("{}: the file ends at byte {}, before its data are complete", path_,
                                             first + static_cast<std::size_t>(got)));
    const std::size_t part = std::min(bytes, static_cast<std::size_t>(got) - before);
    if (!in_place) std::memcpy(to, staging() + before, part);
    to = static_cast<char*>(to) + part, bytes -= part, offset += part;
  }
  if (bytes > 0) read_buffered(to, bytes, offset);
}

void WorkFile::write_buffered(const void* from, std::size_t bytes, std::size_t offset) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put =
        ::pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_file(path_, kWriting, errno);
    done += static_cast<std::size_t>(put);
  }
}

// Parts of pages at both ends go through the page cache, whole pages between them do not.
void WorkFile::write(const void* from, std::size_t bytes, std::size_t offset, Pad pad) const {
  const std::lock_guard lock(mutex_);
  const auto buffered = [&](std::size_t count) {
    write_buffered(from, count, offset);
    from = static_cast<const char*>(from) + count, bytes -= count, offset += count;
  };
  if (direct_ >= 0 && offset % kDiskPage != 0) buffered(std::min(bytes, whole_pages(offset) - offset));
  while (direct_ >= 0 && (bytes >= kDiskPage || (pad == Pad::page && bytes > 0))) {
    const bool in_place = bytes >= kDiskPage && at_page(from);
    const std::size_t whole = bytes / kDiskPage * kDiskPage;
    const std::size_t part = in_place           ? std::min(kMostTransfer, whole)
                             : pad == Pad::page ? std::min(chunk_, bytes)
                                                : std::min(chunk_, whole);
    if (!in_place) {
      std::memcpy(staging(), from, part);
      std::memset(staging() + part, 0, whole_pages(part) - part);
    }
    const ssize_t put = ::pwrite(direct_, in_place ? from : staging(), whole_pages(part), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && !refused()) fail_file(path_, kWriting, errno);
    if (put < 0) break;
    // A device that writes less than a page returns the error at the next call.
    const std::size_t written = std::min(part, static_cast<std::size_t>(put) / kDiskPage * kDiskPage);
    if (written == 0) break;
    from = static_cast<const char*>(from) + written, bytes -= written, offset += written;
  }
  if (bytes > 0) buffered(bytes);
}

void WorkFile::flush() const {
  if (::fdatasync(descriptor_) != 0) fail_file(path_, "write it to the disk (continue with --resume)", errno);
  // Buffered pages of a finished panel are not needed again soon: they would displace those of other programs.
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

void WorkFile::resize(std::size_t bytes) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail_file(path_, "set its size", errno);
}

bool WorkFile::lock() const { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

void WorkFile::publish(const std::string& out) const {
  flush();
  base::keep_permissions(out, descriptor_);
  if (::rename(path_.c_str(), out.c_str()) != 0) fail_file(out, "write it", errno);
  base::flush_folder(std::filesystem::path(out).parent_path());
}

Ledger::Ledger(std::string path, const std::string& identity, bool resume)
    : path_(std::move(path)), file_(path_, O_WRONLY | O_CREAT, kDiskPage) {
  if (!file_.lock()) throw Error(ErrorKind::io, fmt::format("{}: another process is writing this output", path_));
  auto text = base::read_file(path_, std::size_t{1} << 26);
  if (text && text->empty()) text.reset();  // it was just created
  if (text && !resume) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{} belongs to an interrupted run: pass --resume to continue it, or remove the file", path_));
  }
  if (text) {
    std::istringstream lines(*text);
    std::string line;
    std::getline(lines, line);
    if (line != identity) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("{} belongs to another problem, another --memory or a changed input: remove it to start again",
                      path_));
    }
    while (std::getline(lines, line)) done_.insert(line);
  }
  resumed_ = !done_.empty();  // killed before the first panel: the work files may not exist
  size_ = text ? text->size() : 0;
  if (!text) append(identity);
}

Ledger::~Ledger() {
  if (std::uncaught_exceptions() == errors_ || resumed_ || noted_) return;
  const std::string stem = path_.substr(0, path_.rfind(".ridge-progress"));
  std::error_code ignored;
  for (const char* end : {".ridge-a", ".ridge-b", ".ridge-progress"}) std::filesystem::remove(stem + end, ignored);
}

void Ledger::append(const std::string& line) {
  const std::string text = line + "\n";
  file_.write(text.data(), text.size(), size_);
  file_.flush();
  size_ += text.size();
}

DiskMemory divide_memory(std::size_t limit, std::size_t panels) {
#ifdef __GLIBC__
  // Freed panels return to the system: otherwise every thread that read one keeps up to 32 MiB of them.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  constexpr std::size_t kShare = 64;
  const std::size_t chunk = std::clamp(limit / kShare / kDiskPage * kDiskPage, kDiskPage, kMostTransfer);
  const std::size_t staging =
      limit / kShare < kDiskPage ? 0 : 2 * chunk;  // 0: the limit is too small for a staging buffer
  return {(limit - staging) / panels, chunk};
}

std::size_t limit_for(std::size_t panel, std::size_t panels) {
  return panel * panels / 31 * 32 + 32 + 2 * kDiskPage;  // 2 of 64 parts, or two pages, are for transfers
}

std::string output_of_passes(const std::string& out, const std::vector<std::string>& inputs) {
  const std::filesystem::path target = base::link_target(out);
  base::check_replaceable(target);
  std::vector<NamedFile> read, work;
  for (const std::string& name : inputs) read.push_back({"IN", name});
  for (const char* end : {".ridge-a", ".ridge-b", ".ridge-progress"})
    work.push_back({"a work file", target.string() + end});
  check_distinct(read, work);
  return target.string();
}

std::string file_identity(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) fail_file(path, "examine it", errno);
  return fmt::format("{} {} {}.{:09}", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

void check_free_space(const std::string& path, std::size_t bytes, const char* what) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return;
  const auto free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  if (free < bytes) {
    throw Error(ErrorKind::io,
                fmt::format("{}: needs {} bytes of free space for {}, has {}", folder.string(), bytes, what, free));
  }
}

void report_direct(const WorkFile& file) {
  if (!file.direct())
    base::warn(fmt::format("{}: its file system refuses direct I/O; pages go through the cache", file.path()));
}

}  // namespace ridge::cli
