// Creates, joins and removes rings in shared memory, and moves blocks between processes.
#include "io/telescopes/ring.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace ridge::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRingMagic = 0x31474e4952474452;
constexpr std::size_t kSeats = 16, kRanges = 1000, kRingPage = 4096;
enum : std::uint32_t { kWriting, kFinished, kFailed };

struct Seat {
  std::atomic<std::uint32_t> reader{0};  // its process; 0: free
  std::atomic<std::uint64_t> next{0};    // block it reads or waits for
};

// Begin of the shared memory. Byte 0 is locked by the writer, byte 1 + i by the reader in seat i.
struct Control {
  std::atomic<std::uint64_t> magic;  // set last
  std::uint64_t blocks, block_bytes, readers, drop;
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> news, space;  // futexes, changed when a block is written or released
  std::atomic<std::uint32_t> joined;       // readers so far
  std::atomic<std::uint64_t> written;      // blocks
  Seat seats[kSeats];
};

struct BlockInfo {
  std::atomic<std::uint64_t> number;  // 1 + the block's number; 0: being written
  std::uint64_t bytes;
  std::uint32_t ranges;
  struct {
    std::uint32_t first, bytes;
  } lost[kRanges];
};

[[noreturn]] void fail_ring(const RingOptions& ring, const std::string& what) {
  throw Error(ErrorKind::io, fmt::format("ring:{}: {}", ring.name, what));
}
std::string errno_text() { return std::generic_category().message(errno); }

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  const timespec limit{0, 50'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}
void futex_wake(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

struct flock one_byte(std::size_t byte) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}
bool lock_byte(int descriptor, std::size_t byte) {
  struct flock lock = one_byte(byte);
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}
// True if another process holds the lock.
bool is_locked(int descriptor, std::size_t byte) {
  struct flock lock = one_byte(byte);
  return ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

constexpr std::string_view kSharedFolder = "/dev/shm", kSharedPrefix = "ridge-ring-";

std::string shared_name(const RingOptions& ring) { return fmt::format("/{}{}", kSharedPrefix, ring.name); }

// Removes rings whose writer was killed. A ring that was just created may not be locked yet.
void remove_stale_rings() {
  constexpr auto kLeastAge = std::chrono::minutes(1);
  std::error_code error;
  for (fs::directory_iterator at(kSharedFolder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kSharedPrefix)) continue;
    std::error_code gone;
    const auto written = at->last_write_time(gone);
    if (gone || fs::file_time_type::clock::now() - written < kLeastAge) continue;
    const int old = ::shm_open(("/" + name).c_str(), O_RDWR | O_CLOEXEC, 0);
    if (old < 0) continue;
    if (lock_byte(old, 0)) ::shm_unlink(("/" + name).c_str());
    ::close(old);
  }
}

}  // namespace

struct RingMapping {
  int descriptor = -1;
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  ~RingMapping() {
    if (memory != MAP_FAILED) ::munmap(memory, bytes);
    if (descriptor >= 0) ::close(descriptor);
  }
  bool map(std::size_t length) {
    bytes = length;
    memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory != MAP_FAILED;
  }
  Control& control() const { return *static_cast<Control*>(memory); }
  BlockInfo& info(std::uint64_t number) const {
    auto* infos = reinterpret_cast<BlockInfo*>(static_cast<std::byte*>(memory) + kRingPage);
    return infos[number % control().blocks];
  }
  static std::size_t data_offset(std::size_t blocks) {
    return (kRingPage + blocks * sizeof(BlockInfo) + kRingPage - 1) / kRingPage * kRingPage;
  }
  std::byte* data(std::uint64_t number) const {
    const Control& c = control();
    return static_cast<std::byte*>(memory) + data_offset(c.blocks) + number % c.blocks * c.block_bytes;
  }
};
static_assert(sizeof(Control) <= kRingPage);

bool is_ring(std::string_view name) { return name.starts_with("ring:"); }

bool has_ending(std::string_view name, std::string_view ending) {
  if (is_ring(name)) name = name.substr(0, name.find(','));
  return name.ends_with(ending);
}

