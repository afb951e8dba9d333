// Layout of arrays in blocks local to one L2 partition. 4 KB blocks belong alternately to the two partitions; which of
// two neighbouring blocks belongs to which depends on the address (H200: parity of bits 12, 13, 15, 17, 19 and one bit
// per 2 MB page). Data of one partition use only its blocks, so they extend over twice their size.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "codegen/text.hpp"
#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

inline constexpr std::uint64_t kPartitionBlock = 4096, kPartitionPage = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kPartitionBits =
    0xab000;  // bits of a byte's page offset whose parity selects the partition

// The layout in units of elements instead of bytes.
struct PartitionBlocks {
  explicit PartitionBlocks(bool float64) : element(float64 ? 16 : 8) {}
  std::uint64_t element;
  std::uint64_t block() const { return kPartitionBlock / element; }
  // Position of element `at`, except for the choice between two neighbouring blocks. Position and choice are linear in
  // the bits of `at`.
  std::uint64_t placed(std::uint64_t at) const { return at + at / block() * block(); }
  std::uint64_t page(std::uint64_t at) const { return placed(at) * element / kPartitionPage; }
  bool swapped(std::uint64_t at) const;
};

// Emits pointers for addresses of the form variable + constant; the constants only use bits that are zero in the
// variable.
class PartitionPointers {
 public:
  PartitionPointers(codegen::Text& text, bool float64, std::string name, std::string type, std::string array)
      : text_(text), blocks_(float64), name_(std::move(name)), type_(std::move(type)), array_(std::move(array)) {}
  // Starts a new base address `at` in the blocks of `partition`; page_bits, one bit per page, is a kernel
  // variable.
  void begin(const std::string& at, const std::string& partition = "local_partition");
  std::string operator()(std::uint64_t constant);

 private:
  codegen::Text& text_;
  PartitionBlocks blocks_;
  std::string name_, type_, array_;
  std::set<std::string> known_ = {};
};

// Offset of a point of a line as PassSide describes it; with interleaved partitions, points of each partition are
// counted separately.
std::uint64_t partition_place(const PassSide& side, std::uint64_t point);

// True if the stores (or loads) of a pass can use this layout: offsets of line, item and point must add without
// carries.
bool partition_local_serves(const PassDesign& pass, bool stores);

}  // namespace ridge::fft::on_device
