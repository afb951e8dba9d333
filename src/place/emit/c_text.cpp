// Translates generated host text from C++ to C. Only the few C++ forms that the emitter writes are known.
#include "place/emit/c_text.hpp"

#include <string_view>

#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

// End of the template argument list that begins after the '<' at `from`.
std::size_t closing(const std::string& text, std::size_t from) {
  int depth = 1;
  while (from < text.size() && depth > 0) {
    depth += text[from] == '<' ? 1 : text[from] == '>' ? -1 : 0;
    ++from;
  }
  return from;
}

}  // namespace

std::string in_c(const std::string& cpp) {
  return text::each_word(cpp, [&](const std::string& word, std::size_t& at) -> std::string {
    if (word == "placed" && cpp.compare(at, 2, "::") == 0) {
      at += 2;
      if (cpp.compare(at, 4, "Int(") != 0) return "placed_";
      at += 3;  // a conversion: placed::Int(n)
      return "(placed_Int)";
    }
    if (word == "std" && cpp.compare(at, 2, "::") == 0) {
      at += 2;
      return "";
    }
    if ((word == "static_cast" || word == "reinterpret_cast") && at < cpp.size() && cpp[at] == '<') {
      const std::size_t end = closing(cpp, at + 1);
      const std::string type = cpp.substr(at + 1, end - at - 2);
      at = end;
      return "(" + in_c(type) + ")";
    }
    if (word == "inline") return "static inline";
    if (word == "nullptr") return "NULL";
    return word;
  });
}

}  // namespace ridge::place::emit