RingOptions parse_ring(const std::string& name) {
  const auto refuse = [&] {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: needs ring:NAME (letters, digits, _ - .), for writers with ,blocks=2..4096 "
                            ",block=4K..1G ,readers=1..16 ,wait=SECONDS or ,drop",
                            name));
  };
  RingOptions ring;
  std::size_t at = name.find(',');
  ring.name = name.substr(5, at == std::string::npos ? at : at - 5);
  const bool plain = std::all_of(ring.name.begin(), ring.name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  });
  if (ring.name.empty() || ring.name.size() > 100 || !plain) refuse();
  while (at != std::string::npos) {
    const std::size_t end = name.find(',', at + 1), equals = std::min(name.find('=', at), end);
    const std::string key = name.substr(at + 1, (equals == std::string::npos ? name.size() : equals) - at - 1);
    const std::string value =
        equals == end ? "" : name.substr(equals + 1, end == std::string::npos ? end : end - equals - 1);
    const std::size_t number = base::parse_bytes(value).value_or(0);
    if (key == "drop" && value.empty()) {
      ring.drop = true;
    } else if (key == "blocks" && number >= 2 && number <= 4096) {
      ring.blocks = number;
    } else if (key == "block" && number >= 4096 && number <= (std::size_t{1} << 30)) {
      ring.block_bytes = number;
    } else if (key == "readers" && number >= 1 && number <= kSeats) {
      ring.readers = number;
    } else if (key == "wait" && number >= 1 && number <= 86400) {
      ring.wait = static_cast<double>(number);
    } else {
      refuse();
    }
    at = end;
  }
  return ring;
}

RingWriter::RingWriter(const RingOptions& options) : options_(options), ring_(std::make_unique<RingMapping>()) {
  const std::string name = shared_name(options);
  remove_stale_rings();
  for (int attempt = 0; ring_->descriptor < 0; ++attempt) {
    ring_->descriptor = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (ring_->descriptor >= 0) break;
    if (errno != EEXIST || attempt > 10) fail_ring(options, "cannot create shared memory: " + errno_text());
    // A ring of a writer that was killed is replaced.
    const int old = ::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
    const bool in_use = old >= 0 && !lock_byte(old, 0);
    if (!in_use) ::shm_unlink(name.c_str());
    if (old >= 0) ::close(old);
    if (in_use) fail_ring(options, "another process writes it");
  }
  if (!lock_byte(ring_->descriptor, 0)) fail_ring(options, "another process writes it");
  name_ = base::TemporaryName(std::string(kSharedFolder) + name);
  name_.made();
  const std::size_t bytes = RingMapping::data_offset(options.blocks) + options.blocks * options.block_bytes;
  // Reserves the memory: writing to memory that is not there would end the process.
  const int error = ::posix_fallocate(ring_->descriptor, 0, static_cast<off_t>(bytes));
  if (error != 0 || !ring_->map(bytes)) {
    ::shm_unlink(name.c_str());
    fail_ring(options,
              fmt::format("{} of shared memory are not available: {}", base::human_bytes(static_cast<double>(bytes)),
                          std::generic_category().message(error != 0 ? error : errno)));
  }
  Control& control = ring_->control();
  control.blocks = options.blocks;
  control.block_bytes = options.block_bytes;
  control.readers = options.readers;
  control.drop = options.drop ? 1 : 0;
  control.magic.store(kRingMagic, std::memory_order_release);
}

RingWriter::~RingWriter() {
  if (!finished_) ring_->control().state = kFailed;
  futex_wake(ring_->control().news);
  ::shm_unlink(shared_name(options_).c_str());
}

// Frees the seats of readers that were killed. False if no reader is left.
bool RingWriter::free_dead_readers() {
  bool any = false;
  for (std::size_t i = 0; i < kSeats; ++i) {
    Seat& seat = ring_->control().seats[i];
    std::uint32_t reader = seat.reader;
    if (reader == 0) continue;
    if (is_locked(ring_->descriptor, 1 + i)) {
      any = true;
    } else if (seat.reader.compare_exchange_strong(reader, 0)) {  // fails if a new reader has taken the seat
      ++dead_;
    }
  }
  return any;
}

