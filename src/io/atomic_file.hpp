// A large file that appears under its name when it is whole: written beside it as NAME.part, flushed, renamed. The
// part's name is always the same, so a run that is killed again and again leaves one at most.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/temporaries.hpp"

namespace ridge::io {

class AtomicFile {
 public:
  // Error{io} where it cannot be made, or where another process is writing it.
  // Symbolic links are followed and permissions are kept.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  // removes the part unless it was committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Error{io} naming the file and the system's reason ("No space left on device").
  void write(const void* from, std::size_t bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  std::size_t written() const { return written_; }
  // Flushes to the disk and gives the file its name. With `keep`, a file of that name becomes `keep` first.
  void commit(const std::filesystem::path& keep = {});

 private:
  [[noreturn]] void fail(int error) const;
  void open_part();
  bool still_named() const;  // whether the part's name still means the file that is open
  void discard();            // closes it
  void remove();             // and takes the part away

  std::filesystem::path path_, part_;
  base::TemporaryName known_;
  int descriptor_ = -1;
  std::size_t written_ = 0;
};

}  // namespace ridge::io
