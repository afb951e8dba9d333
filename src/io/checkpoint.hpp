// Checkpoints: the state of a run in one file, whatever the number of processes.
//
// Two generations are kept, NAME and NAME.previous. A new one is written beside them, flushed and renamed, so that a
// run may be killed, or its disk fill up, at any moment: one whole generation is always there. Every block carries a
// checksum; a file that fails any check is refused by name, and the generation before it is used.
//
// Format, little-endian: "RIDGECKP", u32 version, u32 bytes of the header, the header (JSON), u32 CRC-32C of all
// before; then the fields one after the other, last axis fastest; then u32 CRC-32C of each block (`block` slabs of the
// slowest axis of one field, fewer in the last), and u32 CRC-32C of those.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "io/grid_source.hpp"

namespace ridge::io {

inline constexpr std::uint32_t kCheckpointVersion = 1;

struct CheckpointState {
  std::size_t step = 0;
  double time = 0;
  base::Json parameters = base::Json::object();  // of the problem: what must be the same to go on
};

// Error{io} naming the file where it cannot be written; the generations before are then untouched.
void write_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const GridSource& source);

std::filesystem::path previous_generation(const std::filesystem::path& path);

// A checkpoint whose every byte has been checked.
class Checkpoint {
 public:
  // Error{io} with the file's name and what is wrong.
  explicit Checkpoint(const std::filesystem::path& path);
  ~Checkpoint();
  Checkpoint(Checkpoint&& other) noexcept;
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  Checkpoint& operator=(Checkpoint&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const CheckpointState& state() const { return state_; }
  const std::vector<std::size_t>& shape() const { return layout_.shape; }
  ElementType type() const { return layout_.type; }
  const std::vector<std::string>& fields() const { return layout_.names; }

  // Slabs [begin, end) of one field.
  void read(std::size_t field, std::size_t begin, std::size_t end, void* to) const;

 private:
  void read_header();
  void check_blocks() const;
  void read_at(std::uint64_t offset, void* to, std::size_t bytes) const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t data_ = 0;  // offset of the first field
  std::size_t block_ = 1;   // slabs
  GridSource layout_;
  CheckpointState state_;
};

// The newest generation that is whole. A damaged one is named in a warning; nothing where there is none at all;
// Error{io} where there are some and all are damaged.
std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& path);

// Before a run goes on from it: where it is not the newest generation, the damaged one becomes NAME.damaged and this
// one takes its name, so that the next write does not push out the only whole file.
void set_aside_damaged(const Checkpoint& used, const std::filesystem::path& path);

}  // namespace ridge::io
