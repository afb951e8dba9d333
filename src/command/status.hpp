// The state of a running command for `ridge run`: a JSON file named by RIDGE_STATUS, rewritten about twice per second.
#pragma once
#include <functional>

#include "base/json.hpp"

namespace ridge::cli {

bool wants_status();
// Calls `make` and writes its result if the last one is older than 0.5 s, or with `now`.
void show_status(const std::function<base::Json()>& make, bool now = false);

}  // namespace ridge::cli
