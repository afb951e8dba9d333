// Computations larger than memory: passes over panels of files, with direct I/O, read-ahead and resuming.
//
// Every pass reads panels of one file and writes panels of another. A panel is noted in the ledger after it is on disk,
// so that --resume continues after any interruption with the same bytes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"

namespace ridge::cli {

inline constexpr std::size_t kDiskPage = 4096;  // unit of direct I/O; .npy headers of work files fill one page

std::size_t whole_pages(std::size_t bytes);  // rounded up

// Allocates at whole pages: a WorkFile transfers such memory without copying it.
template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  explicit PageAllocator(const PageAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kDiskPage)));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, std::align_val_t(kDiskPage)); }
  bool operator==(const PageAllocator&) const = default;
};
template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

// A file that bypasses the page cache (O_DIRECT) where its file system allows that. One thread reads it at a time, and
// one writes it.
class WorkFile {
 public:
  // `chunk` bytes are transferred at once: whole pages.
  WorkFile(std::string path, int flags, std::size_t chunk);
  ~WorkFile();
  WorkFile(const WorkFile&) = delete;
  WorkFile& operator=(const WorkFile&) = delete;

  void read(void* to, std::size_t bytes, std::size_t offset) const;
  // Pad::page: the rest of the last page belongs to these bytes and may be overwritten.
  enum class Pad { none, page };
  void write(const void* from, std::size_t bytes, std::size_t offset, Pad pad = Pad::none) const;
  void flush() const;
  void resize(std::size_t bytes) const;
  bool lock() const;  // false if another process has locked the file
  // Flushes the file and gives it the name `out`, with the permissions of a file that it replaces.
  void publish(const std::string& out) const;
  bool direct() const { return direct_ >= 0; }
  std::size_t chunk() const { return chunk_; }
  const std::string& path() const { return path_; }

 private:
  void read_buffered(void* to, std::size_t bytes, std::size_t offset) const;
  void write_buffered(const void* from, std::size_t bytes, std::size_t offset) const;
  bool refused() const;  // after a failed transfer: true if direct I/O has ended and the transfer must be repeated
  std::byte* staging() const;

  std::string path_;
  std::size_t chunk_;
  int descriptor_;
  mutable int direct_ = -1;
  mutable std::mutex mutex_{};
  mutable base::AlignedArray<std::byte> staging_{};
};

// A matrix on disk and its division into panels of rows and of columns. Tile (p, q) begins at a whole page.
struct Panels {
  std::size_t rows = 0, columns = 0, element = 1;  // of the matrix; bytes of an element
  std::size_t height = 1, width = 1;               // of a full tile
  std::size_t row_panels() const { return (rows + height - 1) / height; }
  std::size_t column_panels() const { return (columns + width - 1) / width; }
  std::size_t height_of(std::size_t p) const { return std::min(height, rows - p * height); }
  std::size_t width_of(std::size_t q) const { return std::min(width, columns - q * width); }
  std::size_t slot(std::size_t p, std::size_t q) const {  // first byte of a tile, after a page for the header
    return kDiskPage + (p * column_panels() + q) * whole_pages(height * width * element);
  }
  std::size_t tiled() const { return slot(row_panels(), 0); }  // bytes of a tiled file
  // Sets the size of tiles for panels of at most `panel` bytes, with `bytes` per element in memory. Large tiles fill
  // whole pages, so that they are transferred without a copy.
  void divide(std::size_t panel, std::size_t bytes) {
    const auto fitting = [&](std::size_t all, std::size_t other) {
      const std::size_t count = panel / (other * bytes);
      return count >= all ? all : count < 128 ? count : count / 32 * 32;
    };
    height = fitting(rows, columns), width = fitting(columns, rows);
  }
  // Least bytes of a panel: a row or a column fits, and tiles of a large matrix fill a page (smaller ones are padded).
  std::size_t least_panel(std::size_t bytes) const {
    constexpr double kLarge = 1 << 20;
    const double all = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(bytes);
    const auto pages = all > kLarge ? static_cast<std::size_t>(std::sqrt(all * kDiskPage)) : 0;
    return std::max(std::max(rows, columns) * bytes, pages);
  }
};

