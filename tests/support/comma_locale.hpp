// A locale whose decimal point is a comma, as programs in many countries set it.
#pragma once
#include <clocale>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "support/scratch.hpp"

namespace ridge::test {

// Sets it for the process until the end of the scope. Compiled by localedef if none is installed.
class CommaLocale {
 public:
  CommaLocale() : before_(std::setlocale(LC_ALL, nullptr)), path_("LOCPATH", std::nullopt) {
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) set_ = set_ || std::setlocale(LC_ALL, name) != nullptr;
    if (set_) return;
    // Only its numbers: the whole of de_DE takes seconds to compile.
    std::ofstream(folder_ / "numbers")
        << "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    const std::string made = folder_ / "comma";
    if (std::system(
            ("localedef -c -i " + std::string(folder_ / "numbers") + " -f ANSI_X3.4-1968 " + made + " 2>/dev/null")
                .c_str()) > 256)
      return;
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    set_ = std::setlocale(LC_NUMERIC, "comma") != nullptr;
  }
  ~CommaLocale() { std::setlocale(LC_ALL, before_.c_str()); }
  // False: neither installed nor made; skip the test.
  explicit operator bool() const { return set_ && *std::localeconv()->decimal_point == ','; }

 private:
  ScratchFolder folder_;
  std::string before_;
  ScopedEnvironment path_;
  bool set_ = false;
};

}  // namespace ridge::test
