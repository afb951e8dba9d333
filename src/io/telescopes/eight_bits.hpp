// Quantizes power to 8 bits: power = offset + scale * level, with one offset and scale per product and channel.
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

// One line per value of a row, "offset scale"; # starts a comment.
std::string levels_text(std::span<const Level> levels);
// Throws Error{io} with the line number; needs `count` levels.
std::vector<Level> parse_levels(std::string_view text, std::size_t count, const std::string& name);

class EightBits {
 public:
  // Estimates levels from the first `rows` rows, or from all if there are fewer: the mean becomes 127.5, and 0 and 255
  // are 6 standard deviations away. A value that never changes gets level 128.
  EightBits(std::size_t row_size, std::size_t rows);
  explicit EightBits(std::vector<Level> levels);

  // Takes whole rows. Appends the levels available so far: rows are held back until the estimate exists.
  void put(std::span<const float> rows, std::vector<std::uint8_t>& out);
  void finish(std::vector<std::uint8_t>& out);

  const std::vector<Level>& levels() const { return levels_; }
  std::uint64_t values() const { return values_; }
  std::uint64_t clipped() const { return clipped_; }  // outside 0 to 255, or NaN

 private:
  void estimate();
  void convert(std::span<const float> rows, std::vector<std::uint8_t>& out);

  std::size_t row_size_, rows_ = 0;
  std::vector<float> waiting_;
  std::vector<Level> levels_;
  std::uint64_t values_ = 0, clipped_ = 0;
};

}  // namespace ridge::io
