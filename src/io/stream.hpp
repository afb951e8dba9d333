// Files and pipes as streams of bytes: "-" is standard input or output.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/new_file.hpp"

namespace ridge::io {

class InputStream {
 public:
  explicit InputStream(const std::string& name);  // Error{io} where it cannot be opened
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  // As many bytes as there are, up to `bytes`: fewer only at the end. Error{io} where reading fails.
  std::size_t read(void* to, std::size_t bytes);
  // The same into memory that grows as the bytes come: a length that only a damaged header claims takes none. `to` is
  // as long as what was read.
  std::size_t read_growing(std::vector<std::byte>& to, std::size_t bytes);
  // From here on there must be exactly so many bytes, as `whose` says ("its shape"). Error{io} at once where a regular
  // file holds fewer or more, else from the read that meets the end.
  void expect(std::uint64_t bytes, const std::string& whose);
  // The next `bytes` bytes without taking them (at most 64), or fewer at the end.
  std::string_view peek(std::size_t bytes);
  std::optional<std::uint64_t> remaining() const;  // bytes left, of a regular file
  const std::string& name() const { return name_; }

 private:
  std::size_t read_some(void* to, std::size_t bytes);
  std::size_t take(void* to, std::size_t bytes);
  [[noreturn]] void fail_expected(const std::string& what) const;

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t taken_ = 0;  // from the descriptor, bytes peeked at included
  std::string peeked_;
  std::optional<std::uint64_t> expected_;  // bytes that must still come
  std::uint64_t expected_in_all_ = 0;
  std::string whose_;
};

// A file appears under its name when finish() has been called, and not at all otherwise, not even half of it under
// another name where a signal ends a program that asked for it (base/temporaries.hpp). `in_place` it is there at once,
// what it holds stays, and writing goes on behind that.
class OutputStream {
 public:
  explicit OutputStream(const std::string& name, bool in_place = false);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void write(const void* from, std::size_t bytes);
  // Overwrites the first bytes; files only.
  void rewrite_start(std::string_view bytes);
  bool is_pipe() const { return !file_ && !in_place_; }
  // In place: bytes that are there, and where to go on; what is behind is cut off.
  std::uint64_t size() const;
  void go_on_at(std::uint64_t bytes);
  void finish();
  const std::string& name() const { return name_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::optional<base::NewFile> file_;  // empty: standard output, a device, or in place
  bool in_place_ = false;
  bool made_here_ = false;  // in place; removed again where nothing was written and finish() was not called
  int descriptor_ = -1;
};

}  // namespace ridge::io
