// Parts of a report: JSON for --json and to pass it from the child process, and a chart of the time of a run.
#pragma once
#include <string>

#include <nlohmann/json.hpp>
#include <ridge/place.hpp>

namespace ridge::place {

nlohmann::json report_to_json(const Report& report);
Report report_from_json(const nlohmann::json& json);
std::string ring_chart(const Report& report);  // SVG, one ring per nesting level; "" if nothing was run

}  // namespace ridge::place
