// Uploads, computes and downloads panels at the same time, with one queue per direction.
#include "device/panels.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <ridge/device_memory.hpp>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/trace.hpp"
#include "device/backend.hpp"

namespace ridge {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{16} << 20;
constexpr std::size_t kMostPitch = 0x7fffffff;  // largest row pitch of a copy on CUDA
std::atomic<std::size_t> device_memory_limit{0};

// `count` rows from row `row` on, of each row `bytes` bytes from byte `column` on.
PanelRows part_of(const PanelRows& rows, std::size_t row, std::size_t column, std::size_t count, std::size_t bytes) {
  return {.data = rows.data + row * rows.pitch + column,
          .bytes = bytes,
          .rows = count,
          .pitch = rows.pitch,
          .at = rows.at + row * rows.at_pitch + column,
          .at_pitch = rows.at_pitch};
}

// Calls use(part) for parts of at most `most` bytes whose rows the device can copy at once.
template <class Use>
void for_parts(const PanelRows& rows, std::size_t most, const Use& use) {
  if (rows.bytes == 0) return;
  const bool single = rows.bytes > most || rows.pitch > kMostPitch || rows.at_pitch > kMostPitch;
  const std::size_t at_once = single ? 1 : std::max<std::size_t>(1, most / rows.bytes);
  for (std::size_t row = 0; row < rows.rows; row += at_once) {
    const std::size_t count = std::min(at_once, rows.rows - row);
    for (std::size_t column = 0; column < rows.bytes; column += most)
      use(part_of(rows, row, column, count, std::min(most, rows.bytes - column)));
  }
}

// Copies rows between host memory and packed rows in a block.
void copy_rows(const PanelRows& rows, std::byte* block, bool to_block) {
  const auto copy = [&](std::size_t row, std::size_t begin, std::size_t end) {
    std::byte* const outside = rows.data + row * rows.pitch + begin;
    std::byte* const inside = block + row * rows.bytes + begin;
    std::memcpy(to_block ? inside : outside, to_block ? outside : inside, end - begin);
  };
  constexpr std::size_t kLeast = std::size_t{1} << 20;  // bytes per thread: waking one takes as long
  const std::size_t all = rows.rows * rows.bytes;
  const std::size_t threads =
      std::clamp<std::size_t>(all / kLeast, 1, std::max<std::size_t>(1, base::hardware_threads() / 2));
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    if (rows.rows == 1) {
      const base::Share share = base::share(rows.bytes, thread, of, 4096);
      if (share.begin < share.end) copy(0, share.begin, share.end);
      return;
    }
    const base::Share share = base::share(rows.rows, thread, of);
    for (std::size_t row = share.begin; row < share.end; ++row) copy(row, 0, rows.bytes);
  });
}

Pitches in_buffer(const PanelRows& rows) { return {.offset = rows.at, .row = rows.at_pitch, .slice = 0}; }
Pitches in_host(const PanelRows& rows) { return {.offset = 0, .row = rows.pitch, .slice = 0}; }
ByteBox box_of(const PanelRows& rows) { return {.bytes = rows.bytes, .rows = rows.rows}; }

}  // namespace

void set_device_memory(std::size_t bytes) { device_memory_limit = bytes; }

std::size_t device_memory(const Device& device) {
  const std::size_t own = device.info().limits.memory / 10 * 9;
  std::size_t limit = device_memory_limit;
  if (limit == 0) {
    const char* text = std::getenv("RIDGE_DEVICE_MEMORY");
    if (text != nullptr && *text != 0) {
      limit = base::parse_bytes(text).value_or(0);
      if (limit == 0)
        throw Error(ErrorKind::invalid_argument, fmt::format("RIDGE_DEVICE_MEMORY={}: needs a size such as 8G", text));
    }
  }
  return limit == 0 ? own : std::min(limit, own);
}

PanelStream::PanelStream(const Device& device, std::string name) : device_(device), name_(std::move(name)) {}

// Buffers of another size are freed first, all of them: memory may not suffice for both sizes.
void PanelStream::reserve(std::size_t in_bytes, std::size_t out_bytes, std::size_t at_once) const {
  if (!upload_) upload_ = device_.queue(), compute_ = device_.queue(), download_ = device_.queue();
  for (const bool make : {false, true}) {
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const auto fit = [&](Buffer& buffer, std::size_t bytes) {
        if (i >= at_once) bytes = 0;
        if (!make && buffer && buffer.size() != bytes) buffer = {};
        if (make && !buffer && bytes != 0) buffer = device_.buffer(bytes, {.name = name_ + " panel"});
      };
      fit(slots_[i].in, in_bytes);
      fit(slots_[i].out, out_bytes);
      slots_[i].computed = slots_[i].downloaded = {};
    }
  }
}

// One run: the caller's thread uploads and enqueues kernels, a second thread downloads.
class PanelRun {
 public:
  PanelRun(const PanelStream& stream, const PanelWork& work, bool in_place, std::size_t at_once)
      : stream_(stream), work_(work), in_place_(in_place), at_once_(at_once) {}

