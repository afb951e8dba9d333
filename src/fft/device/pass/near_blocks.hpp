// Places in an array that two halves of the shared cache have in turn, in blocks of 4 KB: which of two neighbouring
// blocks is whose depends on the address (H200: bits 12, 13, 15, 17, 19 and the page of 2 MB). What one half keeps lies
// in its own blocks, spread over twice its length.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "codegen/text.hpp"
#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

inline constexpr std::uint64_t kNearBlock = 4096, kNearPage = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kNearBits = 0xab000;  // of a byte's place in its page

// Elements, in place of bytes.
struct NearBlocks {
  explicit NearBlocks(bool float64) : element(float64 ? 16 : 8) {}
  std::uint64_t element;
  std::uint64_t block() const { return kNearBlock / element; }
  // Where element `at` is put, but for the choice between two blocks; both are linear, bit for bit.
  std::uint64_t placed(std::uint64_t at) const { return at + at / block() * block(); }
  std::uint64_t page(std::uint64_t at) const { return placed(at) * element / kNearPage; }
  bool turned(std::uint64_t at) const;
};

// Pointers to places at a variable and constants: each constant has bits that the variable never has.
class NearPointers {
 public:
  NearPointers(codegen::Text& text, bool float64, std::string name, std::string type, std::string array)
      : text_(text), blocks_(float64), name_(std::move(name)), type_(std::move(type)), array_(std::move(array)) {}
  // From here on places count from `at`, in the blocks of that half; near_bits, of the pages, is a variable of the
  // kernel.
  void begin(const std::string& at, const std::string& half = "near_half");
  std::string operator()(std::uint64_t constant);

 private:
  codegen::Text& text_;
  NearBlocks blocks_;
  std::string name_, type_, array_;
  std::set<std::string> known_ = {};
};

// Where points of a line are stored, as PassSide says: those of either half count by themselves.
std::uint64_t near_place(const PassSide& side, std::uint64_t point);

// Whether what a pass stores (or loads) can be placed so: no sum of a line's, an item's and a point's places carries.
bool near_serves(const PassDesign& pass, bool stores);

}  // namespace ridge::fft::on_device
