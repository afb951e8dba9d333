#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "device/registry.hpp"

namespace ridge::detail {
namespace {

struct Field {
  const char* name;
  std::size_t Limits::*member;
};
constexpr Field kFields[] = {
    {"work_group", &Limits::work_group},         {"local_memory", &Limits::local_memory},
    {"registers", &Limits::registers},           {"constant_memory", &Limits::constant_memory},
    {"sub_group", &Limits::sub_group},           {"compute_units", &Limits::compute_units},
    {"items_per_unit", &Limits::items_per_unit}, {"memory", &Limits::memory},
    {"allocation", &Limits::allocation},
};

bool concerns(const std::string& key, const DeviceInfo& info) {
  return key == "*" || key == info.id || key == to_string(info.backend);
}

}  // namespace

void apply_overrides(const std::string& text, DeviceInfo& info) {
  const base::Json file = base::parse_json(text, {.bytes = 1 << 20, .depth = 4, .values = 10'000});
  if (!file.is_object()) throw Error(ErrorKind::io, "the override file must be an object of devices");
  DeviceInfo changed = info;
  for (const auto& [key, wishes] : file.items()) {
    if (!wishes.is_object()) throw Error(ErrorKind::io, fmt::format("override of \"{}\" must be an object", key));
    for (const auto& [name, value] : wishes.items()) {
      if (name == "float64" && value.is_boolean()) {
        if (concerns(key, info) && !value.get<bool>() && changed.limits.float64) {
          changed.limits.float64 = false;
          changed.overrides.emplace_back("float64 true -> false");
        }
        continue;
      }
      const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                       [&name = name](const Field& f) { return name == f.name; });
      if (field == std::end(kFields)) {
        throw Error(ErrorKind::io, fmt::format("override of \"{}\": there is no limit called \"{}\"", key, name));
      }
      const auto wish = static_cast<std::size_t>(base::number_in(wishes, name, 0, 1e15));
      std::size_t& limit = changed.limits.*(field->member);
      if (!concerns(key, info) || wish == limit) continue;
      const bool at_least_one = field->member == &Limits::work_group || field->member == &Limits::compute_units;
      if (wish > limit || (wish == 0 && at_least_one)) {
        throw Error(ErrorKind::io,
                    fmt::format("override of \"{}\": {} {} is not below the device's own {}", key, name, wish, limit));
      }
      changed.overrides.push_back(fmt::format("{} {} -> {}", name, limit, wish));
      limit = wish;
      for (std::size_t& side : changed.limits.work_group_sides) side = std::min(side, changed.limits.work_group);
    }
  }
  info = std::move(changed);
}

}  // namespace ridge::detail
