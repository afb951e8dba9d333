// The latest power by frequency and time in a few thousand numbers, for the live page of `ridge run`.
#pragma once
#include <deque>
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

}  // namespace ridge::cli
