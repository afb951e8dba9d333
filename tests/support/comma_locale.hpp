// A locale whose decimal point is a comma, as programs in many countries set it.
#pragma once
#include <clocale>
#include <cstdlib>
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
    const std::string made = folder_ / "de_DE.UTF-8";
    if (std::system(("localedef -i de_DE -f UTF-8 " + made + " 2>/dev/null").c_str()) > 256) return;
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    set_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
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
