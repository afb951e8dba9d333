// Report to and from JSON: for --json, and to pass it from the child process.
#pragma once
#include <nlohmann/json.hpp>
#include <ridge/place.hpp>

namespace ridge::place {

nlohmann::json report_to_json(const Report& report);
Report report_from_json(const nlohmann::json& json);

}  // namespace ridge::place
