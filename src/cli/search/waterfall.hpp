// The latest power by frequency and time in a few thousand numbers, for the live page of `ridge run`.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/search/power_file.hpp"

namespace ridge::cli {

class LiveWaterfall {
 public:
  explicit LiveWaterfall(const PowerFile& of);
  void add(const std::vector<std::byte>& bytes, std::size_t rows);
  // {"rows": columns of groups, 0 to 99, oldest first, highest frequency first}: the mean power of a group of channels
  // within its range.
  base::Json json() const;

 private:
  std::size_t channels_, bits_, row_bytes_, groups_;
  bool is_signed_, ascending_;
  std::deque<std::vector<float>> columns_;
};

// Power by time and frequency of a whole input as a picture: grey, flagged cells red. Columns are joined in pairs when
// there are too many, so the length need not be known.
class WaterfallPicture {
 public:
  explicit WaterfallPicture(const PowerFile& of);
  void add(const std::vector<std::byte>& bytes, std::size_t rows);
  void flag(std::span<const std::byte> bits, std::size_t rows);  // one bit per channel, rows of whole bytes
  void write(const std::string& name) const;                     // .png

 private:
  struct Cell {
    double sum = 0, count = 0, flagged = 0;  // values and flags
  };
  Cell& cell(std::uint64_t row, std::size_t channel);
  std::size_t channels_, bits_, row_bytes_, groups_, each_ = 1;  // each_: rows per column
  bool is_signed_, ascending_;
  std::uint64_t added_ = 0, seen_ = 0;  // rows of power and of flags
  std::vector<Cell> cells_;             // columns x groups
};

}  // namespace ridge::cli
