// Writes the machine profile as JSON, and reads it with a check of every value.
#include "machine/profile.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ridge::machine {
namespace {

using base::Json;
using base::number_in;

constexpr const char* kFormat = "ridge machine profile";
constexpr int kVersion = 1;

// Upper limits that no machine of the next decades exceeds but a damaged number does.
constexpr double kMostFlops = 1e21;
constexpr double kMostBandwidth = 1e18;
constexpr double kMostSeconds = 1e7;
constexpr double kMostBytes = 9007199254740992.0;  // 2^53: exact as a double
constexpr double kMostWatts = 1e7;
constexpr double kLargest = 1e30;  // coordinates of a sweep
constexpr std::size_t kMostDevices = 256;
constexpr std::size_t kMostLevels = 16;
constexpr std::size_t kMostSweeps = 256;
constexpr std::size_t kMostLines = 256;
constexpr std::size_t kMostPoints = 4096;
constexpr std::size_t kLongestName = 512;
constexpr std::size_t kLongestKey = 65536;

[[noreturn]] void refuse(const std::string& reason) { throw Error(ErrorKind::io, reason); }

// One list of fields for both writing and reading keeps the two consistent.
template <class B, class Visit>
void each_field(B& bandwidth, const Visit& visit) {
  visit("read", bandwidth.read);
  visit("write", bandwidth.write);
  visit("copy", bandwidth.copy);
  visit("write_streaming", bandwidth.write_streaming);
  visit("copy_streaming", bandwidth.copy_streaming);
}

template <class T, class Visit>
void each_transfer(T& transfers, const Visit& visit) {
  visit("upload_pageable", transfers.upload_pageable);
  visit("download_pageable", transfers.download_pageable);
  visit("upload_pinned", transfers.upload_pinned);
  visit("download_pinned", transfers.download_pinned);
  visit("upload_mapped", transfers.upload_mapped);
  visit("download_mapped", transfers.download_mapped);
}

template <class C, class Visit>
void each_rate(C& ceilings, const Visit& visit) {
  visit("flops_float", ceilings.flops_float, kMostFlops);
  visit("flops_double", ceilings.flops_double, kMostFlops);
  visit("flops_float_one", ceilings.flops_float_one, kMostFlops);
  visit("flops_double_one", ceilings.flops_double_one, kMostFlops);
  visit("launch_seconds", ceilings.launch_seconds, kMostSeconds);
  visit("copy_while_others_busy", ceilings.copy_while_others_busy, kMostBandwidth);
  visit("flops_float_while_others_busy", ceilings.flops_float_while_others_busy, kMostFlops);
}

// --- writing -------------------------------------------------------------------------------------------------------

Json json_of(const Bandwidth& bandwidth) {
  Json json = Json::object();
  each_field(bandwidth, [&](const char* field, double value) { json[field] = value; });
  return json;
}

Json json_of(const Level& level) {
  return {{"name", level.name}, {"capacity", level.capacity}, {"all", json_of(level.all)}, {"one", json_of(level.one)}};
}

Json json_of(const Transfers& transfers) {
  Json json = Json::object();
  each_transfer(transfers, [&](const char* field, double value) { json[field] = value; });
  return json;
}

Json json_of(const Energy& energy) {
  return {{"counter", energy.counter},
          {"why_not", energy.why_not},
          {"idle_watts", energy.idle_watts},
          {"load_watts", energy.load_watts},
          {"flops_per_watt", energy.flops_per_watt}};
}

template <class T>
Json json_list(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace

Json json_of(const Sweep& sweep) {
  Json lines = Json::array();
  for (const Sweep::Line& line : sweep.lines) {
    Json points = Json::array();
    for (const auto& [x, y] : line.points) points.push_back(Json::array({x, y}));
    lines.push_back({{"name", line.name}, {"points", std::move(points)}});
  }
  return {{"title", sweep.title}, {"x", sweep.x}, {"y", sweep.y}, {"lines", std::move(lines)}};
}

Json json_of(const DeviceProfile& device) {
  const Ceilings& ceilings = device.ceilings;
  Json json{
      {"id", device.id}, {"name", device.name}, {"fingerprint", device.fingerprint}, {"measured", ceilings.measured}};
  each_rate(ceilings, [&](const char* field, double value, double) { json[field] = value; });
  json["levels"] = json_list(ceilings.levels);
  json["transfers"] = json_of(ceilings.transfers);
  json["energy"] = json_of(ceilings.energy);
  json["sweeps"] = json_list(ceilings.sweeps);
  return json;
}

Json json_of(const Profile& profile) {
  return {{"format", kFormat},
          {"version", kVersion},
          {"hardware", profile.hardware},
          {"measured_at", profile.measured_at},
          {"seconds_taken", profile.seconds_taken},
          {"studies", profile.studies},
          {"devices", json_list(profile.devices)}};
}

// --- reading -------------------------------------------------------------------------------------------------------
namespace {

const Json& member(const Json& object, const char* field) {
  if (!object.is_object()) refuse(fmt::format("needs an object with the field \"{}\"", field));
  const auto found = object.find(field);
  if (found == object.end()) refuse(fmt::format("the field \"{}\" is missing", field));
  return *found;
}

const Json& list_in(const Json& object, const char* field, std::size_t most) {
  const Json& list = member(object, field);
  if (!list.is_array()) refuse(fmt::format("the field \"{}\" is not a list", field));
  if (list.size() > most) refuse(fmt::format("the field \"{}\" lists {}, more than {}", field, list.size(), most));
  return list;
}

// Names are printed on a terminal, so control characters are refused.
std::string name_in(const Json& object, const char* field, std::size_t longest = kLongestName) {
  std::string text = base::text_in(object, field, longest);
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), control))
    refuse(fmt::format("the field \"{}\" holds control characters", field));
  return text;
}

