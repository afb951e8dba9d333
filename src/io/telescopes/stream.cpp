// Opens files, pipes, standard streams and rings, and limits what is read.
#include "io/telescopes/stream.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/trace.hpp"

namespace ridge::io {
namespace {

constexpr std::size_t kMostPeeked = std::size_t{1} << 17, kFirstGrowth = std::size_t{1} << 16;

std::string reason(int error) { return std::generic_category().message(error); }

bool is_regular(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

void write_all(int descriptor, const char* from, std::size_t bytes, int& error) {
  error = 0;
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, from, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      error = errno;
      return;
    }
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

InputStream::InputStream(const std::string& name) : name_(name == "-" ? "standard input" : name) {
  if (is_ring(name)) {
    ring_ = std::make_unique<RingReader>(parse_ring(name));
    return;
  }
  descriptor_ = name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", name_, reason(errno)));
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw Error(ErrorKind::io, fmt::format("cannot read {}: it is a folder", name_));
  }
}

InputStream::~InputStream() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::vector<LostBytes> InputStream::take_lost() {
  if (ring_) return ring_->take_lost();
  std::vector<LostBytes> due;
  while (lost_begun_ && lost_taken_ < lost_.size() && lost_[lost_taken_].first < position())
    due.push_back(lost_[lost_taken_++]);
  return due;
}

void InputStream::expect_lost(std::vector<LostBytes> lost) {
  lost_ = std::move(lost);
  lists_lost_ = true;
}

void InputStream::begin_lost(std::uint64_t position) {
  if (std::exchange(lost_begun_, true)) return;
  for (LostBytes& one : lost_) one.first += position;
}

std::vector<LostBytes> read_lost(const std::string& name) {
  constexpr std::size_t kMostText = std::size_t{1} << 30;
  const auto text = base::read_file(name, kMostText);
  if (!text) throw Error(ErrorKind::io, fmt::format("cannot read {}", name));
  std::vector<LostBytes> lost;
  std::istringstream lines(*text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (number == 1 && line.starts_with("byte,bytes")) continue;
    LostBytes one;
    const char* end = line.data() + line.size();
    const auto [comma, error] = std::from_chars(line.data(), end, one.first);
    const bool first = error == std::errc() && comma != end && *comma == ',';
    const auto [rest, wrong] = std::from_chars(first ? comma + 1 : end, end, one.bytes);
    const bool good = first && wrong == std::errc() && (rest == end || *rest == ',' || *rest == '\r') &&
                      one.bytes > 0 && one.first < (std::uint64_t{1} << 62) && one.bytes < (std::uint64_t{1} << 62) &&
                      (lost.empty() || one.first >= lost.back().first + lost.back().bytes);
    if (!good) {
      throw Error(
          ErrorKind::io,
          fmt::format("{}: line {}: needs byte,bytes as ridge capture --flags writes, in ascending order, got \"{}\"",
                      name, number, line.substr(0, 60)));
    }
    lost.push_back(one);
  }
  return lost;
}

std::size_t InputStream::read_some(void* to, std::size_t bytes) {
  if (ring_) {
    const std::size_t got = ring_->read(to, bytes);
    taken_ += got;
    return got;
  }
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(to) + have, bytes - have);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", name_, reason(errno)));
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  taken_ += have;
  return have;
}

std::size_t InputStream::read(void* to, std::size_t bytes) {
  const base::trace::Span span("read", [&] { return fmt::format("{} bytes", bytes); });
  if (!expected_) return take(to, bytes);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, *expected_));
  const std::size_t got = take(to, wanted);
  *expected_ -= got;
  if (got < wanted) fail_expected(fmt::format("it ends {} bytes early", *expected_));
  if (got < bytes && !peek(1).empty()) fail_expected("it continues after them");
  return got;
}

std::size_t InputStream::read_growing(std::vector<std::byte>& to, std::size_t bytes) {
  std::size_t have = 0;
  const auto there = remaining();
  const auto first = there ? static_cast<std::size_t>(std::min<std::uint64_t>(bytes, *there)) : kFirstGrowth;
  while (have < bytes) {
    const std::size_t room = have == 0 && first > 0 ? first : std::max({kFirstGrowth, 2 * have, to.capacity()});
    to.resize(std::min(bytes, room));
    const std::size_t got = read(to.data() + have, to.size() - have);
    have += got;
    if (have < to.size()) break;
  }
  to.resize(have);
  return have;
}

