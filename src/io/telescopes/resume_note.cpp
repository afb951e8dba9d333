// Writes and checks the note that allows a raw output to be continued.
#include "io/telescopes/resume_note.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "io/encoding.hpp"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kStart = 65536, kLongestNote = 65536, kLongestWhat = 4096;
constexpr const char* kSchema = "ridge resume";

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(ErrorKind::io,
              fmt::format("cannot resume {}: {}; remove it or write to another name", file.string(), why));
}

std::size_t size_of(const fs::path& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  return missing ? 0 : static_cast<std::size_t>(size);
}

std::uint32_t sum_of_start(const fs::path& file, std::size_t bytes) {
  std::vector<char> start(bytes);
  std::ifstream in(file, std::ios::binary);
  if (!in.read(start.data(), static_cast<std::streamsize>(bytes))) refuse(file, "it cannot be read");
  return crc32c(start.data(), bytes);
}

}  // namespace

ResumeNote::ResumeNote(const fs::path& file, std::string what) : file_(file), what_(std::move(what)) {
  if (what_.size() > kLongestWhat) throw Error(ErrorKind::internal, "a resume note above 4096 characters");
  const std::size_t size = size_of(file_);
  if (size == 0) return;
  const auto text = base::read_file(beside(file_), kLongestNote);
  if (!text) refuse(file_, fmt::format("it was not begun with --resume (there is no {})", beside(file_).string()));
  std::string before;
  try {
    const base::Json note = base::parse_json(*text, {.bytes = kLongestNote, .depth = 2, .values = 16});
    if (base::number_in(note, kSchema, 1, 1) != 1) throw Error(ErrorKind::io, "");
    before = base::text_in(note, "what", kLongestWhat);
    start_bytes_ = static_cast<std::size_t>(base::number_in(note, "start bytes", 0, kStart));
    start_sum_ = static_cast<std::size_t>(base::number_in(note, "start crc32c", 0, 0xffffffffU));
  } catch (const Error& error) {
    refuse(file_, fmt::format("{} is damaged ({})", beside(file_).string(), error.what()));
  }
  if (before != what_) refuse(file_, fmt::format("it holds \"{}\", and \"{}\" is wanted", before, what_));
  if (start_bytes_ > size || (start_bytes_ > 0 && sum_of_start(file_, start_bytes_) != start_sum_))
    refuse(file_, fmt::format("it is not the file {} was written for", beside(file_).string()));
  saved_ = true;
}

void ResumeNote::before_writing() {
  if (!saved_) save();
}

void ResumeNote::after_writing() {
  if (start_bytes_ >= kStart) return;
  const std::size_t now = std::min(size_of(file_), kStart);
  // Not at every small write: a file killed early is checked by fewer bytes.
  if (now == start_bytes_ || (now < kStart && now < 2 * start_bytes_)) return;
  start_bytes_ = now;
  start_sum_ = sum_of_start(file_, now);
  save();
}

void ResumeNote::save() {
  const base::Json note = {{kSchema, 1}, {"what", what_}, {"start bytes", start_bytes_}, {"start crc32c", start_sum_}};
  base::write_file(beside(file_), note.dump(1) + "\n");
  saved_ = true;
}

}  // namespace ridge::io
