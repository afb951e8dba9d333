// Prints literals exactly, and selects the text of the matrix units or of their emulation.
#include "codegen/text.hpp"

#include <fmt/format.h>

#include "device/kernel_text.hpp"

namespace ridge::codegen {

std::string literal(double value, bool float64) {
  if (float64) {
    std::string text = fmt::format("{:.17g}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  std::string text = fmt::format("{:.9g}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

// Kernel text for products on the matrix units or their emulation.

std::string matrix_macros_text(std::size_t items) {
  return fmt::format(
      "{}#if RIDGE_MATRIX\n#define EMULATION_WORDS 0\n#define FRAGMENTS(p)\n#define UNROLL_PRODUCTS UNROLL\n#else\n"
      "#define EMULATION_WORDS {}\n#define FRAGMENTS(p) LOCAL uint* const fragments = p;\n#define UNROLL_PRODUCTS\n"
      "#endif\n{}",
      ridge::detail::kernel_text("codegen/matrix_units"), 6 * items,
      ridge::detail::kernel_text("codegen/matrix_emulation"));
}

}  // namespace ridge::codegen
