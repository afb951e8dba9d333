#include "codegen/text.hpp"

#include <fmt/format.h>

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

}  // namespace ridge::codegen