void InputStream::expect(std::uint64_t bytes, const std::string& whose) {
  expected_ = expected_in_all_ = bytes;
  whose_ = whose;
  const auto there = remaining();
  if (there && *there < bytes) fail_expected(fmt::format("it ends {} bytes early", bytes - *there));
  if (there && *there > bytes) fail_expected("it continues after them");
}

void InputStream::fail_expected(const std::string& what) const {
  throw Error(ErrorKind::io, fmt::format("{}: {} asks for {} bytes, and {}", name_, whose_, expected_in_all_, what));
}

std::size_t InputStream::take(void* to, std::size_t bytes) {
  const std::size_t early = std::min(bytes, peeked_.size());
  std::memcpy(to, peeked_.data(), early);
  peeked_.erase(0, early);
  return early + read_some(static_cast<char*>(to) + early, bytes - early);
}

std::string_view InputStream::peek(std::size_t bytes) {
  bytes = std::min(bytes, kMostPeeked);
  if (peeked_.size() < bytes) {
    const std::size_t have = peeked_.size();
    peeked_.resize(bytes);
    peeked_.resize(have + read_some(peeked_.data() + have, bytes - have));
  }
  return std::string_view(peeked_).substr(0, bytes);
}

std::optional<std::uint64_t> InputStream::remaining() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  // Standard input may be a file that has been partly read already.
  const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  const auto position = at < 0 ? taken_ : static_cast<std::uint64_t>(at);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return (size > position ? size - position : 0) + peeked_.size();
}

ReadProgress::ReadProgress(const InputStream& in, std::string what)
    : in_(in), what_(std::move(what)), progress_(base::terminal_progress()), begun_(base::now()) {}

ReadProgress::~ReadProgress() { progress_(1, ""); }

void ReadProgress::show() const {
  const auto left = in_.remaining();
  const auto read = static_cast<double>(in_.position());
  const double share =
      left ? read / (read + static_cast<double>(*left) + 1) : 1 - 1 / (1 + (base::now() - begun_) / 10);
  progress_(std::min(0.99, share), fmt::format("{}, {} read", what_, base::human_bytes(read)));
}

OutputStream::OutputStream(const std::string& name, bool in_place) : name_(name == "-" ? "standard output" : name) {
  if (is_ring(name)) {
    ring_ = std::make_unique<RingWriter>(parse_ring(name));
    return;
  }
  if (name == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  struct stat status {};
  if (::stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    // Devices and named pipes are written directly; a rename would replace them by a file.
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  if (in_place) {
    in_place_ = true;
    descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    made_here_ = descriptor_ >= 0;
    if (!made_here_) descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor_);
      throw Error(ErrorKind::io, fmt::format("cannot write {}: another process is writing it", name_));
    }
    if (::lseek(descriptor_, 0, SEEK_END) < 0) fail(errno);
    return;
  }
  file_.emplace(name);
  descriptor_ = file_->descriptor();
}

OutputStream::~OutputStream() {
  struct stat status {};
  if (made_here_ && ::fstat(descriptor_, &status) == 0 && status.st_size == 0) ::unlink(name_.c_str());
  if (!file_ && descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

void OutputStream::fail(int error) const {
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", name_, reason(error)));
}

void OutputStream::write(const void* from, std::size_t bytes) {
  const base::trace::Span span("write", [&] { return fmt::format("{} bytes", bytes); });
  written_ += bytes;
  if (ring_) return ring_->write(from, bytes);
  int error = 0;
  write_all(descriptor_, static_cast<const char*>(from), bytes, error);
  if (error != 0) fail(error);
}

void OutputStream::mark_lost(std::uint64_t ahead, std::uint64_t bytes) {
  if (ring_) ring_->mark_lost(ahead, bytes);
}

std::uint64_t OutputStream::size() const {
  struct stat status {};
  if (!in_place_ || ::fstat(descriptor_, &status) != 0) fail(ESPIPE);
  return static_cast<std::uint64_t>(status.st_size);
}

void OutputStream::go_on_at(std::uint64_t bytes) {
  if (!in_place_ || ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 ||
      ::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_SET) < 0) {
    fail(in_place_ ? errno : ESPIPE);
  }
}

void OutputStream::rewrite_start(std::string_view bytes) {
  if (!is_regular(descriptor_)) fail(ESPIPE);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    done += static_cast<std::size_t>(written);
  }
}

void OutputStream::finish() {
  made_here_ = false;
  if (ring_) return ring_->finish();
  if (file_) file_->commit();
  if (!in_place_) return;
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(errno);
  base::flush_folder(std::filesystem::path(name_).parent_path());
}

}  // namespace ridge::io
