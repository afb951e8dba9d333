// Text with models of library functions, appended to the user's text when it is parsed.
#pragma once
#include <string>

namespace ridge::place::frontend {

// The models of OpenCV if the text uses it, then those of the user's --models file.
std::string models_text(const std::string& users_text, const std::string& users_models, bool opencv);

}  // namespace ridge::place::frontend