// Finished panels, one line each; the first line identifies the problem. It is locked: one process writes an output.
class Ledger {
 public:
  Ledger(std::string path, const std::string& identity, bool resume);
  ~Ledger();  // after an error before the first finished panel, removes itself and the work files: nothing to continue
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  bool resumed() const { return resumed_; }
  bool done(std::size_t pass, std::size_t panel) const { return done_.count(fmt::format("{}:{}", pass, panel)) != 0; }
  void note(std::size_t pass, std::size_t panel) {
    append(fmt::format("{}:{}", pass, panel));
    noted_ = true;
  }
  void remove() const { std::filesystem::remove(path_); }

 private:
  void append(const std::string& line);
  std::string path_;
  WorkFile file_;
  std::set<std::string> done_;
  std::size_t size_ = 0;
  bool resumed_ = false, noted_ = false;
  int errors_ = std::uncaught_exceptions();
};

// Memory of a computation within a limit: bytes of each of `panels` panels, and of a transfer.
struct DiskMemory {
  std::size_t panel, chunk;
};
DiskMemory divide_memory(std::size_t limit, std::size_t panels);
std::size_t limit_for(std::size_t panel, std::size_t panels);  // a limit that divide_memory() divides into such panels

// The file to write for OUT: the target of a link. Error{io} if it must not be replaced, Error{invalid_argument} if one
// of its work files is an input.
std::string output_of_passes(const std::string& out, const std::vector<std::string>& inputs);

// Text that identifies a file in a ledger: inode, size and time.
std::string file_identity(const std::string& path);
// Error{io} if the folder of a file has less free space.
void check_free_space(const std::string& path, std::size_t bytes, const char* what);
// Warns if the file is not transferred directly.
void report_direct(const WorkFile& file);

struct PassNumber {
  std::size_t number, of, panels;
};

// The work on one panel. Stages of different panels run at the same time.
template <class Panel>
struct PanelStages {
  std::function<void(std::size_t, Panel&)> read, compute = [](std::size_t, Panel&) {}, write;
};

// Reads, computes and writes every panel that is not finished. While one is computed, the next is read and the previous
// one written.
template <class Panel>
void run_pass(Ledger& ledger, const PassNumber& pass, const WorkFile& to, const base::Progress& progress,
              const PanelStages<Panel>& stages) {
  std::vector<std::size_t> left;
  for (std::size_t p = 0; p < pass.panels; ++p) {
    if (!ledger.done(pass.number, p)) left.push_back(p);
  }
  constexpr std::size_t kBuffers = 3;
  Panel buffers[kBuffers];
  std::future<void> read, written;
  const auto described = [&](std::size_t i) { return fmt::format("pass {}, panel {}", pass.number, left[i]); };
  const auto start_reading = [&](std::size_t i) {
    if (i >= left.size()) return;
    read = std::async(std::launch::async, [&, i] {
      const base::trace::Span span("read", [&] { return described(i); });
      stages.read(left[i], buffers[i % kBuffers]);
    });
  };
  const auto start_writing = [&](std::size_t i) {
    written = std::async(std::launch::async, [&, i] {
      const base::trace::Span span("write", [&] { return described(i); });
      stages.write(left[i], buffers[i % kBuffers]);
      to.flush();
      ledger.note(pass.number, left[i]);
    });
  };
  start_reading(0);
  for (std::size_t i = 0; i < left.size(); ++i) {
    read.get();
    start_reading(i + 1);  // into the buffer of panel i - 2, which is written
    progress((static_cast<double>(pass.number - 1) + static_cast<double>(left[i]) / static_cast<double>(pass.panels)) /
                 static_cast<double>(pass.of),
             fmt::format("pass {} of {}, panel {} of {}", pass.number, pass.of, left[i] + 1, pass.panels));
    {
      const base::trace::Span span("panel", [&] { return described(i); });
      stages.compute(left[i], buffers[i % kBuffers]);
    }
    if (written.valid()) written.get();
    start_writing(i);
  }
  if (written.valid()) written.get();
  if (pass.number == pass.of) progress(1, "");
}

}  // namespace ridge::cli
