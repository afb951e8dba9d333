// What a raw file that is written in place holds, noted beside it as NAME.resume: without that, going on would extend
// any file that happens to have the name.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace ridge::io {

class ResumeNote {
 public:
  // `file` is empty or new, or its note is there and says `what`, and the file begins as it did then. Error{io} says
  // which of these is not so. Nothing is changed.
  ResumeNote(const std::filesystem::path& file, std::string what);

  void before_writing();  // the note is there before the first byte is
  void after_writing();   // notes how the file begins, once there is enough of it

  static std::filesystem::path beside(const std::filesystem::path& file) { return file.string() + ".resume"; }

 private:
  void save();

  std::filesystem::path file_;
  std::string what_;
  std::size_t start_bytes_ = 0;  // of the file's start, whose checksum this is
  std::size_t start_sum_ = 0;
  bool saved_ = false;
};

}  // namespace ridge::io
