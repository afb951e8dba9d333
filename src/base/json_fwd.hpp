// The name of JSON for headers that only pass it on; whoever looks inside includes base/json.hpp, which costs seconds.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace ridge::base {

using Json = nlohmann::ordered_json;

}  // namespace ridge::base