// Waits until the block's slot has been read by all readers.
void RingWriter::await_space() {
  Control& control = ring_->control();
  if (options_.drop || number_ < options_.blocks) return;
  const double begin = base::now();
  for (;;) {
    const std::uint32_t space = control.space;
    bool free = control.joined >= options_.readers, any = false;
    for (const Seat& seat : control.seats) {
      if (seat.reader == 0) continue;
      any = true;
      free = free && seat.next + options_.blocks > number_;
    }
    if (free && any) return;
    any = free_dead_readers();
    if (!any && control.joined >= options_.readers) fail_ring(options_, "every reader has ended");
    if (!any && base::now() - begin > options_.wait)
      fail_ring(options_, fmt::format("no reader within {} s", options_.wait));
    futex_wait(control.space, space);
  }
}

void RingWriter::write(const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    if (filled_ == 0) {
      await_space();
      ring_->info(number_).number.store(0, std::memory_order_release);
      std::atomic_thread_fence(std::memory_order_release);
    }
    const std::size_t some = std::min(bytes, options_.block_bytes - filled_);
    std::memcpy(ring_->data(number_) + filled_, at, some);
    at += some, bytes -= some, filled_ += some, written_ += some;
    if (filled_ == options_.block_bytes) publish();
  }
}

void RingWriter::mark_lost(std::uint64_t ahead, std::uint64_t bytes) {
  if (!lost_.empty() && lost_.back().first + lost_.back().bytes == written_ + ahead) {
    lost_.back().bytes += bytes;
  } else {
    lost_.push_back({written_ + ahead, bytes});
  }
}

void RingWriter::publish() {
  Control& control = ring_->control();
  BlockInfo& info = ring_->info(number_);
  const std::uint64_t begin = written_ - filled_;
  info.bytes = filled_;
  info.ranges = 0;
  std::size_t used = 0;
  for (const LostBytes& one : lost_) {
    const std::uint64_t first = std::max(one.first, begin), end = std::min(one.first + one.bytes, written_);
    if (one.first >= written_) break;
    used += one.first + one.bytes <= written_ ? 1 : 0;
    if (first >= end) continue;
    const auto offset = static_cast<std::uint32_t>(first - begin), length = static_cast<std::uint32_t>(end - first);
    if (info.ranges < kRanges) {
      info.lost[info.ranges].first = offset;
      info.lost[info.ranges++].bytes = length;
    } else {  // too many: the last range covers the rest, good samples included
      info.lost[kRanges - 1].bytes = offset + length - info.lost[kRanges - 1].first;
    }
  }
  lost_.erase(lost_.begin(), lost_.begin() + static_cast<std::ptrdiff_t>(used));
  info.number.store(number_ + 1, std::memory_order_release);
  control.written.store(++number_, std::memory_order_release);
  filled_ = 0;
  futex_wake(control.news);
}

void RingWriter::finish() {
  if (filled_ > 0) publish();
  Control& control = ring_->control();
  control.state = kFinished;
  futex_wake(control.news);
  finished_ = true;
  const double begin = base::now();
  for (;;) {
    const std::uint32_t space = control.space;
    const bool any = free_dead_readers();
    if (!any && dead_ > 0 && dead_ == control.joined) fail_ring(options_, "every reader was killed before the end");
    if (control.joined >= options_.readers && !any) return;  // readers leave their seats at the end
    if (options_.drop && !any) return;
    if (!any && base::now() - begin > options_.wait)
      fail_ring(options_, fmt::format("no reader within {} s", options_.wait));
    futex_wait(control.space, space);
  }
}