bool flag_in(const Json& object, const char* field) {
  const Json& value = member(object, field);
  if (!value.is_boolean()) refuse(fmt::format("the field \"{}\" is not true or false", field));
  return value.get<bool>();
}

double coordinate(const Json& value) {
  if (!value.is_number()) refuse("a sweep's coordinate is not a number");
  const auto number = value.get<double>();
  if (!std::isfinite(number) || std::abs(number) > kLargest)
    refuse(fmt::format("a sweep's coordinate is {}, not within [-{:g}, {:g}]", number, kLargest, kLargest));
  return number;
}

Bandwidth bandwidth_of(const Json& json) {
  Bandwidth bandwidth;
  each_field(bandwidth, [&](const char* field, double& value) { value = number_in(json, field, 0, kMostBandwidth); });
  return bandwidth;
}

Level level_of(const Json& json) {
  Level level;
  level.name = name_in(json, "name");
  level.capacity = static_cast<std::size_t>(number_in(json, "capacity", 0, kMostBytes));
  level.all = bandwidth_of(member(json, "all"));
  level.one = bandwidth_of(member(json, "one"));
  return level;
}

Transfers transfers_of(const Json& json) {
  Transfers transfers;
  each_transfer(transfers,
                [&](const char* field, double& value) { value = number_in(json, field, 0, kMostBandwidth); });
  return transfers;
}

Energy energy_of(const Json& json) {
  Energy energy;
  energy.counter = name_in(json, "counter");
  energy.why_not = name_in(json, "why_not", 4096);
  energy.idle_watts = number_in(json, "idle_watts", 0, kMostWatts);
  energy.load_watts = number_in(json, "load_watts", 0, kMostWatts);
  energy.flops_per_watt = number_in(json, "flops_per_watt", 0, kMostFlops);
  return energy;
}

Sweep sweep_of(const Json& json) {
  Sweep sweep;
  sweep.title = name_in(json, "title");
  sweep.x = name_in(json, "x");
  sweep.y = name_in(json, "y");
  for (const Json& from : list_in(json, "lines", kMostLines)) {
    Sweep::Line line;
    line.name = name_in(from, "name");
    for (const Json& point : list_in(from, "points", kMostPoints)) {
      if (!point.is_array() || point.size() != 2) refuse("a sweep's point is not a pair of numbers");
      line.points.emplace_back(coordinate(point[0]), coordinate(point[1]));
    }
    sweep.lines.push_back(std::move(line));
  }
  return sweep;
}

