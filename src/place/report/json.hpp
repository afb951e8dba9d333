// The report as JSON: for `--json`, and on its way from the reader's process.
#pragma once
#include <nlohmann/json.hpp>
#include <ridge/place.hpp>

namespace ridge::place {

nlohmann::json report_to_json(const Report& report);
Report report_from_json(const nlohmann::json& json);

}  // namespace ridge::place