RingReader::RingReader(const RingOptions& options) : options_(options) {
  const double begin = base::now();
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    if (base::now() - begin > options.wait)
      fail_ring(options, fmt::format("no process writes it; waited {} s", options.wait));
    ring_ = std::make_unique<RingMapping>();
    ring_->descriptor = ::shm_open(shared_name(options).c_str(), O_RDWR | O_CLOEXEC, 0);
    if (ring_->descriptor < 0 && errno != ENOENT) fail_ring(options, "cannot open it: " + errno_text());
    struct stat status {};
    if (ring_->descriptor < 0 || !is_locked(ring_->descriptor, 0) || ::fstat(ring_->descriptor, &status) != 0 ||
        status.st_size < static_cast<off_t>(kRingPage))
      continue;
    if (!ring_->map(static_cast<std::size_t>(status.st_size))) fail_ring(options, "cannot map it: " + errno_text());
    if (ring_->control().magic.load(std::memory_order_acquire) != kRingMagic) continue;
    break;
  }
  Control& control = ring_->control();
  if (RingMapping::data_offset(control.blocks) + control.blocks * control.block_bytes > ring_->bytes)
    fail_ring(options, "its header contradicts its size");
  while (seat_ < kSeats && !lock_byte(ring_->descriptor, 1 + seat_)) ++seat_;
  if (seat_ == kSeats) fail_ring(options, fmt::format("has {} readers already", kSeats));
  // The writer keeps the first blocks until enough readers have begun.
  const bool all_began = control.drop != 0 || control.joined >= control.readers;
  Seat& seat = control.seats[seat_];
  seat.next = 0;
  seat.reader = static_cast<std::uint32_t>(::getpid());
  ++control.joined;
  if (all_began && control.written >= control.blocks) {
    seat.reader = 0;
    fail_ring(options,
              fmt::format(
                  "its writer began {} blocks ago, and the first ones are overwritten: start the reader first, or give "
                  "the writer readers=N",
                  control.written.load()));
  }
  futex_wake(control.space);
}

RingReader::~RingReader() { release(); }

void RingReader::release() {
  if (!ring_) return;
  Control& control = ring_->control();
  control.seats[seat_].reader = 0;
  ring_->control().space.fetch_add(1);
  futex_wake(control.space);
  ring_.reset();
}

// Waits for the next block. False at the end.
bool RingReader::next_block() {
  if (!ring_) return false;
  Control& control = ring_->control();
  if (block_ != nullptr) {
    position_ += there_;
    control.seats[seat_].next = ++next_;
    futex_wake(control.space);
    block_ = nullptr;
  }
  for (;;) {
    const std::uint32_t news = control.news, state = control.state;
    const std::uint64_t written = control.written.load(std::memory_order_acquire);
    if (next_ < written) {
      const BlockInfo& info = ring_->info(next_);
      const bool there = info.number.load(std::memory_order_acquire) == next_ + 1;
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(info.bytes, control.block_bytes));
      std::vector<LostBytes> found;
      for (std::uint32_t i = 0; i < std::min<std::uint32_t>(info.ranges, kRanges); ++i)
        found.push_back({position_ + info.lost[i].first, info.lost[i].bytes});
      block_ = ring_->data(next_);
      if (control.drop != 0) {
        copy_.assign(block_, block_ + bytes);
        block_ = copy_.data();
        std::atomic_thread_fence(std::memory_order_acquire);
      }
      if (there && info.number.load(std::memory_order_acquire) == next_ + 1) {
        there_ = bytes, taken_ = 0;
        lost_.insert(lost_.end(), found.begin(), found.end());
        return true;
      }
      // Overwritten: continues with the newer half of the ring. All missed blocks were full.
      block_ = nullptr;
      const std::uint64_t to = std::max(next_ + 1, written - std::min(written, control.blocks / 2));
      zeros_ = (to - next_) * control.block_bytes;
      lost_.push_back({position_, zeros_});
      position_ += zeros_;
      control.seats[seat_].next = next_ = to;
      return true;
    }
    if (state == kFinished) {
      release();
      return false;
    }
    if (state == kFailed) fail_ring(options_, "its writer failed");
    if (!is_locked(ring_->descriptor, 0) && control.state == kWriting && control.written == written) {
      ::shm_unlink(shared_name(options_).c_str());
      fail_ring(options_, "its writer was killed");
    }
    futex_wait(control.news, news);
  }
}

std::size_t RingReader::read(void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  std::size_t done = 0;
  while (done < bytes) {
    if (zeros_ > 0) {
      const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(zeros_, bytes - done));
      std::memset(at + done, 0, some);
      zeros_ -= some, done += some;
    } else if (block_ != nullptr && taken_ < there_) {
      const std::size_t some = std::min(there_ - taken_, bytes - done);
      std::memcpy(at + done, block_ + taken_, some);
      taken_ += some, done += some;
    } else if (!next_block()) {
      break;
    }
  }
  return done;
}

std::vector<LostBytes> RingReader::take_lost() {
  std::vector<LostBytes> found;
  found.swap(lost_);
  return found;
}

}  // namespace ridge::io