  void run() {
    std::future<void> downloads = std::async(std::launch::async, [this] { guarded([this] { download_all(); }); });
    guarded([this] { upload_all(); });
    downloads.get();
    for (auto* queue : {&stream_.upload_, &stream_.compute_, &stream_.download_}) {
      try {
        (*queue)->finish();
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
      }
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  using Slot = PanelStream::Slot;
  using Block = PanelStream::Block;

  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
      changed_.notify_all();
    }
  }
  // Waits until the other thread has enqueued `count` panels; false after a failure.
  bool wait_until(const std::size_t& done, std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || done >= count; });
    return !failed_;
  }
  void advance(std::size_t& done) {
    const std::lock_guard lock(mutex_);
    ++done;
    changed_.notify_all();
  }

  bool direct(const std::byte* data) const {
    const DeviceInfo& info = stream_.device_.info();
    return info.shares_host_memory || info.runs_on_host_cores || stream_.device_.state().page_locked(data);
  }
  void prepare(Block& block) const {
    if (block.buffer) return;
    block.buffer = stream_.device_.buffer(kBlockBytes, {.kind = MemoryKind::pinned, .name = stream_.name_ + " block"});
    block.mapping.emplace(block.buffer.map());
  }

  void upload_all() {
    Queue& queue = *stream_.upload_;
    for (std::size_t panel = 0; panel < work_.panels; ++panel) {
      Slot& slot = stream_.slots_[panel % at_once_];
      if (panel >= at_once_) {
        if (!wait_until(downloaded_, panel - at_once_ + 1)) return;
        queue.wait_for(in_place_ ? slot.downloaded : slot.computed);
        stream_.compute_->wait_for(slot.downloaded);
      }
      const base::trace::Span span("panel", [&] { return fmt::format("{} of {}", panel + 1, work_.panels); });
      if (work_.clears && work_.clears(panel)) queue.fill(slot.in, std::byte{0});
      for (const PanelRows& rows : work_.read(panel)) upload(queue, rows, slot.in);
      const Event uploaded = queue.record();
      stream_.compute_->wait_for(uploaded);
      work_.enqueue(*stream_.compute_, panel, slot.in, in_place_ ? slot.in : slot.out);
      slot.computed = stream_.compute_->record();
      advance(computed_);
    }
  }

  void upload(Queue& queue, const PanelRows& rows, const Buffer& to) {
    if (direct(rows.data)) {
      for_parts(rows, SIZE_MAX, [&](const PanelRows& part) {
        queue.upload(part.data, in_host(part), to, in_buffer(part), box_of(part));
      });
      return;
    }
    for_parts(rows, kBlockBytes, [&](const PanelRows& part) {
      Block& block = stream_.up_[sent_++ % PanelStream::kBlocks];
      prepare(block);
      if (block.done) block.done.wait();
      copy_rows(part, block.mapping->data(), true);
      queue.upload(block.mapping->data(), {}, to, in_buffer(part), box_of(part));
      block.done = queue.record();
    });
  }

  void download_all() {
    Queue& queue = *stream_.download_;
    for (std::size_t panel = 0; panel < work_.panels; ++panel) {
      if (!wait_until(computed_, panel + 1)) return;
      Slot& slot = stream_.slots_[panel % at_once_];
      queue.wait_for(slot.computed);
      for (const PanelRows& rows : work_.written(panel)) download(queue, in_place_ ? slot.in : slot.out, rows);
      slot.downloaded = queue.record();
      advance(downloaded_);
    }
    while (taken_ < fetched_) take(stream_.down_[taken_++ % PanelStream::kBlocks]);
  }

  void download(Queue& queue, const Buffer& from, const PanelRows& rows) {
    if (direct(rows.data)) {
      for_parts(rows, SIZE_MAX, [&](const PanelRows& part) {
        queue.download(from, in_buffer(part), part.data, in_host(part), box_of(part));
      });
      return;
    }
    for_parts(rows, kBlockBytes, [&](const PanelRows& part) {
      if (fetched_ - taken_ == PanelStream::kBlocks) take(stream_.down_[taken_++ % PanelStream::kBlocks]);
      Block& block = stream_.down_[fetched_++ % PanelStream::kBlocks];
      prepare(block);
      queue.download(from, in_buffer(part), block.mapping->data(), {}, box_of(part));
      block.done = queue.record();
      block.rows = part;
    });
  }
  static void take(Block& block) {
    block.done.wait();
    copy_rows(block.rows, block.mapping->data(), false);
  }

  const PanelStream& stream_;
  const PanelWork& work_;
  bool in_place_;
  std::size_t at_once_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool failed_ = false;
  std::exception_ptr failure_{};
  std::size_t computed_ = 0, downloaded_ = 0;  // panels enqueued
  std::size_t sent_ = 0;                       // blocks uploaded
  std::size_t fetched_ = 0, taken_ = 0;        // blocks downloaded, and copied to their destination
};

void PanelStream::run(const PanelWork& work, std::size_t in_bytes, std::size_t out_bytes, std::size_t at_once) const {
  const std::lock_guard lock(mutex_);
  at_once = std::clamp<std::size_t>(at_once, 2, kAtOnce);
  reserve(in_bytes, out_bytes, at_once);
  PanelRun(*this, work, out_bytes == 0, at_once).run();
}

}  // namespace ridge
