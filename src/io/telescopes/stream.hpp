// Byte streams over files, pipes and rings in shared memory; "-" is standard input or output, "ring:NAME" a ring
// (io/telescopes/ring.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/new_file.hpp"
#include "io/telescopes/ring.hpp"

namespace ridge::io {

class InputStream {
 public:
  explicit InputStream(const std::string& name);  // Error{io} if it cannot be opened
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  // Reads up to `bytes` bytes, fewer only at the end. Throws Error{io} if reading fails.
  std::size_t read(void* to, std::size_t bytes);
  // As read(), into memory that grows with the bytes read, so that a length claimed by a damaged header allocates
  // nothing. `to` ends as long as the bytes read.
  std::size_t read_growing(std::vector<std::byte>& to, std::size_t bytes);
  // From here on exactly `bytes` bytes must follow, according to `whose` ("its shape"). Throws Error{io} at once if a
  // regular file holds fewer or more, else from the read that reaches the end.
  void expect(std::uint64_t bytes, const std::string& whose);
  // Returns the next `bytes` bytes (at most 2^17) without consuming them, or fewer at the end.
  std::string_view peek(std::size_t bytes);
  std::optional<std::uint64_t> remaining() const;                     // bytes left in a regular file
  std::uint64_t position() const { return taken_ - peeked_.size(); }  // bytes read
  bool from_ring() const { return ring_ != nullptr; }
  bool knows_lost() const { return ring_ != nullptr || lists_lost_; }  // losses are listed
  // Rings: zeros of lost samples, by position, among the bytes read so far and a little later. Each is returned once.
  std::vector<LostBytes> take_lost();
  // Files: these bytes, counted from the first sample, are lost. take_lost() returns them after begin_lost() has said
  // where the samples begin.
  void expect_lost(std::vector<LostBytes> lost);
  void begin_lost(std::uint64_t position);
  const std::string& name() const { return name_; }

 private:
  std::size_t read_some(void* to, std::size_t bytes);
  std::size_t take(void* to, std::size_t bytes);
  [[noreturn]] void fail_expected(const std::string& what) const;

  std::string name_;
  int descriptor_ = -1;
  std::unique_ptr<RingReader> ring_;
  std::vector<LostBytes> lost_;  // of a file, in order
  std::size_t lost_taken_ = 0;
  bool lost_begun_ = false, lists_lost_ = false;
  std::uint64_t taken_ = 0;  // bytes read from the descriptor, including peeked ones
  std::string peeked_;
  std::optional<std::uint64_t> expected_;  // bytes that must still follow
  std::uint64_t expected_in_all_ = 0;
  std::string whose_;
};

// A terminal's progress bar for a stream that is read to its end. The length of a pipe is unknown: its bar only shows
// activity.
class ReadProgress {
 public:
  ReadProgress(const InputStream& in, std::string what);
  ~ReadProgress();  // clears the bar
  ReadProgress(const ReadProgress&) = delete;
  ReadProgress& operator=(const ReadProgress&) = delete;
  void show() const;

 private:
  const InputStream& in_;
  std::string what_;
  base::Progress progress_;
  double begun_;
};

// The ranges of a file of `ridge capture --flags`, in order. Error{io} names the first line that is wrong.
std::vector<LostBytes> read_lost(const std::string& name);

// A file appears under its name after finish(); otherwise not at all, and no partial file remains if a signal ends a
// program that asked for this (base/temporaries.hpp). With `in_place`, the file exists at once, keeps its content, and
// is extended.
class OutputStream {
 public:
  explicit OutputStream(const std::string& name, bool in_place = false);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void write(const void* from, std::size_t bytes);
  // Rings: the bytes from `ahead` bytes after the last one written on will be zeros of lost samples.
  void mark_lost(std::uint64_t ahead, std::uint64_t bytes);
  std::uint64_t position() const { return written_; }  // bytes written
  bool to_ring() const { return ring_ != nullptr; }
  // Overwrites the first bytes; files only.
  void rewrite_start(std::string_view bytes);
  bool is_pipe() const { return !file_ && !in_place_; }
  // In-place files: bytes present, and the position to continue from; later bytes are cut off.
  std::uint64_t size() const;
  void go_on_at(std::uint64_t bytes);
  void finish();
  const std::string& name() const { return name_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::optional<base::NewFile> file_;  // empty: standard output, a device, or in place
  bool in_place_ = false;
  bool made_here_ = false;  // in place: removed if nothing was written and finish() was not called
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  std::unique_ptr<RingWriter> ring_;
};

}  // namespace ridge::io
