// Power as numbers of 8 bits: power = offset + scale * level, one offset and scale per product and channel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::io {

struct Level {
  float offset = 0, scale = 1;
};

// A line per value of a row, "offset scale"; # begins a comment.
std::string levels_text(std::span<const Level> levels);
// Error{io} naming the line; `count` levels are needed.
std::vector<Level> parse_levels(std::string_view text, std::size_t count, const std::string& name);

class EightBits {
 public:
  // Levels are estimated from the first `rows` rows, or from all where there are fewer: the mean becomes 127.5, and 0
  // and 255 are 6 standard deviations away. A value that never changes gets level 128.
  EightBits(std::size_t row_size, std::size_t rows);
  explicit EightBits(std::vector<Level> levels);

  // Whole rows. Appends the levels that are known by now: rows wait until the estimate is made.
  void put(std::span<const float> rows, std::vector<std::uint8_t>& out);
  void finish(std::vector<std::uint8_t>& out);

  const std::vector<Level>& levels() const { return levels_; }
  std::uint64_t values() const { return values_; }
  std::uint64_t clipped() const { return clipped_; }  // beyond 0 and 255, and those that are not a number

 private:
  void estimate();
  void convert(std::span<const float> rows, std::vector<std::uint8_t>& out);

  std::size_t row_size_, rows_ = 0;
  std::vector<float> waiting_;
  std::vector<Level> levels_;
  std::uint64_t values_ = 0, clipped_ = 0;
};

}  // namespace ridge::io
