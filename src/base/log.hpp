// Warnings for the person at the terminal: one line each on stderr, each text once a process.
#pragma once
#include <functional>
#include <string>

namespace ridge::base {

void warn(const std::string& message);

// Tests listen here; returns the listener before. An empty function restores stderr.
using WarningListener = std::function<void(const std::string&)>;
WarningListener on_warning(WarningListener listener);

}  // namespace ridge::base
