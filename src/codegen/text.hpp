// Writer of generated source: lines, indented by the open blocks, literals, and products on the matrix units.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace ridge::codegen {

class Text {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  // A line that ends with an opening brace, and the closing one.
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line("{} {{", fmt::format(format, std::forward<Args>(args)...));
    ++depth_;
  }
  void open() {
    line("{{");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
  }
  // Appends lines unchanged, or with fmt placeholders filled in.
  void raw(const std::string& text) { text_ += text; }
  template <class... Args>
  void block(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

// A literal of the kernel's precision that reads back as the same number.
std::string literal(double value, bool float64);

// Kernel text for products on the matrix units: float16 inputs, float32 sums.
// Defines matrix_multiply_16 and matrix_multiply_8 (16 x 16 or 16 x 8 times 8 columns) and the float16 conversions. A
// device without matrix units emulates them through EMULATION_WORDS words of local memory after the kernel's own,
// declared by FRAGMENTS(address). The kernel must name the work-item, its lane and its warp `item`, `lane` and `warp`.
std::string matrix_macros_text(std::size_t items);

}  // namespace ridge::codegen
