// Rings of blocks in shared memory, between processes: one writer, several readers. A ring is named as a file,
// "ring:NAME", with options of the writer after commas: "ring:obs,blocks=16,block=8M,readers=2" or "ring:obs,drop".
//
// The writer waits for the slowest reader (back pressure), or with `drop` overwrites the oldest blocks; a reader that
// missed blocks then gets zeros of their length, marked as lost. A process that is killed releases its file lock, so
// that writers continue without a killed reader, and readers of a killed writer end with an error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporaries.hpp"

namespace ridge::io {

struct RingOptions {
  std::string name{};
  std::size_t blocks = 8, block_bytes = std::size_t{4} << 20;
  std::size_t readers = 1;  // the first blocks are kept until this many have begun
  bool drop = false;
  double wait = 30;  // seconds to wait for the other side to connect
};

bool is_ring(std::string_view name);
// True if the file or ring has this ending; options of a ring are ignored: "ring:power.fil,blocks=4".
bool has_ending(std::string_view name, std::string_view ending);
RingOptions parse_ring(const std::string& name);

// Bytes of a stream that hold zeros because the samples were lost.
struct LostBytes {
  std::uint64_t first = 0, bytes = 0;
};

struct RingMapping;

class RingWriter {
 public:
  // Removes rings of any name that killed writers left.
  explicit RingWriter(const RingOptions& options);
  ~RingWriter();  // without finish(), readers get an error
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;
  void write(const void* from, std::size_t bytes);
  // The bytes from `ahead` bytes after the last one written on will be zeros of lost samples.
  void mark_lost(std::uint64_t ahead, std::uint64_t bytes);
  void finish();  // waits until the readers have taken everything

 private:
  void await_space();
  void publish();
  bool free_dead_readers();

  RingOptions options_;
  std::unique_ptr<RingMapping> ring_;
  base::TemporaryName name_;                // a signal that ends the program removes the ring
  std::uint64_t number_ = 0, written_ = 0;  // block being filled; bytes of the stream
  std::size_t filled_ = 0;
  std::vector<LostBytes> lost_;
  std::size_t dead_ = 0;  // readers killed before the end
  bool finished_ = false;
};

class RingReader {
 public:
  explicit RingReader(const RingOptions& options);  // waits for the writer to begin
  ~RingReader();
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;
  // Fewer bytes only at the end. Throws Error{io} if the writer was killed or failed.
  std::size_t read(void* to, std::size_t bytes);
  // Lost bytes of the blocks begun so far, each once.
  std::vector<LostBytes> take_lost();

 private:
  bool next_block();
  void release();

  RingOptions options_;
  std::unique_ptr<RingMapping> ring_;
  std::size_t seat_ = 0;
  std::uint64_t next_ = 0, position_ = 0, zeros_ = 0;  // block; first byte of the block
  std::size_t taken_ = 0, there_ = 0;
  const std::byte* block_ = nullptr;  // null: none
  std::vector<std::byte> copy_;       // drop: the block's bytes
  std::vector<LostBytes> lost_;
};

}  // namespace ridge::io
