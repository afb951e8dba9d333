// How the page looks, around the charts' own style (base/svg.hpp).
#pragma once
#include <string>

namespace ridge::report {
std::string page_style();
}  // namespace ridge::report
