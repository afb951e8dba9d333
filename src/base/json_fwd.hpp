// Forward declaration of Json. Including base/json.hpp instead costs seconds of compile time.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace ridge::base {

using Json = nlohmann::ordered_json;

}  // namespace ridge::base
