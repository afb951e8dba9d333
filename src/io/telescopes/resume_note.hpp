// A note NAME.resume beside a raw output file that describes its content, so that a resumed run extends only a file of
// its own.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace ridge::io {

class ResumeNote {
 public:
  // `file` is empty or new, or its note exists, equals `what`, and the file still has the same beginning. Otherwise
  // throws Error{io} with the reason. Changes nothing.
  ResumeNote(const std::filesystem::path& file, std::string what);

  void before_writing();  // writes the note before the first byte of the file
  void after_writing();   // records the file's beginning once enough of it is written

  static std::filesystem::path beside(const std::filesystem::path& file) { return file.string() + ".resume"; }

 private:
  void save();

  std::filesystem::path file_;
  std::string what_;
  std::size_t start_bytes_ = 0;  // bytes of the file's beginning that the checksum covers
  std::size_t start_sum_ = 0;
  bool saved_ = false;
};

}  // namespace ridge::io
