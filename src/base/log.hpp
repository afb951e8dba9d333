// Warnings to stderr: one line each, each text once per process.
#pragma once
#include <functional>
#include <string>

namespace ridge::base {

void warn(const std::string& message);

// Sends warnings to `listener` (for tests) and returns the previous one. An empty function restores stderr.
using WarningListener = std::function<void(const std::string&)>;
WarningListener on_warning(WarningListener listener);

}  // namespace ridge::base
