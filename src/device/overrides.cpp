// Applies the limits of an override file (RIDGE_LIMITS) to a device.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "device/registry.hpp"
#include "device/traits.hpp"

namespace ridge::detail {
namespace {

struct Field {
  const char* name;
  std::size_t Limits::*member;
};
constexpr Field kFields[] = {
    {"work_group", &Limits::work_group},
    {"local_memory", &Limits::local_memory},
    {"registers", &Limits::registers},
    {"constant_memory", &Limits::constant_memory},
    {"sub_group", &Limits::sub_group},
    {"compute_units", &Limits::compute_units},
    {"items_per_unit", &Limits::items_per_unit},
    {"memory", &Limits::memory},
    {"allocation", &Limits::allocation},
    {"unit_registers", &Limits::unit_registers},
    {"unit_local_memory", &Limits::unit_local_memory},
};

// Capabilities that an override can remove. Without private_arrays_in_registers, a device gets kernels with few private
// arrays.
struct Ability {
  const char* name;
  bool Limits::*member;
};
constexpr Ability kAbilities[] = {
    {"float64", &Limits::float64},
    {"matrix_units", &Limits::matrix_units},
    {"asynchronous_copies", &Limits::asynchronous_copies},
    {"clusters", &Limits::clusters},
    {"tensor_maps", &Limits::tensor_maps},
    {"private_arrays_in_registers", &Limits::private_arrays_in_registers},
};

bool concerns(const std::string& key, const DeviceInfo& info) {
  return key == "*" || key == info.id || key == to_string(info.backend);
}

}  // namespace

void apply_overrides(const std::string& text, DeviceInfo& info) {
  const base::Json file = base::parse_json(text, {.bytes = 1 << 20, .depth = 4, .values = 10'000});
  if (!file.is_object()) throw Error(ErrorKind::io, "the override file must be an object of devices");
  DeviceInfo changed = info;
  for (const auto& [key, options] : file.items()) {
    if (!options.is_object()) throw Error(ErrorKind::io, fmt::format("override of \"{}\" must be an object", key));
    for (const auto& [name, value] : options.items()) {
      const auto* ability = std::find_if(std::begin(kAbilities), std::end(kAbilities),
                                         [&given = name](const Ability& one) { return given == one.name; });
      if (ability != std::end(kAbilities)) {
        if (!value.is_boolean()) {
          throw Error(ErrorKind::io, fmt::format("override of \"{}\": {} must be true or false", key, name));
        }
        bool& has = changed.limits.*(ability->member);
        if (!concerns(key, info) || has == value.get<bool>()) continue;
        if (!has) throw Error(ErrorKind::io, fmt::format("override of \"{}\": the device has no {}", key, name));
        has = false;
        changed.overrides.push_back(fmt::format("{} true -> false", name));
        continue;
      }
      if (name == "architecture") {
        const int requested = static_cast<int>(base::number_in(options, name, 0, 1000)),
                  own = changed.limits.architecture;
        if (!concerns(key, info) || requested == own) continue;
        if (requested > own) {
          throw Error(ErrorKind::io, fmt::format("override of \"{}\": architecture {} is not below the device's own {}",
                                                 key, requested, own));
        }
        changed.limits.architecture = requested;
        restrict_to_architecture(changed.limits);
        changed.overrides.push_back(fmt::format("architecture {} -> {}", own, requested));
        continue;
      }
      const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                       [&given = name](const Field& f) { return given == f.name; });
      if (field == std::end(kFields)) {
        throw Error(ErrorKind::io, fmt::format("override of \"{}\": there is no limit called \"{}\"", key, name));
      }
      const auto requested = static_cast<std::size_t>(base::number_in(options, name, 0, 1e15));
      std::size_t& limit = changed.limits.*(field->member);
      if (!concerns(key, info) || requested == limit) continue;
      const bool at_least_one = field->member == &Limits::work_group || field->member == &Limits::compute_units;
      if (requested > limit || (requested == 0 && at_least_one)) {
        throw Error(ErrorKind::io, fmt::format("override of \"{}\": {} {} is not below the device's own {}", key, name,
                                               requested, limit));
      }
      changed.overrides.push_back(fmt::format("{} {} -> {}", name, limit, requested));
      limit = requested;
      for (std::size_t& side : changed.limits.work_group_sides) side = std::min(side, changed.limits.work_group);
    }
  }
  info = std::move(changed);
}

}  // namespace ridge::detail
