// Style sheet (CSS) of the report page; the charts' own style is in base/svg.hpp.
#pragma once
#include <string>

namespace ridge::report {
std::string page_style();
}  // namespace ridge::report