DeviceProfile device_of(const Json& json) {
  DeviceProfile device;
  device.id = name_in(json, "id");
  device.name = name_in(json, "name");
  device.fingerprint = name_in(json, "fingerprint", kLongestKey);
  Ceilings& ceilings = device.ceilings;
  ceilings.measured = flag_in(json, "measured");
  each_rate(ceilings, [&](const char* field, double& value, double most) { value = number_in(json, field, 0, most); });
  for (const Json& level : list_in(json, "levels", kMostLevels)) ceilings.levels.push_back(level_of(level));
  if (ceilings.levels.empty()) refuse(fmt::format("device \"{}\" has no levels of memory", device.id));
  ceilings.transfers = transfers_of(member(json, "transfers"));
  ceilings.energy = energy_of(member(json, "energy"));
  for (const Json& sweep : list_in(json, "sweeps", kMostSweeps)) ceilings.sweeps.push_back(sweep_of(sweep));
  return device;
}

}  // namespace

Profile profile_of(const Json& json) {
  if (name_in(json, "format") != kFormat) refuse(fmt::format("it is not a {}", kFormat));
  const double version = number_in(json, "version", 0, 1e6);
  if (version != kVersion) refuse(fmt::format("it has version {}, this program reads {}", version, kVersion));
  Profile profile;
  profile.hardware = name_in(json, "hardware", kLongestKey);
  profile.measured_at = name_in(json, "measured_at");
  profile.seconds_taken = number_in(json, "seconds_taken", 0, kMostSeconds);
  const auto studies = json.find("studies");
  if (studies == json.end() || !studies->is_boolean()) throw Error(ErrorKind::io, "studies is not true or false");
  profile.studies = studies->get<bool>();
  for (const Json& device : list_in(json, "devices", kMostDevices)) {
    profile.devices.push_back(device_of(device));
    if (profile.find(profile.devices.back().id) != &profile.devices.back())
      refuse(fmt::format("device \"{}\" is listed twice", profile.devices.back().id));
  }
  return profile;
}

// --- text ----------------------------------------------------------------------------------------------------------
namespace {

constexpr std::size_t kLongestLine = 100;

bool scalars_only(const Json& json) {
  return std::none_of(json.begin(), json.end(), [](const Json& value) { return value.is_structured(); });
}

// A driver's text may be invalid UTF-8, which becomes replacement characters.
std::string scalar(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// True for a list of numbers or of pairs, or a short object.
bool fits_one_line(const Json& json) {
  if (json.is_object()) return scalars_only(json) && scalar(json).size() <= kLongestLine;
  return std::all_of(json.begin(), json.end(), [](const Json& value) {
    return !value.is_structured() || (value.is_array() && scalars_only(value));
  });
}

void write(const Json& json, std::size_t indent, std::string& out) {
  if (!json.is_structured()) {
    out += scalar(json);
    return;
  }
  const bool one_line = json.empty() || fits_one_line(json);
  const std::string before = one_line ? "" : "\n" + std::string(indent + 2, ' ');
  out += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [name, value] : json.items()) {
    if (!first) out += one_line ? ", " : ",";
    first = false;
    out += before;
    if (json.is_object()) out += scalar(Json(name)) + ": ";
    write(value, indent + 2, out);
  }
  if (!one_line) out += "\n" + std::string(indent, ' ');
  out += json.is_object() ? '}' : ']';
}

}  // namespace

std::string readable(const Json& json) {
  std::string out;
  write(json, 0, out);
  return out + "\n";
}

std::string to_json(const Profile& profile) { return readable(json_of(profile)); }
Profile from_json(const std::string& text) { return profile_of(base::parse_json(text)); }

}  // namespace ridge::machine
