// Checkpoints: the state of a run in one file, independent of the number of processes.
//
// Two generations are kept, NAME and NAME.previous. A new one is written beside them, flushed and renamed. A run may be
// killed or fill its disk at any moment: one complete generation always exists. Every block has a checksum. A file that
// fails any check is rejected by name, and the previous generation is used.
//
// Format, little-endian: "RIDGECKP", u32 version, u32 header bytes, the header (JSON), u32 CRC-32C of all before; then
// the fields one after another, last axis fastest; then u32 CRC-32C of each block (`block` slabs of the slowest axis of
// one field, fewer in the last), and u32 CRC-32C of those.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "io/arrays/grid_source.hpp"

namespace ridge::io {

inline constexpr std::uint32_t kCheckpointVersion = 1;

struct CheckpointState {
  std::size_t step = 0;
  double time = 0;
  base::Json parameters = base::Json::object();  // of the problem; must be equal to resume
};

// Throws Error{io} with the file name if it cannot be written; existing generations are then unchanged.
void write_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const GridSource& source);

std::filesystem::path previous_generation(const std::filesystem::path& path);

// A checkpoint whose every byte has been verified.
class Checkpoint {
 public:
  // Throws Error{io} with the file name and the defect.
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

  // Reads slabs [begin, end) of one field.
  void read(std::size_t field, std::size_t begin, std::size_t end, void* to) const;

 private:
  void read_header();
  void check_blocks() const;
  void read_at(std::uint64_t offset, void* to, std::size_t bytes) const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t data_ = 0;  // byte offset of the first field
  std::size_t block_ = 1;   // slabs per checksum block
  GridSource layout_;
  CheckpointState state_;
};

// Returns the newest complete generation, and warns about damaged ones. Empty if none exists; throws Error{io} if all
// existing ones are damaged.
std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& path);

// Call before resuming. If `used` is not the newest generation, the damaged one becomes NAME.damaged and `used` takes
// its name, so that the next write does not displace the only complete file.
void set_aside_damaged(const Checkpoint& used, const std::filesystem::path& path);

}  // namespace ridge::io
