// A large output file that appears under its name only when complete: written as NAME.part beside it, flushed, renamed.
// The part's name is always the same, so repeatedly killed runs leave one part at most.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/temporaries.hpp"

namespace ridge::io {

class AtomicFile {
 public:
  // Throws Error{io} if the file cannot be created or another process is writing it. Symbolic links are followed and
  // permissions are kept.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  // removes the part unless committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Throws Error{io} with the file name and the system's reason ("No space left on device").
  void write(const void* from, std::size_t bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  std::size_t written() const { return written_; }
  // Flushes to disk and renames the part. With `keep`, an existing file of that name is renamed to `keep` first.
  void commit(const std::filesystem::path& keep = {});

 private:
  [[noreturn]] void fail(int error) const;
  void open_part();
  bool still_named() const;  // true if the part's name still refers to the open file
  void discard();            // closes the part
  void remove();             // closes and deletes the part

  std::filesystem::path path_, part_;
  base::TemporaryName known_;
  int descriptor_ = -1;
  std::size_t written_ = 0;
};

}  // namespace ridge::io
